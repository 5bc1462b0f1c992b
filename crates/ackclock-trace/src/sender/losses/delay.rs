//! Where among all segments that arrived does a lost one stand, by its round trip or by what was in
//! flight?

use super::timeline::{Moment, Timeline};

/// A quantity of the segments that arrived, sorted, each with its weight.
pub(super) struct Ranks {
    values: Vec<(f64, f64)>,
    all: f64,
}

impl Ranks {
    /// Of what `of` says of each.
    pub fn new(line: &Timeline, of: impl Fn(&Moment) -> Option<f64>) -> Ranks {
        let arrived = line.moments.iter().filter(|m| !m.lost);
        let mut values: Vec<(f64, f64)> =
            arrived.filter_map(|m| Some((of(m)?, m.weight))).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all = values.iter().map(|(_, weight)| weight).sum();
        Ranks { values, all }
    }

    fn below(&self, value: f64, ties: bool) -> f64 {
        let n = self.values.partition_point(|(v, _)| *v < value || ties && *v <= value);
        let sum: f64 = self.values[..n].iter().map(|(_, weight)| weight).sum();
        if self.all > 0.0 { sum / self.all } else { 0.5 }
    }

    /// The part of what arrived that has less, and half of what has the same.
    pub fn of(&self, value: f64) -> f64 {
        f64::midpoint(self.below(value, false), self.below(value, true))
    }
}

/// The median; of an even number of values the upper one.
pub(super) fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
