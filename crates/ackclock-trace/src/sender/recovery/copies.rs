//! How many copies of a segment have arrived, of a receiver that sends no D-SACKs?
//!
//! The ACK of the only segment outstanding answers the first copy to arrive. The receiver answers
//! each further one by an ACK that is the same (RFC 9293 section 3.10.7.4, RFC 8985 section 7.4.2):
//! so many were not lost. Where nothing else goes out, nothing else is answered so.
//!
//! A window update says another window, and data may be answered late. A keep-alive of either end
//! comes after silence ([`KEEP_ALIVE`]), and a queue that drains lets copies come no farther apart
//! than they went out: what comes later counts for nothing.

use ackclock_tcp::{Span, Time};

use crate::sender::input::Acked;
use crate::sender::stream::KEEP_ALIVE;

#[derive(Debug)]
pub(crate) struct Copies {
    /// When the first copy was acknowledged, up to this position, and the window that was offered.
    at: Time,
    ack: u64,
    window: u64,
    /// Number of the first retransmission.
    first: u32,
    /// Between the first copy and the last one.
    lasted: Span,
    /// Copies that were answered again.
    again: usize,
}

impl Copies {
    /// The retransmissions from number `first` on are of what this ACK acknowledges.
    pub fn new(a: &Acked, first: u32, lasted: Span) -> Copies {
        let &Acked { at, ack, window, .. } = a;
        Copies { at, ack, window, first, lasted, again: 0 }
    }

    /// An ACK does not advance. Returns the number of the first retransmission, and how many copies
    /// were answered again, if this answers one.
    pub fn repeated(&mut self, a: &Acked) -> Option<(u32, usize)> {
        let same = a.ack == self.ack && a.window == self.window;
        let bare = a.sacks == 0 && !a.with_data;
        let in_time = a.at.since(self.at) <= self.lasted.min(KEEP_ALIVE);
        if !(same && bare && in_time) {
            return None;
        }
        self.again += 1;
        Some((self.first, self.again))
    }
}
