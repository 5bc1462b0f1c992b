//! Packets and frames whose bytes are known, written as they are.

use std::io::{self, Write};

use ackclock_tcp::Time;

use super::file::{CaptureFile, CaptureFormat};

/// IP packets without anything around them.
const LINKTYPE_RAW: u16 = 101;
/// Bytes of each packet that a [`PacketWriter`] keeps: the longest IP and TCP headers, and the
/// first bytes of data.
const KEPT: usize = 128;

/// Writes IP packets as they are into a capture, of each the first 128 bytes and its length. Hand
/// packets in in order of time, and an `out` that buffers.
pub struct PacketWriter<W> {
    file: CaptureFile<W>,
    kept: Vec<u8>,
}

impl<W: Write> PacketWriter<W> {
    /// Begins a capture whose time zero is `origin`, in nanoseconds since 1970.
    ///
    /// # Errors
    /// What writing to `out` returns; so with all functions below.
    pub fn new(out: W, format: CaptureFormat, origin: u64) -> io::Result<Self> {
        let file = CaptureFile::new(out, format, LINKTYPE_RAW, origin, "tun")?;
        Ok(PacketWriter { file, kept: Vec::with_capacity(KEPT) })
    }

    /// A packet, in pieces. In pcapng an empty comment is none.
    ///
    /// # Errors
    /// What writing returns.
    pub fn packet(&mut self, at: Time, pieces: &[&[u8]], comment: &str) -> io::Result<()> {
        self.kept.clear();
        for piece in pieces {
            let room = KEPT - self.kept.len();
            self.kept.extend_from_slice(piece.get(..room).unwrap_or(piece));
        }
        let len = pieces.iter().map(|piece| piece.len()).sum();
        self.file.packet(at, &self.kept, len, comment)
    }

    /// Flushes what is written so far.
    ///
    /// # Errors
    /// What flushing returns.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes frames of any link type as they are into a pcapng capture, each with a comment. Hand an
/// `out` that buffers.
pub struct FrameWriter<W> {
    file: CaptureFile<W>,
}

impl<W: Write> FrameWriter<W> {
    /// Begins a capture of this link type (<https://www.tcpdump.org/linktypes.html>) whose time
    /// zero is 1970.
    ///
    /// # Errors
    /// What writing to `out` returns; so with all functions below.
    pub fn new(out: W, linktype: u16) -> io::Result<Self> {
        let file = CaptureFile::new(out, CaptureFormat::PcapNg, linktype, 0, "")?;
        Ok(FrameWriter { file })
    }

    /// A frame of `len` bytes, of which these are the first. An empty comment is none.
    ///
    /// # Errors
    /// What writing returns.
    pub fn frame(&mut self, at: Time, bytes: &[u8], len: usize, comment: &str) -> io::Result<()> {
        self.file.packet(at, bytes, len, comment)
    }

    /// Flushes what is written so far.
    ///
    /// # Errors
    /// What flushing returns.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
