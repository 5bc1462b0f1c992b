//! Several files of one capture, joined by time: those of a ring buffer (`tcpdump -C`, `-W`), or of
//! taps that have one direction each.
//!
//! What is read is pcapng (draft-ietf-opsawg-pcapng), made while it is read, with an interface for
//! each link type and times in nanoseconds.

use std::error;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ackclock_tcp::Time;
use ackclock_trace::file::block::{ENHANCED_PACKET, INTERFACE_DESCRIPTION, SECTION_HEADER};
use ackclock_trace::{Damage, LinkType, Reader};

/// The frames of several captures, in order of time; of those of one time, in the order of the
/// captures.
///
/// A ring buffer may have more files than a process may have open: each is opened when its first
/// frame is next, and closed at its end.
pub(crate) struct Joined {
    captures: Vec<Capture>,
    /// Those that are opened later, the next one last: the time of the first frame, and the place.
    later: Vec<(Time, usize, PathBuf)>,
    /// Of each link type, the interface with its place.
    links: Vec<LinkType>,
    /// What is to be read next, from `at` on.
    bytes: Vec<u8>,
    at: usize,
    /// What could not be read of a capture, with its place: of the first of them.
    damage: Option<(usize, io::Error)>,
    ended: bool,
}

struct Capture {
    /// Among all of them.
    place: usize,
    path: PathBuf,
    reader: Reader,
    next: Next,
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
    /// With its first frame; `None` without any.
    fn open(place: usize, path: &Path) -> io::Result<Option<Capture>> {
        let reader = File::open(path).and_then(|file| Reader::new(Box::new(file)));
        let mut reader = reader.map_err(|error| of(path, &error))?;
        let path = path.to_path_buf();
        Ok(next(&path, &mut reader)?.map(|next| Capture { place, path, reader, next }))
    }
}

/// The next frame of a capture; `None` at its end.
fn next(path: &Path, reader: &mut Reader) -> io::Result<Option<Next>> {
    if let Some(frame) = reader.next().map_err(|error| of(path, &error))? {
        let (at, link, wire_len) = (frame.at, frame.link, frame.wire_len);
        return Ok(Some(Next { at, link, data: frame.data.to_vec(), wire_len }));
    }
    let Some(Damage { offset, what }) = reader.damage() else { return Ok(None) };
    let damage = Damage { offset: *offset, what: format!("{}: {what}", path.display()) };
    Err(io::Error::new(io::ErrorKind::InvalidData, DamagedPart(damage)))
}

/// The error of one of several files.
fn of(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl Joined {
    /// Looks at the first frame of all of them. What cannot be read is told after the rest.
    pub fn open(paths: &[PathBuf]) -> Joined {
        let mut bytes = Vec::new();
        let head = |bytes: &mut Vec<u8>| {
            bytes.extend(0x1a2b_3c4d_u32.to_le_bytes());
            bytes.extend([1, 0, 0, 0]);
            // The section's length is not known.
            bytes.extend([0xff; 8]);
        };
        block(&mut bytes, SECTION_HEADER, head);
        let (captures, later, links) = Default::default();
        let mut joined =
            Joined { captures, later, links, bytes, at: 0, damage: None, ended: false };
        for (place, path) in paths.iter().enumerate() {
            let Some(capture) = joined.first(place, path) else { continue };
            // A pipe can be read once.
            if fs::metadata(path).is_ok_and(|m| m.is_file()) {
                joined.later.push((capture.next.at, place, capture.path));
            } else {
                joined.captures.push(capture);
            }
        }
        joined.later.sort_by(|a, b| b.cmp(a));
        joined
    }

    /// Opens one.
    fn first(&mut self, place: usize, path: &Path) -> Option<Capture> {
        Capture::open(place, path).unwrap_or_else(|error| {
            self.damaged(place, error);
            None
        })
    }

    fn damaged(&mut self, place: usize, error: io::Error) {
        if self.damage.as_ref().is_none_or(|(first, _)| place < *first) {
            self.damage = Some((place, error));
        }
    }

    /// Makes the next block. Where captures are damaged, the others are read to their ends first.
    fn make(&mut self) -> io::Result<()> {
        self.bytes.clear();
        self.at = 0;
        let key = |(i, capture): (usize, &Capture)| (capture.next.at, capture.place, i);
        let earliest = self.captures.iter().enumerate().map(key).min();
        let is_next = |(at, place, _): &mut _| {
            earliest.is_none_or(|(open, of, _)| (*at, *place) < (open, of))
        };
        if let Some((_, place, path)) = self.later.pop_if(is_next) {
            let capture = self.first(place, &path);
            self.captures.extend(capture);
            return Ok(());
        }
        let Some((_, place, i)) = earliest else {
            self.ended = true;
            return self.damage.take().map_or(Ok(()), |(_, error)| Err(error));
        };
        let capture = &mut self.captures[i];
        let following = next(&capture.path, &mut capture.reader);
        let frame = match following {
            Ok(Some(following)) => std::mem::replace(&mut capture.next, following),
            ended => {
                if let Err(error) = ended {
                    self.damaged(place, error);
                }
                self.captures.swap_remove(i).next
            }
        };
        self.frame(&frame);
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring buffer may have more files than may be open at a time.
    #[test]
    fn files_are_open_only_while_they_are_read() {
        let file = |n: u32| {
            let words = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101, n, 0, 4, 4, n];
            let path = std::env::temp_dir().join(format!("ackclock-{}-{n}", std::process::id()));
            fs::write(&path, words.map(u32::to_le_bytes).concat()).unwrap();
            path
        };
        let paths: Vec<PathBuf> = (0..9).rev().map(file).collect();
        let (mut joined, mut frames) = (Joined::open(&paths), Vec::new());
        while !joined.ended {
            assert!(joined.captures.len() <= 1);
            joined.make().unwrap();
            frames.extend(joined.bytes.last_chunk::<8>().map(|end| end[0]));
        }
        frames.dedup();
        assert_eq!(frames, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        paths.iter().for_each(|path| fs::remove_file(path).unwrap());
    }
}
