//! Expiries of the retransmission timer, and what each says about the recovery that did not happen
//! (Lin & Kung section 4.1).

use ackclock_tcp::{Span, Time, TimeoutClass};

use crate::connection::Timeout;
use crate::sender::input::Sent;
use crate::sender::recovery::retransmissions::Retransmissions;
use crate::sender::stream::segment::Segment;

#[derive(Debug, Default)]
pub(crate) struct Timeouts {
    found: Vec<Timeout>,
    /// Timeouts since `una` advanced.
    in_a_row: u32,
}

impl Timeouts {
    /// Timeouts since `una` advanced.
    pub fn in_a_row(&self) -> u32 {
        self.in_a_row
    }

    #[inline]
    pub fn progressed(&mut self) {
        self.in_a_row = 0;
    }

    /// The last one has sent another segment than this: something was acknowledged since.
    pub fn is_of_another(&self, position: u64) -> bool {
        self.found.last().is_some_and(|last| last.position != position)
    }

    /// The class of a timeout that sends the segment `head` as `sent`. A probe that has
    /// retransmitted this segment was an attempt, as for the engine. `may_hide`: a retransmission
    /// before this timeout may have gone unseen ([`hides_another`]).
    ///
    /// A FIN without data has the class of the handshake where nothing was retransmitted before:
    /// then it says nothing about fast retransmit.
    pub fn class(
        &self,
        sent: &Sent,
        head: Option<&Segment>,
        last_retransmission: Time,
        may_hide: bool,
    ) -> TimeoutClass {
        match head {
            _ if self.in_a_row > 0 => TimeoutClass::BackedOff,
            None => TimeoutClass::Unknown,
            Some(head) if head.again > 0 => TimeoutClass::LostRetransmission,
            Some(_) if may_hide => TimeoutClass::Unknown,
            Some(head) if last_retransmission > head.first_at => TimeoutClass::MultipleLosses,
            Some(_) if sent.payload() == 0 => TimeoutClass::Handshake,
            Some(_) => TimeoutClass::NonTrigger,
        }
    }

    /// The timer has expired.
    pub fn push(&mut self, timeout: Timeout) {
        self.found.push(timeout);
        self.in_a_row += 1;
    }

    /// Another time is known of the timeout that sent this retransmission, if one did: when data of
    /// any connection on the way last got through.
    pub fn passed(&mut self, retransmission: usize, at: Time) {
        if let Some(last) = self.found.last_mut().filter(|t| t.retransmission == retransmission) {
            last.passed = at;
        }
    }

    /// What seemed to be a probe was a timeout.
    pub fn push_late(&mut self, timeout: Timeout) {
        self.found.push(timeout);
    }

    /// Nothing was acknowledged since the last one, which was found late.
    pub fn still_in_a_row(&mut self) {
        self.in_a_row = 1;
    }

    /// Which retransmission the last one sent.
    pub fn last_retransmission(&self) -> Option<usize> {
        self.found.last().map(|t| t.retransmission)
    }

    /// At the end: in order of time, and spurious where the retransmission was.
    pub fn into_all(mut self, retransmissions: &Retransmissions) -> Vec<Timeout> {
        self.found.sort_by_key(|t| t.at);
        for timeout in &mut self.found {
            timeout.spurious = retransmissions.get(timeout.retransmission).and_then(|r| r.spurious);
        }
        self.found
    }
}

/// Whether something was due to be retransmitted before a timeout, so that it may have been sent
/// and lost before the capture: after three duplicates or three segments SACKed, or where the timer
/// waited for half an interval too long.
pub(crate) fn hides_another(
    duplicates: u32,
    sacked_bytes: u64,
    mss: u32,
    waited: Span,
    rto: Span,
) -> bool {
    is_due(duplicates, sacked_bytes, mss) || waited > rto + Span(rto.0 / 2)
}

/// A fast retransmit is due (RFC 5681 section 3.2, RFC 6675 section 4).
pub(crate) fn is_due(duplicates: u32, sacked_bytes: u64, mss: u32) -> bool {
    duplicates >= 3 || sacked_bytes >= 3 * u64::from(mss)
}
