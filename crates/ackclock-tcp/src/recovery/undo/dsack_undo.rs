//! Undo by D-SACK (RFC 3708 section 3): a response was spurious if D-SACK blocks (RFC 2883) have
//! reported each segment that was retransmitted since.
//!
//! "The previous window of data" is taken to begin with the loss response, or with a tail probe
//! that follows the last retransmission by a window. A D-SACK of something earlier says nothing:
//! earlier retransmissions are forgotten. A D-SACK that covers a segment in part does not mark it.

use alloc::vec::Vec;

use super::{Undo, Verdict};
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// A segment that was retransmitted.
struct Retransmitted {
    seq: u64,
    end: u64,
    once: bool,
    duplicate: bool,
}

/// Judges by the D-SACKs of what was retransmitted.
#[derive(Default)]
pub struct DsackUndo {
    /// In the order of their positions.
    segments: Vec<Retransmitted>,
    /// Retransmissions below this position are forgotten.
    since: u64,
    /// `snd_max` at the last retransmission.
    window_end: u64,
    /// A loss response belongs to this window, and may be undone.
    response: bool,
    /// The network duplicates segments (step A.4).
    disabled: bool,
}

impl DsackUndo {
    fn begin_window(&mut self, s: &State, response: bool) {
        self.segments.retain(|r| r.end > s.snd_una);
        (self.since, self.response) = (s.snd_una, response);
    }

    /// Steps A.2 to A.4. Returns whether processing continues.
    fn mark(&mut self, left: u64, right: u64) -> bool {
        let first = self.segments.partition_point(|r| r.end <= left);
        let mut found = false;
        for r in self.segments[first..].iter_mut().take_while(|r| r.seq < right) {
            found = true;
            // A.3
            self.response &= r.once;
            r.duplicate |= left <= r.seq && r.end <= right;
        }
        // A.4
        self.disabled = !found;
        found
    }
}

impl Undo for DsackUndo {
    fn name(&self) -> &'static str {
        "dsack-undo"
    }

    fn on_response(&mut self, s: &State, _timeout: bool) {
        // A timeout within a recovery is part of the same response: what is restored was saved
        // before both.
        if s.phase == Phase::Open {
            self.begin_window(s, true);
        }
    }

    fn on_retransmit(&mut self, s: &State, seq: u64, len: u32) {
        if s.phase == Phase::Open && s.snd_una > self.window_end {
            self.begin_window(s, false);
        }
        self.window_end = s.snd_max;
        let end = seq + u64::from(len);
        let index = self.segments.partition_point(|r| r.seq < seq);
        match self.segments.get_mut(index) {
            Some(r) if r.seq == seq => (r.once, r.duplicate) = (false, false),
            _ => self
                .segments
                .insert(index, Retransmitted { seq, end, once: true, duplicate: false }),
        }
    }

    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Verdict {
        let Some((left, right)) = a.dsack.filter(|_| !self.disabled) else { return Verdict::Open };
        if left < self.since {
            return Verdict::Open;
        }
        // A.1: an entire window of ACKs was lost.
        if left == a.prior_una && s.board.highest_sacked() <= a.prior_una {
            self.response = false;
            return Verdict::Open;
        }
        // B
        let spurious =
            self.mark(left, right) && self.response && self.segments.iter().all(|r| r.duplicate);
        if spurious { Verdict::Spurious } else { Verdict::Open }
    }
}
