//! Several files of one capture, joined by time: those of a ring buffer (`tcpdump -C`, `-W`), or of
//! taps that have one direction each.
//!
//! What is read is pcapng (draft-ietf-opsawg-pcapng), made while it is read, with an interface for
//! each link type and times in nanoseconds.

use std::error;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ackclock_tcp::Time;
use ackclock_trace::file::block::{ENHANCED_PACKET, INTERFACE_DESCRIPTION, SECTION_HEADER};
use ackclock_trace::{Damage, LinkType, Reader};

/// The frames of several captures, in order of time; of those of one time, in the order of the
/// captures.
pub(crate) struct Joined {
    captures: Vec<Capture>,
    /// Of each link type, the interface with its place.
    links: Vec<LinkType>,
    /// What is to be read next, from `at` on.
    bytes: Vec<u8>,
    at: usize,
    ended: bool,
}

struct Capture {
    path: PathBuf,
    reader: Reader,
    /// Its next frame; `None` at its end.
    next: Option<Next>,
}

struct Next {
    at: Time,
    link: LinkType,
    data: Vec<u8>,
    wire_len: u32,
}

/// Where one of the captures is damaged; it says which.
#[derive(Debug)]
pub(crate) struct DamagedPart(pub Damage);

impl fmt::Display for DamagedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Damage { offset, what } = &self.0;
        write!(f, "at byte {offset}: {what}")
    }
}

impl error::Error for DamagedPart {}

impl Capture {
    fn open(path: &Path) -> io::Result<Capture> {
        let reader = File::open(path).and_then(|file| Reader::new(Box::new(file)));
        let reader = reader.map_err(|error| of(path, &error))?;
        let mut capture = Capture { path: path.to_path_buf(), reader, next: None };
        capture.advance()?;
        Ok(capture)
    }

    fn advance(&mut self) -> io::Result<()> {
        let frame = self.reader.next().map_err(|error| of(&self.path, &error))?;
        self.next = frame.map(|frame| {
            let (at, link, wire_len) = (frame.at, frame.link, frame.wire_len);
            Next { at, link, data: frame.data.to_vec(), wire_len }
        });
        Ok(())
    }
}

/// The error of one of several files.
fn of(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl Joined {
    /// Opens all of them.
    ///
    /// # Errors
    /// What opening or reading one of them returns, with its path.
    pub fn open(paths: &[PathBuf]) -> io::Result<Joined> {
        let captures = paths.iter().map(|path| Capture::open(path)).collect::<io::Result<_>>()?;
        let mut bytes = Vec::new();
        let head = |bytes: &mut Vec<u8>| {
            bytes.extend(0x1a2b_3c4d_u32.to_le_bytes());
            bytes.extend([1, 0, 0, 0]);
            // The section's length is not known.
            bytes.extend([0xff; 8]);
        };
        block(&mut bytes, SECTION_HEADER, head);
        Ok(Joined { captures, links: Vec::new(), bytes, at: 0, ended: false })
    }

    /// Makes the next block. Where a capture is damaged, the others are read to their ends first.
    fn make(&mut self) -> io::Result<()> {
        self.at = 0;
        self.bytes.clear();
        let first = |(place, capture): (usize, &Capture)| Some((capture.next.as_ref()?.at, place));
        let earliest = self.captures.iter().enumerate().filter_map(first).min();
        let Some(capture) = earliest.and_then(|(_, place)| self.captures.get_mut(place)) else {
            self.ended = true;
            return self.damage();
        };
        let next = capture.next.take();
        capture.advance()?;
        if let Some(next) = next {
            self.frame(&next);
        }
        Ok(())
    }

    fn damage(&self) -> io::Result<()> {
        let damaged = self.captures.iter().find_map(|c| Some((&c.path, c.reader.damage()?)));
        let Some((path, Damage { offset, what })) = damaged else { return Ok(()) };
        let damage = Damage { offset: *offset, what: format!("{}: {what}", path.display()) };
        Err(io::Error::new(io::ErrorKind::InvalidData, DamagedPart(damage)))
    }

    fn frame(&mut self, next: &Next) {
        let interface =
            self.links.iter().position(|link| *link == next.link).unwrap_or_else(|| {
                block(&mut self.bytes, INTERFACE_DESCRIPTION, |bytes| {
                    bytes.extend(next.link.0.to_le_bytes());
                    bytes.extend([0; 6]);
                    // if_tsresol: 10^-9 s; and the end of the options.
                    bytes.extend([9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
                });
                self.links.push(next.link);
                self.links.len() - 1
            });
        let nanos = next.at.nanos();
        let words = [interface as u32, (nanos >> 32) as u32, nanos as u32];
        let lens = [next.data.len() as u32, next.wire_len];
        block(&mut self.bytes, ENHANCED_PACKET, |bytes| {
            words.into_iter().chain(lens).for_each(|word| bytes.extend(word.to_le_bytes()));
            bytes.extend(&next.data);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        });
    }
}

/// A block of this type, with its length before and behind what `body` writes.
fn block(bytes: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    bytes.extend(kind.to_le_bytes());
    bytes.extend([0; 4]);
    body(bytes);
    let len = ((bytes.len() - start + 4) as u32).to_le_bytes();
    bytes.extend(len);
    bytes[start + 4..start + 8].copy_from_slice(&len);
}

impl Read for Joined {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.bytes.len() && !self.ended {
            self.make()?;
        }
        let left = &self.bytes[self.at..];
        let len = left.len().min(into.len());
        into[..len].copy_from_slice(&left[..len]);
        self.at += len;
        Ok(len)
    }
}
