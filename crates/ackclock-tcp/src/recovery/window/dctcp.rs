//! Data Center TCP, the sender: RFC 8257 sections 3.3 to 3.5. It wraps the window law that a
//! composition names before it: `newreno+dctcp`. The receiver has to echo each mark
//! ([`ReceiverConfig::dctcp_echo`](crate::ReceiverConfig::dctcp_echo)).
//!
//! - DCTCP.Alpha estimates the fraction of bytes that were marked, with the gain g = 1/16, and
//!   begins with 1, as in Linux (`dctcp_alpha_on_init`). A window of observation ends with the
//!   first ACK above DCTCP.WindowEnd. Bytes count as acknowledged when `snd_una` covers them: SACK
//!   blocks do not count.
//! - SND.NXT is the end of what was sent, also after a timeout.
//! - An ECN-Echo sets cwnd to cwnd * (1 - DCTCP.Alpha / 2), once in a window of data, with the
//!   alpha that this ACK has left. At least two segments stay, as in Linux (`dctcp_ssthresh`).
//! - The wrapped law is asked in any case, so that CUBIC begins a new curve (inferred).
//! - Growth, losses and timeouts are the wrapped law's (sections 3.4 and 3.5), and so are marks of
//!   a law that goes by the rate of delivery.

use alloc::boxed::Box;

use super::Window;
use crate::recovery::wraps;
use crate::state::State;
use crate::summary::AckSummary;

/// The estimation gain.
const G: f64 = 1.0 / 16.0;

/// Lowers the window by the fraction of bytes that were marked.
pub struct Dctcp {
    law: Box<dyn Window>,
    /// DCTCP.Alpha.
    alpha: f64,
    /// DCTCP.WindowEnd.
    window_end: u64,
    /// DCTCP.BytesAcked.
    bytes_acked: u64,
    /// DCTCP.BytesMarked.
    bytes_marked: u64,
}

impl Dctcp {
    /// Around this law.
    pub fn new(law: Box<dyn Window>) -> Dctcp {
        Dctcp { law, alpha: 1.0, window_end: 0, bytes_acked: 0, bytes_marked: 0 }
    }
}

impl Window for Dctcp {
    wraps!(self.law: Window; on_ack, on_loss, on_timeout);

    fn measures(&self) -> bool {
        true
    }

    fn on_measured(&mut self, s: &State, a: &AckSummary) -> Option<u64> {
        // Section 3.3, steps 1 to 3.
        self.bytes_acked += a.newly_acked;
        if a.ece {
            self.bytes_marked += a.newly_acked;
        }
        // Steps 4 to 8. An ACK above the end acknowledges something of this window.
        if a.ack > self.window_end && self.bytes_acked > 0 {
            let m = self.bytes_marked as f64 / self.bytes_acked as f64;
            self.alpha = self.alpha * (1.0 - G) + G * m;
            self.window_end = s.snd_max;
            (self.bytes_acked, self.bytes_marked) = (0, 0);
        }
        if self.law.measures() { self.law.on_measured(s, a) } else { None }
    }

    fn on_ecn(&mut self, s: &State, flight: u64) -> u64 {
        let as_wrapped = self.law.on_ecn(s, flight);
        if self.law.by_rate().is_some() {
            return as_wrapped;
        }
        // Step 9.
        ((s.cwnd as f64 * (1.0 - self.alpha / 2.0)) as u64).max(2 * s.mss)
    }
}
