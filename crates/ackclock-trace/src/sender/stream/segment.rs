//! A segment that is outstanding, as it is recorded.

use ackclock_tcp::Time;

/// One segment, or a piece of one: records are cut where retransmissions and SACK blocks cut the
/// data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    pub position: u64,
    /// When it first went out; where that was not seen, when it was missed.
    pub first_at: Time,
    pub len: u32,
    /// Bytes outstanding right after it first went out, its own included.
    pub flight: u32,
    /// Its last retransmission, counted from 1 in the list of all; 0 if there was none.
    pub again: u32,
    /// Times that it was seen going out.
    pub transmissions: u16,
    pub sacked: bool,
    /// Its first transmission was not seen.
    pub unseen: bool,
}

/// When a segment first went out, of how many bytes, and with how much outstanding
/// ([`Segment::flight`]).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Departure {
    pub at: Time,
    pub position: u64,
    pub flight: u32,
    pub len: u32,
}

impl Segment {
    pub fn end(&self) -> u64 {
        self.position + u64::from(self.len)
    }

    pub fn departure(&self) -> Departure {
        let Segment { first_at: at, position, flight, len, .. } = *self;
        Departure { at, position, flight, len }
    }

    /// None of its transmissions was seen.
    pub fn is_hole(&self) -> bool {
        self.transmissions == 0
    }
}

/// What a retransmission went out in place of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replaced {
    /// The last retransmission of the same bytes; 0 if there was none.
    pub previous: u32,
    /// Times that the bytes were seen going out before.
    pub transmissions: u16,
    /// Bytes that were never seen before.
    pub unseen: u32,
    /// Bytes that the receiver had reported by SACK.
    pub sacked: u32,
}
