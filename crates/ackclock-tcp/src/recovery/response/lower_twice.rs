//! RFC 5681 section 4.3: "the loss of a retransmission [...] should be taken as two indications of
//! congestion and, therefore, cwnd (and ssthresh) MUST be lowered twice in this case."

use super::{Response, halved};
use crate::recovery::window::{Window, Windows};
use crate::state::State;

/// Each ACK, or expiry of a timer, that shows retransmissions lost halves ssthresh, whatever the
/// window law, and takes as much off cwnd, inflation kept.
pub struct LowerTwice;

impl Response for LowerTwice {
    fn on_lost(&mut self, s: &State, _law: &mut dyn Window) -> Windows {
        let ssthresh = halved(s);
        Windows { ssthresh, cwnd: s.cwnd.saturating_sub(s.ssthresh - ssthresh) }
    }
}
