//! The inflation of ns-2.35 (`tcp-reno.cc`, `tcp-newreno.cc`).

use crate::recovery::regulate::{Inflate, Regulate, inflated};
use crate::state::State;
use crate::summary::AckSummary;

/// Inflation apart from the window that it inflates, whose last ACK grows the window too.
pub struct Ns2Inflate {
    inner: Inflate,
    limited: bool,
    deflates: bool,
    /// `dupwnd_` in bytes: how much of cwnd is inflation.
    dupwnd: u64,
}

impl Ns2Inflate {
    /// Recovery ends with half of the window (`exit_recovery_fix_ 0`).
    pub fn to_half_window() -> Ns2Inflate {
        Ns2Inflate { inner: Inflate::to_ssthresh(), limited: false, deflates: true, dupwnd: 0 }
    }

    /// Recovery ends with min(ssthresh, FlightSize + SMSS) (`exit_recovery_fix_ 1`).
    pub fn limited_exit() -> Ns2Inflate {
        Ns2Inflate { limited: true, ..Ns2Inflate::to_half_window() }
    }

    /// A partial ACK ends the inflation, and leaves cwnd as it is (`partial_window_deflation_ 0`).
    pub fn until_partial() -> Ns2Inflate {
        Ns2Inflate { deflates: false, ..Ns2Inflate::to_half_window() }
    }

    fn base(&self, s: &State) -> u64 {
        s.cwnd.saturating_sub(self.dupwnd)
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
        self.dupwnd = s.departed();
        s.window() / 2 + self.dupwnd
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        let mut base = self.base(s);
        if a.newly_acked == 0 {
            // If this ACK showed a retransmission lost, the next one takes the place of the segment
            // that the ACK would release.
            let counts = a.duplicate && !a.retransmission_lost;
            self.dupwnd += if counts { inflated(s) - s.cwnd } else { 0 };
        } else if !self.deflates {
            self.dupwnd = 0;
        } else if self.dupwnd > a.newly_acked {
            self.dupwnd -= a.newly_acked - s.mss.min(a.newly_acked);
        } else {
            base = (base + self.dupwnd).saturating_sub(a.newly_acked).max(s.mss);
            self.dupwnd = s.mss;
        }
        base + self.dupwnd
    }

    fn deflated(&self, s: &State) -> Option<u64> {
        Some(self.base(s))
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        // A lost retransmission, which ns-2 never detects, may have lowered ssthresh below the
        // window since.
        let base = self.base(s).min(s.ssthresh.saturating_add(s.mss));
        let limited = self.limited && self.dupwnd > 0;
        self.dupwnd = 0;
        let cwnd = if limited { s.ssthresh.min(s.flight() + s.mss) } else { base };
        if cwnd < s.ssthresh { cwnd + s.mss } else { cwnd + s.mss * s.mss / cwnd.max(1) }
    }
}
