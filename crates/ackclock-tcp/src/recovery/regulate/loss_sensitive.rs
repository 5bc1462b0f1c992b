//! Lin & Kung 1998 sections 5.1 and 5.2, loss-sensitive window reduction, for NewReno and for SACK
//! alike. It is Reno's inflated window: each ACK of recovery makes room for one segment, and a
//! retransmission takes up room as new data does.
//!
//! - Section 5.1 rule 1, section 5.2 rule 2: a partial ACK releases one segment: the
//!   retransmission, or a new segment if selection has nothing to retransmit. "Reduce the
//!   congestion window so that this partial ACK does not cause more packets to be sent."
//! - Section 5.2 rule 1: "If the inflated congestion window allows sending one packet, retransmit a
//!   lost packet and reduce the window by one packet."
//! - Section 5.1 rule 2: at the end "at most one packet can be sent due to the left edge of the
//!   window shifting".
//!
//! At the end W/2 - c is in the network. W is the window, L is the number of losses from it, at
//! most W/2, and c = L - 1 with and without SACK. From W/2 on, one segment answers each ACK, a lost
//! segment draws no ACK, and the first retransmission was sent without waiting for room. Section 5
//! says "c is proportional to the number of packet losses", which fits. Section 5.2's "distance
//! between the first and the last lost packets" is the same number only where the losses are
//! adjacent.
//!
//! Where the text has a gap: "During no time does the sender generate more than one packet for each
//! received ACK" holds here also where it does not hold for Reno. The ACK that begins recovery
//! releases the retransmission only, even if a window of less than six segments has room for more.
//! Room that found no data to send is not saved for later.

use super::Regulate;
use crate::event::Cause;
use crate::state::State;
use crate::summary::AckSummary;

/// One segment for each ACK once half of the window has left the network.
pub struct LossSensitive;

impl Regulate for LossSensitive {
    fn in_flight(&self, s: &State) -> u64 {
        s.snd_nxt - s.snd_una
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.ssthresh.saturating_add(s.departed()).min(self.in_flight(s))
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        if a.newly_acked > 0 {
            self.in_flight(s) + s.mss
        } else if a.duplicate || a.dsack.is_some() {
            // "Each received ACK (duplicate or partial)": with SACK also one for a spurious
            // retransmission.
            s.cwnd.min(self.in_flight(s)) + s.mss
        } else {
            s.cwnd
        }
    }

    fn on_transmit(&mut self, s: &State, cause: Cause, _len: u64) -> u64 {
        match cause {
            Cause::Recovery | Cause::Filler => s.cwnd.saturating_sub(s.mss),
            // New data counts as it moves snd_nxt; the first retransmission is part of the
            // reduction to one half.
            _ => s.cwnd,
        }
    }

    fn on_round_trip(&mut self, s: &State) -> u64 {
        s.cwnd.max(self.in_flight(s))
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.ssthresh.min(self.in_flight(s) + s.mss)
    }
}
