//! IsLost of RFC 6675 section 4 with the triggers of section 5, and as RFC 3517 had them.

use super::{Detect, Lost};
use crate::state::State;
use crate::summary::AckSummary;

/// "DupThresh discontiguous SACKed sequences have arrived above SeqNum", or enough SACKed bytes.
pub struct IsLost {
    rfc3517: bool,
}

impl IsLost {
    /// RFC 6675: more than (DupThresh - 1) * SMSS bytes SACKed above; a recovery begins as soon as
    /// the head is lost.
    pub fn rfc6675() -> IsLost {
        IsLost { rfc3517: false }
    }

    /// RFC 3517: at least DupThresh * SMSS bytes SACKed above; a recovery begins on the third
    /// duplicate only.
    pub fn rfc3517() -> IsLost {
        IsLost { rfc3517: true }
    }

    /// The position below which every byte that is not SACKed is lost.
    ///
    /// Both conditions hold for all bytes below one for which they hold, so the scoreboard is read
    /// from the highest SACKed byte down until enough has been seen.
    fn edge(&self, s: &State) -> u64 {
        let enough = u64::from(s.dupthresh) * s.mss - if self.rfc3517 { 0 } else { s.mss - 1 };
        let (mut bytes, mut ranges, mut above) = (0, 0, u64::MAX);
        for index in (0..s.board.find(s.board.highest_sacked())).rev() {
            let Some(r) = s.board.get(index) else { break };
            if r.sacked {
                bytes += u64::from(r.len);
                ranges += u32::from(r.end() != above);
                above = r.seq;
                if bytes >= enough || ranges >= s.dupthresh {
                    return r.seq;
                }
            }
        }
        0
    }
}

impl Detect for IsLost {
    fn name(&self) -> &'static str {
        if self.rfc3517 { "is-lost-3517" } else { "is-lost" }
    }

    fn counts_advances(&self) -> bool {
        !self.rfc3517
    }

    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
        if a.newly_sacked == 0 {
            return Lost::Nothing;
        }
        let edge = self.edge(s);
        if edge > s.snd_una && (!self.rfc3517 || s.dupacks >= s.dupthresh || s.recovering()) {
            Lost::Below(edge)
        } else if a.duplicate && s.dupacks >= s.dupthresh && !s.recovering() {
            // Section 5 step 1: three duplicates count also where their segments are too small for
            // IsLost.
            Lost::Head
        } else {
            Lost::Nothing
        }
    }
}
