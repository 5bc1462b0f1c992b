//! The Eifel response (RFC 4015): what follows a timeout that was spurious, whichever undo
//! mechanism found that out. It takes the place of restoring the windows. After a spurious fast
//! retransmit they are restored: section 1 leaves that case out.
//!
//! - Step 8 is the connection's undo. After a D-SACK (LATE_SPUR_TO) the RFC leaves SND.NXT alone,
//!   and the cwnd of step 9 would release the rest of the go-back-N in one burst. Here new data
//!   goes then too: `dsack-undo` judges only when all that was retransmitted had arrived before.
//! - Inferred: step 9 never lowers cwnd. A D-SACK may come long after, with nothing outstanding.
//! - Step 11 waits for an ACK of new data alone, since a sample is taken from the oldest segment
//!   that an ACK covers.
//! - Congestion window validation (step 10) is not here.

use super::{Undo, Verdict};
use crate::recovery::window::Windows;
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::Span;

/// Twice the clock granularity G (RFC 6298), "a reasonable upper bound on 'a tad too early'"
/// (section 3.6). Timers with coarser ticks round up to theirs.
const TWO_G: Span = Span::from_millis(2);

/// What step 0 keeps.
#[derive(Clone, Copy)]
struct Prior {
    /// pipe_prev.
    pipe: u64,
    /// SRTT_prev.
    srtt: Span,
    /// RTTVAR_prev.
    rttvar: Span,
    /// Where the data begins that was unsent when the timeout occurred.
    snd_max: u64,
}

/// Reverses to `FlightSize + min(bytes_acked, IW)`, and adapts the timer.
#[derive(Default)]
pub struct Rfc4015 {
    /// Of the timeout that began the last loss recovery, if one did.
    prior: Option<Prior>,
    /// It was spurious, and step 11 is to come.
    retimes: Option<Prior>,
}

impl Undo for Rfc4015 {
    fn name(&self) -> &'static str {
        "rfc4015"
    }

    fn on_response(&mut self, s: &State, timeout: bool) {
        if s.phase == Phase::Open {
            self.prior = None;
        }
        // "MUST NOT be reinitiated after a timeout-based loss recovery has already been started but
        // not completed".
        if timeout && self.prior.is_none() {
            let pipe = s.flight().max(s.ssthresh);
            self.prior =
                Some(Prior { pipe, srtt: s.srtt + TWO_G, rttvar: s.rttvar, snd_max: s.snd_max });
        }
    }

    fn skips_plain_acks(&self) -> bool {
        self.retimes.is_none()
    }

    fn on_ack(&mut self, _s: &State, a: &AckSummary) -> Verdict {
        let (Some(rtt), Some(prior)) = (a.rtt, self.retimes) else { return Verdict::Open };
        if a.prior_una < prior.snd_max {
            return Verdict::Open;
        }
        self.retimes = None;
        // Step 11.
        Verdict::Retime { srtt: prior.srtt.max(rtt), rttvar: prior.rttvar.max(Span(rtt.0 / 2)) }
    }

    fn respond(&mut self, s: &State, a: &AckSummary) -> Option<Windows> {
        let prior = self.prior.take()?;
        self.retimes = Some(prior);
        // Step 9; section 3.4: on an ECN-Echo "the TCP sender MUST refrain from reversing
        // congestion control state".
        if a.ece {
            return Some(Windows::unchanged(s));
        }
        Some(Windows {
            ssthresh: prior.pipe,
            cwnd: s.flight() + a.newly_acked.min(s.initial_window),
        })
    }
}
