//! The inflation of ns-2.35 (`tcp-reno.cc`, `tcp-newreno.cc`).

use crate::recovery::regulate::{Inflate, Regulate};
use crate::state::State;
use crate::summary::AckSummary;

/// Inflation whose last ACK grows the window too.
pub struct Ns2Inflate {
    inner: Inflate,
    limited: bool,
    /// cwnd without inflation as recovery began.
    target: u64,
}

impl Ns2Inflate {
    /// Recovery ends with half of the window (`exit_recovery_fix_ 0`).
    pub fn to_half_window() -> Ns2Inflate {
        Ns2Inflate { inner: Inflate::to_ssthresh(), limited: false, target: 0 }
    }

    /// Recovery ends with min(ssthresh, FlightSize + SMSS) (`exit_recovery_fix_ 1`).
    pub fn limited_exit() -> Ns2Inflate {
        Ns2Inflate { limited: true, ..Ns2Inflate::to_half_window() }
    }
}

impl Regulate for Ns2Inflate {
    fn inner(&self) -> Option<&dyn Regulate> {
        Some(&self.inner)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Regulate> {
        Some(&mut self.inner)
    }

    fn in_flight(&self, s: &State) -> u64 {
        self.inner.in_flight(s)
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        self.target = s.window() / 2;
        self.target + s.departed()
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.inner.on_ack(s, a)
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        // A lost retransmission, which ns-2 never detects, may have lowered ssthresh below the
        // target since.
        let target = self.target.min(s.ssthresh + s.mss);
        let cwnd = if self.limited { s.ssthresh.min(s.flight() + s.mss) } else { target };
        if cwnd < s.ssthresh { cwnd + s.mss } else { cwnd + s.mss * s.mss / cwnd }
    }
}
