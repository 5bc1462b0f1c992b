//! Window inflation: RFC 5681 section 3.2 steps 3 to 6, and RFC 6582 section 3.2 step 3 for partial
//! acknowledgments.

use super::Regulate;
use crate::event::Cause;
use crate::state::State;
use crate::summary::AckSummary;

/// cwnd is inflated by a segment for each segment that has left the network.
pub struct Inflate {
    exit: Exit,
}

enum Exit {
    Limited,
    Ssthresh,
    SsthreshGrown,
}

impl Inflate {
    /// Recovery ends with `min(ssthresh, max(FlightSize, SMSS) + SMSS)` (RFC 6582 section 3.2,
    /// option 1), so that the last ACK releases no burst.
    pub fn limited_exit() -> Inflate {
        Inflate { exit: Exit::Limited }
    }

    /// Recovery ends with ssthresh (RFC 5681 step 6; RFC 6582 section 3.2, option 2).
    pub fn to_ssthresh() -> Inflate {
        Inflate { exit: Exit::Ssthresh }
    }

    /// Recovery ends with ssthresh, and the ACK that ends it then opens the window as any other
    /// does: by a segment, since only `cw > tp->snd_ssthresh` is congestion avoidance (Wright &
    /// Stevens 1995 section 29.4).
    pub fn bsd() -> Inflate {
        Inflate { exit: Exit::SsthreshGrown }
    }
}

/// Step 4: "For each additional duplicate ACK received [...] cwnd MUST be incremented by SMSS." Its
/// note permits to "limit the number of times cwnd is artificially inflated [...] to the number of
/// outstanding segments", which only a flood of bogus duplicates exceeds.
pub(crate) fn inflated(s: &State) -> u64 {
    let most = s.ssthresh.saturating_add(s.flight());
    (s.cwnd + s.mss).min(most.max(s.cwnd))
}

impl Regulate for Inflate {
    fn in_flight(&self, s: &State) -> u64 {
        s.snd_nxt - s.snd_una
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        // Step 3: "cwnd set to ssthresh plus 3*SMSS [...] by the number of segments (three) that
        // have left the network".
        s.ssthresh.saturating_add(s.departed())
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        if a.newly_acked == 0 {
            // If this ACK showed a retransmission lost, the next one takes the place of the segment
            // that the ACK would release.
            return if a.duplicate && !a.retransmission_lost { inflated(s) } else { s.cwnd };
        }
        // RFC 6582: "Deflate the congestion window by the amount of new data acknowledged [...] If
        // the partial ACK acknowledges at least one SMSS of new data, then add back SMSS
        // bytes". cwnd stays at a segment at least, which the RFC does not say: otherwise nothing
        // could be sent.
        let deflated = s.cwnd.saturating_sub(a.newly_acked);
        (if a.newly_acked >= s.mss { deflated + s.mss } else { deflated }).max(s.mss)
    }

    fn on_transmit(&mut self, s: &State, cause: Cause, _len: u64) -> u64 {
        // What fills in for new data uses up the room that a duplicate made, as new data would.
        if cause == Cause::Filler { s.cwnd.saturating_sub(s.mss) } else { s.cwnd }
    }

    fn on_round_trip(&mut self, s: &State) -> u64 {
        s.cwnd.max(self.in_flight(s))
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        match self.exit {
            Exit::Limited => s.ssthresh.min((s.snd_nxt - s.snd_una).max(s.mss) + s.mss),
            Exit::Ssthresh => s.ssthresh,
            Exit::SsthreshGrown => s.ssthresh.saturating_add(s.mss),
        }
    }
}
