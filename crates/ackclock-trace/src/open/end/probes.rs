//! Bytes that carry nothing to the other end: they keep a connection alive, or ask for its window.

use ackclock_tcp::Span;

use super::{End, is_long};

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

    /// Whether a window probe has carried this byte last. From now on none has.
    pub(super) fn take_probe(&mut self, position: u64) -> bool {
        let probe = self.unusual.as_mut().map(|unusual| &mut unusual.probe);
        probe.filter(|probe| probe.get() == Some(position)).map(std::mem::take).is_some()
    }
}
