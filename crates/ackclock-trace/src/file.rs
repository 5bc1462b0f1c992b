//! Capture files: pcap and pcapng, plain or compressed with gzip or zstd, from anything that can be
//! read.
//!
//! A file may be cut off, corrupt or hostile. What comes before the first place that makes no sense
//! is read, and [`Reader::damage`] names that place. Memory is bounded: no frame is longer than 16
//! MiB, no section has more than 65,536 interfaces, and what is not needed is passed over in
//! pieces.

pub mod block;
mod frame;
mod input;
mod order;
mod pcap;
mod pcapng;

use std::io::{self, Read};

use ackclock_tcp::Time;
use frame::{Halt, Record};
use input::Input;
use pcap::Pcap;
use pcapng::PcapNg;

pub use frame::{Damage, Frame, LinkType};
pub use order::Order;

/// The compressions that are read. The library for zstd is C, which does not run in a browser.
const PACKED: &str = if cfg!(target_family = "wasm") { "gzip" } else { "gzip or zstd" };

/// Reads a capture frame by frame. Its first bytes say which format it has, and whether it is
/// compressed.
pub struct Reader {
    input: Input,
    format: Format,
    frames: u64,
    /// The last frame.
    record: Record,
    damage: Option<Damage>,
    ended: bool,
}

enum Format {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

impl Reader {
    /// Begins with the first bytes of `input`, of which any size may come at a time.
    ///
    /// # Errors
    /// What reading returns, and [`io::ErrorKind::InvalidData`] if this is no capture.
    pub fn new(input: Box<dyn Read + Send>) -> io::Result<Reader> {
        let mut input = Input::new(input)?;
        let format = Format::detect(&mut input).map_err(|halt| match halt {
            Halt::Io(error) => error,
            Halt::Damage(damage) => io::Error::new(io::ErrorKind::InvalidData, damage.what),
        })?;
        let record = Record { at: Time(0), link: LinkType(0), start: 0, len: 0, wire_len: 0 };
        Ok(Reader { input, format, frames: 0, record, damage: None, ended: false })
    }

    /// The next frame; `None` at the end, or where the file is damaged ([`Reader::damage`]).
    ///
    /// # Errors
    /// What reading returns.
    // However often it is called: a frame that is returned goes through memory, as a packet does.
    #[inline(always)]
    #[expect(
        clippy::should_implement_trait,
        reason = "a frame borrows the reader, so that nothing is copied"
    )]
    pub fn next(&mut self) -> io::Result<Option<Frame<'_>>> {
        if self.ended {
            return Ok(None);
        }
        let Reader { input, format, record, .. } = self;
        let read = match format {
            Format::Pcap(pcap) => pcap.next(input, record),
            Format::PcapNg(pcapng) => pcapng.next(input, record),
        };
        if !matches!(read, Ok(true)) {
            return self.stop(read).map(|()| None);
        }
        self.frames += 1;
        let Record { at, link, start, len, wire_len } = self.record;
        Ok(Some(Frame {
            number: self.frames,
            at,
            link,
            data: self.input.kept(start, len),
            wire_len,
        }))
    }

    /// There is no further frame, or none could be read.
    #[cold]
    fn stop(&mut self, read: Result<bool, Halt>) -> io::Result<()> {
        match read {
            Err(Halt::Io(error)) => return Err(error),
            Err(Halt::Damage(damage)) => self.damage = Some(damage),
            Ok(_) => {}
        }
        self.ended = true;
        Ok(())
    }

    /// Why reading ended before the end of the file; `None` if it did not.
    pub fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Bytes read so far of the input, compressed as it is: for a progress bar.
    pub fn consumed(&self) -> u64 {
        self.input.consumed()
    }

    /// Packets that the capture says were dropped while it was taken (pcapng's interface
    /// statistics).
    pub fn dropped_by_capture(&self) -> u64 {
        match &self.format {
            Format::Pcap(_) => 0,
            Format::PcapNg(pcapng) => pcapng.dropped(),
        }
    }
}

impl Format {
    fn detect(input: &mut Input) -> Result<Format, Halt> {
        if !input.need(4)? {
            return Err(input.damage(match input.rest().len() {
                0 => "the file is empty; a capture begins with the header of pcap or pcapng".into(),
                n => format!(
                    "the file ends after {n} bytes; a capture begins with the header of \
                    pcap or pcapng"
                ),
            }));
        }
        let first = input.peek::<4>();
        if first == pcapng::MAGIC {
            return Ok(Format::PcapNg(PcapNg::begin(input)?));
        }
        if let Some(pcap) = Pcap::begin(input)? {
            return Ok(Format::Pcap(pcap));
        }
        let [a, b, c, d] = first;
        Err(input.damage(match input::foreign(first) {
            Some(name) => format!(
                "this is {name}; pcap and pcapng are read, plain or compressed \
                with {PACKED}"
            ),
            None => format!(
                "no capture: the first bytes are {a:02x} {b:02x} {c:02x} {d:02x}; pcap begins with \
                 d4 c3 b2 a1 (or a1 b2 c3 d4, 4d 3c b2 a1, \
                 a1 b2 3c 4d), pcapng with 0a 0d 0d 0a"
            ),
        }))
    }
}
