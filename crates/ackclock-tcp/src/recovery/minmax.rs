//! The largest or the smallest value of the last while, from three estimates (Linux
//! `win_minmax.c`).

/// A value, and when it was measured.
#[derive(Clone, Copy, Debug)]
struct Measured {
    at: u64,
    value: u64,
}

/// The best, the second best and the third best value, each newer than the one before it.
#[derive(Clone, Copy, Debug)]
struct Best([Measured; 3]);

impl Best {
    fn new(value: u64) -> Best {
        Best([Measured { at: 0, value }; 3])
    }

    /// `value` was measured at the time `at`; what is older than `window` counts no more. `as_good`
    /// says whether the first of two values is as good as the second.
    #[inline(always)]
    fn update(&mut self, window: u64, at: u64, value: u64, as_good: impl Fn(u64, u64) -> bool) {
        let new = Measured { at, value };
        let [first, second, third] = &mut self.0;
        if as_good(value, first.value) || at - third.at > window {
            self.0 = [new; 3];
            return;
        }
        if as_good(value, second.value) {
            (*second, *third) = (new, new);
        } else if as_good(value, third.value) {
            *third = new;
        }
        // minmax_subwin_update.
        let age = at - first.at;
        if age > window {
            (*first, *second, *third) = (*second, *third, new);
            if at - first.at > window {
                (*first, *second) = (*second, *third);
            }
        } else if second.at == first.at && age > window / 4 {
            (*second, *third) = (new, new);
        } else if third.at == second.at && age > window / 2 {
            *third = new;
        }
    }
}

/// The largest value (`minmax_running_max`); 0 before the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxFilter(Best);

impl Default for MaxFilter {
    fn default() -> MaxFilter {
        MaxFilter(Best::new(0))
    }
}

impl MaxFilter {
    pub fn get(&self) -> u64 {
        self.0.0[0].value
    }

    /// `value` was measured in `round`; what is older than `window` rounds counts no more.
    pub fn update(&mut self, window: u64, round: u64, value: u64) {
        self.0.update(window, round, value, |a, b| a >= b);
    }
}

/// The smallest value (`minmax_running_min`).
#[derive(Clone, Copy, Debug)]
pub(super) struct MinFilter(Best);

impl Default for MinFilter {
    fn default() -> MinFilter {
        MinFilter(Best::new(u64::MAX))
    }
}

impl MinFilter {
    /// `None` before the first.
    #[inline(always)]
    pub fn get(&self) -> Option<u64> {
        Some(self.0.0[0].value).filter(|&value| value != u64::MAX)
    }

    /// `value` was measured at the time `at`; what is older than `window` counts no more.
    #[inline(always)]
    pub fn update(&mut self, window: u64, at: u64, value: u64) {
        let Best([first, _, third]) = &self.0;
        // Almost every value: worse than the third best, and the best one is still new.
        if value > third.value && first.at > 0 && at - first.at <= window / 4 {
            return;
        }
        self.renew(window, at, value);
    }

    /// The rest of it, which few values need.
    #[inline(never)]
    fn renew(&mut self, window: u64, at: u64, value: u64) {
        let Best(best) = &mut self.0;
        if best[2].at == 0 {
            // What was measured before there was a time, as of a handshake, counts from now on.
            best.iter_mut().for_each(|best| best.at = at);
        }
        self.0.update(window, at, value, |a, b| a <= b);
    }
}

#[cfg(test)]
mod tests;
