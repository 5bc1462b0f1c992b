//! Duplicate acknowledgment counting (B. Kim and J. Lee 2004) and its revision (D. Kim et al. 2004), as Miyake & Inamura
//! 2005 sections 1 and 2 describe and criticise them; their own papers are not the source. Both count as `lrx.rs` does,
//! whose authors changed only what follows the detection.

use crate::axes::{Response, Windows};
use crate::recovery::inflate::inflated;
use crate::sender::State;

/// DAC. Fast recovery does not know of the retransmission and inflates cwnd on that ACK as on any other, so that "two
/// segments, a new segment and an unacknowledged segment are transmitted": more than left the network.
/// Where `resend` fills in for new data, both segments draw duplicates, and the bursts feed each other.
pub struct ResponseDac;

impl Response for ResponseDac {
    fn on_lost(&mut self, s: &State) -> Windows {
        Windows { ssthresh: s.ssthresh, cwnd: inflated(s) }
    }
}

/// The revised DAC. "Whenever the algorithm detects the loss of retransmitted segments, the congestion window and slow start
/// threshold are lowered twice, independently of the fast recovery algorithm, even if the congestion window is artificially
/// inflated". Inferred: both are set to half of ssthresh, at least two segments, so that all inflation is gone; what is
/// outstanding then keeps new data back, and each partial ACK sends one segment a round trip.
pub struct ResponseDacRevised;

impl Response for ResponseDacRevised {
    fn on_lost(&mut self, s: &State) -> Windows {
        let half = (s.ssthresh / 2).max(2 * s.mss);
        Windows { ssthresh: half, cwnd: half }
    }
}
