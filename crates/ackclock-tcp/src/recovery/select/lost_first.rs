//! The selection that time-based detection needs: RFC 8985 section 9.2 forbids RFC 6675's, whose
//! NextSeg "is not designed to handle lost retransmissions", and asks for "a modified recovery
//! algorithm" without giving one.
//!
//! Inferred from the example of section 3.4: what is marked lost goes first, in sequence, as often
//! as it is marked; then new data. What is not marked is never retransmitted, so NextSeg's rules 3
//! and 4 have no counterpart: the reordering timer and the tail loss probe take their place.
//!
//! Linux 2.6 had neither, but detected lost retransmissions too. For it, `lost-first-rule-3` adds
//! rule 3 of RFC 3517's NextSeg.
//!
//! Since Linux 4.15 this is all that Linux does (`tcp_xmit_retransmit_queue`), in the slow start
//! after a timeout as well. `linux-lost-first` is that. Without SACK it waits at the end for an ACK
//! of more than the recovery point (`tcp_is_non_sack_preventing_reopen`). Nothing goes again while
//! as many retransmissions are on their way as segments are lost, which an undo leaves behind: what
//! was retransmitted before it is not lost any more, and counts.

use super::{Next, OnAck, Select};
use crate::state::State;
use crate::summary::AckSummary;

/// What is lost and not on its way.
pub struct LostFirst {
    rule_3: bool,
    linux: bool,
}

impl LostFirst {
    /// Nothing that is not marked lost.
    pub fn marked() -> LostFirst {
        LostFirst { rule_3: false, linux: false }
    }

    /// As Linux: in the slow start after a timeout too.
    pub fn linux() -> LostFirst {
        LostFirst { rule_3: false, linux: true }
    }

    /// Without new data, what lies below the highest SACKed byte as well.
    pub fn below_sacked() -> LostFirst {
        LostFirst { rule_3: true, linux: false }
    }
}

impl Select for LostFirst {
    fn name(&self) -> &'static str {
        match self {
            LostFirst { linux: true, .. } => "linux-lost-first",
            LostFirst { rule_3: true, .. } => "lost-first-rule-3",
            _ => "lost-first",
        }
    }

    fn everywhere(&self) -> bool {
        self.linux
    }

    fn refits(&self) -> bool {
        self.linux
    }

    fn ends(&self, s: &State, _a: &AckSummary) -> bool {
        self.ends_loss(s)
    }

    fn ends_loss(&self, s: &State) -> bool {
        if self.linux && !s.sack { s.snd_una > s.recover } else { s.snd_una >= s.recover }
    }

    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> OnAck {
        // RFC 6298 section 5.3.
        OnAck { retransmit_head: false, restart_timer: a.newly_acked > 0 }
    }

    fn next(&mut self, s: &State) -> Option<Next> {
        let again = |index| Next::Retransmit { index, counts: true };
        let full = self.linux && s.board.retransmitted_segments() >= s.board.lost_segments();
        if !full && let Some(index) = s.board.first_waiting() {
            return Some(again(index));
        }
        if s.can_send_sequential() {
            return Some(Next::Sequential);
        }
        let below = if self.rule_3 { s.board.find(s.board.highest_sacked()) } else { 0 };
        s.board.iter().take(below).position(|r| !r.sacked && !r.retransmitted).map(again)
    }
}
