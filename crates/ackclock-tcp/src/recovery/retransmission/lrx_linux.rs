//! Recovery of lost retransmissions as Linux 2.6 had it: Dukkipati et al. 2011 section 3.2. "If any
//! new data sent after a retransmission is later SACKed, the retransmission is deemed to have been
//! lost."
//!
//! Unlike `lrx-sack` it looks at every hole, and compares with what had been sent when that hole
//! was retransmitted. "If any reordering is detected then FACK and some of the related algorithms
//! are disabled": inferred that this is one of them, since it has no slack either.
//!
//! It is on this axis and not on that of `detect` because it says nothing about what was sent once.
//! It works with any detection that does. What it finds is retransmitted only by a selection that
//! looks at what is lost, such as `lost-first`: RFC 6675's "is not designed to handle lost
//! retransmissions" (RFC 8985 section 9.2).

use super::{DetectRetransmission, Tick};
use crate::state::DUPTHRESH;
use crate::state::State;
use crate::summary::AckSummary;

/// Looks for SACKed data that was sent after a retransmission, for each one.
#[derive(Default)]
pub struct LrxLinux {
    reordering_seen: bool,
}

impl DetectRetransmission for LrxLinux {
    fn name(&self) -> &'static str {
        "lrx-linux"
    }

    fn on_enter(&mut self, _s: &State) {}

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Tick {
        self.reordering_seen |= s.dupthresh > DUPTHRESH;
        if a.newly_sacked > 0 && !self.reordering_seen {
            Tick::LostBefore(s.board.highest_sacked())
        } else {
            Tick::Nothing
        }
    }
}
