//! RFC 5681 section 3.2: "The TCP sender SHOULD use the fast retransmit algorithm [...] based on incoming duplicate
//! ACKs [...] the arrival of 3 duplicate ACKs".

use crate::axes::{AckSummary, Detect, Lost};
use crate::sender::State;

/// The duplicate ACK threshold (RFC 5681 section 3.2).
pub const DUPTHRESH: u32 = 3;

/// Bytes that have left the network when a recovery begins, on the duplicate that is enough or before it: none for duplicates
/// that the end of an earlier recovery stands for.
pub(super) fn departed(s: &State) -> u64 {
    u64::from(s.received_dupacks().min(s.dupthresh)) * s.mss
}

/// The third duplicate ACK (or what the threshold has grown to), and only that one: later duplicates of the same window say
/// nothing new.
pub struct DupackCount;

impl Detect for DupackCount {
    fn name(&self) -> &'static str {
        "dupack"
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
        if a.duplicate && s.dupacks == s.dupthresh { Lost::Head } else { Lost::Nothing }
    }
}
