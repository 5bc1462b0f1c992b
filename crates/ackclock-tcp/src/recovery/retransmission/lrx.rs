//! Recovery of lost retransmissions by counting duplicates, for NewReno and Reno: M. Miyake and H.
//! Inamura, *TCP Enhancement Using Recovery of Lost Retransmissions for NewReno TCP* (2005),
//! section 3.1 and figure 1.
//!
//! Figure 1 is rebuilt here from the prose and from figures 2, 3 and 9, which give parts of it.
//! `[i]` marks what is inferred.
//!
//! ```text
//! (1) On the third duplicate ACK:
//!         recovery <- SND.NXT, cumulativeFS <- FlightSize + DupThresh, cwnd_old <- cwnd,
//!         deltaFS <- 0,                                                            [i]
//!         ssthresh <- max(cwnd_old/2, 2*SMSS).
//! (2) Retransmit the first unacknowledged segment,
//!     cwnd <- ssthresh + DupThresh*SMSS.                                           [i] (RFC 2581)
//! (3) Wait for an ACK; a duplicate: dupacks <- dupacks + 1.                        [i]
//! (4) If an acceptable ACK covers recovery: cwnd <- ssthresh, DONE.
//!     Else if a partial ACK arrives:
//!         SND.NXT <- SND.UNA, cumulativeFS <- deltaFS + 1, deltaFS <- 0, dupacks <- 0,
//!         retransmit the first unacknowledged segment,
//!         deflate cwnd, send new data if min(cwnd, RWIN) allows,                   [i] (RFC 3782)
//!         deltaFS <- deltaFS + what was sent, go to (3).                           [i] (RFC 3782)
//!     Else go to (5).
//! (5) If cumulativeFS == dupacks:
//!         retransmit the first unacknowledged segment, deltaFS <- 0, dupacks <- 0, go to (3).
//!         "Note that this step never increments cwnd,
//!         and transmits only the unacknowledged segment."
//!     Else go to (6).
//! (6) cwnd <- cwnd + SMSS, send new data if min(cwnd, RWIN) allows,                [i]
//!     deltaFS <- deltaFS + what was sent, go to (3).                               [i]
//! ```
//!
//! Inferred, too:
//! - `dupacks` goes on from the three that began recovery: FlightSize counts the segments that
//!   these stand for.
//! - `cumulativeFS` is kept by step 5: figure 2 lists all that the step sets. So the loss of the
//!   second copy after a fast retransmit is found only after as many duplicates again.
//! - Each count is of segments, and of every segment but the retransmissions: all of these draw a
//!   duplicate.
//!
//! The paper says nothing of the timer, and this does not touch it. The second copy is acknowledged
//! three round trips or more after the segment was first sent. Where that is more than the timeout,
//! the timer has to be one that the retransmission of step 5 restarts (`ns2-timer`,
//! `careful-timer`).
//!
//! One departure: `SND.NXT` is not set back, since the connection retransmits without it.
//!
//! After a fast retransmit DupThresh segments may overtake the retransmission unharmed. After a
//! partial ACK the "+ 1" of step 4 leaves no such slack. A single segment that overtakes the
//! retransmission then makes it look lost.

use super::{DetectRetransmission, Tick};
use crate::event::Cause;
use crate::state::DUPTHRESH;
use crate::state::State;
use crate::summary::AckSummary;

/// Counts duplicates against the segments that can have drawn them before the retransmission.
#[derive(Default)]
pub struct Lrx {
    cumulative_fs: u64,
    delta_fs: u64,
    dupacks: u64,
}

impl DetectRetransmission for Lrx {
    fn name(&self) -> &'static str {
        "lrx"
    }

    fn on_enter(&mut self, s: &State) {
        self.cumulative_fs = s.board.find(s.snd_nxt) as u64 + u64::from(DUPTHRESH);
        self.delta_fs = 0;
        self.dupacks = u64::from(s.received_dupacks());
    }

    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> Tick {
        if a.newly_acked > 0 {
            self.cumulative_fs = self.delta_fs + 1;
            (self.delta_fs, self.dupacks) = (0, 0);
            return Tick::Nothing;
        }
        self.dupacks += u64::from(a.duplicate);
        if self.dupacks < self.cumulative_fs {
            return Tick::Nothing;
        }
        (self.delta_fs, self.dupacks) = (0, 0);
        Tick::Lost
    }

    fn on_transmit(&mut self, _s: &State, cause: Cause) {
        if !matches!(cause, Cause::FastRetransmit | Cause::Recovery) {
            self.delta_fs += 1;
        }
    }
}
