//! The window law of ns-2.35 (`tcp.cc`, `opencwnd` and `slowdown`).

use crate::recovery::window::{RenoWindow, Window};
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// Reno's law with ssthresh in whole segments and growth without rounding. Every timeout halves the
/// window, a repeated one too.
pub struct Ns2Window {
    /// The part of a byte by which ns-2's cwnd, a real number, exceeds ours, while ours is `of`.
    fraction: f64,
    of: u64,
}

impl Ns2Window {
    /// `windowOption_ 1`, `decrease_num_ 0.5`.
    pub fn halving() -> Ns2Window {
        Ns2Window { fraction: 0.0, of: 0 }
    }

    fn whole_segments(s: &State, bytes: u64) -> u64 {
        (bytes / s.mss).max(2) * s.mss
    }

    fn real(&self, cwnd: u64) -> f64 {
        cwnd as f64 + if cwnd == self.of { self.fraction } else { 0.0 }
    }

    /// Keeps the fraction; the bytes before it.
    fn keep(&mut self, cwnd: f64) -> u64 {
        self.of = cwnd as u64;
        self.fraction = cwnd - self.of as f64;
        self.of
    }
}

impl Window for Ns2Window {
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        if s.cwnd < s.ssthresh {
            return RenoWindow.on_ack(s, a);
        }
        let (mss, cwnd) = (s.mss as f64, self.real(s.cwnd));
        self.keep(cwnd + mss * mss / cwnd)
    }

    fn on_loss(&mut self, s: &State, _flight: u64) -> u64 {
        self.keep(self.real(s.window()) / 2.0);
        Ns2Window::whole_segments(s, s.window() / 2)
    }

    fn on_timeout(&mut self, s: &State, _flight: u64, _repeated: bool) -> u64 {
        // Within recovery the window without its inflation counts, which is at most ssthresh and
        // half a segment.
        let most = if s.phase == Phase::Recovery { s.ssthresh } else { u64::MAX };
        Ns2Window::whole_segments(s, s.window().min(most) / 2)
    }
}
