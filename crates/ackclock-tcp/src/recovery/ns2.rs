//! ns-2.35's one-way TCP agents where they depart from the RFCs, so that results published with ns-2 can be reproduced
//! segment by segment. What each departure is, and which test shows it: `crosscheck/README.md`. ns-2 halves min(cwnd,
//! rwnd), not FlightSize, and keeps half a segment in cwnd.

use super::ff96::Ff96Pipe;
use super::inflate::Inflate;
use super::reno_window::RenoWindow;
use crate::axes::{AckSummary, Regulate, Window};
use crate::event::Cause;
use crate::recovery::dupack::departed;
use crate::sender::{Phase, State};

/// Reno's law with ssthresh in whole segments and growth without rounding; every timeout halves the window, a repeated
/// one too.
pub struct Ns2Window {
    growth: RenoWindow,
    /// The part of a byte by which ns-2's cwnd, a real number, exceeds ours.
    fraction: f64,
}

impl Ns2Window {
    /// `windowOption_ 1`, `decrease_num_ 0.5`.
    pub fn halving() -> Ns2Window {
        Ns2Window { growth: RenoWindow::per_ack(), fraction: 0.0 }
    }

    fn whole_segments(s: &State, bytes: u64) -> u64 {
        (bytes / s.mss).max(2) * s.mss
    }
}

impl Window for Ns2Window {
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        if s.cwnd < s.ssthresh {
            return self.growth.on_ack(s, a);
        }
        let mss = s.mss as f64;
        let cwnd = s.cwnd as f64 + self.fraction;
        let grown = cwnd + mss * mss / cwnd;
        self.fraction = grown - (grown as u64) as f64;
        grown as u64
    }

    fn on_loss(&mut self, s: &State, _flight: u64) -> u64 {
        self.fraction = 0.0;
        Ns2Window::whole_segments(s, s.window() / 2)
    }

    fn on_timeout(&mut self, s: &State, _flight: u64, _repeated: bool) -> u64 {
        self.fraction = 0.0;
        // Within recovery the window without its inflation is what counts, that is ssthresh.
        let half = if s.phase == Phase::Recovery { s.ssthresh / 2 } else { s.window() / 2 };
        Ns2Window::whole_segments(s, half)
    }
}

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
    fn in_flight(&self, s: &State) -> u64 {
        self.inner.in_flight(s)
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        self.target = s.window() / 2;
        self.target + departed(s)
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.inner.on_ack(s, a)
    }

    fn on_transmit(&mut self, s: &State, cause: Cause, len: u64) -> u64 {
        self.inner.on_transmit(s, cause, len)
    }

    fn on_round_trip(&mut self, s: &State) -> u64 {
        self.inner.on_round_trip(s)
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        // A retransmission found lost, which ns-2 never does, may have lowered ssthresh below the target since.
        let target = self.target.min(s.ssthresh + s.mss);
        let cwnd = if self.limited { s.ssthresh.min(s.flight() + s.mss) } else { target };
        if cwnd < s.ssthresh { cwnd + s.mss } else { cwnd + s.mss * s.mss / cwnd }
    }
}

/// Fall and Floyd's pipe, held at half of the window.
#[derive(Default)]
pub struct Ns2Pipe {
    inner: Ff96Pipe,
}

impl Regulate for Ns2Pipe {
    fn in_flight(&self, s: &State) -> u64 {
        self.inner.in_flight(s)
    }

    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.inner.on_enter(s, a);
        s.window() / 2
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.inner.on_ack(s, a)
    }

    fn on_exit(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.inner.on_exit(s, a)
    }

    fn on_transmit(&mut self, s: &State, cause: Cause, len: u64) -> u64 {
        self.inner.on_transmit(s, cause, len)
    }

    fn on_round_trip(&mut self, s: &State) -> u64 {
        self.inner.on_round_trip(s)
    }
}
