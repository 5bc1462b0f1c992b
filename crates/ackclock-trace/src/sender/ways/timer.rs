//! The least retransmission timeout.
//!
//! Where round trips vary little, the timer waits for its minimum: RFC 6298 section 2.4 for the
//! minimum in all, Linux (`tcp_rtt_estimator`, `TCP_RTO_MIN`) for SRTT and as much beyond. An
//! expiry that fits one of the known minima in either way counts for it.

use ackclock_tcp::Span;

use crate::sender::stream::timers::{TICKS, Timers};
use crate::ways::LeastRto;

#[derive(Debug, Default)]
pub(super) struct Expiries {
    found: LeastRto,
}

impl Expiries {
    pub fn add(&mut self, waited: Span, timers: &Timers) {
        if !timers.is_at_minimum() {
            return;
        }
        let beyond = Span(waited.0.saturating_sub(timers.srtt().0));
        for (least, seen) in LeastRto::KNOWN.into_iter().zip(&mut self.found.seen) {
            // Timers are late by a tick, never early by more than their rounding.
            let fits = |span: Span| span.0 >= least.0 / 100 * 99 && span.0 <= least.0 + TICKS.0;
            *seen += u32::from(fits(waited) || fits(beyond));
        }
    }

    pub fn found(&self) -> LeastRto {
        self.found
    }
}
