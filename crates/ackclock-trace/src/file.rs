//! Capture files: pcap and pcapng, plain or compressed with gzip or zstd, from anything that can be read.

use std::io::{self, Read};

use ackclock_tcp::Time;

/// What stands before the IP header of a frame, as <https://www.tcpdump.org/linktypes.html> numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkType(pub u16);

/// One frame of a capture.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Counted from 1, as Wireshark does.
    pub number: u64,
    /// Nanoseconds since 1970.
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
    /// Byte of the file, uncompressed.
    pub offset: u64,
    /// What is wrong there, and what would be right.
    pub what: String,
}

/// Reads a capture frame by frame. Which format it has, and whether it is compressed, its first bytes tell.
pub struct Reader {
    _todo: Box<dyn Read + Send>,
}

impl Reader {
    /// Begins with the first bytes of `input`, of which any size may come at a time.
    ///
    /// # Errors
    /// What reading returns, and [`io::ErrorKind::InvalidData`] if this is no capture.
    pub fn new(input: Box<dyn Read + Send>) -> io::Result<Reader> {
        Ok(Reader { _todo: input })
    }

    /// The next frame; `None` at the end, or where the file is damaged ([`Reader::damage`]).
    ///
    /// # Errors
    /// What reading returns.
    pub fn next(&mut self) -> io::Result<Option<Frame<'_>>> {
        todo!()
    }

    /// Why reading ended before the end of the file; `None` if it did not.
    pub fn damage(&self) -> Option<&Damage> {
        todo!()
    }

    /// Bytes read so far of the input, compressed as it is: for a progress bar.
    pub fn consumed(&self) -> u64 {
        todo!()
    }

    /// Packets that the capture says were dropped while it was taken (pcapng's interface statistics).
    pub fn dropped_by_capture(&self) -> u64 {
        todo!()
    }
}
