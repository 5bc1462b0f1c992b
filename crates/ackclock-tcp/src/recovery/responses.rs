//! What the loss of a retransmission does to the windows: Miyake & Inamura 2005, section 3.2, options I, II and III.
//!
//! For option II, figure 2 has `ssthresh <- max(cwnd_old/2, 2*SMSS)`, which repeated would change nothing, while its caption
//! has `ssthresh = cwnd_old/4` and the text "`ssthresh` which is lowered twice". Its figure 13 goes from 11 to 5, so half of
//! ssthresh is what is taken here.

use crate::axes::{Response, Windows};
use crate::sender::State;

fn unchanged(s: &State) -> Windows {
    Windows { ssthresh: s.ssthresh, cwnd: s.cwnd }
}

/// Option I: nothing, since both losses lie "within a single transmission window".
pub struct Response1;

impl Response for Response1 {
    fn on_lost(&mut self, s: &State) -> Windows {
        unchanged(s)
    }
}

/// Option II: ssthresh is halved again, but "only once during loss recovery"; cwnd keeps its inflation until the end.
#[derive(Default)]
pub struct Response2 {
    lowered: bool,
}

impl Response for Response2 {
    fn on_enter(&mut self) {
        self.lowered = false;
    }

    fn on_lost(&mut self, s: &State) -> Windows {
        if core::mem::replace(&mut self.lowered, true) {
            return unchanged(s);
        }
        Windows { ssthresh: (s.ssthresh / 2).max(2 * s.mss), cwnd: s.cwnd }
    }
}

/// Option III: recovery ends with cwnd = 1 segment, as after a timeout (figure 3).
#[derive(Default)]
pub struct Response3 {
    lost: bool,
}

impl Response for Response3 {
    fn on_enter(&mut self) {
        self.lost = false;
    }

    fn on_lost(&mut self, s: &State) -> Windows {
        self.lost = true;
        unchanged(s)
    }

    fn on_exit(&mut self, s: &State, cwnd: u64) -> u64 {
        if self.lost { s.mss } else { cwnd }
    }
}
