//! Appropriate byte counting: RFC 3465.

use super::Window;
use super::reno_window::RenoWindow;
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// Section 2.2: the most segments that one ACK may add in slow start.
const L: u64 = 2;

/// As Reno, but growth counts the bytes acknowledged.
#[derive(Default)]
pub struct Abc {
    /// Section 2.1: bytes_acked, towards the next increase in congestion avoidance.
    bytes_acked: u64,
    /// This slow start follows a timeout (or Tahoe's fast retransmit).
    restarted: bool,
    /// Both as they were before the loss response.
    before: (u64, bool),
}

impl Abc {
    /// A loss response begins.
    fn respond(&mut self, s: &State, restarted: bool) {
        if s.phase == Phase::Open {
            self.before = (self.bytes_acked, self.restarted);
        }
        (self.bytes_acked, self.restarted) = (0, restarted);
    }
}

impl Window for Abc {
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        if s.cwnd < s.ssthresh {
            // Section 2.3: L = 1 in "a slow start phase that follows a retransmission timeout".
            let limit = if self.restarted { s.mss } else { L * s.mss };
            return s.cwnd + a.newly_acked.min(limit);
        }
        self.restarted = false;
        self.bytes_acked += a.newly_acked;
        if self.bytes_acked < s.cwnd {
            return s.cwnd;
        }
        self.bytes_acked -= s.cwnd;
        s.cwnd + s.mss
    }

    fn on_loss(&mut self, s: &State, flight: u64) -> u64 {
        self.respond(s, false);
        RenoWindow.on_loss(s, flight)
    }

    fn on_timeout(&mut self, s: &State, flight: u64, repeated: bool) -> u64 {
        self.respond(s, true);
        RenoWindow.on_timeout(s, flight, repeated)
    }

    fn on_go_back(&mut self, _s: &State) {
        self.restarted = true;
    }

    fn on_undo(&mut self, _s: &State) {
        // Section 2.3: L = 1 is for what a timeout shows of the network, and this one showed
        // nothing.
        (self.bytes_acked, self.restarted) = self.before;
    }
}
