//! Counted whole numbers: exact quantiles, and sums that do not depend on the order in which they were taken.

use std::collections::BTreeMap;

/// How often each value occurred. Exact: it takes memory for each *different* value, so that counts of segments stay small, and
/// durations are kept in whole microseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    counts: BTreeMap<i64, u64>,
    total: u64,
}

impl Distribution {
    /// One more value.
    pub fn record(&mut self, value: i64) {
        *self.counts.entry(value).or_default() += 1;
        self.total += 1;
    }

    /// All values of another distribution as well.
    pub fn add(&mut self, other: &Distribution) {
        for (value, count) in &other.counts {
            *self.counts.entry(*value).or_default() += count;
        }
        self.total += other.total;
    }

    /// How many values there are.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The smallest value that at least the share `q` (0 to 1) of all values does not exceed: an observed value, never one between
    /// two. 0 gives the least, 1 the greatest; NaN if there is none.
    pub fn quantile(&self, q: f64) -> f64 {
        let rank = (q * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let found = self.counts.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        });
        found.map_or(f64::NAN, |(value, _)| *value as f64)
    }

    /// The mean; NaN if there is none.
    pub fn mean(&self) -> f64 {
        let sum: i128 = self.counts.iter().map(|(value, count)| i128::from(*value) * i128::from(*count)).sum();
        sum as f64 / self.total as f64
    }

    /// The share (0 to 1) of the values for which `counts` is true; NaN if there is none.
    pub fn share(&self, counts: impl Fn(i64) -> bool) -> f64 {
        let part: u64 = self.counts.iter().filter(|(value, _)| counts(**value)).map(|(_, count)| count).sum();
        part as f64 / self.total as f64
    }

    /// The steps of the cumulative distribution: each value that occurred, and the share (0 to 1) of values that do not exceed it.
    pub fn cdf(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        let mut seen = 0;
        self.counts.iter().map(move |(value, count)| {
            seen += count;
            (*value, seen as f64 / self.total as f64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[i64]) -> Distribution {
        let mut all = Distribution::default();
        values.iter().for_each(|v| all.record(*v));
        all
    }

    #[test]
    fn quantiles_are_values_that_occurred() {
        let d = of(&[5, -1, 3, 3]);
        let quantiles = [0.0, 0.25, 0.26, 0.5, 0.75, 0.76, 1.0].map(|q| d.quantile(q));
        assert_eq!(quantiles, [-1.0, -1.0, 3.0, 3.0, 3.0, 5.0, 5.0]);
        assert_eq!((d.mean(), d.len(), d.share(|v| v > 0)), (2.5, 4, 0.75));
        assert_eq!(d.cdf().collect::<Vec<_>>(), [(-1, 0.25), (3, 0.75), (5, 1.0)]);
    }

    #[test]
    fn of_nothing_there_is_nothing() {
        let none = Distribution::default();
        assert!(none.is_empty());
        assert!(none.quantile(0.5).is_nan() && none.mean().is_nan() && none.share(|_| true).is_nan());
        assert_eq!(none.cdf().count(), 0);
    }

    #[test]
    fn adding_is_counting_both() {
        let mut sum = of(&[1, 2]);
        sum.add(&of(&[2, 9]));
        assert_eq!(sum, of(&[9, 2, 1, 2]));
    }

    /// The mean of values near the greatest does not overflow.
    #[test]
    fn extremes() {
        assert_eq!(of(&[i64::MAX, i64::MAX]).mean(), i64::MAX as f64);
        assert_eq!(of(&[i64::MAX, i64::MIN]).mean(), -0.5);
    }
}
