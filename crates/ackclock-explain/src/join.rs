//! Several files of one capture, joined by time: those of a ring buffer (`tcpdump -C`, `-W`), or of
//! taps that have one direction each.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use ackclock_tcp::Time;
use ackclock_trace::{Damage, Frame, LinkType, Reader};

/// The frames of several captures, in order of time; of those of one time, in the order of the
/// captures.
///
/// A ring buffer may have more files than a process may have open: each is opened when its first
/// frame is next, and closed at its end.
pub(crate) struct Joined {
    captures: Vec<Capture>,
    /// Those that are opened later, the next one last: the time of the first frame, and the place.
    later: Vec<(Time, usize, PathBuf)>,
    /// The last frame.
    current: Kept,
    frames: u64,
    /// What is wrong with captures, each with its place.
    wrong: Vec<(usize, Wrong)>,
    /// Of the captures that were read to their ends.
    consumed: u64,
    dropped: u64,
}

struct Capture {
    /// Among all of them.
    place: usize,
    path: PathBuf,
    reader: Reader,
    next: Kept,
}

/// A frame, in memory that is used again.
struct Kept {
    at: Time,
    link: LinkType,
    data: Vec<u8>,
    wire_len: u32,
}

/// Why a capture cannot be read, or not to its end; it names the capture.
#[derive(Clone)]
enum Wrong {
    Damaged(Damage),
    Failed(io::ErrorKind, String),
}

impl Kept {
    const NONE: Kept = Kept { at: Time::ZERO, link: LinkType(0), data: Vec::new(), wire_len: 0 };

    /// Reads the next frame; `false` at the end of the capture.
    fn read(&mut self, reader: &mut Reader) -> io::Result<bool> {
        let Some(frame) = reader.next()? else { return Ok(false) };
        (self.at, self.link, self.wire_len) = (frame.at, frame.link, frame.wire_len);
        self.data.clear();
        self.data.extend_from_slice(frame.data);
        Ok(true)
    }
}

impl Joined {
    /// Looks at the first frame of all of them. What cannot be read is told after the rest.
    pub fn open(paths: &[PathBuf]) -> Joined {
        let mut joined = Joined {
            captures: Vec::new(),
            later: Vec::new(),
            current: Kept::NONE,
            frames: 0,
            wrong: Vec::new(),
            consumed: 0,
            dropped: 0,
        };
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

    /// Opens one, with its first frame; `None` without any.
    fn first(&mut self, place: usize, path: &Path) -> Option<Capture> {
        let reader = File::open(path).and_then(|file| Reader::new(Box::new(file)));
        let mut reader = reader.map_err(|error| self.failed(place, path, &error)).ok()?;
        let mut next = Kept::NONE;
        match next.read(&mut reader) {
            Ok(true) => return Some(Capture { place, path: path.to_path_buf(), reader, next }),
            Ok(false) => self.ended(place, path, &reader),
            Err(error) => self.failed(place, path, &error),
        }
        None
    }

    /// A capture has no further frame.
    fn ended(&mut self, place: usize, path: &Path, reader: &Reader) {
        self.consumed += reader.consumed();
        self.dropped = self.dropped.saturating_add(reader.dropped_by_capture());
        if let Some(Damage { offset, what }) = reader.damage() {
            let what = format!("{}: {what}", path.display());
            self.wrong.push((place, Wrong::Damaged(Damage { offset: *offset, what })));
        }
    }

    fn failed(&mut self, place: usize, path: &Path, error: &io::Error) {
        let what = format!("{}: {error}", path.display());
        self.wrong.push((place, Wrong::Failed(error.kind(), what)));
    }

    /// What is wrong with the first capture with anything wrong, and then with the others.
    fn told(&self) -> Option<Wrong> {
        let mut all: Vec<_> = self.wrong.iter().collect();
        all.sort_by_key(|(place, _)| *place);
        let (first, others) = all.split_first()?;
        let mut told = first.1.clone();
        let (Wrong::Damaged(Damage { what, .. }) | Wrong::Failed(_, what)) = &mut told;
        for (_, other) in others {
            what.push_str(&match other {
                Wrong::Damaged(Damage { offset, what }) => format!("; byte {offset}: {what}"),
                Wrong::Failed(_, what) => format!("; {what}"),
            });
        }
        Some(told)
    }

    /// The next frame; `None` at the end, or where the first capture with anything wrong is damaged
    /// ([`Joined::damage`]). The others are read to their ends first.
    ///
    /// # Errors
    /// The first capture with anything wrong could not be read: after all frames of the others.
    pub fn next(&mut self) -> io::Result<Option<Frame<'_>>> {
        let Some(i) = self.earliest() else {
            return match self.told() {
                Some(Wrong::Failed(kind, what)) => Err(io::Error::new(kind, what)),
                _ => Ok(None),
            };
        };
        let capture = &mut self.captures[i];
        let following = self.current.read(&mut capture.reader);
        std::mem::swap(&mut self.current, &mut capture.next);
        if !matches!(following, Ok(true)) {
            let Capture { place, path, reader, .. } = self.captures.swap_remove(i);
            self.ended(place, &path, &reader);
            following.err().into_iter().for_each(|error| self.failed(place, &path, &error));
        }
        self.frames += 1;
        let Kept { at, link, data, wire_len } = &self.current;
        let (at, link, wire_len) = (*at, *link, *wire_len);
        Ok(Some(Frame { number: self.frames, at, link, data, wire_len }))
    }

    /// Which open capture has the next frame; opens those that are not and have it. `None` at the
    /// end of all.
    fn earliest(&mut self) -> Option<usize> {
        loop {
            let key = |(i, capture): (usize, &Capture)| (capture.next.at, capture.place, i);
            let earliest = self.captures.iter().enumerate().map(key).min();
            let is_next = |(at, place, _): &mut _| {
                earliest.is_none_or(|(open, of, _)| (*at, *place) < (open, of))
            };
            let Some((_, place, path)) = self.later.pop_if(is_next) else {
                return earliest.map(|(_, _, i)| i);
            };
            let capture = self.first(place, &path);
            self.captures.extend(capture);
        }
    }

    /// What is wrong with the first capture with anything wrong, if it is damaged; it says which
    /// one that is, and what is wrong with others.
    pub fn damage(&self) -> Option<Damage> {
        if let Some(Wrong::Damaged(damage)) = self.told() { Some(damage) } else { None }
    }

    /// Bytes read so far of all of them, compressed as they are.
    pub fn consumed(&self) -> u64 {
        self.captures.iter().map(|capture| capture.reader.consumed()).sum::<u64>() + self.consumed
    }

    /// Packets that the captures say were dropped while they were taken, as far as they were read.
    pub fn dropped_by_capture(&self) -> u64 {
        let open = self.captures.iter().map(|capture| capture.reader.dropped_by_capture());
        open.fold(self.dropped, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests;
