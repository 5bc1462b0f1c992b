//! Forward acknowledgment: M. Mathis and J. Mahdavi, *Forward Acknowledgment: Refining TCP
//! Congestion Control* (1996), as Dukkipati et al. 2011 section 3.2 describes it.
//!
//! - Threshold retransmission: "fast retransmit can be triggered immediately by the very first SACK
//!   if it indicates that more than *dupthresh* segments are missing". The 1996 condition is
//!   `snd.fack - snd.una > 3 * MSS`, in which the segment that the SACK reports counts too. So
//!   three missing segments are enough. Three duplicates are enough as well.
//! - "Once in fast recovery, all holes below the highest SACK block are assumed to be lost."
//!
//! Figure 3 of 2011, whose traces are Linux's, does not agree with the latter. If every hole below
//! the SACK of segment 17 is lost, algorithm 2 sends four segments and then one for each ACK.
//! Section 4.1 says "two segments for every ACK". Two are sent if a hole has to be dupthresh
//! segments below the highest SACKed one. That is inferred to be what Linux does.
//!
//! "If any reordering is detected then FACK and some of the related algorithms are disabled, the
//! loss detection falls back to use conventional *dupthresh*": that of RFC 3517. `dyn-dupthresh`
//! sees the reordering. It counts if it is of more than *dupthresh* segments; less begins no
//! recovery here.

use super::IsLost;
use super::{Detect, Lost};
use crate::state::DUPTHRESH;
use crate::state::State;
use crate::summary::AckSummary;

/// What lies below the highest SACKed byte is lost.
pub struct Fack {
    linux: bool,
    reordering_seen: bool,
}

impl Fack {
    /// Every hole is lost, as the text has it.
    pub fn every_hole() -> Fack {
        Fack { linux: false, reordering_seen: false }
    }

    /// A hole is lost once dupthresh segments above it have been passed, as figure 3 has it.
    pub fn linux() -> Fack {
        Fack { linux: true, reordering_seen: false }
    }
}

impl Detect for Fack {
    fn name(&self) -> &'static str {
        if self.linux { "fack-linux" } else { "fack" }
    }

    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
        self.reordering_seen |= s.dupthresh > DUPTHRESH;
        if self.reordering_seen {
            return IsLost::rfc3517().on_ack(s, a);
        }
        let fack = s.board.highest_sacked();
        let dupthresh = u64::from(DUPTHRESH) * s.mss;
        let edge = if self.linux { fack.saturating_sub(dupthresh) } else { fack };
        if a.newly_sacked > 0
            && edge > s.snd_una
            && (s.recovering() || fack > s.snd_una + dupthresh)
        {
            Lost::Below(edge)
        } else if a.duplicate && s.dupacks == DUPTHRESH {
            Lost::Head
        } else {
            Lost::Nothing
        }
    }
}
