//! Miyake & Inamura 2005, section 3.2, option II: a lost retransmission halves ssthresh once more.
//!
//! Figure 2 has `ssthresh <- max(cwnd_old/2, 2*SMSS)`, which repeated would change
//! nothing, while its caption has `ssthresh = cwnd_old/4` and the text "`ssthresh` which is lowered
//! twice". Its figure 13 goes from 11 to 5, so half of ssthresh is what is taken here.

use super::{Response, halved};
use crate::recovery::window::{Window, Windows};
use crate::state::State;

/// Option II: ssthresh is halved again, but "only once during loss recovery"; cwnd keeps its
/// inflation until the end.
#[derive(Default)]
pub struct Response2 {
    lowered: bool,
}

impl Response for Response2 {
    fn on_enter(&mut self) {
        self.lowered = false;
    }

    fn on_lost(&mut self, s: &State, _law: &mut dyn Window) -> Windows {
        if core::mem::replace(&mut self.lowered, true) {
            return Windows::unchanged(s);
        }
        Windows { ssthresh: halved(s), cwnd: s.cwnd }
    }
}
