//! Packet conservation for the oracle (own; `detect/notified.rs`).

use super::Regulate;
use crate::event::Cause;
use crate::state::State;
use crate::summary::AckSummary;

/// Sends in proportion to what leaves the network, delivered or lost.
#[derive(Default)]
pub struct Conserve {
    /// Bytes in the network as recovery began.
    initial: u64,
    /// Bytes sent since.
    out: u64,
}

impl Conserve {
    fn cwnd(&self, s: &State) -> u64 {
        let pipe = s.board.pipe();
        let left = (self.initial + self.out).saturating_sub(pipe);
        // In whole segments, the first one at once. Where the product saturates, much more has left
        // than was there at first, and ssthresh decides.
        let share = left.saturating_mul(s.ssthresh.min(self.initial));
        let target =
            share.div_ceil(self.initial.max(1).saturating_mul(s.mss)).saturating_mul(s.mss);
        // A window of less than a segment would never send.
        (pipe + target.saturating_sub(self.out)).max(s.ssthresh).max(s.mss)
    }
}

impl Regulate for Conserve {
    fn in_flight(&self, s: &State) -> u64 {
        s.board.pipe()
    }

    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        let left = a.newly_acked - a.sacked_before + a.newly_sacked + a.newly_lost;
        (self.initial, self.out) = (s.board.pipe() + left, 0);
        self.cwnd(s)
    }

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> u64 {
        self.cwnd(s)
    }

    fn on_lost(&mut self, s: &State, _bytes: u64) -> u64 {
        self.cwnd(s)
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.ssthresh
    }

    fn on_transmit(&mut self, s: &State, _cause: Cause, len: u64) -> u64 {
        self.out += len;
        s.cwnd
    }
}
