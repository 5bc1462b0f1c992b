//! Two windows: the one that the receiver offers, and the sender's own, which a capture does not
//! show and which is estimated from what is in the network.

use crate::sender::Acked;

#[derive(Debug)]
pub(crate) struct Windows {
    /// Offered by the receiver, in bytes.
    offered: u64,
    /// What that lets the sender have outstanding ([`Acked::allowed`]).
    allowed: u64,
    /// The most that was offered.
    most: u64,
    /// Bytes believed to be in the network.
    pipe: u64,
    /// The most that `pipe` was since cwnd was last reduced.
    peak: u64,
}

impl Default for Windows {
    fn default() -> Windows {
        Windows { offered: u64::MAX, allowed: u64::MAX, most: 0, pipe: 0, peak: 0 }
    }
}

impl Windows {
    #[inline]
    pub fn offer(&mut self, a: &Acked) {
        self.offered = a.window;
        self.allowed = a.allowed();
        self.most = self.most.max(a.window);
    }

    pub fn offered(&self) -> u64 {
        self.offered
    }

    /// What the receiver lets the sender have outstanding, as far as it is known.
    pub fn allowed(&self) -> u64 {
        self.allowed
    }

    /// The most that the receiver has offered.
    pub fn most_offered(&self) -> u64 {
        self.most
    }

    /// The least room that a sender waits for: a segment of SMSS, but no more than half of the
    /// largest window (RFC 9293 section 3.8.6.2.1, Linux's `tcp_bound_to_half_wnd`). Over loopback
    /// SMSS may be nearly the whole window.
    #[inline]
    pub fn least_room(&self, mss: u32) -> u64 {
        u64::from(mss).min((self.most / 2).max(1))
    }

    /// Bytes believed to be in the network.
    pub fn pipe(&self) -> u64 {
        self.pipe
    }

    /// The estimate of cwnd.
    pub fn cwnd(&self) -> u64 {
        self.peak
    }

    #[inline]
    pub fn sent(&mut self, bytes: u32) {
        self.pipe += u64::from(bytes);
    }

    #[inline]
    pub fn delivered(&mut self, bytes: u64) {
        self.pipe = self.pipe.saturating_sub(bytes);
    }

    /// The network holds this, whatever was believed before.
    pub fn set_pipe(&mut self, bytes: u64) {
        self.pipe = bytes;
    }

    /// Estimates cwnd after something went out: in a recovery it is what the network holds, else
    /// the most that it held.
    #[inline]
    pub fn estimate_cwnd(&mut self, recovering: bool) {
        self.peak = if recovering { self.pipe } else { self.peak.max(self.pipe) };
    }

    /// The sender has lowered cwnd to what is in the network, or below.
    pub fn lowered(&mut self) {
        self.peak = self.pipe;
    }

    /// The retransmission timer sent this much: the network holds nothing else (RFC 5681 section
    /// 3.1).
    pub fn timed_out(&mut self, bytes: u32) {
        self.pipe = u64::from(bytes);
        self.peak = self.pipe;
    }
}
