//! Duplicate acknowledgment counting (B. Kim and J. Lee 2004), as Miyake & Inamura 2005 sections 1
//! and 2 describe and criticise it; its own paper is not the source. It counts as `lrx` does, whose
//! authors changed only what follows the detection.

use super::Response;
use crate::recovery::regulate::inflated;
use crate::recovery::window::{Window, Windows};
use crate::state::State;

/// DAC. Fast recovery does not know of the retransmission and inflates cwnd on that ACK as on any
/// other, so that "two segments, a new segment and an unacknowledged segment are transmitted": more
/// than left the network. Where `resend` fills in for new data, both segments draw duplicates, and
/// the bursts feed each other.
pub struct ResponseDac;

impl Response for ResponseDac {
    fn on_lost(&mut self, s: &State, _law: &mut dyn Window) -> Windows {
        Windows { ssthresh: s.ssthresh, cwnd: inflated(s) }
    }
}
