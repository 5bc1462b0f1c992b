//! The revision of duplicate acknowledgment counting (D. Kim et al. 2004), as Miyake & Inamura 2005
//! sections 1 and 2 describe and criticise it; its own paper is not the source. It counts as `lrx`
//! does.

use super::{Response, halved};
use crate::recovery::window::{Window, Windows};
use crate::state::State;

/// The revised DAC. "Whenever the algorithm detects the loss of retransmitted segments, the
/// congestion window and slow start threshold are lowered twice, independently of the fast recovery
/// algorithm, even if the congestion window is artificially inflated". Inferred: both are set to
/// half of ssthresh, at least two segments, so that all inflation is gone; what is outstanding then
/// keeps new data back, and each partial ACK sends one segment a round trip.
pub struct ResponseDacRevised;

impl Response for ResponseDacRevised {
    fn on_lost(&mut self, s: &State, _law: &mut dyn Window) -> Windows {
        let half = halved(s);
        Windows { ssthresh: half, cwnd: half }
    }
}
