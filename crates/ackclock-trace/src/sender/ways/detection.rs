//! How the sender detects losses, with SACK: by time (RACK, RFC 8985 section 6.2; Linux
//! `tcp_rack_reo_timeout`), or by three duplicates alone (RFC 6675 section 4).
//!
//! Fewer than three segments are SACKed, and at least four were outstanding, so that it is no early
//! retransmit (RFC 5827) and nothing that FACK would find: then only time can have begun a
//! recovery, a quarter of the shortest round trip after the first sign. A sender with RACK waits
//! for a round trip at the most; one that waits for longer has none.

use ackclock_tcp::Span;

use crate::connection::Kind;
use crate::sender::input::Sent;
use crate::sender::recovery::LossRecovery;
use crate::sender::stream::Stream;
use crate::sender::stream::moments::HOST_BUSY;
use crate::sender::stream::timers::{TICKS, nearly};
use crate::ways::Evidence;

/// What speaks for a loss before something goes out again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sign {
    /// Nothing was repaired.
    pub open: bool,
    /// Since the first sign that the head is lost.
    since: Option<Span>,
    /// Nothing outstanding was sent again before, and SACK is in use.
    clean: bool,
    /// It is too little for three duplicates.
    little: bool,
}

impl Sign {
    pub fn of(sent: &Sent, stream: &Stream, recovery: &LossRecovery) -> Sign {
        let (outstanding, evidence) = (&stream.outstanding, &recovery.evidence);
        let mss = u64::from(stream.terms.mss);
        let una = outstanding.una();
        let open = recovery.phases.is_open() && !recovery.phases.is_undo_in_doubt();
        let head = outstanding.head().is_some_and(|head| head.again == 0);
        Sign {
            open,
            since: evidence.against_head().map(|first| sent.at.since(first)),
            clean: stream.terms.sack
                && open
                && head
                && sent.position == una
                && outstanding.retransmitted() == 0,
            little: evidence.duplicates() < 3
                && outstanding.sacked_bytes() < 3 * mss
                && outstanding.highest_sacked().saturating_sub(una) <= 3 * mss
                && outstanding.flight() > 3 * mss,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Detection {
    found: Evidence,
}

impl Detection {
    pub fn retransmitted(&mut self, kind: Kind, sign: &Sign, stream: &Stream) {
        let Some(since) = sign.since.filter(|_| sign.clean) else { return };
        let window = nearly(Span(stream.timers.min_rtt().0 / 4));
        let longest = stream.timers.srtt() + TICKS;
        match kind {
            Kind::FastRetransmit | Kind::Timeout if since > longest.times(2) => {
                self.found.unused += 1;
            }
            Kind::FastRetransmit if sign.little && since >= window.max(HOST_BUSY.times(2)) => {
                self.found.used += 1;
            }
            _ => {}
        }
    }

    pub fn found(&self) -> Evidence {
        self.found
    }
}
