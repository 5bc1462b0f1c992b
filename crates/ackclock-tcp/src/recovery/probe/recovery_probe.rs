//! A probe within recovery. RACK (RFC 8985 section 6.2) takes a segment for lost that was sent a
//! round trip and a quarter ago, as its reordering window is a quarter of a round trip until
//! D-SACKs widen it. But it looks only when an ACK comes. If the retransmission of the first
//! unacknowledged segment is lost and nothing else is on its way, none does, and the retransmission
//! timer is left. QUIC's probe timer (RFC 9002 section 6.2) runs in every phase.
//!
//! So does this one, within recovery: a round trip and a quarter after the segment was last sent,
//! and after anything was last sent or delivered, it goes again. Inferred:
//!
//! - It is 2 ms later, as all of Linux's timers are (`TCP_TIMEOUT_MIN_US`).
//! - It goes only where one retransmission of the segment has gone. If nothing answers the probe
//!   either, the retransmission timer follows, which backs off. So does QUIC's probe timer (RFC
//!   9002 section 6.2.1).
//! - While other segments are judged lost, too, it goes only in the first recovery of a connection,
//!   before any timeout, and only if no more are lost than were acknowledged before. Else the path
//!   is full, where another segment would only be dropped, too. BBR tells chance from congestion by
//!   the number of losses in a round trip as well (draft-ietf-ccwg-bbr-06, "Exiting Startup Based
//!   on Packet Loss").
//! - It goes only where its ACK is not delayed: it fills a gap (RFC 5681 section 4.2) or carries a
//!   FIN.
//! - It changes no window. RFC 5681 section 4.3 lowers them twice where a retransmission was lost.
//!   This departs from it, as Linux and RFC 9002 section 7.3.2 do: the recovery has lowered them.

use super::{Probe, ProbeNow};
use crate::recovery::linux::TIMEOUT_MIN;
use crate::recovery::window::{Window, Windows};
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// The first unacknowledged segment once more.
#[derive(Default)]
pub struct RecoveryProbe {
    /// When something was last SACKed.
    heard: Time,
    /// `recover` of the first recovery; 0 before an ACK has arrived in it.
    first: u64,
}

impl Probe for RecoveryProbe {
    fn skips_plain_acks(&self) -> bool {
        true
    }

    fn on_ack_first(&mut self, s: &State, a: &AckSummary, _: &mut dyn Window) -> Option<Windows> {
        if a.newly_sacked > 0 {
            self.heard = s.now;
        }
        let news = a.newly_acked + a.newly_sacked > 0;
        if news && self.first == 0 && s.phase == Phase::Recovery {
            self.first = s.recover;
        }
        None
    }

    fn deadline(&self, s: &State) -> Time {
        let (Some(head), Some(last)) = (s.board.head(), s.board.last()) else {
            return Time::NEVER;
        };
        let fin = s.fin && head.end() == s.written;
        let prompt = s.board.sacked_segments() > 0 || fin;
        let lost = u64::from(s.board.lost_segments());
        let first = s.timed_out.is_none() && (self.first == 0 || self.first == s.recover);
        let by_chance = lost <= 1 || first && lost * s.mss <= s.snd_una;
        let once = head.retransmitted && head.transmissions == 2;
        let applies = s.sack && s.phase == Phase::Recovery && once && by_chance && prompt;
        if !applies || s.srtt == Span::ZERO {
            return Time::NEVER;
        }
        let since = s.advanced.max(self.heard).max(head.last_sent).max(last.last_sent);
        since + Span(s.srtt.0 / 4).times(5) + TIMEOUT_MIN
    }

    fn on_deadline(&mut self, _s: &State) -> ProbeNow {
        ProbeNow::Head
    }
}
