//! Lin & Kung 1998 section 4.2, the small-window optimisation: "the sender generates a new packet
//! for each duplicate ACK received (only for the first two ACKs)", so that a window too small for
//! three duplicates still draws them.
//!
//! On a positive ACK before the third duplicate: "If the amount acknowledged is more than or equal
//! to the amount inflated, dupacks is cleared. Otherwise, dupacks should be subtracted by the
//! amount acknowledged". The amount inflated is taken to be what was injected. It is less where
//! data or the receiver's window ran out.
//!
//! Inferred: the limit of ten is compared with cwnd as it was before the inflation; a segment
//! acknowledged in part counts as acknowledged.

use super::Probe;
use crate::state::DUPTHRESH;
use crate::state::State;
use crate::summary::AckSummary;

/// New data for each of the first two duplicates, which stay accounted for when data is
/// acknowledged.
pub struct SmallWindow {
    /// It acts while cwnd is below this many segments.
    below: u64,
}

impl SmallWindow {
    /// "Triggered only if the congestion window size is less than ten packets."
    pub fn below_ten() -> SmallWindow {
        SmallWindow { below: 10 }
    }

    /// At every window: section 8's "avoid RTOs completely as long as the network keeps at least
    /// one packet alive" needs it, since a larger window can lose all but one segment too.
    pub fn at_any_window() -> SmallWindow {
        SmallWindow { below: u64::MAX }
    }
}

impl Probe for SmallWindow {
    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn allowance(&self, s: &State) -> u64 {
        if s.cwnd >= self.below.saturating_mul(s.mss) {
            return 0;
        }
        u64::from(s.received_dupacks().min(DUPTHRESH - 1)) * s.mss
    }

    fn on_advance(&mut self, s: &State, a: &AckSummary) -> u32 {
        if a.prior_dupacks >= DUPTHRESH || a.newly_acked >= s.limited {
            return 0;
        }
        let acked = a.newly_acked.div_ceil(s.mss);
        u64::from(a.prior_dupacks).saturating_sub(acked) as u32
    }
}
