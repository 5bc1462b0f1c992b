//! Tahoe (Jacobson 1988, as Fall & Floyd 1996 section 2 describe it): after a fast retransmit, slow
//! start from the first unacknowledged segment.

use super::{Next, OnAck, Select};
use crate::state::State;
use crate::summary::AckSummary;

/// Everything from the first unacknowledged segment again, under slow start.
pub struct GoBackN;

impl Select for GoBackN {
    fn name(&self) -> &'static str {
        "go-back-n"
    }

    fn goes_back(&self) -> bool {
        true
    }

    fn on_ack(&mut self, _s: &State, _a: &AckSummary) -> OnAck {
        OnAck::default()
    }

    fn next(&mut self, _s: &State) -> Option<Next> {
        Some(Next::Sequential)
    }
}
