//! Reno's fast recovery (RFC 5681 section 3.2): one retransmission, then new data as the inflated
//! window allows, until "the next ACK arrives that acknowledges previously unacknowledged data"
//! (step 6).

use super::{Next, OnAck, Select};
use crate::state::State;
use crate::summary::AckSummary;

/// One retransmission a recovery.
pub struct Head;

impl Select for Head {
    fn name(&self) -> &'static str {
        "head"
    }

    fn ends(&self, _s: &State, a: &AckSummary) -> bool {
        a.newly_acked > 0
    }

    fn on_ack(&mut self, _s: &State, _a: &AckSummary) -> OnAck {
        OnAck::default()
    }

    fn next(&mut self, _s: &State) -> Option<Next> {
        Some(Next::Sequential)
    }
}
