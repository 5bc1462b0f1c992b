//! Bytes that carry nothing to the other end: they keep a connection alive, or ask for its window.

use ackclock_tcp::Span;
use ackclock_tcp::wire::Control;

use super::{End, is_long};
use crate::packet::Packet;

impl End {
    /// Whether these bytes only keep the connection alive (RFC 9293 section 3.8.4) or ask for the
    /// window (section 3.8.6.1).
    pub(super) fn is_probe(&mut self, position: u64, len: u32, fin: bool, silence: Span) -> bool {
        if len != 1 || fin {
            return false;
        }
        let (una, max) = (self.positions.una(), self.positions.max());
        let again = position < max;
        let alive = is_long(silence) && again && position + 1 == max && una >= max;
        let beyond = self.edge.get().is_some_and(|edge| position >= edge);
        if beyond {
            self.unusual.get_or_insert_default().probe.set(position);
        }
        alive || (beyond && again)
    }

    /// Whether what carries nothing new is the byte of window probes, though there is room since.
    pub fn asks_again(&self, p: &Packet) -> bool {
        let room = self.edge.get().is_some_and(|edge| edge > self.una());
        let resets = p.control.contains(Control::RST);
        let is_head = self.positions.is_acked(p.seq) && self.positions.is_outstanding(p.seq);
        p.len == 1 && !resets && room && is_head
    }

    /// Whether a window probe has carried this byte last. From now on none has.
    pub(super) fn take_probe(&mut self, position: u64) -> bool {
        let probe = self.unusual.as_mut().map(|unusual| &mut unusual.probe);
        probe.filter(|probe| probe.get() == Some(position)).map(std::mem::take).is_some()
    }
}
