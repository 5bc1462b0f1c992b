//! The ranges received above the cumulative acknowledgment (RFC 2018 section 4).

use alloc::vec::Vec;

use crate::segment::SackBlock;

/// The most ranges that are kept. RFC 2018 section 8 lets a receiver discard what it could not
/// acknowledge; a peer that sends single bytes with holes between them would otherwise make each
/// segment cost a scan of millions of ranges.
const MOST_RANGES: usize = 4096;

/// A range of stream positions; the end is exclusive.
pub(super) type Range = (u64, u64);

/// Out-of-order data as disjoint ranges that do not touch, the most recently changed one last.
///
/// That order *is* the order in which RFC 2018 section 4 wants blocks reported, so an ACK only
/// reads the tail. The price is a linear scan when a segment neither extends nor exceeds the
/// highest range; there are rarely more than a few.
#[derive(Clone, Debug, Default)]
pub(super) struct Assembler {
    ranges: Vec<Range>,
    /// The highest right edge; meaningful only while there is a range.
    highest: u64,
}

/// What was there already when a range was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Merged {
    /// The added range together with the ranges it overlapped or touched.
    pub range: Range,
    /// The first part that was held already: what D-SACK reports (RFC 2883 section 4.2).
    pub duplicate: Option<Range>,
    /// Whether it brought a byte that was not held.
    pub fresh: bool,
}

impl Assembler {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The most recently changed ranges first.
    pub fn recent(&self) -> impl Iterator<Item = Range> + '_ {
        self.ranges.iter().rev().copied()
    }

    /// Whether no range may be added that touches none.
    pub fn is_full(&self) -> bool {
        self.ranges.len() >= MOST_RANGES
    }

    /// How many bytes are held.
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|(left, right)| right - left).sum()
    }

    /// The position after the last byte that is held; meaningful only if there is one.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// Adds a non-empty range that stays out of order, unless it would be one too many.
    pub fn insert(&mut self, (left, right): Range) -> Merged {
        let full = self.is_full();
        // The two cases that a sender's next segment takes: it opens a gap, or continues above the
        // last one.
        if (self.ranges.is_empty() || left > self.highest) && !full {
            self.ranges.push((left, right));
            self.highest = right;
            return Merged { range: (left, right), duplicate: None, fresh: true };
        }
        if let Some(last) = self.ranges.last_mut()
            && left == self.highest
            && last.1 == left
        {
            last.1 = right;
            self.highest = right;
            return Merged { range: *last, duplicate: None, fresh: true };
        }
        let merged = self.take((left, right));
        if full && self.ranges.len() >= MOST_RANGES {
            return Merged { fresh: false, ..merged };
        }
        self.ranges.push(merged.range);
        self.highest = self.highest.max(right);
        merged
    }

    /// Removes every range that overlaps or touches `added` and returns them merged with it.
    pub fn take(&mut self, added: Range) -> Merged {
        let (left, right) = added;
        let mut range = added;
        let mut duplicate: Option<Range> = None;
        let mut held = 0;
        self.ranges.retain(|&(l, r)| {
            if r < left || right < l {
                return true;
            }
            range = (range.0.min(l), range.1.max(r));
            let common = (l.max(left), r.min(right));
            if common.0 < common.1 {
                held += common.1 - common.0;
                if duplicate.is_none_or(|d| common.0 < d.0) {
                    duplicate = Some(common);
                }
            }
            false
        });
        Merged { range, duplicate, fresh: held < right - left }
    }
}

/// A range as it stands in a SACK option.
pub(super) fn block(origin: crate::Seq, (left, right): Range) -> SackBlock {
    SackBlock { left: crate::Seq::at(origin, left), right: crate::Seq::at(origin, right) }
}
