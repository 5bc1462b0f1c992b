//! Linux's pacing inside TCP (`tcp_update_pacing_rate`, `tcp_pacing_check`,
//! `tcp_update_skb_after_send`).
//!
//! - The rate is that of the window law, if it has one (`cong_control`). Else it is 200 % of cwnd
//!   for each smoothed round trip while cwnd is below half of ssthresh, and 120 % from there on
//!   (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
//! - What leaves puts the next departure off by the time that its payload takes at that rate. The
//!   first nine segments put nothing off (`TCP_INIT_CWND`).
//! - Time that passed unused since the departure that was due counts, for half of what leaves then
//!   at most: a timer that is late costs no throughput.
//! - Segments leave in bundles of what the path takes in a millisecond, at least two (one below
//!   1.2 Mbit/s, if the window law sets the rate), no more than half of cwnd.
//!
//! Linux's bundles have up to four segments of 1448 bytes at 50 Mbit/s. Here they have two at most
//! up to that rate: nothing is saved by longer ones.

use super::Pacing;
use crate::recovery::linux::{GSO_MAX_SIZE, INIT_CWND, MIN_TSO_RATE, PACING_SHIFT, pacing_rate};
use crate::state::State;
use crate::time::{Span, Time};

/// 50 Mbit/s.
const SHORT_BUNDLES: u64 = 6_250_000;

/// Pacing by a time of departure.
#[derive(Clone, Debug, Default)]
pub struct LinuxPacing {
    /// `sk_pacing_rate`, in bytes a second; 0 for none.
    rate: u64,
    /// The window law sets it.
    by_law: bool,
    /// `tcp_wstamp_ns`: when the next bundle may leave.
    at: Time,
    /// Time unused when this bundle began.
    credit: Span,
    /// When this bundle began, and bytes that may still leave with it.
    began: Time,
    left: u64,
    /// Nothing more left with it at the end of an input: later ones go by their own time.
    drained: bool,
    /// `data_segs_out`, up to [`INIT_CWND`].
    sent: u64,
}

impl LinuxPacing {
    /// Whether what leaves now may leave with the bundle before it.
    fn goes_on(&self, s: &State) -> bool {
        self.left > 0 && (s.now == self.began || !self.drained)
    }

    /// Bytes of a bundle.
    fn bundle(&self, s: &State) -> u64 {
        let segments = match self.rate {
            rate if self.by_law && rate < MIN_TSO_RATE => 1,
            rate if rate <= SHORT_BUNDLES => 2,
            rate => ((rate >> PACING_SHIFT).min(GSO_MAX_SIZE) / s.mss).max(2),
        };
        segments.min((s.cwnd / s.mss / 2).max(1)) * s.mss
    }
}

impl Pacing for LinuxPacing {
    fn update(&mut self, s: &State, law: Option<u64>) {
        self.by_law = law.is_some();
        self.rate = law.unwrap_or_else(|| pacing_rate(s));
    }

    fn next(&self, s: &State) -> Time {
        if self.goes_on(s) { s.now } else { self.at }
    }

    fn on_sent(&mut self, s: &State, len: u32) {
        if !self.goes_on(s) {
            // What goes whatever the rate is no bundle.
            self.left = if self.at <= s.now { self.bundle(s) } else { 0 };
            (self.began, self.credit) = (s.now, s.now.since(self.at));
        }
        self.left = self.left.saturating_sub(len.into());
        self.at = self.at.max(s.now);
        self.sent = (self.sent + 1).min(INIT_CWND);
        if self.sent == INIT_CWND && self.rate > 0 {
            let takes = u64::from(len) * 1_000_000_000 / self.rate;
            let used = self.credit.0.min(takes / 2);
            self.credit = self.credit - Span(used);
            self.at += Span(takes - used);
        }
        self.drained = false;
    }

    fn on_drained(&mut self) {
        self.drained = true;
    }
}
