//! Lin & Kung 1998 sections 5.1 and 5.2, loss-sensitive window reduction, for NewReno and for SACK alike: Reno's inflated
//! window, in which each ACK of recovery makes room for one segment, and a retransmission takes up room as new data does.
//!
//! - Section 5.1 rule 1, section 5.2 rule 2: a partial ACK releases one segment: the retransmission, or a new segment if
//!   selection has nothing to send again. "Reduce the congestion window so that this partial ACK does not cause more
//!   packets to be sent."
//! - Section 5.2 rule 1: "If the inflated congestion window allows sending one packet, retransmit a lost packet and
//!   reduce the window by one packet."
//! - Section 5.1 rule 2: at the end "at most one packet can be sent due to the left edge of the window shifting".
//!
//! What is in the network at the end is W/2 - c, W being the window and L the losses from it, at most W/2, with c = L - 1 on
//! both bases: from W/2 on each ACK is answered by one segment, a lost segment draws no ACK, and the first retransmission
//! was sent without waiting for room. Section 5 says "c is proportional to the number of packet losses", which fits;
//! section 5.2's "distance between the first and the last lost packets" is the same number only where the losses are
//! adjacent.
//!
//! Where the text has a gap: "During no time does the sender generate more than one packet for each received ACK" is kept
//! also where Reno does not keep it. The ACK that begins recovery releases the retransmission only, even if a window of
//! less than six has room for more; and room that found no data to send is not saved up for later.

use crate::axes::{AckSummary, Regulate};
use crate::event::Cause;
use crate::recovery::dupack::departed;
use crate::sender::State;

/// One segment for each ACK once half of the window has left the network.
pub struct LossSensitive;

impl Regulate for LossSensitive {
    fn in_flight(&self, s: &State) -> u64 {
        s.snd_nxt - s.snd_una
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        (s.ssthresh + departed(s)).min(self.in_flight(s))
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        if a.newly_acked > 0 {
            self.in_flight(s) + s.mss
        } else if a.duplicate || a.dsack.is_some() {
            // "Each received ACK (duplicate or partial)": with SACK also one for a segment sent again needlessly.
            s.cwnd.min(self.in_flight(s)) + s.mss
        } else {
            s.cwnd
        }
    }

    fn on_transmit(&mut self, s: &State, cause: Cause, _len: u64) -> u64 {
        match cause {
            Cause::PartialAck | Cause::LostRetransmission | Cause::LimitedData => s.cwnd.saturating_sub(s.mss),
            // New data counts as it moves snd_nxt; the first retransmission is part of the reduction to one half.
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
