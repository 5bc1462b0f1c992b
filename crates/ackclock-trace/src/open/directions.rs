//! Whether the capture shows one direction only: packets of one end, although the other one has sent
//! some.

use ackclock_tcp::wire::Control;
use ackclock_tcp::{Seq, Span, Time};

use crate::compact::Compact;
use crate::packet::Packet;

/// A sender that has got no answer for so long has timed out and sends nothing new: the first RTO
/// (RFC 6298 section 2.1).
const TIMED_OUT: Span = Span::from_secs(1);

#[derive(Default)]
pub(super) struct Directions {
    /// Packets of this end were seen.
    seen: [bool; 2],
    /// A SYN without ACK was seen.
    opened: bool,
    /// What the only end acknowledges.
    ack: Option<Seq>,
    /// When it sent its first data.
    first_data: Compact<Time>,
    /// The other end has sent something.
    answered: bool,
}

impl Directions {
    /// A packet of `end`. `new`: it carries data that goes on.
    #[inline]
    pub fn packet(&mut self, end: usize, p: &Packet, at: Time, new: bool) {
        if self.seen != [true; 2] {
            self.alone(end, p, at, new);
        }
    }

    fn alone(&mut self, end: usize, p: &Packet, at: Time, new: bool) {
        self.seen[end] = true;
        let syn = p.control.contains(Control::SYN);
        let acks = p.control.contains(Control::ACK) && !p.control.contains(Control::RST);
        if !acks {
            self.opened |= syn;
            return;
        }
        // It acknowledges a SYN, or something new.
        let acknowledges = syn || self.opened || self.ack.is_some_and(|ack| ack != p.ack);
        self.ack = Some(p.ack);
        if new && self.first_data.get().is_none() {
            self.first_data.set(at);
        }
        let goes_on = new && self.first_data.get().is_some_and(|first| at.since(first) > TIMED_OUT);
        self.answered |= acknowledges || goes_on;
    }

    /// No packet of the other end than this one was seen.
    pub fn is_only(&self, end: usize) -> bool {
        self.seen[end] && !self.seen[1 - end]
    }

    /// Only one direction was captured.
    pub fn is_one(&self) -> bool {
        self.answered && self.seen != [true; 2]
    }
}
