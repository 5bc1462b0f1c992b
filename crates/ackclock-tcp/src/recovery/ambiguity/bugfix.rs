//! The "bugfix" of S. Floyd, *TCP and successive fast retransmits* (1994): RFC 6582 section 3.2
//! step 2.

use super::Ambiguity;
use crate::state::State;
use crate::summary::AckSummary;

/// RFC 6582 section 3.2 step 2: "see if the Cumulative Acknowledgment field covers more than
/// recover".
///
/// The RFC numbers `recover` as the highest byte sent; here it is the position after that byte, so
/// "covers more than recover" (`ack - 1 > recover` in the RFC's numbers) is `ack > recover`. Before
/// the first recovery there is nothing to confuse duplicates with, so all are admitted. The RFC's
/// initial value would keep the first segment of a connection from being recovered.
pub struct Bugfix;

impl Ambiguity for Bugfix {
    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn admits(&mut self, s: &State, _a: &AckSummary) -> bool {
        // The duplicates that the end of a recovery stands for (`b2b`) do not stem from its
        // retransmissions.
        s.snd_una > s.recover || s.recover == 0 || s.assumed_dupacks > 0
    }
}
