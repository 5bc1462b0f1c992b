//! What BSD halves: Wright & Stevens 1995 section 29.4.

use super::Window;
use super::reno_window::RenoWindow;
use crate::state::State;
use crate::summary::AckSummary;

/// As Reno, but half of the smaller of cwnd and the offered window instead of half of FlightSize,
/// and on every timeout.
pub struct HalfWindow;

/// `win = min(tp->snd_wnd, tp->snd_cwnd) / 2 / tp->t_maxseg`: whole segments, at least two.
fn half(s: &State) -> u64 {
    (s.window() / 2 / s.mss).max(2) * s.mss
}

impl Window for HalfWindow {
    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        RenoWindow.on_ack(s, a)
    }

    fn on_loss(&mut self, s: &State, _flight: u64) -> u64 {
        half(s)
    }

    fn on_timeout(&mut self, s: &State, _flight: u64, _repeated: bool) -> u64 {
        half(s)
    }
}
