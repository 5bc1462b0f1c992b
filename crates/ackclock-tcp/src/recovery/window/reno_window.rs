//! Slow start, congestion avoidance and multiplicative decrease: RFC 5681 sections 3.1 and 3.2.

use super::Window;
use crate::state::State;
use crate::summary::AckSummary;

/// The window law of Reno, which grows by the ACK.
pub struct RenoWindow;

/// Equation 4: "ssthresh = max (FlightSize / 2, 2*SMSS)".
pub(in crate::recovery) fn half(s: &State, bytes: u64) -> u64 {
    (bytes / 2).max(2 * s.mss)
}

impl Window for RenoWindow {
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        if s.cwnd < s.ssthresh {
            // Equation 2.
            return s.cwnd + a.newly_acked.min(s.mss);
        }
        // Equation 3: "cwnd += SMSS*SMSS/cwnd", at least 1 byte.
        s.cwnd + (s.mss * s.mss / s.cwnd).max(1)
    }

    fn on_loss(&mut self, s: &State, flight: u64) -> u64 {
        half(s, flight)
    }

    fn on_timeout(&mut self, s: &State, flight: u64, repeated: bool) -> u64 {
        // Section 3.1: for a segment that the timer has already retransmitted "the value of
        // ssthresh is held constant".
        if repeated { s.ssthresh } else { half(s, flight) }
    }
}
