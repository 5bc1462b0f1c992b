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
mod tests {
    use super::*;

    #[test]
    fn cells_follow_each_other() {
        for ns in [0, 1, 15, 16, 17, 31, 32, 33, 1_000, 65_535, 65_536, 50_000_000, u64::MAX >> 1] {
            let cell = cell(ns);
            assert!(start(cell) <= ns && ns < start(cell + 1), "{ns}: cell {cell}");
        }
        assert_eq!((cell(31), cell(32), cell(33), cell(34)), (31, 32, 32, 33));
    }

    #[test]
    fn quantiles() {
        let mut trips = Trips::default();
        for ms in [50, 40, 60, 50, 50, 400] {
            trips.add(Span::from_millis(ms));
        }
        // 50 ms lie between 48.2 and 50.3, 400 ms between 385.9 and 402.7, 40 ms between 39.8 and
        // 41.9.
        let ms = |percent| trips.percentile(percent).0 / 1_000_000;
        assert_eq!((ms(50), ms(99), ms(0)), (49, 394, 40));
    }
}
