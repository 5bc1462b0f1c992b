//! Counted whole numbers: exact quantiles, and sums that do not depend on the order in which they
//! were taken.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

/// How often each value occurred. Exact: it takes memory for each *different* value, so that counts
/// of segments stay small, and durations are kept in whole microseconds.
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

    /// The smallest value that at least the share `q` (0 to 1) of all values does not exceed: an
    /// observed value, never one between two. 0 gives the least, 1 the greatest; NaN if there
    /// is none.
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
        let sum: i128 =
            self.counts.iter().map(|(value, count)| i128::from(*value) * i128::from(*count)).sum();
        sum as f64 / self.total as f64
    }

    /// The share (0 to 1) of the values for which `counts` is true; NaN if there is none.
    pub fn share(&self, counts: impl Fn(i64) -> bool) -> f64 {
        let part: u64 =
            self.counts.iter().filter(|(value, _)| counts(**value)).map(|(_, count)| count).sum();
        part as f64 / self.total as f64
    }

    /// The steps of the cumulative distribution: each value that occurred, and the share (0 to 1)
    /// of values that do not exceed it.
    pub fn cdf(&self) -> impl Iterator<Item = (i64, f64)> + '_ {
        let mut seen = 0;
        self.counts.iter().map(move |(value, count)| {
            seen += count;
            (*value, seen as f64 / self.total as f64)
        })
    }
}
