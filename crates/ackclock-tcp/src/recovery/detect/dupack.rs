//! RFC 5681 section 3.2: "The TCP sender SHOULD use the fast retransmit algorithm [...] based on
//! incoming duplicate ACKs [...] the arrival of 3 duplicate ACKs".

use super::{Detect, Lost};
use crate::state::State;
use crate::summary::AckSummary;

/// The third duplicate ACK, or the one at which a grown threshold is reached. Later duplicates of
/// the same window say nothing new.
pub struct DupackCount;

impl Detect for DupackCount {
    fn name(&self) -> &'static str {
        "dupack"
    }

    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
        if a.duplicate && s.dupacks == s.dupthresh { Lost::Head } else { Lost::Nothing }
    }
}
