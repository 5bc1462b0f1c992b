//! The largest value of the last rounds, from three estimates (Linux `win_minmax.c`,
//! `minmax_running_max`).

/// A value, and the round in which it was measured.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    round: u64,
    value: u64,
}

/// The best, the second best and the third best value, each newer than the one before it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    best: [Measured; 3],
}

impl MaxFilter {
    pub fn get(&self) -> u64 {
        self.best[0].value
    }

    /// `value` was measured in `round`; what is older than `window` rounds counts no more.
    pub fn update(&mut self, window: u64, round: u64, value: u64) {
        let new = Measured { round, value };
        let [first, second, third] = &mut self.best;
        if value >= first.value || round - third.round > window {
            self.best = [new; 3];
            return;
        }
        if value >= second.value {
            (*second, *third) = (new, new);
        } else if value >= third.value {
            *third = new;
        }
        let age = round - first.round;
        if age > window {
            (*first, *second, *third) = (*second, *third, new);
            if round - first.round > window {
                (*first, *second) = (*second, *third);
            }
        } else if second.round == first.round && age > window / 4 {
            (*second, *third) = (new, new);
        } else if third.round == second.round && age > window / 2 {
            *third = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A larger value counts at once; after ten rounds the largest since follows.
    #[test]
    fn ten_rounds() {
        let mut filter = MaxFilter::default();
        let mut after = |round, value| {
            filter.update(10, round, value);
            filter.get()
        };
        assert_eq!(after(1, 100), 100);
        // More than a quarter of the window later: the second best.
        assert_eq!(after(4, 80), 100);
        // More than half of it later: the third best.
        assert_eq!(after(7, 60), 100);
        assert_eq!(after(11, 50), 100);
        assert_eq!(after(12, 50), 80);
        assert_eq!(after(14, 50), 80);
        assert_eq!(after(15, 50), 60);
        assert_eq!(after(16, 90), 90);
    }

    /// After more than ten rounds without a value nothing of before counts.
    #[test]
    fn a_long_pause() {
        let mut filter = MaxFilter::default();
        filter.update(10, 1, 100);
        filter.update(10, 12, 7);
        assert_eq!(filter.get(), 7);
    }
}
