//! The selection that time-based detection needs: RFC 8985 section 9.2 forbids RFC 6675's, whose NextSeg "is not designed to
//! handle lost retransmissions", and asks for "a modified recovery algorithm" without giving one.
//!
//! Inferred from the example of section 3.4: what is marked lost goes first, in sequence, as often as it is marked; then new
//! data. What is not marked is never sent again, so NextSeg's rules 3 and 4 have no counterpart: the reordering timer and the
//! tail loss probe take their place.
//!
//! For Linux 2.6, which had neither but found lost retransmissions too, rule 3 of RFC 3517's NextSeg is there as well.

use crate::axes::{AckSummary, Next, Select, Urgent};
use crate::sender::State;

/// What is lost and not on its way.
pub struct LostFirst {
    rule_3: bool,
}

impl LostFirst {
    /// Nothing that is not marked lost.
    pub fn marked() -> LostFirst {
        LostFirst { rule_3: false }
    }

    /// Without new data, what lies below the highest SACKed byte as well.
    pub fn below_sacked() -> LostFirst {
        LostFirst { rule_3: true }
    }
}

impl Select for LostFirst {
    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> Urgent {
        // RFC 6298 section 5.3.
        Urgent { retransmit_head: false, restart_timer: a.newly_acked > 0 }
    }

    fn next(&mut self, s: &State) -> Option<Next> {
        let again = |index| Next::Retransmit { index, counts: true };
        if let Some(index) = s.board.iter().position(|r| r.lost && !r.retransmitted) {
            return Some(again(index));
        }
        if s.can_send_sequential() {
            return Some(Next::Sequential);
        }
        let below = if self.rule_3 { s.board.find(s.board.highest_sacked()) } else { 0 };
        s.board.iter().take(below).position(|r| !r.sacked && !r.retransmitted).map(again)
    }
}
