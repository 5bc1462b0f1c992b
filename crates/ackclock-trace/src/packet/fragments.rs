//! Fragments put together.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

use ackclock_tcp::{Span, Time};

use super::bytes::{Bytes, Ignored};
use super::ip::{self, Ip, Part};
use super::{Packet, link, segment, tunnel};
use crate::file::Frame;

/// Packets that wait for fragments at a time; the oldest gives way.
const MOST_WAITING: usize = 1024;

/// More fragments than this has no packet: 64 KiB in packets of 576 bytes.
const MOST_PARTS: usize = 128;

/// How long a packet waits for its fragments, as Linux has it (`ipfrag_time`). Later ones with its
/// identification are of another packet.
const PATIENCE: Span = Span::from_secs(30);

/// The bytes at the begin of a packet that are kept. All headers are in them.
const HEAD: u32 = 1024;

/// Bytes of payload at most.
const LONGEST: u32 = 65_535;

/// Puts the fragments of IP packets together. Memory is bounded, by about 1 MiB.
#[derive(Debug, Default)]
pub struct Fragments {
    /// In the order in which they began.
    waiting: VecDeque<Waiting>,
    ignored: HashMap<Ignored, u64>,
}

#[derive(Debug, PartialEq, Eq)]
struct Key {
    src: IpAddr,
    dst: IpAddr,
    protocol: u8,
    id: u32,
}

/// A packet of which not all has been seen.
#[derive(Debug)]
struct Waiting {
    key: Key,
    since: Time,
    /// Frames that were needed.
    frames: u64,
    /// In order; they do not overlap.
    parts: Vec<Piece>,
    /// Where its payload ends.
    end: Option<u32>,
    /// Its fragments contradict each other.
    refused: bool,
}

#[derive(Debug)]
struct Piece {
    offset: u32,
    len: u32,
    /// What was kept of it, as far as it is needed.
    kept: Vec<u8>,
}

impl Fragments {
    /// Takes a frame of which [`decode`](super::decode) said that it is a [`Ignored::Fragment`]. If
    /// it was the last of a packet, the segment in that: with the number and the time of this
    /// frame.
    pub fn put(&mut self, frame: &Frame<'_>) -> Option<Packet> {
        let found = link::strip(frame.link, Bytes::of(frame))
            .and_then(ip::any)
            .and_then(tunnel::open)
            .and_then(|ip| self.add(frame, ip, 1));
        found.unwrap_or_else(|why| {
            self.ignore(why, 1);
            None
        })
    }

    /// Frames that were put in and yield no segment, by reason. Those of packets that were
    /// never completed, or whose fragments overlapped, are [`Ignored::Fragment`].
    pub fn ignored(&self) -> impl Iterator<Item = (Ignored, u64)> {
        self.ignored.iter().map(|(why, frames)| (*why, *frames))
    }

    /// Frames that wait for others.
    pub fn waiting(&self) -> u64 {
        self.waiting.iter().map(|waiting| waiting.frames).sum()
    }

    fn ignore(&mut self, why: Ignored, frames: u64) {
        *self.ignored.entry(why).or_default() += frames;
    }

    /// A fragment that took so many frames: more than one if the packet around it was in fragments
    /// itself.
    fn add(
        &mut self,
        frame: &Frame<'_>,
        ip: Ip<'_>,
        frames: u64,
    ) -> Result<Option<Packet>, Ignored> {
        let Some(part) = ip.part else { return segment(frame, ip).map(Some) };
        let Some(whole) = self.collect(frame.at, &ip, part, frames) else { return Ok(None) };
        let (kept, wire) = whole.payload();
        let payload = Bytes::new(&kept, wire);
        let found = Ip { part: None, payload, ..ip }
            .without_extensions()
            .and_then(tunnel::open)
            // Each time the bytes become fewer by a header.
            .and_then(|ip| self.add(frame, ip, whole.frames));
        Ok(found.unwrap_or_else(|why| {
            self.ignore(why, whole.frames);
            None
        }))
    }

    /// The packet, if this completes it.
    fn collect(&mut self, now: Time, ip: &Ip<'_>, part: Part, frames: u64) -> Option<Waiting> {
        let old = |first: &Waiting| now.since(first.since) > PATIENCE;
        while self.waiting.front().is_some_and(old) {
            self.give_up();
        }
        let key = Key { src: ip.src, dst: ip.dst, protocol: ip.protocol, id: part.id };
        let known = self.waiting.iter().rposition(|waiting| waiting.key == key);
        let place = known.unwrap_or_else(|| {
            if self.waiting.len() == MOST_WAITING {
                self.give_up();
            }
            self.waiting.push_back(Waiting::new(key, now));
            self.waiting.len() - 1
        });
        let waiting = self.waiting.get_mut(place)?;
        waiting.frames += frames;
        waiting.add(part, ip.payload);
        if waiting.is_whole() { self.waiting.remove(place) } else { None }
    }

    /// Waits no longer for the oldest.
    fn give_up(&mut self) {
        if let Some(first) = self.waiting.pop_front() {
            self.ignore(Ignored::Fragment, first.frames);
        }
    }
}

impl Waiting {
    fn new(key: Key, since: Time) -> Waiting {
        Waiting { key, since, frames: 0, parts: Vec::new(), end: None, refused: false }
    }

    fn add(&mut self, part: Part, payload: Bytes<'_>) {
        let Part { offset, more, .. } = part;
        let len = payload.wire;
        let end = offset.saturating_add(len);
        let place = self.parts.partition_point(|piece| piece.offset < offset);
        let same = |piece: &Piece| (piece.offset, piece.len) == (offset, len);
        if self.parts.get(place).is_some_and(same) {
            return; // The capture has it twice.
        }
        // RFC 5722: overlaps are an attack.
        let before = place.checked_sub(1).and_then(|before| self.parts.get(before));
        let overlaps = before.is_some_and(|piece| piece.offset + piece.len > offset)
            || self.parts.get(place).is_some_and(|piece| piece.offset < end);
        let last = self.parts.last().map_or(0, |piece| piece.offset + piece.len).max(end);
        let ends = if more { self.end } else { Some(end) };
        let contradicts = (!more && self.end.is_some()) || ends.is_some_and(|ends| last > ends);
        let impossible = end > LONGEST
            || len == 0
            || (more && !len.is_multiple_of(8))
            || self.parts.len() == MOST_PARTS;
        self.refused |= overlaps || contradicts || impossible;
        if self.refused {
            self.parts = Vec::new();
            return;
        }
        self.end = ends;
        let needed = HEAD.saturating_sub(offset) as usize;
        let kept = payload.limit(len).kept;
        let kept = kept.get(..needed).unwrap_or(kept).to_vec();
        self.parts.insert(place, Piece { offset, len, kept });
    }

    fn is_whole(&self) -> bool {
        let there = self.parts.iter().map(|piece| piece.len).sum();
        !self.refused && self.end == Some(there)
    }

    /// The begin of its payload, as far as it was kept without a gap, and the length of all.
    fn payload(&self) -> (Vec<u8>, u32) {
        let mut kept = Vec::new();
        for piece in &self.parts {
            kept.extend_from_slice(&piece.kept);
            if piece.kept.len() < piece.len as usize {
                break;
            }
        }
        (kept, self.end.unwrap_or(0))
    }
}
