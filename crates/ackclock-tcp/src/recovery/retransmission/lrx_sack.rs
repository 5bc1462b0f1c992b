//! Recovery of lost retransmissions by SACK: Miyake & Inamura 2005, figure 9, which takes the place
//! of step 5 of figure 1 (see `lrx.rs`):
//!
//! ```text
//! (5) If the SACK block reports as follows: Right edge in SACK block > recovery
//!     then retransmit the first unacknowledged segment, store recovery again, and proceed to step (3)
//!     else proceed to step (6).
//! ```
//!
//! Inferred:
//! - Every retransmission stores `recovery` again, not only those of steps 2 and 5. With SACK,
//!   selection retransmits a hole further up, which the paper leaves open. Without this rule, data
//!   sent before such a retransmission would make it look lost.
//! - A hole that has not been retransmitted yet has no retransmission to lose. It is left to
//!   selection.
//! - The `recovery` stored again is only what this step compares with. The point that ends recovery
//!   stays.
//!
//! The rule has no slack: one new segment that overtakes the retransmission makes it look lost.
//!
//! The preset `sack-lrx` puts it on Fall & Floyd's SACK. That is ns-2's `Sack1`, and the paper ran
//! ns-2.26. There one ACK releases one segment, as step 5 demands. RFC 6675's pipe knows that the
//! retransmission has left the network, and releases a new segment as well.

use super::{DetectRetransmission, Tick};
use crate::event::Cause;
use crate::state::State;
use crate::summary::AckSummary;

/// Looks for SACKed data that was sent after the retransmission.
#[derive(Default)]
pub struct LrxSack {
    recovery: u64,
}

impl DetectRetransmission for LrxSack {
    fn name(&self) -> &'static str {
        "lrx-sack"
    }

    fn on_enter(&mut self, s: &State) {
        self.recovery = s.snd_max;
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Tick {
        let on_its_way = s.board.head().is_some_and(|r| r.retransmitted);
        // Step 4: a partial ACK does not get as far as step 5.
        if a.newly_acked == 0 && on_its_way && a.sacked_to > self.recovery {
            Tick::Lost
        } else {
            Tick::Nothing
        }
    }

    fn on_transmit(&mut self, s: &State, cause: Cause) {
        if cause == Cause::Recovery {
            self.recovery = s.snd_max;
        }
    }
}
