//! The acknowledgment heuristic: Gurtov & Floyd, *Resolving Acknowledgment Ambiguity in non-SACK
//! TCP* (NEW2AN 2004), section III.A; RFC 6582 section 4.1.
//!
//! Three spurious retransmissions draw three duplicates. The ACK before them jumped over these
//! three segments and over the one that filled the hole. So a smaller jump means that the
//! duplicates stem from a loss.
//!
//! The bound is the paper's "at most three MSS", as in ns-2.35. RFC 3782 and RFC 6582 have "at most
//! 4*SMSS", which admits the very jump "by at least four segments" that both texts ascribe to
//! spurious retransmissions.

use super::{Ambiguity, Bugfix};
use crate::state::DUPTHRESH;
use crate::state::State;
use crate::summary::AckSummary;

/// Below the recovery point, duplicates begin a recovery if the last ACK that advanced did not
/// jump.
#[derive(Default)]
pub struct AckHeuristic {
    prev_highest_ack: u64,
}

impl Ambiguity for AckHeuristic {
    fn admits(&mut self, s: &State, a: &AckSummary) -> bool {
        // cwnd: "to protect against a Fast Retransmit immediately after a Retransmit Timeout, when
        // duplicate acknowledgments from the previous flight of packets might still be
        // arriving".
        let no_jump = s.snd_una - self.prev_highest_ack <= u64::from(DUPTHRESH) * s.mss;
        Bugfix.admits(s, a) || (s.cwnd > s.mss && no_jump)
    }

    fn on_advance(&mut self, _s: &State, a: &AckSummary) {
        self.prev_highest_ack = a.prior_una;
    }
}
