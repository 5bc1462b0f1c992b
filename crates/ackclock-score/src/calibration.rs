//! Probabilities beside verdicts, and how often those were right.

use ackclock_report::{Align, align, percent};
use serde_json::{Value, json};

use crate::cell::cell;

/// Lower ends of the bins, in percent.
const BINS: [u8; 8] = [0, 50, 60, 70, 80, 90, 95, 99];

/// How many verdicts were given with about a probability, and how many of them were right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bin {
    verdicts: u64,
    /// The sum of their probabilities, in millionths.
    stated: u64,
    right: u64,
}

/// How well probabilities are calibrated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    bins: [Bin; BINS.len()],
}

impl Calibration {
    /// A verdict with this probability, from 0 to 1.
    pub fn add(&mut self, probability: f64, right: bool) {
        let at = BINS.partition_point(|low| f64::from(*low) / 100.0 <= probability);
        let bin = &mut self.bins[at.saturating_sub(1)];
        bin.verdicts += 1;
        bin.stated += (probability.clamp(0.0, 1.0) * 1e6) as u64;
        bin.right += u64::from(right);
    }

    /// Adds all of another one.
    pub fn merge(&mut self, other: &Calibration) {
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            mine.verdicts += theirs.verdicts;
            mine.stated += theirs.stated;
            mine.right += theirs.right;
        }
    }

    /// Verdicts with a probability.
    pub fn verdicts(&self) -> u64 {
        self.bins.iter().map(|bin| bin.verdicts).sum()
    }

    /// The mean distance between what is stated in a bin and what is right, by verdicts, in
    /// percent.
    pub fn error(&self) -> f64 {
        let off = |bin: &Bin| (bin.stated as f64 / 1e6 - bin.right as f64).abs();
        100.0 * self.bins.iter().map(off).sum::<f64>() / self.verdicts().max(1) as f64
    }

    /// A row for each bin, in percent.
    pub fn table(&self) -> String {
        let mut rows = vec![["from %", "verdicts", "stated", "right"].map(String::from).to_vec()];
        for (low, bin) in BINS.iter().zip(&self.bins).filter(|(_, bin)| bin.verdicts > 0) {
            let stated = 100.0 * (bin.stated as f64 / 1e6) / bin.verdicts as f64;
            let shares = [Some(stated), percent(bin.right, bin.verdicts)].map(cell);
            rows.push(
                [low.to_string(), bin.verdicts.to_string()].into_iter().chain(shares).collect(),
            );
        }
        format!(
            "probability: {} verdicts, off by {:.1} % on average\n{}",
            self.verdicts(),
            self.error(),
            align(&rows, Align::Right)
        )
    }

    /// The same counts.
    pub fn json(&self) -> Value {
        let bin = |(low, bin): (&u8, &Bin)| {
            json!({
                "from": f64::from(*low) / 100.0,
                "verdicts": bin.verdicts,
                "stated": bin.stated as f64 / 1e6 / bin.verdicts.max(1) as f64,
                "right": bin.right,
            })
        };
        BINS.iter().zip(&self.bins).map(bin).collect()
    }
}

#[cfg(test)]
mod tests;
