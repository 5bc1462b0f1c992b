//! Miyake & Inamura 2005, section 3.2, option III: a lost retransmission counts as a timeout.

use super::Response;
use crate::recovery::window::{Window, Windows};
use crate::state::State;

/// Option III: recovery ends with cwnd = 1 segment, as after a timeout (figure 3).
#[derive(Default)]
pub struct Response3 {
    lost: bool,
}

impl Response for Response3 {
    fn on_enter(&mut self) {
        self.lost = false;
    }

    fn on_lost(&mut self, s: &State, _law: &mut dyn Window) -> Windows {
        self.lost = true;
        Windows::unchanged(s)
    }

    fn on_exit(&mut self, s: &State, cwnd: u64) -> u64 {
        if self.lost { s.mss } else { cwnd }
    }
}
