//! The file formats: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng).

use std::io::{self, Write};
use std::path::Path;

use ackclock_tcp::Time;

/// Which file format a capture is written in. All fields are little-endian and times have
/// nanoseconds in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureFormat {
    /// pcapng, with a comment on each packet.
    PcapNg,
    /// The older pcap, which has no comments.
    Pcap,
}

impl CaptureFormat {
    /// pcap if the file name ends in `.pcap`, otherwise pcapng.
    pub fn for_path(path: &Path) -> CaptureFormat {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("pcap") => CaptureFormat::Pcap,
            _ => CaptureFormat::PcapNg,
        }
    }
}

const SNAPLEN: u32 = 262_144;

/// A capture with one interface, as it is being written.
pub(super) struct CaptureFile<W> {
    out: W,
    format: CaptureFormat,
    linktype: u16,
    /// Time zero, in nanoseconds since 1970.
    origin: u64,
    block: Vec<u8>,
}

impl<W: Write> CaptureFile<W> {
    /// Begins a capture of packets of this link type, whose time zero is `origin`, in nanoseconds
    /// since 1970. An empty name of the interface is none.
    pub(super) fn new(
        out: W,
        format: CaptureFormat,
        linktype: u16,
        origin: u64,
        interface: &str,
    ) -> io::Result<Self> {
        let mut file = CaptureFile { out, format, linktype, origin, block: Vec::new() };
        file.header(interface)?;
        Ok(file)
    }

    /// Flushes what is written so far.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flushes what is written, and returns where it went.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        Ok(self.out)
    }

    fn header(&mut self, interface: &str) -> io::Result<()> {
        match self.format {
            CaptureFormat::Pcap => {
                // Nanosecond magic, version 2.4, zone and accuracy zero (section 4).
                let fields: [u32; 6] =
                    [0xa1b2_3c4d, 2 | 4 << 16, 0, 0, SNAPLEN, self.linktype.into()];
                fields.iter().try_for_each(|f| self.out.write_all(&f.to_le_bytes()))
            }
            CaptureFormat::PcapNg => {
                // Section Header Block (section 4.1): magic, version 1.0,
                // length unknown.
                self.block(0x0a0d_0d0a, |b| {
                    b.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
                    b.extend_from_slice(&[1, 0, 0, 0]);
                    b.extend_from_slice(&[0xff; 8]);
                    option(b, 4, b"ackclock");
                    option(b, 0, b"");
                })?;
                // Interface Description Block (section 4.2): if_name, and if_tsresol 9 for
                // nanoseconds.
                let linktype = self.linktype;
                self.block(1, |b| {
                    b.extend_from_slice(&linktype.to_le_bytes());
                    b.extend_from_slice(&[0, 0]);
                    b.extend_from_slice(&SNAPLEN.to_le_bytes());
                    if !interface.is_empty() {
                        option(b, 2, interface.as_bytes());
                    }
                    option(b, 9, &[9]);
                    option(b, 0, b"");
                })
            }
        }
    }

    /// A packet of `len` bytes, of which these are the first. An empty comment is none, and pcap
    /// has none.
    pub(super) fn packet(
        &mut self,
        at: Time,
        bytes: &[u8],
        len: usize,
        comment: &str,
    ) -> io::Result<()> {
        let nanos = self.origin.saturating_add(at.nanos());
        let kept = (bytes.len() as u32).to_le_bytes();
        let len = (len as u32).to_le_bytes();
        match self.format {
            CaptureFormat::Pcap => {
                // Seconds have 32 bits; what lies beyond them is pinned to the last second.
                let seconds = u32::try_from(nanos / 1_000_000_000).unwrap_or(u32::MAX);
                self.out.write_all(&seconds.to_le_bytes())?;
                self.out.write_all(&((nanos % 1_000_000_000) as u32).to_le_bytes())?;
                self.out.write_all(&kept)?;
                self.out.write_all(&len)?;
                self.out.write_all(bytes)
            }
            // Enhanced Packet Block (section 4.3) on interface 0, with opt_comment.
            CaptureFormat::PcapNg => self.block(6, |b| {
                b.extend_from_slice(&[0; 4]);
                b.extend_from_slice(&((nanos >> 32) as u32).to_le_bytes());
                b.extend_from_slice(&(nanos as u32).to_le_bytes());
                b.extend_from_slice(&kept);
                b.extend_from_slice(&len);
                b.extend_from_slice(bytes);
                b.resize(b.len().next_multiple_of(4), 0);
                if !comment.is_empty() {
                    option(b, 1, comment.as_bytes());
                }
                option(b, 0, b"");
            }),
        }
    }

    /// A block: type, total length, body of whole words, total length again (section 3.1).
    fn block(&mut self, kind: u32, body: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.block.clear();
        body(&mut self.block);
        let total = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&total)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&total)
    }
}

/// An option of a block: code, length, value padded to a word (section 3.5). Our values are short.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(value.len() as u16).to_le_bytes());
    body.extend_from_slice(value);
    body.resize(body.len().next_multiple_of(4), 0);
}
