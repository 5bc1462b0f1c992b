//! The counters of a sender.

use crate::event::TimeoutClass;
use crate::time::Span;

/// Counters of one sender; they only grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Stats {
    /// Segments with payload sent, retransmissions included.
    pub segments_sent: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Segments retransmitted, for whatever cause.
    pub retransmissions: u64,
    /// Of those, the ones that began a recovery.
    pub fast_retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Of those, by class in the order of [`TimeoutClass::ALL`].
    pub timeouts_by_class: [u64; TimeoutClass::ALL.len()],
    /// Recoveries entered by other than a timeout.
    pub recoveries: u64,
    /// Reductions of the windows that an ECN-Echo began (RFC 3168 section 6.1.2).
    pub ecn_reductions: u64,
    /// ACKs received.
    pub acks: u64,
    /// Of those, the ones with ECN-Echo; 0 where ECN was not negotiated.
    pub ecn_echoes: u64,
    /// Round trips measured, and their sum.
    pub rtt_samples: u64,
    /// In nanoseconds; it stops at its greatest value.
    pub rtt_sum: Span,
    /// The shortest of them; zero before the first.
    pub rtt_least: Span,
}
