//! How round trips are distributed, in little memory: counted in cells that are a sixteenth of an
//! octave wide, so that a quantile is known to 3 %.

use ackclock_tcp::Span;

use crate::sender::cells::Cells;

/// Cells of an octave.
const CELLS: u64 = 16;

#[derive(Clone, Debug, Default)]
pub(crate) struct Trips(Cells<u32>);

impl Trips {
    #[inline]
    pub fn add(&mut self, trip: Span) {
        let count = self.0.at(cell(trip.0));
        *count = count.saturating_add(1);
    }

    /// What `percent` of the round trips do not exceed, to the middle of a cell.
    pub fn percentile(&self, percent: u64) -> Span {
        let all: u64 = self.0.iter().map(|(_, count)| u64::from(count)).sum();
        let mut left = (all * percent).div_ceil(100).max(1);
        for (cell, count) in self.0.iter() {
            if u64::from(count) >= left {
                return Span(start(cell) / 2 + start(cell + 1) / 2);
            }
            left -= u64::from(count);
        }
        Span::ZERO
    }
}

fn cell(ns: u64) -> usize {
    let octave = u64::from(ns.max(CELLS).ilog2()) - u64::from(CELLS.ilog2());
    (octave * CELLS + (ns >> octave)) as usize
}

/// The first of a cell.
fn start(cell: usize) -> u64 {
    let cell = cell as u64;
    match (cell / CELLS).checked_sub(1) {
        Some(octave) => (CELLS + cell % CELLS).checked_shl(octave as u32).unwrap_or(u64::MAX),
        None => cell,
    }
}

#[cfg(test)]
mod tests;
