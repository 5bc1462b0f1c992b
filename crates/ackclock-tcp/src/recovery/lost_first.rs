//! The selection that time-based detection needs: RFC 8985 section 9.2 forbids RFC 6675's, whose NextSeg "is not designed to
//! handle lost retransmissions", and asks for "a modified recovery algorithm" without giving one.
//!
//! Inferred from the example of section 3.4: what is marked lost goes first, in sequence, as often as it is marked; then new
//! data. What is not marked is never sent again, so NextSeg's rules 3 and 4 have no counterpart: the reordering timer and the
//! tail loss probe take their place.

use crate::axes::{AckSummary, Next, Select, Urgent};
use crate::sender::State;

/// What is lost and not on its way.
pub struct LostFirst;

impl Select for LostFirst {
    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> Urgent {
        // RFC 6298 section 5.3.
        Urgent { retransmit_head: false, restart_timer: a.newly_acked > 0 }
    }

    fn next(&mut self, s: &State) -> Option<Next> {
        match s.board.iter().position(|r| r.lost && !r.retransmitted) {
            Some(index) => Some(Next::Retransmit { index, counts: true }),
            None => s.can_send_sequential().then_some(Next::Sequential),
        }
    }
}
