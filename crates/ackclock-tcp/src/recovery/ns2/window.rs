//! The window law of ns-2.35 (`tcp.cc`, `opencwnd` and `slowdown`).

use crate::recovery::window::{RenoWindow, Window};
use crate::state::{Phase, State};
use crate::summary::AckSummary;

/// Reno's law with ssthresh in whole segments and growth without rounding. Every timeout halves the
/// window, a repeated one too.
pub struct Ns2Window {
    /// The part of a byte by which ns-2's cwnd, a real number, exceeds ours.
    fraction: f64,
}

impl Ns2Window {
    /// `windowOption_ 1`, `decrease_num_ 0.5`.
    pub fn halving() -> Ns2Window {
        Ns2Window { fraction: 0.0 }
    }

    fn whole_segments(s: &State, bytes: u64) -> u64 {
        (bytes / s.mss).max(2) * s.mss
    }
}

impl Window for Ns2Window {
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        if s.cwnd < s.ssthresh {
            return RenoWindow.on_ack(s, a);
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
        // Within recovery the window without its inflation counts, which is at most ssthresh and
        // half a segment.
        let most = if s.phase == Phase::Recovery { s.ssthresh } else { u64::MAX };
        Ns2Window::whole_segments(s, s.window().min(most) / 2)
    }
}
