//! RFC 6675 section 5.1: no new recovery "until HighACK is greater than or equal to the new value
//! of RecoveryPoint".

use super::Ambiguity;
use crate::state::State;
use crate::summary::AckSummary;

/// Duplicates count once the last recovery point is acknowledged.
pub struct RecoveryPoint;

impl Ambiguity for RecoveryPoint {
    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn admits(&mut self, s: &State, _a: &AckSummary) -> bool {
        s.snd_una >= s.recover
    }
}
