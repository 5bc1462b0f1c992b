//! Timestamps of one end (RFC 7323).

use ackclock_tcp::Time;
use ackclock_tcp::wire::Control;

use super::End;
use crate::packet::Packet;

impl End {
    pub fn has_timestamps(&self) -> bool {
        self.timestamps
    }

    /// A packet of it has one.
    #[inline]
    pub fn stamped(&mut self, p: &Packet, val: u32, at: Time) {
        if !self.timestamps {
            self.first_stamped(p, val, at);
        }
    }

    /// What a SYN says is kept with the handshake.
    #[cold]
    fn first_stamped(&mut self, p: &Packet, val: u32, at: Time) {
        self.timestamps = true;
        if !p.control.contains(Control::SYN) {
            self.unusual.get_or_insert_default().first_stamp = Some((val, at));
        }
    }

    /// The first one, if that was not its SYN's, and when it was seen.
    pub fn first_stamp(&self) -> Option<(u32, Time)> {
        self.unusual.as_ref()?.first_stamp
    }
}
