//! When duplicate ACKs may begin a recovery: RFC 6582 section 3.2 step 2 and section 4, RFC 6675 section 5.1;
//! the "bugfix" of Floyd, *TCP and successive fast retransmits* (1994).

use crate::axes::{AckSummary, Ambiguity};
use crate::sender::State;

/// No check: three duplicates always count (RFC 5681).
pub struct NoBugfix;

impl Ambiguity for NoBugfix {
    fn admits(&mut self, _s: &State, _a: &AckSummary) -> bool {
        true
    }
}

/// RFC 6582 section 3.2 step 2: "see if the Cumulative Acknowledgment field covers more than recover".
///
/// The RFC numbers `recover` as the highest byte sent; here it is the position after that byte, so "covers more than
/// recover" (`ack - 1 > recover` in the RFC's numbers) is `ack > recover`. Before the first recovery there is nothing
/// to confuse duplicates with, so everything is admitted; the RFC's initial value would forbid to recover the first
/// segment of a connection.
pub struct Bugfix;

impl Ambiguity for Bugfix {
    fn admits(&mut self, s: &State, _a: &AckSummary) -> bool {
        // Duplicates that the end of a recovery stands for are no echo of what that recovery sent again.
        s.snd_una > s.recover || s.recover == 0 || s.carried > 0
    }
}

/// RFC 6675 section 5.1: no new recovery "until HighACK is greater than or equal to the new value of RecoveryPoint".
pub struct PastRecoveryPoint;

impl Ambiguity for PastRecoveryPoint {
    fn admits(&mut self, s: &State, _a: &AckSummary) -> bool {
        s.snd_una >= s.recover
    }
}
