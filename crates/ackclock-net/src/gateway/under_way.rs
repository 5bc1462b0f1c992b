//! The bytes of packets that are on the links of a gateway.

use ackclock_tcp::{Span, Time};

/// Bytes of packets under way from which on there is no room for more.
const MOST_BYTES: usize = 256 << 20;

/// How often memory is given back.
pub const TRIM: Span = Span::from_secs(1);

/// Packets under way, with what their driver knows of each, by the tokens that a
/// [`Gateway`](crate::Gateway) knows them by. The room of one that is gone serves the next.
#[derive(Clone, Debug, Default)]
pub struct UnderWay<T> {
    packets: Vec<(Vec<u8>, T)>,
    free: Vec<u64>,
    bytes: usize,
    /// When memory may be given back next.
    trim_at: Time,
}

impl<T: Default> UnderWay<T> {
    /// Keeps a packet, which consists of these parts. Returns its token.
    pub fn put(&mut self, parts: &[&[u8]], known: T) -> u64 {
        let token = self.free.pop().unwrap_or_else(|| {
            self.packets.push(<(Vec<u8>, T)>::default());
            self.packets.len() as u64 - 1
        });
        let packet = &mut self.packets[token as usize];
        packet.1 = known;
        parts.iter().for_each(|part| packet.0.extend_from_slice(part));
        self.bytes += packet.0.len();
        token
    }

    /// A packet, and what is known of it.
    ///
    /// # Panics
    /// If there has never been one of this token.
    pub fn get(&mut self, token: u64) -> (&mut [u8], &mut T) {
        let (bytes, known) = &mut self.packets[token as usize];
        (bytes, known)
    }

    /// A packet is gone.
    ///
    /// # Panics
    /// As [`UnderWay::get`].
    pub fn remove(&mut self, token: u64) {
        let bytes = &mut self.packets[token as usize].0;
        self.bytes -= bytes.len();
        bytes.clear();
        self.free.push(token);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// Whether they have 256 MiB: whoever sends more has to wait.
    pub fn is_full(&self) -> bool {
        self.bytes >= MOST_BYTES
    }

    /// Gives back the memory if there is none, once in [`TRIM`]: where packets are sparse each
    /// would make it anew otherwise. Returns when to call it again; [`Time::NEVER`] if there is
    /// nothing to give back.
    pub fn trim(&mut self, now: Time) -> Time {
        if self.packets.is_empty() {
            return Time::NEVER;
        }
        if self.trim_at <= now {
            self.trim_at = now + TRIM;
            if self.count() == 0 {
                *self = UnderWay { trim_at: self.trim_at, ..UnderWay::default() };
                return Time::NEVER;
            }
        }
        self.trim_at
    }
}

/// Flips a bit of a packet, counted from the highest of the first byte, if it is there.
pub fn flip(bytes: &mut [u8], bit: u32) {
    if let Some(byte) = bytes.get_mut(bit as usize / 8) {
        *byte ^= 0x80 >> (bit % 8);
    }
}

#[cfg(test)]
mod tests;
