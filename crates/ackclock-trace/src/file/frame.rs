//! A frame of a capture, and why there is no further one.

use std::io;

use ackclock_tcp::Time;

/// What stands before the IP header of a frame, as <https://www.tcpdump.org/linktypes.html> numbers
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u16);

/// One frame of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Counted from 1, as Wireshark does.
    pub number: u64,
    /// Nanoseconds since 1970, at most those of the year 2262. A frame without a time (pcapng's
    /// simple packet block) has that of the frame before it.
    pub at: Time,
    /// What its first bytes are.
    pub link: LinkType,
    /// Its bytes, as far as they were kept.
    pub data: &'a [u8],
    /// How many bytes it had on the link.
    pub wire_len: u32,
}

/// Where a file stops making sense. What came before has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Byte of the file, uncompressed: where the record or block begins that is damaged, or where
    /// decompression ends.
    pub offset: u64,
    /// What is wrong there, and what would be right.
    pub what: String,
}

/// A frame in the buffer of the input.
#[derive(Clone, Copy)]
pub(super) struct Record {
    pub at: Time,
    pub link: LinkType,
    pub start: usize,
    pub len: usize,
    pub wire_len: u32,
}

/// Why reading does not go on.
pub(super) enum Halt {
    /// The input could not be read.
    Io(io::Error),
    Damage(Damage),
}

impl From<io::Error> for Halt {
    fn from(error: io::Error) -> Halt {
        Halt::Io(error)
    }
}

/// Most bytes of a frame, and of the blocks that describe interfaces. Of the link types that carry
/// IP none comes close; the largest super-segments of Linux have 512 KiB.
pub(super) const MOST_KEPT: u32 = 16 << 20;

/// The end of the year 2262's first quarter: what a signed count of nanoseconds holds, so that sums
/// with spans do not overflow.
pub(super) const LATEST: u64 = i64::MAX as u64;
