//! NewReno's partial acknowledgments (RFC 6582 section 3.2 step 3): "retransmit the first
//! unacknowledged segment"; "for the first partial ACK that arrives during fast recovery, also
//! reset the retransmit timer".

use super::{Next, OnAck, Select};
use crate::state::State;
use crate::summary::AckSummary;

/// A retransmission for each partial ACK.
pub struct PartialAck {
    every_partial_restarts: bool,
    seen_partial: bool,
}

impl PartialAck {
    /// The "Impatient" variant (RFC 3782 section 4; RFC 6582 section 3.2 step 3): only the first
    /// partial ACK restarts the timer, so that a recovery of many losses falls back to slow start
    /// in the end.
    pub fn impatient() -> PartialAck {
        PartialAck { every_partial_restarts: false, seen_partial: false }
    }

    /// The "Slow-but-Steady" variant (RFC 3782 section 4): every partial ACK restarts the timer.
    pub fn slow_but_steady() -> PartialAck {
        PartialAck { every_partial_restarts: true, seen_partial: false }
    }
}

impl Select for PartialAck {
    fn name(&self) -> &'static str {
        if self.every_partial_restarts { "slow-but-steady" } else { "partial-ack" }
    }

    fn on_enter(&mut self, _s: &State) {
        self.seen_partial = false;
    }

    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> OnAck {
        if a.newly_acked == 0 {
            return OnAck::default();
        }
        let restart_timer = self.every_partial_restarts || !self.seen_partial;
        self.seen_partial = true;
        OnAck { retransmit_head: true, restart_timer }
    }

    fn next(&mut self, _s: &State) -> Option<Next> {
        Some(Next::Sequential)
    }
}
