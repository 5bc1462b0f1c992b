//! Back-to-back recoveries: D. Lin and H. T. Kung, *TCP Fast Recovery Strategies: Analysis and Improvements* (INFOCOM 1998),
//! section 6.4. If new data sent during a recovery is lost, the ACK that ends it already tells.
//!
//! "If a positive ACK indicates more than W-bar packets unacknowledged, then there is at least one more lost packet",
//! W-bar being "about" W/2 - c: what was sent after the last retransmission, since the ACK at hand is the one that it drew.
//! Counted with c as section 5.2 defines it, W-bar would be too small with NewReno, where each loss costs one segment however far
//! it lies from the first. So the condition is the reason that the text gives: the ACK is less than expected if the segment
//! that it asks for was sent before the retransmission that it answers. With SACK it then carries a SACK block, unless all
//! that was sent in between was lost; the block is not needed to know.
//!
//! A segment that selection has sent again since counts as missing all the same: what matters is that its first transmission was
//! lost, and if the second arrives, the counter is cleared before anything comes of it.
//!
//! "We set the dupacks counter to two packets and send out a new packet". A segment and a retransmission that change places by
//! one do no harm, since the next ACK advances and clears the counter; by two they begin a needless recovery, where three
//! duplicates would not. That is the price of the mechanism.

use crate::axes::{AckSummary, Probe};
use crate::sender::State;

/// The end of a recovery stands for two duplicates if it acknowledges less than expected.
pub struct BackToBack;

impl Probe for BackToBack {
    fn allowance(&self, _s: &State) -> u64 {
        0
    }

    fn on_exit(&mut self, s: &State, a: &AckSummary) -> u32 {
        let missing = s.board.head().is_some_and(|next| Some(next.first_sent) < a.retransmission_acked);
        if missing { 2 } else { 0 }
    }
}
