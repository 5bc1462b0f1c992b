//! Limited transmit: RFC 3042 section 2 without SACK, RFC 6675 section 5 step 3 with it.

use super::Probe;
use crate::state::State;

/// New data for each duplicate, as far as the pipe leaves room; without SACK for the first two.
/// cwnd stays unchanged.
pub struct LimitedTransmit;

impl Probe for LimitedTransmit {
    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn allowance(&self, s: &State) -> u64 {
        if s.sack {
            // Step 3.3: "If (cwnd - pipe) >= 1 SMSS". Outside recovery the pipe is what is
            // outstanding and not SACKed.
            s.board.sacked_bytes()
        } else {
            // "The amount of outstanding data would remain less than or equal to the congestion
            // window plus 2 segments", one for each duplicate.
            u64::from(s.received_dupacks().min(2)) * s.mss
        }
    }
}
