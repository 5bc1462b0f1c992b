//! The timer of ns-2 (`tcp.cc`, `rtt_timeout` and `reset_rtx_timer`): RFC 6298's, restarted by the
//! retransmission that begins a recovery, as BSD's is. One in place of a lost retransmission, which
//! ns-2 does not have, restarts it too.

use crate::recovery::timer::{Restart, Rfc6298Timer};
use crate::time::Span;

/// The timer of ns-2.35.
pub fn ns2_timer() -> Rfc6298Timer {
    Rfc6298Timer::with(Restart::OnDuplicates, Span::from_secs(1))
}

/// As ns-2 was until January 2006: 6 s before the first sample (`rtxcur_init_`). On paths with a
/// round trip of a second or more, RFC 6298's 1 s would expire before the first ACK.
pub fn ns2_timer_until_2006() -> Rfc6298Timer {
    Rfc6298Timer::with(Restart::OnDuplicates, Span::from_secs(6))
}
