//! cwnd is the window law's alone, within recovery too (Linux's `cong_control`, by which
//! `tcp_cong_control` and `tcp_end_cwnd_reduction` leave PRR out).
//!
//! For laws that go by rate ([`Window::by_rate`](crate::recovery::window::Window::by_rate)). A
//! timeout leaves room for one segment (`tcp_enter_loss`).

use super::Regulate;
use crate::state::State;
use crate::summary::AckSummary;

/// Leaves cwnd to the window law.
pub struct ByWindow;

impl Regulate for ByWindow {
    fn everywhere(&self) -> bool {
        true
    }

    fn in_flight(&self, s: &State) -> u64 {
        u64::from(s.packets_in_flight()) * s.mss
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.cwnd
    }

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.cwnd
    }

    fn on_timeout(&mut self, s: &State) -> u64 {
        self.in_flight(s) + s.mss
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.cwnd
    }
}
