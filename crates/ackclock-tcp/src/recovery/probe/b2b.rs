//! Back-to-back recoveries: D. Lin and H. T. Kung, *TCP Fast Recovery Strategies: Analysis and
//! Improvements* (INFOCOM 1998), section 6.4. If new data sent during a recovery is lost, the ACK
//! that ends the recovery already shows it.
//!
//! "If a positive ACK indicates more than W-bar packets unacknowledged, then there is at least one
//! more lost packet", W-bar being "about" W/2 - c: what was sent after the last retransmission,
//! which drew this ACK. With c as section 5.2 defines it, W-bar would be too small for NewReno,
//! where each loss costs one segment however far it lies from the first. So the condition is the
//! reason that the text gives. The ACK is less than expected if the segment that it asks for was
//! sent before the retransmission that it answers. With SACK it then carries a SACK block, unless
//! all that was sent in between was lost. The block is not needed.
//!
//! A segment that selection has retransmitted since counts as missing too: its first transmission
//! was lost. If the second one arrives, the counter is cleared before anything comes of it.
//!
//! "We set the dupacks counter to two packets and send out a new packet". A segment and a
//! retransmission that change places by one do no harm: the next ACK advances and clears the
//! counter. By two they begin a spurious recovery, where the rule of three duplicates would not.
//! That is the price of the mechanism.

use super::Probe;
use crate::state::State;
use crate::summary::AckSummary;

/// The end of a recovery stands for two duplicates if it acknowledges less than expected.
pub struct BackToBack;

impl Probe for BackToBack {
    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn on_exit(&mut self, s: &State, a: &AckSummary) -> u32 {
        let missing =
            s.board.head().is_some_and(|next| Some(next.first_sent) < a.retransmission_acked);
        if missing { 2 } else { 0 }
    }
}
