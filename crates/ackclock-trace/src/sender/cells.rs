//! Values by the number of a cell, for those cells alone that lie between the ones in use: few
//! numbers are, close to each other.

use std::ops::Add;

use ackclock_tcp::Span;
use thin_vec::ThinVec;

#[derive(Clone, Debug)]
pub(super) struct Cells<T> {
    /// The cell that `values` begins with.
    first: usize,
    values: ThinVec<T>,
}

impl<T> Default for Cells<T> {
    fn default() -> Cells<T> {
        Cells { first: 0, values: ThinVec::new() }
    }
}

impl<T: Copy + Default> Cells<T> {
    /// The value of a cell, to be changed.
    #[inline]
    pub fn at(&mut self, cell: usize) -> &mut T {
        if cell.wrapping_sub(self.first) >= self.values.len() {
            self.widen(cell);
        }
        &mut self.values[cell - self.first]
    }

    #[cold]
    fn widen(&mut self, cell: usize) {
        if self.values.is_empty() {
            self.first = cell;
        }
        let before = self.first.saturating_sub(cell);
        self.first -= before;
        let after = (cell + 1 - self.first).saturating_sub(self.values.len() + before);
        self.values.reserve_exact(before + after);
        self.values.splice(..0, std::iter::repeat_n(T::default(), before));
        self.values.extend(std::iter::repeat_n(T::default(), after));
    }

    /// Moves all of it there.
    pub fn empty_into(&mut self, to: &mut Cells<T>)
    where
        T: Add<Output = T>,
    {
        for (cell, value) in self.iter() {
            let sum = to.at(cell);
            *sum = *sum + value;
        }
        self.values.clear();
    }

    /// Cells in order, each with its value.
    pub fn iter(&self) -> impl Iterator<Item = (usize, T)> {
        (self.first..).zip(self.values.iter().copied())
    }
}

/// Counts time with so many segments outstanding.
#[inline]
pub(super) fn add_at(cells: &mut Cells<Span>, segments: u64, span: Span) {
    let sum = cells.at(level(segments));
    *sum = *sum + span;
}

/// A window is at most 2^30 bytes (RFC 7323 section 2.3); what several connections have outstanding
/// may be more, and then counts as all that fits.
#[inline]
pub(super) fn bytes(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// Segments outstanding, to within an eighth where they are many.
#[inline]
pub(super) fn level(segments: u64) -> usize {
    let shift = segments.max(8).ilog2() - 3;
    (u64::from(shift) * 8 + (segments >> shift)) as usize
}

/// The fewest segments of a level.
pub(super) fn segments(level: usize) -> u64 {
    let shift = (level / 8).saturating_sub(1);
    (level as u64 - shift as u64 * 8) << shift
}

#[cfg(test)]
mod tests;
