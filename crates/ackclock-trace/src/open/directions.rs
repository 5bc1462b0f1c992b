//! Whether the capture shows one direction only: packets of one end, although the other one has
//! sent some.

use ackclock_tcp::Time;
use ackclock_tcp::wire::Control;

use crate::compact::Compact;
use crate::packet::Packet;
use crate::standards::FIRST_RTO;

const BOTH: [bool; 2] = [true; 2];
/// The bit of `Directions::bare_acks` that is of no end.
const BARE: u8 = 4;

#[derive(Clone, Default)]
pub(super) struct Directions {
    /// Packets of this end were seen.
    seen: [bool; 2],
    /// And others than SYNs.
    talks: [bool; 2],
    /// A SYN without ACK was seen.
    opened: bool,
    /// What the only end acknowledges, and the timestamp that it echoes; 0 before the first.
    last: [u32; 2],
    /// When the only end that talks sent its first data.
    first_data: Compact<Time>,
    /// The other end has sent something that was not seen.
    answered: bool,
    /// The only end that talks sends new data as if it were answered.
    goes_on: bool,
    /// An ACK without data was seen, beside a SYN/ACK, FIN or RST ([`BARE`]), and one of this end
    /// after the other one had sent data, and no FIN: of neither handshake nor close. Bits, as open
    /// connections are many.
    bare_acks: u8,
}

impl Directions {
    /// A packet of `end`. `new`: it carries data that goes on.
    #[inline]
    pub fn packet(&mut self, end: usize, p: &Packet, at: Time, new: bool) {
        if self.talks != BOTH {
            self.alone(end, p, at, new);
        }
    }

    /// A packet of `end` that has neither payload nor any of SYN, FIN and RST. `data`: the other
    /// end has sent data, and no FIN.
    #[inline]
    pub fn bare(&mut self, end: usize, p: &Packet, data: bool) {
        if p.control.contains(Control::ACK) {
            self.bare_acks |= BARE | u8::from(data) << end;
        }
    }

    /// An ACK without data was seen.
    pub fn has_bare_acks(&self) -> bool {
        self.bare_acks & BARE > 0
    }

    /// One of this end was, of what the other one has sent.
    pub fn has_bare_acks_of_data(&self, end: usize) -> bool {
        self.bare_acks & 1 << end > 0
    }

    fn alone(&mut self, end: usize, p: &Packet, at: Time, new: bool) {
        let syn = p.control.contains(Control::SYN);
        let acks = p.control.contains(Control::ACK) && !p.control.contains(Control::RST);
        self.seen[end] = true;
        self.talks[end] |= !syn;
        if !acks {
            self.opened |= syn;
            return;
        }
        // It acknowledges a SYN, or something new; or it echoes another packet than before (RFC
        // 7323 section 4.3).
        let echo = p.options.timestamps.map_or(0, |stamps| stamps.ecr);
        for (last, now) in self.last.iter_mut().zip([p.ack.0, echo]).filter(|(_, now)| *now > 0) {
            self.answered |= *last > 0 && *last != now;
            *last = now;
        }
        self.answered |= syn || self.opened;
        if new && self.first_data.get().is_none() {
            self.first_data.set(at);
        }
        // A sender that has got no answer for so long has timed out and sends nothing new.
        self.goes_on |=
            new && self.first_data.get().is_some_and(|first| at.since(first) > FIRST_RTO);
    }

    /// A packet was seen that is no SYN: the handshake is complete, or was before.
    pub fn has_begun(&self) -> bool {
        self.talks != [false; 2]
    }

    /// No packet of the other end than this one was seen.
    pub fn is_only(&self, end: usize) -> bool {
        self.seen[end] && !self.seen[1 - end]
    }

    /// Only one direction was captured, or of the other one only a SYN: its packets may take
    /// another route than the one that answers it.
    pub fn is_one(&self) -> bool {
        let only = self.answered && self.seen != BOTH;
        only || self.goes_on && self.talks != BOTH
    }
}
