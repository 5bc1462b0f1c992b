//! Compares what is found in captures with what happened.
//!
//! `ackclock_trace` explains what a capture shows. What happened is known here, from the simulator
//! or from the kernel's counters. [`Score`] counts both beside each other.

mod calibration;
mod captures;
pub mod ceiling;
mod cell;
mod command;
mod division;
pub mod kernel;
pub mod linux;
pub mod loss_causes;
mod matrix;
mod places;
mod population;
mod shares;
mod truth;
mod ways;
pub mod what_if;

pub use calibration::Calibration;
pub use captures::{Missing, Scores, Wrong, score};
pub use matrix::{Matrix, Score, summary};
pub use places::{EVERYWHERE, PLACES};
pub use population::{scenario, steady};
pub use shares::{Shares, part};
pub use truth::{Expiry, Retransmitted};
pub use ways::{TrueWays, WAYS, WaysScore};

use std::ops::Range;

use rayon::prelude::*;

/// The scores of the connections of these seeds, captured at these of [`PLACES`], added up.
/// `population`: the scenario of a seed, as [`scenario`].
///
/// # Errors
/// The first one's, as [`score`].
pub fn score_all(
    seeds: Range<u64>,
    population: impl Fn(u64) -> String + Sync,
    places: &Range<usize>,
) -> Result<Scores, String> {
    let all: Result<Vec<Scores>, String> = seeds
        .into_par_iter()
        .map(|seed| {
            score(&population(seed), seed, places)
                .map(|(scores, _)| scores)
                .map_err(|e| format!("seed {seed}: {e}"))
        })
        .collect();
    let mut sum = Scores::default();
    for scores in all? {
        for (sum, score) in sum.iter_mut().flatten().zip(scores.iter().flatten()) {
            sum.merge(score);
        }
    }
    Ok(sum)
}
