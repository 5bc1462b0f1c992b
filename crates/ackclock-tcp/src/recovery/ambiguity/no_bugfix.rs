//! RFC 5681 section 3.2: three duplicates always begin a recovery, whatever was sent before them.

use super::Ambiguity;
use crate::state::State;
use crate::summary::AckSummary;

/// No check: three duplicates always count (RFC 5681).
pub struct NoBugfix;

impl Ambiguity for NoBugfix {
    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn admits(&mut self, _s: &State, _a: &AckSummary) -> bool {
        true
    }
}
