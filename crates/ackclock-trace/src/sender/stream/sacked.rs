//! What SACK blocks have covered.

use thin_vec::ThinVec;

/// Most ranges. Each costs time in proportion to their number.
const MOST: usize = 1 << 12;

/// Sorted ranges, so that only what is new in a block is walked.
#[derive(Debug, Default)]
pub(super) struct Sacked {
    ranges: ThinVec<(u64, u64)>,
    /// Bytes in `ranges`.
    bytes: u64,
}

impl Sacked {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Position after the highest byte; 0 if there is none.
    #[inline]
    pub fn highest(&self) -> u64 {
        self.ranges.last().map_or(0, |last| last.1)
    }

    /// Takes a block in. `new` is called with each range of it that was not there before. Returns
    /// whether it was taken in, or was there; where the caller has no `room`, or there are too many
    /// ranges, it is not.
    pub fn add(
        &mut self,
        left: u64,
        right: u64,
        room: bool,
        mut new: impl FnMut(u64, u64),
    ) -> bool {
        // The ranges that the block overlaps or touches become one.
        let from = self.ranges.partition_point(|r| r.1 < left);
        let to = self.ranges.partition_point(|r| r.0 <= right);
        if to == from + 1 && self.ranges[from].0 <= left && right <= self.ranges[from].1 {
            return true;
        }
        if from == to && self.ranges.len() >= MOST || !room {
            return false;
        }
        let (mut position, mut joined) = (left, (left, right));
        for &(l, r) in &self.ranges[from..to] {
            if position < l {
                self.bytes += l - position;
                new(position, l);
            }
            position = position.max(r);
            joined = (joined.0.min(l), joined.1.max(r));
        }
        if position < right {
            self.bytes += right - position;
            new(position, right);
        }
        self.ranges.splice(from..to, [joined]);
        true
    }

    /// Forgets what is below `ack`.
    pub fn forget_below(&mut self, ack: u64) {
        let gone = self.ranges.partition_point(|r| r.1 <= ack);
        self.bytes -= self.ranges.drain(..gone).map(|r| r.1 - r.0).sum::<u64>();
        if let Some(first) = self.ranges.first_mut()
            && first.0 < ack
        {
            self.bytes -= ack - first.0;
            first.0 = ack;
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.bytes = 0;
    }
}
