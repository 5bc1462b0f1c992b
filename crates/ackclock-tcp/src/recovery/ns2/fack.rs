//! The FACK of ns-2.35 (`tcp-fack.cc`), after M. Mathis and J. Mahdavi, *Forward Acknowledgment*
//! (1996). Unlike theirs, its recovery begins with a window of one segment (`CLOSE_CWND_RESTART`)
//! and every ACK of it opens the window, so that it is a slow start to half of the window.
//!
//! Left out: ns-2 stops until the timer expires when a retransmission is lost, restarts the timer
//! on every duplicate, and stays in recovery through a timeout.

use crate::recovery::ff96::Ff96Holes;
use crate::recovery::regulate::Regulate;
use crate::recovery::select::{Next, OnAck, Select};
use crate::state::State;
use crate::summary::AckSummary;

/// What lies above the highest SACKed packet is in the network, and what was retransmitted.
pub struct Ns2Fack;

impl Ns2Fack {
    /// `opencwnd`.
    fn grown(s: &State) -> u64 {
        let step = if s.cwnd < s.ssthresh { s.mss } else { s.mss * s.mss / s.cwnd.max(1) };
        s.cwnd + step
    }
}

impl Regulate for Ns2Fack {
    fn in_flight(&self, s: &State) -> u64 {
        let fack = s.board.highest_sacked().max(s.snd_una);
        // `retran_data_`.
        let again = u64::from(s.board.retransmitted_segments()) * s.mss;
        s.snd_nxt.saturating_sub(fack) + again
    }

    fn on_enter(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.mss
    }

    fn on_ack(&mut self, s: &State, _a: &AckSummary) -> u64 {
        Ns2Fack::grown(s)
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        Ns2Fack::grown(s)
    }
}

/// The holes of Fall & Floyd's SACK, until an ACK without SACK blocks covers the first segment that
/// was sent after recovery began, or all.
#[derive(Default)]
pub struct Ns2FackHoles {
    inner: Ff96Holes,
}

impl Select for Ns2FackHoles {
    fn name(&self) -> &'static str {
        "ns2-fack-holes"
    }

    fn uses_sacks_after_timeout(&self) -> bool {
        self.inner.uses_sacks_after_timeout()
    }

    fn on_enter(&mut self, s: &State) {
        self.inner.on_enter(s);
    }

    fn ends(&self, s: &State, a: &AckSummary) -> bool {
        a.sacked_to == 0 && (a.ack > s.recover || s.board.is_empty())
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> OnAck {
        self.inner.on_ack(s, a)
    }

    fn next(&mut self, s: &State) -> Option<Next> {
        self.inner.next(s)
    }
}
