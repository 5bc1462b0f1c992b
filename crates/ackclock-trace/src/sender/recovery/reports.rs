//! Has the receiver reported all that a response to a loss retransmitted?
//!
//! Then the response was spurious (RFC 3708 section 3). Counted as Linux does, whose names these
//! are; the engine's `linux-undo` has the same. RFC 3708 leaves open where a response begins.

#[derive(Debug, Default)]
pub(crate) struct Reports {
    /// The first unacknowledged byte as the response began.
    undo_marker: u64,
    /// Retransmissions that no D-SACK has reported; `None` before the first.
    undo_retrans: Option<u32>,
    /// A tail loss probe retransmitted the segment that ends here.
    probed: u64,
    /// Segments that D-SACKs have reported in all.
    duplicates: u32,
}

impl Reports {
    /// A response begins (`tcp_init_undo`) with so many retransmissions on their way. A tail loss
    /// probe belongs to it only now; it is one of them, unless SACKed.
    pub fn begin(&mut self, una: u64, on_way: u32) {
        let counted = on_way.max(u32::from(self.probed > una));
        self.undo_marker = una;
        self.undo_retrans = Some(counted).filter(|&n| n > 0);
        self.probed = 0;
    }

    /// A segment was retransmitted in the response.
    pub fn retransmitted(&mut self) {
        self.undo_retrans = Some(self.undo_retrans.unwrap_or(0) + 1);
    }

    /// A tail loss probe has retransmitted the segment that ends here.
    pub fn probed(&mut self, end: u64) {
        self.probed = end;
    }

    /// A D-SACK reports so many segments up to `end`, `again` of which were retransmitted, as were
    /// `all` so far. One that is acknowledged counts in any case (`tcp_check_dsack`), one that is
    /// not if it was retransmitted (`tcp_sacktag_one`). More than were ever retransmitted are the
    /// network's (`tcp_dsack_seen`).
    pub fn dsacked(&mut self, end: u64, una: u64, segments: u32, again: u32, all: u32) {
        self.duplicates = self.duplicates.saturating_add(segments);
        if end > self.undo_marker
            && self.duplicates <= all
            && let Some(left) = &mut self.undo_retrans
        {
            *left = left.saturating_sub(if end <= una { segments } else { again });
        }
    }

    pub fn are_complete(&self) -> bool {
        self.undo_retrans == Some(0)
    }
}
