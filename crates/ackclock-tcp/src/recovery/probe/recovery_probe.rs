//! A probe within recovery. RACK (RFC 8985 section 6.2) takes a segment for lost that was sent a
//! round trip and a quarter ago, the reordering window being a quarter of a round trip at most. But
//! it looks only when an ACK comes. If the retransmission of the first unacknowledged segment is
//! lost and nothing else is on its way, none does, and the retransmission timer is left. QUIC's
//! probe timer (RFC 9002 section 6.2) runs in every phase.
//!
//! So does this one, within recovery: a round trip and a quarter after the segment was last sent,
//! and after anything was last sent or delivered, it goes again. Inferred:
//!
//! - It is 2 ms later, as all of Linux's timers are (`TCP_TIMEOUT_MIN_US`).
//! - One probe goes for each silence; if nothing is delivered after it, the retransmission timer
//!   follows.
//! - It goes only where its ACK is not delayed: it fills a gap (RFC 5681 section 4.2) or carries a
//!   FIN.
//! - It changes no window. The recovery has lowered them, and a loss within it does not again (RFC
//!   9002 section 7.3.2).

use super::{Probe, ProbeNow};
use crate::recovery::window::{Window, Windows};
use crate::state::{Phase, State};
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// `TCP_TIMEOUT_MIN_US`.
const SLACK: Span = Span::from_millis(2);

/// The first unacknowledged segment once more.
#[derive(Default)]
pub struct RecoveryProbe {
    /// When something was last delivered.
    heard: Time,
    /// A probe has gone since.
    fired: bool,
}

impl Probe for RecoveryProbe {
    fn on_ack_first(&mut self, s: &State, a: &AckSummary, _: &mut dyn Window) -> Option<Windows> {
        if a.newly_acked + a.newly_sacked > 0 {
            *self = RecoveryProbe { heard: s.now, fired: false };
        }
        None
    }

    fn deadline(&self, s: &State) -> Time {
        let (Some(head), Some(last)) = (s.board.head(), s.board.last()) else {
            return Time::NEVER;
        };
        let fin = s.fin && head.end() == s.written;
        let prompt = s.board.sacked_segments() > 0 || fin;
        let applies = s.sack && s.phase == Phase::Recovery && head.retransmitted && prompt;
        if !applies || self.fired || s.srtt == Span::ZERO {
            return Time::NEVER;
        }
        let since = self.heard.max(head.last_sent).max(last.last_sent);
        since + Span(s.srtt.0 / 4 * 5) + SLACK
    }

    fn on_deadline(&mut self, _s: &State) -> ProbeNow {
        self.fired = true;
        ProbeNow::Head
    }
}
