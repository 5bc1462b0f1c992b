//! Sequence numbers on the wire (RFC 9293 section 3.4) and the stream positions that stand for them
//! inside the engine.

use core::ops::{Add, Sub};

/// A 32-bit sequence number as it stands in a header. It wraps, so it has no order of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Seq(pub u32);

impl Seq {
    /// The stream position that this number stands for, if it lies within 2^31 of `near`.
    ///
    /// The engine counts in 64-bit positions from the first data byte (position 0 is sequence
    /// number `origin`), so that only the functions here know about wrapping. `None` if the
    /// number lies before the first byte of the stream.
    pub fn position(self, origin: Seq, near: u64) -> Option<u64> {
        near.checked_add_signed(i64::from(self.ahead_of(Seq::at(origin, near))))
    }

    /// How far this number lies ahead of `other`, in bytes; negative if behind it. They are taken
    /// to be within 2^31 of each other (RFC 9293 section 3.4).
    #[inline]
    pub fn ahead_of(self, other: Seq) -> i32 {
        self.distance_from(other) as i32
    }

    /// How far this number lies beyond `origin`, in bytes; one before it counts as the whole
    /// circle less the way to it.
    #[inline]
    pub fn distance_from(self, origin: Seq) -> u32 {
        self.0.wrapping_sub(origin.0)
    }

    /// The sequence number of stream position `position` in a stream whose first byte has number
    /// `origin`.
    pub fn at(origin: Seq, position: u64) -> Seq {
        Seq(origin.0.wrapping_add(position as u32))
    }
}

impl Add<u32> for Seq {
    type Output = Seq;
    fn add(self, n: u32) -> Seq {
        Seq(self.0.wrapping_add(n))
    }
}

impl Sub<u32> for Seq {
    type Output = Seq;
    fn sub(self, n: u32) -> Seq {
        Seq(self.0.wrapping_sub(n))
    }
}
