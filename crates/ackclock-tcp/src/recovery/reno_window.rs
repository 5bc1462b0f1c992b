//! Slow start, congestion avoidance and multiplicative decrease: RFC 5681 sections 3.1 and 3.2; with appropriate byte
//! counting, RFC 3465.

use crate::axes::{AckSummary, Window};
use crate::sender::State;

/// RFC 3465 section 2.2: the most segments that one ACK may add in slow start.
const L: u64 = 2;

/// The window law of Reno.
pub struct RenoWindow {
    byte_counting: bool,
    halve_window: bool,
    /// RFC 3465 section 2.1: bytes_acked, towards the next increase in congestion avoidance.
    bytes_acked: u64,
    /// This slow start follows a timeout (or Tahoe's fast retransmit).
    restarted: bool,
}

impl RenoWindow {
    /// RFC 5681 equations 2 and 3: by the ACK.
    pub fn per_ack() -> RenoWindow {
        RenoWindow { byte_counting: false, halve_window: false, bytes_acked: 0, restarted: false }
    }

    /// RFC 3465: by the byte.
    pub fn byte_counting() -> RenoWindow {
        RenoWindow { byte_counting: true, ..RenoWindow::per_ack() }
    }

    /// As BSD does (Wright & Stevens 1995 section 29.4): half of the smaller of cwnd and the offered window instead of
    /// half of FlightSize, and on every timeout.
    pub fn halving_window() -> RenoWindow {
        RenoWindow { halve_window: true, ..RenoWindow::per_ack() }
    }

    fn half(&self, s: &State, flight: u64) -> u64 {
        let window = if self.halve_window { s.window() } else { flight };
        // Equation 4: "ssthresh = max (FlightSize / 2, 2*SMSS)".
        (window / 2).max(2 * s.mss)
    }
}

impl Window for RenoWindow {
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        if s.cwnd < s.ssthresh {
            // Equation 2. RFC 3465 section 2.3: L = 1 in "a slow start phase that follows a retransmission timeout".
            let limit = if self.byte_counting && !self.restarted { L * s.mss } else { s.mss };
            return s.cwnd + a.newly_acked.min(limit);
        }
        self.restarted = false;
        if self.byte_counting {
            self.bytes_acked += a.newly_acked;
            if self.bytes_acked < s.cwnd {
                return s.cwnd;
            }
            self.bytes_acked -= s.cwnd;
            return s.cwnd + s.mss;
        }
        // Equation 3: "cwnd += SMSS*SMSS/cwnd", at least 1 byte.
        s.cwnd + (s.mss * s.mss / s.cwnd).max(1)
    }

    fn on_loss(&mut self, s: &State, flight: u64) -> u64 {
        self.bytes_acked = 0;
        self.restarted = false;
        self.half(s, flight)
    }

    fn on_go_back(&mut self, s: &State) -> u64 {
        self.restarted = true;
        s.mss
    }

    fn on_timeout(&mut self, s: &State, flight: u64, repeated: bool) -> u64 {
        self.bytes_acked = 0;
        self.restarted = true;
        // Section 3.1: for a segment that the timer has already retransmitted "the value of ssthresh is held constant".
        if repeated && !self.halve_window { s.ssthresh } else { self.half(s, flight) }
    }
}
