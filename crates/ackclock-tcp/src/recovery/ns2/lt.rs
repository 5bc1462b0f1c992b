//! The limited transmit of ns-2.35 (`tcp.cc`, `send_one`).

use crate::recovery::probe::Probe;
use crate::state::State;
use crate::summary::AckSummary;

/// One segment for each of the first two duplicates, with SACK and without: the next in sequence,
/// which after a timeout, or in Tahoe's slow start, is an old one.
pub struct Ns2LimitedTransmit;

impl Probe for Ns2LimitedTransmit {
    fn one(&self, s: &State, a: &AckSummary) -> Option<u64> {
        // With SACK none are counted after a timeout until an ACK advances.
        let counted = a.duplicate && (!s.sack || s.timed_out != Some(s.snd_una));
        (counted && s.dupacks < s.dupthresh).then(|| u64::from(s.dupacks) * s.mss)
    }
}
