//! The pipe in segments: Fall & Floyd 1996 section 3.4.

use crate::event::Cause;
use crate::recovery::regulate::Regulate;
use crate::state::State;
use crate::summary::AckSummary;

/// The variable pipe goes up by one with each segment sent, new or not. It goes down by one with
/// each duplicate that SACKs something new, and by two with each partial ACK.
#[derive(Default)]
pub struct Ff96Pipe {
    pipe: u64,
}

impl Regulate for Ff96Pipe {
    fn in_flight(&self, _s: &State) -> u64 {
        self.pipe
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        // Three segments have left. The retransmission replaces one that was lost, and is added
        // when it is sent.
        let head = s.board.head().map_or(0, |r| u64::from(r.len));
        self.pipe = s.flight().saturating_sub(s.departed() + head);
        s.ssthresh
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        let left = if a.newly_acked > 0 { 2 * s.mss } else { s.mss };
        self.pipe = self.pipe.saturating_sub(left);
        s.cwnd
    }

    fn on_round_trip(&mut self, s: &State) -> u64 {
        // What was lost without ever being counted out must not hold everything back.
        self.pipe = self.pipe.min(s.cwnd);
        s.cwnd
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.cwnd
    }

    fn on_transmit(&mut self, s: &State, _cause: Cause, len: u64) -> u64 {
        self.pipe += len;
        s.cwnd
    }
}
