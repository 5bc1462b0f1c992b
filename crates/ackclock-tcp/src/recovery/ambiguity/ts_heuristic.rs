//! The timestamp heuristic: Gurtov & Floyd, *Resolving Acknowledgment Ambiguity in non-SACK TCP*
//! (NEW2AN 2004), section III.B; RFC 6582 section 4.2.
//!
//! An ACK that leaves a hole behind echoes the last segment that it acknowledges. An ACK that jumps
//! over what had arrived before echoes the segment that filled the hole. The last segment that it
//! acknowledges was sent at another time: later if it was retransmitted since, otherwise earlier.
//!
//! Without timestamps there is nothing to compare, and this is `bugfix`. Two limits that the paper
//! does not name:
//!
//! - Two segments sent in the same tick of the timestamp clock (a millisecond) carry the same
//!   timestamp. So spurious retransmissions within one tick look like a loss.
//! - A delayed ACK echoes the first segment that it answers (RFC 7323 section 4.3 (A)). A loss
//!   after it is found only if the two segments were sent in the same tick.
//!
//! The check of cwnd is the paper's. RFC 3782, RFC 6582 and ns-2.35 have it for the acknowledgment
//! heuristic only.

use super::{Ambiguity, Bugfix};
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::Time;

/// Below the recovery point, duplicates begin a recovery if the last ACK that advanced echoed the
/// segment that it acknowledged last.
#[derive(Default)]
pub struct TsHeuristic {
    echoes_last: bool,
}

impl Ambiguity for TsHeuristic {
    fn admits(&mut self, s: &State, a: &AckSummary) -> bool {
        Bugfix.admits(s, a) || (s.cwnd > s.mss && self.echoes_last)
    }

    fn on_advance(&mut self, _s: &State, a: &AckSummary) {
        self.echoes_last = a.ts_echo == a.last_sent.map(Time::timestamp);
    }
}
