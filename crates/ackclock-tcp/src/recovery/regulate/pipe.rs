//! RFC 6675 section 5 (and RFC 3517 section 5): the estimate of what is in the network is held at
//! cwnd = ssthresh.

use super::Regulate;
use crate::state::State;
use crate::summary::AckSummary;

/// cwnd stays at ssthresh; the pipe counts against it.
pub struct Pipe;

impl Regulate for Pipe {
    fn in_flight(&self, s: &State) -> u64 {
        s.board.pipe()
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.ssthresh
    }

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.cwnd
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.cwnd
    }
}
