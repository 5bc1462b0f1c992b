//! Rate halving as Linux 2.6 had it: Dukkipati et al. 2011 section 3.2.
//!
//! - "When *cwnd* is reduced, Linux sends data in response to alternate ACKs during recovery":
//!   every second ACK with any news takes a segment off cwnd.
//! - "Linux prevents bursts by reducing *cwnd* to *pipe* + 1 on every ACK that reduces *pipe* for
//!   some reason."
//! - What is left at the end is where slow start begins: "*cwnd* remains *pipe* + 1 when fast
//!   recovery completes" (section 4.1).
//!
//! The paper does not say where halving stops. Linux leaves it to the window law. With Reno's it
//! stops at half of ssthresh. So it does in RFC 6937 section 3.1, where 15 of 20 segments are lost
//! and cwnd stays at 5 for the rest of recovery, with ssthresh 10. CUBIC sets no floor of its own,
//! and then halving stops at ssthresh. Inferred: cwnd does not end above ssthresh.

use super::Regulate;
use super::delivered::Delivered;
use crate::state::State;
use crate::summary::AckSummary;

/// One segment for two ACKs, and never more than one at once.
pub struct RateHalving {
    delivered: Delivered,
    /// An odd number of ACKs has been counted.
    odd: bool,
    /// Halving stops at ssthresh divided by this.
    divisor: u64,
}

impl RateHalving {
    /// Down to half of ssthresh, as with Reno's window law.
    pub fn to_half() -> RateHalving {
        RateHalving { delivered: Delivered::default(), odd: false, divisor: 2 }
    }

    /// Down to ssthresh, as with CUBIC.
    pub fn to_ssthresh() -> RateHalving {
        RateHalving { divisor: 1, ..RateHalving::to_half() }
    }

    fn cwnd(&mut self, s: &State) -> u64 {
        self.odd = !self.odd;
        let reduced = if self.odd || s.cwnd <= s.ssthresh / self.divisor {
            s.cwnd
        } else {
            s.cwnd.saturating_sub(s.mss)
        };
        reduced.min(self.in_flight(s) + s.mss)
    }
}

impl Regulate for RateHalving {
    fn in_flight(&self, s: &State) -> u64 {
        self.delivered.in_flight(s)
    }

    fn on_enter(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.odd = false;
        self.delivered.on_enter(s, a);
        self.cwnd(s)
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> u64 {
        self.delivered.on_ack(s, a);
        self.cwnd(s)
    }

    fn on_exit(&mut self, s: &State, _a: &AckSummary) -> u64 {
        s.cwnd.min(s.ssthresh)
    }
}
