//! RTO restart (RFC 7765 section 4): with fewer than four segments outstanding and unsent, the
//! timer expires an RTO after the earliest outstanding segment was sent, and not an RTO after the
//! ACK that restarts it.
//!
//! The RFC asks on each ACK of new data; this asks whenever the timer is set. Where the first
//! unacknowledged segment is retransmitted right away, after a timeout or on a partial ACK, its
//! time begins then. That is inferred: the RFC's T_earliest would be that of a transmission given
//! up, and the timer would expire "prematurely", which step 3 is to prevent.

use alloc::boxed::Box;

use super::{Estimates, Timer};
use crate::recovery::wraps;
use crate::state::State;
use crate::time::{Span, Time};

/// "The RECOMMENDED value of rrthresh is four".
const RRTHRESH: u64 = 4;

/// Any timer, restarted from the earliest outstanding segment.
pub struct RtoRestart(pub Box<dyn Timer>);

impl Timer for RtoRestart {
    wraps!(self.0: Timer; on_sample, rto, min_rto);

    fn expiry(&self, s: &State, rto: Span) -> Time {
        // Step 2; section 5.3 on how to count what is unsent.
        let segments = s.board.len() as u64 + (s.written - s.snd_max).div_ceil(s.mss);
        let earliest = s.board.head().filter(|head| {
            let sent_again_now = s.recovering() && s.snd_una < s.recover && !head.retransmitted;
            segments < RRTHRESH && !sent_again_now
        });
        // Step 3.
        let t_earliest = earliest.map_or(Span::ZERO, |head| s.now.since(head.last_sent));
        let rest = Span(rto.0.saturating_sub(t_earliest.0));
        self.0.expiry(s, if rest > Span::ZERO { rest } else { rto })
    }
}
