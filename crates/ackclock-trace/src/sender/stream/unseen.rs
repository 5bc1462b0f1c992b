//! Retransmissions that were lost before the capture: packets that are missing by their numbers,
//! but for those that carried new data, which is a hole.

use crate::sender::input::Sent;

/// Since nothing was lost that was not repaired.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unseen {
    /// Packets, less segments of new data.
    more: i16,
    /// The numbers of some packets tell nothing.
    uncounted: bool,
}

impl Unseen {
    /// A segment was seen.
    #[inline]
    pub fn passed(&mut self, sent: &Sent) {
        self.more = self.more.saturating_add_unsigned(sent.missing());
        self.uncounted |= !sent.counted;
    }

    /// So many segments of new data were not.
    pub fn missed(&mut self, segments: u64) {
        let segments = segments.try_into().unwrap_or(u16::MAX);
        self.more = self.more.saturating_sub_unsigned(segments);
    }

    /// How many retransmissions have been lost; `None` if that is not known.
    pub fn lost_again(&self) -> Option<u16> {
        (!self.uncounted).then_some(self.more.max(0).unsigned_abs())
    }
}
