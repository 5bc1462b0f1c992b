//! The counters of a sender.

use crate::event::TimeoutClass;
use crate::time::Span;

/// Counters of one sender; they only grow. What every ACK counts stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Stats {
    /// ACKs received.
    pub acks: u64,
    /// Segments with payload sent, retransmissions included.
    pub segments_sent: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Round trips measured.
    pub rtt_samples: u64,
    /// Their sum; it stops at its greatest value.
    pub rtt_sum: Span,
    /// The shortest of them and of the handshake's; zero before the first.
    pub rtt_least: Span,
    /// The smoothed one over the same; zero before the first. It does not go by the strategy's
    /// timer, so that it can be compared between strategies: a timer may round to its own ticks, or
    /// take a sample once a round trip.
    pub rtt_smoothed: Span,
    /// Segments retransmitted, for whatever cause.
    pub retransmissions: u64,
    /// Of those, the ones that began a recovery.
    pub fast_retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Of those, by class in the order of [`TimeoutClass::ALL`].
    pub timeouts_by_class: [u64; TimeoutClass::ALL.len()],
    /// Recoveries, begun by an ACK or by the timer of RACK, not by a timeout.
    pub recoveries: u64,
    /// Reductions of the windows that an ECN-Echo began (RFC 3168 section 6.1.2).
    pub ecn_reductions: u64,
    /// ACKs with ECN-Echo; 0 where ECN was not negotiated.
    pub ecn_echoes: u64,
}

impl Stats {
    /// Takes the first round trip (RFC 6298 section 2.2) or a further one (section 2.3, alpha =
    /// 1/8). What is rounded here grows with both terms, and a mean of the least with itself is the
    /// least: so the smoothed one is never below it.
    pub(super) fn round_trip(&mut self, rtt: Span) {
        let rtt = rtt.max(Span(1));
        if self.rtt_least == Span::ZERO {
            (self.rtt_least, self.rtt_smoothed) = (rtt, rtt);
            return;
        }
        self.rtt_least = self.rtt_least.min(rtt);
        self.rtt_smoothed = Span(self.rtt_smoothed.0 - self.rtt_smoothed.0 / 8 + rtt.0 / 8);
    }
}

#[cfg(test)]
mod tests;
