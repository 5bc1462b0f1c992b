//! Early retransmit (RFC 5827 section 3.2, by segments): with fewer than four segments outstanding
//! and nothing new to send, one duplicate less than there are segments means that the first one is
//! lost. The mitigations are those of Dukkipati et al., *Proportional Rate Reduction for TCP* (IMC
//! 2011), section 6.
//!
//! The paper leaves open how reordering is detected ("Linux already detects reordering based on
//! SACK"). Inferred: after duplicates an ACK advances and acknowledges nothing that was
//! retransmitted; or a D-SACK comes (RFC 5827 mitigation A.1), which says that an early
//! retransmission was spurious. "If it receives an ACK during this interval" is read as any ACK
//! that says something new. An ACK that meets the conditions begins the interval anew.

use alloc::boxed::Box;

use super::{Detect, Lost};
use crate::recovery::wraps;
use crate::state::State;
use crate::summary::AckSummary;
use crate::time::{Span, Time};

/// Condition 3.a: "the number of outstanding segments (oseg) [...] is less than four".
const FEW: usize = 4;
/// Section 6.1 of the paper: "1/4 of the smoothed RTT bound to the range of 25ms to 500ms".
const MIN_DELAY: Span = Span::from_millis(25);
const MAX_DELAY: Span = Span::from_millis(500);

/// What is done against reordering.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mitigation {
    None,
    OffAfterReordering,
    Delay,
}

/// Any detection, with a lower threshold where few segments are outstanding.
pub struct EarlyRetransmit {
    inner: Box<dyn Detect>,
    mitigation: Mitigation,
    /// Early retransmit made the last judgement.
    early: bool,
    /// Duplicates came since `snd_una` last advanced.
    gap: bool,
    /// Reordering was seen.
    reordered: bool,
    /// When the delay ends.
    at: Time,
}

impl EarlyRetransmit {
    /// As RFC 5827 has it.
    pub fn naive(inner: Box<dyn Detect>) -> EarlyRetransmit {
        EarlyRetransmit {
            inner,
            mitigation: Mitigation::None,
            early: false,
            gap: false,
            reordered: false,
            at: Time::NEVER,
        }
    }

    /// Mitigation 1: off once reordering was seen.
    pub fn off_after_reordering(inner: Box<dyn Detect>) -> EarlyRetransmit {
        EarlyRetransmit {
            mitigation: Mitigation::OffAfterReordering,
            ..EarlyRetransmit::naive(inner)
        }
    }

    /// Mitigations 1 and 2: and only after a delay in which no ACK arrives.
    pub fn delayed(inner: Box<dyn Detect>) -> EarlyRetransmit {
        EarlyRetransmit { mitigation: Mitigation::Delay, ..EarlyRetransmit::naive(inner) }
    }

    /// Conditions 3.a and 3.b, and ER_thresh.
    fn is_due(s: &State) -> bool {
        let oseg = s.board.len();
        if s.recovering() || !(2..FEW).contains(&oseg) || s.new_len().is_some() {
            return false;
        }
        let duplicates =
            if s.sack { s.board.sacked_segments() as usize } else { s.dupacks as usize };
        duplicates == oseg - 1
    }

    fn delay(s: &State) -> Span {
        // Before the first sample nothing is known, and the delay is the longest.
        if s.srtt == Span::ZERO {
            MAX_DELAY
        } else {
            Span(s.srtt.0 / 4).clamp(MIN_DELAY, MAX_DELAY)
        }
    }

    /// What this ACK shows of reordering.
    fn learn(&mut self, a: &AckSummary) {
        let advances = a.newly_acked > 0;
        let came_late = self.gap && advances && a.retransmission_acked.is_none();
        self.reordered |= came_late || a.dsack.is_some();
        self.gap = a.duplicate || (self.gap && !advances);
    }
}

impl Detect for EarlyRetransmit {
    wraps!(self.inner: Detect);

    fn name(&self) -> &'static str {
        match self.mitigation {
            _ if !self.early => self.inner.name(),
            Mitigation::None => "er",
            Mitigation::OffAfterReordering => "er-1",
            Mitigation::Delay => "er-2",
        }
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
        (self.early, self.at) = (false, Time::NEVER);
        self.learn(a);
        let lost = self.inner.on_ack(s, a);
        let off = self.reordered && self.mitigation >= Mitigation::OffAfterReordering;
        let duplicate = a.duplicate || s.sack;
        if lost != Lost::Nothing || off || !duplicate || !Self::is_due(s) {
            return lost;
        }
        if self.mitigation == Mitigation::Delay {
            self.at = s.now + Self::delay(s);
            return Lost::Nothing;
        }
        self.early = true;
        Lost::Head
    }

    fn deadline(&self) -> Time {
        self.at.min(self.inner.deadline())
    }

    fn on_deadline(&mut self, s: &State) -> Lost {
        self.early = false;
        if self.inner.deadline() <= s.now {
            let lost = self.inner.on_deadline(s);
            if lost != Lost::Nothing {
                return lost;
            }
        }
        if self.at > s.now {
            return Lost::Nothing;
        }
        self.at = Time::NEVER;
        // Conditions that the delay has ended: without them early retransmit "MUST NOT be used".
        self.early = Self::is_due(s);
        if self.early { Lost::Head } else { Lost::Nothing }
    }
}
