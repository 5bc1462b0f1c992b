//! Eifel detection (RFC 3522): a response was spurious if the first ACK that advances after it
//! echoes a timestamp from before the retransmission. Then the ACK answers the original.
//!
//! This is the algorithm of section 3.2, not the safe variant of section 3.4. What follows is the
//! connection's undo, which restores the windows, or `rfc4015`. Without timestamps it never judges.

use super::{Undo, Verdict};
use crate::segment::Timestamps;
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// Judges by the timestamp of the first retransmission.
#[derive(Default)]
pub struct Eifel {
    /// Loss recovery was initiated, and no ACK has advanced since.
    waiting: bool,
    /// RetransmitTS.
    retransmit_ts: Option<u32>,
    dsack_seen: bool,
}

impl Undo for Eifel {
    fn name(&self) -> &'static str {
        "eifel"
    }

    fn on_response(&mut self, s: &State, _timeout: bool) {
        // "MUST NOT be reinitiated after loss recovery has already started".
        if s.phase == Phase::Open {
            (self.waiting, self.retransmit_ts) = (true, None);
        }
    }

    fn on_retransmit(&mut self, s: &State, _seq: u64, _len: u32) {
        // Step 2: RetransmitTS must not "get overwritten as loss recovery progresses".
        self.retransmit_ts.get_or_insert(s.now.timestamp());
    }

    fn skips_plain_acks(&self) -> bool {
        !self.waiting
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Verdict {
        let dsack_before = self.dsack_seen;
        self.dsack_seen |= a.dsack.is_some();
        // Step 3: an acceptable ACK.
        if a.newly_acked == 0 || !core::mem::take(&mut self.waiting) {
            return Verdict::Open;
        }
        let (Some(echo), Some(sent)) = (a.ts_echo, self.retransmit_ts) else {
            return Verdict::Open;
        };
        // Step 4.
        let answers_original = Timestamps::is_older(echo, sent);
        // Step 5: if all ACKs of a flight were lost, the receiver answers the retransmission with
        // an old timestamp too, and acknowledges all that is outstanding.
        let all_acks_lost = a.dsack.is_some() || (!dsack_before && s.flight() == 0);
        if answers_original && !all_acks_lost { Verdict::Spurious } else { Verdict::Open }
    }
}
