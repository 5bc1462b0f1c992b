//! Whether one counter numbers the packets of both ends: that of the layer that writes the capture,
//! or of a host on which both ends are.

use crate::packet::counts_on;

/// Numbers that go on so often from one end to the other are of one counter. Two counters meet like
/// that by chance less than once in 2^24 times.
const TURNS: u8 = 4;

#[derive(Clone, Copy, Default)]
pub(super) struct Counter {
    /// The last number of a packet (IPv4 identification), and whether the server sent it.
    last: u16,
    from: Option<bool>,
    /// How often the numbers have gone on from one end to the other; [`u8::MAX`] once they have
    /// not.
    turns: u8,
}

impl Counter {
    /// A packet of `end` has this number.
    #[inline]
    pub fn packet(&mut self, end: usize, id: Option<u16>) {
        if self.turns < u8::MAX {
            self.count(end == 1, id);
        }
    }

    fn count(&mut self, from: bool, id: Option<u16>) {
        let before = self.from.replace(from);
        if !id.is_some_and(|id| before.is_none() || counts_on(self.last, id)) {
            self.turns = u8::MAX;
        } else if before == Some(!from) {
            self.turns = (self.turns + 1).min(u8::MAX - 1);
        }
        self.last = id.unwrap_or_default();
    }

    /// It is so.
    pub fn is_one(&self) -> bool {
        (TURNS..u8::MAX).contains(&self.turns)
    }
}
