//! Alternative Backoff with ECN: RFC 8511 section 3. It wraps the window law that a composition
//! names before it: `newreno+abe`, `newreno+cubic+abe`.
//!
//! - A mark in congestion avoidance leaves beta_ecn of FlightSize, at least two segments. beta_ecn
//!   is 0.8, and 0.85 around CUBIC (section 3.1; [`Window::beta_ecn`]). FlightSize counts up to the
//!   smaller of cwnd and the receiver's window, as section 3.1 has it.
//! - Up to cwnd = ssthresh a mark is answered as the wrapped law does: section 4 does not recommend
//!   ABE there. (The parenthesis before that, "when ssthresh > cwnd", is taken for a slip: the
//!   abstract and section 3.1 speak of congestion avoidance.)
//! - The wrapped law is asked in any case, so that CUBIC begins a new curve (inferred).
//! - Linux's laws count whole segments, and drop a part of one with their next growth.
//! - Losses and timeouts are the wrapped law's, and so are marks of a law that goes by the rate of
//!   delivery.

use alloc::boxed::Box;

use super::Window;
use crate::recovery::wraps;
use crate::state::State;
use crate::summary::AckSummary;

/// Lowers the window less for a mark than for a loss.
pub struct Abe {
    law: Box<dyn Window>,
}

impl Abe {
    /// Around this law.
    pub fn new(law: Box<dyn Window>) -> Abe {
        Abe { law }
    }
}

impl Window for Abe {
    wraps!(self.law: Window; on_ack, on_loss, on_timeout);

    fn on_ecn(&mut self, s: &State, flight: u64) -> u64 {
        let as_wrapped = self.law.on_ecn(s, flight);
        if s.cwnd <= s.ssthresh || self.law.by_rate().is_some() {
            return as_wrapped;
        }
        (flight.min(s.window()) * self.law.beta_ecn() / 100).max(2 * s.mss)
    }
}
