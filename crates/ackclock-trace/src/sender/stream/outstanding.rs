//! What is outstanding: the segments from the first unacknowledged byte to the highest one sent, in
//! order and without gaps. What was not seen going out has a record, too.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;

use ackclock_tcp::{Span, Time};

use super::sacked::Sacked;
use super::segment::{Replaced, Segment};
use crate::compact::Compact;
use crate::standards::LARGEST_WINDOW;

/// Most segments that are kept. The largest window has four times as many of 1460 bytes; where more
/// than this is outstanding, the capture has no ACKs.
const MOST: usize = 1 << 18;

/// Most outstanding records that cuts may have made, as of SACKed ranges. Each costs time in
/// proportion to what is outstanding.
const MOST_PIECES: u32 = 1 << 12;

/// From this capacity on an empty list gives its memory back: idle connections are many.
const KEPT: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Outstanding {
    /// A first packet has shown where the stream stands.
    started: bool,
    /// The first unacknowledged byte, and the one after the highest sent.
    una: u64,
    max: u64,
    /// `None` as long as `una` is only where the capture begins.
    highest_ack: Compact<u64>,
    segments: VecDeque<Segment>,
    /// What SACK blocks have covered.
    sacked: Sacked,
    /// Records that were retransmitted and are not SACKed.
    retransmitted: u32,
    /// Records that cuts have made, less those that are gone again.
    cuts: u32,
    /// There were too many pieces to keep all of them apart.
    overcut: bool,
    /// There were too many segments to keep all of them.
    overflown: bool,
    /// For how many milliseconds ACKs of what was outstanding are not in the capture.
    unacked: u32,
    /// Bytes that were acknowledged but never seen.
    unseen: u64,
    /// What is below this went out before the capture began.
    begin: u64,
}

impl Outstanding {
    pub fn has_started(&self) -> bool {
        self.started
    }

    /// What is below `position` went out before the capture began, unseen as that may be.
    pub fn begins_later(&mut self, position: u64) {
        self.begin = position;
    }

    /// The stream begins here.
    pub fn start(&mut self, position: u64) {
        self.started = true;
        (self.una, self.max) = (position, position);
    }

    #[inline]
    pub fn una(&self) -> u64 {
        self.una
    }

    #[inline]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Bytes outstanding.
    pub fn flight(&self) -> u64 {
        self.max - self.una
    }

    /// The highest ACK covers everything below `position`.
    pub fn is_acked(&self, position: u64) -> bool {
        self.highest_ack.get().is_some_and(|acked| acked >= position)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub fn len(&self) -> usize {
        self.segments.len()
    }

    pub fn head(&self) -> Option<&Segment> {
        self.segments.front()
    }

    pub fn get(&self, index: usize) -> Option<&Segment> {
        self.segments.get(index)
    }

    /// The segments below `position` but for the head.
    pub fn behind_head(&self, position: u64) -> impl Iterator<Item = &Segment> {
        self.segments.iter().skip(1).take_while(move |s| s.position < position)
    }

    #[inline]
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked.bytes()
    }

    /// Position after the highest byte that is SACKed; 0 if none is.
    pub fn highest_sacked(&self) -> u64 {
        self.sacked.highest()
    }

    /// Records that were retransmitted and are not SACKed.
    #[inline]
    pub fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// Bytes that were acknowledged but never seen.
    pub fn unseen(&self) -> u64 {
        self.unseen
    }

    /// What could not be followed.
    pub fn doubts(&self) -> impl Iterator<Item = &'static str> {
        let overflown =
            self.overflown.then_some("too much is outstanding: ACKs are missing from the capture");
        let missing = (self.unacked > 0).then_some("ACKs are missing from the capture");
        let overcut = self.overcut.then_some(
            "SACK blocks or retransmissions leave too many pieces to follow all of them",
        );
        overflown.into_iter().chain(missing).chain(overcut)
    }

    /// The sender goes on for so much longer as if what is outstanding had been acknowledged.
    pub fn misses_acks(&mut self, span: Span) {
        self.unacked = self.unacked.saturating_add((span.0 / 1_000_000).max(1) as u32);
    }

    /// A timer has sent the head again: the sender had got no ACK, though it had gone on for so
    /// long.
    pub fn misses_none(&mut self, span: Span) {
        self.unacked = self.unacked.saturating_sub((span.0 / 1_000_000) as u32);
    }

    /// For how long ACKs of what was outstanding are not in the capture.
    pub fn unacked(&self) -> Span {
        Span::from_millis(self.unacked.into())
    }

    /// New data goes out.
    #[inline]
    pub fn append(&mut self, at: Time, len: u32) {
        let segment = Segment {
            position: self.max,
            first_at: at,
            len,
            flight: self.extend(len),
            again: 0,
            transmissions: 1,
            sacked: false,
            unseen: false,
        };
        if let Some(gone) = self.push(segment) {
            self.overflow(&gone);
        }
    }

    /// What lies before `position` went out unseen.
    pub fn append_unseen(&mut self, at: Time, position: u64) {
        while self.max < position {
            let from = self.max;
            let len = (position - from).min(LARGEST_WINDOW) as u32;
            let flight = self.extend(len);
            let segment = Segment {
                position: from,
                first_at: at,
                len,
                flight,
                unseen: true,
                ..Segment::default()
            };
            if let Some(gone) = self.push(segment) {
                self.overflow(&gone);
            }
        }
    }

    /// Moves `max` on, and returns what is outstanding then.
    #[inline]
    fn extend(&mut self, len: u32) -> u32 {
        self.max += u64::from(len);
        (self.max - self.una).min(u64::from(u32::MAX)) as u32
    }

    #[cold]
    fn overflow(&mut self, gone: &Segment) {
        self.overflown = true;
        self.una = gone.end();
    }

    /// An ACK says that everything below `ack` has arrived. The first one says what was
    /// outstanding when the capture began: it went out at `began` or when the head did.
    #[inline]
    pub fn ack_seen(&mut self, ack: u64, began: Time) {
        let Some(highest) = self.highest_ack.get() else {
            self.reach_back(ack, began);
            return self.highest_ack.set(ack);
        };
        self.highest_ack.set(highest.max(ack));
    }

    #[cold]
    fn reach_back(&mut self, ack: u64, began: Time) {
        let Some(len) = self
            .una
            .checked_sub(ack)
            // An ACK further below is of another connection.
            .filter(|&len| self.started && 0 < len && len <= LARGEST_WINDOW)
        else {
            return;
        };
        let first_at = self.head().map_or(began, |head| head.first_at);
        let (len, flight) = (len as u32, (self.max - ack).min(u64::from(u32::MAX)) as u32);
        self.segments.push_front(Segment {
            position: ack,
            first_at,
            len,
            flight,
            unseen: true,
            ..Segment::default()
        });
        self.una = ack;
    }

    /// An ACK covers what was never seen going out.
    pub fn reach_ahead(&mut self, ack: u64) {
        if ack > self.max {
            self.unseen += ack - self.max;
            self.max = ack;
        }
    }

    /// What was acknowledged unseen has been seen after all.
    pub fn was_seen(&mut self, len: u32) {
        self.unseen = self.unseen.saturating_sub(u64::from(len));
    }

    /// Everything below `ack` is acknowledged, and its records have been taken off.
    #[inline]
    pub fn advance(&mut self, ack: u64) {
        self.una = ack;
        if self.segments.is_empty() && self.segments.capacity() > KEPT {
            self.segments = VecDeque::new();
        }
        if !self.sacked.is_empty() {
            self.sacked.forget_below(ack);
        }
    }

    /// Appends a segment; returns one that has no place any more.
    #[inline]
    fn push(&mut self, segment: Segment) -> Option<Segment> {
        let len = self.segments.len();
        if len == self.segments.capacity() {
            // By a half, since open connections are many, and most clients have one segment
            // outstanding at a time.
            self.segments.reserve_exact((len / 2).max(1));
        }
        self.segments.push_back(segment);
        if self.segments.len() > MOST { self.pop() } else { None }
    }

    /// Takes the first record off if `ack` covers it; of one that is covered in part the covered
    /// part.
    #[inline]
    pub fn pop_acked(&mut self, ack: u64) -> Option<Segment> {
        let head = self.segments.front_mut()?;
        let acked = if head.end() <= ack {
            self.pop()?
        } else if head.position < ack {
            let part = Segment { len: (ack - head.position) as u32, ..*head };
            head.len -= part.len;
            head.position = ack;
            part
        } else {
            return None;
        };
        if acked.is_hole() {
            self.unseen += if acked.position < self.begin { 0 } else { acked.len.into() };
        }
        Some(acked)
    }

    #[inline]
    fn pop(&mut self) -> Option<Segment> {
        let head = self.segments.pop_front()?;
        self.cuts = self.cuts.saturating_sub(1);
        self.retransmitted -= u32::from(head.again > 0 && !head.sacked);
        Some(head)
    }

    /// Index of the record that holds the byte at `position`, or of the first one after it.
    fn find(&self, position: u64) -> usize {
        self.segments.partition_point(|s| s.end() <= position)
    }

    /// Cuts the record at `position`, if that lies inside of one. Returns the index of the record
    /// that begins there, or after it; where there are too many pieces, of the record that it
    /// lies in.
    pub fn cut(&mut self, position: u64) -> usize {
        let index = self.find(position);
        if let Some(segment) = self.segments.get_mut(index)
            && segment.position < position
        {
            if self.cuts >= MOST_PIECES {
                self.overcut = true;
                return index;
            }
            self.cuts += 1;
            let front = (position - segment.position) as u32;
            let back = Segment { position, len: segment.len - front, ..*segment };
            segment.len = front;
            self.retransmitted += u32::from(back.again > 0 && !back.sacked);
            self.segments.insert(index + 1, back);
            return index + 1;
        }
        index
    }

    /// The record that holds the byte below `position`.
    pub fn ending_at(&self, position: u64) -> Option<&Segment> {
        self.get(self.find(position.checked_sub(1)?))
    }

    /// Bytes outstanding once all had gone out that followed this record within `soon` and without
    /// an ACK in between that advanced.
    pub fn burst(&self, index: usize, soon: Span) -> u32 {
        let una = |s: &Segment| s.end().saturating_sub(u64::from(s.flight));
        let Some(first) = self.get(index) else { return 0 };
        let burst = self.segments.range(index..);
        let burst =
            burst.take_while(|s| una(s) == una(first) && s.first_at.since(first.first_at) < soon);
        burst.last().map_or(0, |s| s.flight)
    }

    /// The records that a segment from `position` to `end` is sent in place of. Where there are too
    /// many pieces, the record in which it ends counts in full.
    pub fn cut_out(&mut self, position: u64, end: u64) -> Range<usize> {
        let from = self.cut(position);
        let to = self.cut(end);
        from..to + usize::from(self.get(to).is_some_and(|s| s.position < end))
    }

    /// Marks records as retransmitted, by the retransmission with this number. `each` is called
    /// with every one as it was before.
    pub fn retransmit(
        &mut self,
        records: Range<usize>,
        number: u32,
        mut each: impl FnMut(&Segment),
    ) -> Replaced {
        let mut replaced = Replaced { previous: 0, transmissions: 1, unseen: 0, sacked: 0 };
        for index in records {
            let Some(segment) = self.segments.get_mut(index) else { continue };
            replaced.previous = replaced.previous.max(segment.again);
            replaced.transmissions = replaced.transmissions.max(segment.transmissions);
            replaced.unseen += if segment.is_hole() { segment.len } else { 0 };
            replaced.sacked += if segment.sacked { segment.len } else { 0 };
            each(segment);
            self.retransmitted += u32::from(segment.again == 0 && !segment.sacked);
            segment.again = number;
            segment.transmissions = segment.transmissions.saturating_add(1);
        }
        replaced
    }

    /// None of the transmissions of these records was seen, and there are any.
    pub fn are_holes(&self, mut records: Range<usize>) -> bool {
        !records.is_empty() && records.all(|i| self.get(i).is_some_and(Segment::is_hole))
    }

    /// What was missing has come: it first went out `at`.
    pub fn fill(&mut self, records: Range<usize>, at: Time) {
        for index in records {
            if let Some(segment) = self.segments.get_mut(index) {
                segment.first_at = at;
                segment.transmissions = 1;
                segment.unseen = false;
            }
        }
    }

    /// Takes the SACK block in. `newly` is called with each record that it reports and none before
    /// it did.
    pub fn sack(&mut self, left: u64, right: u64, mut newly: impl FnMut(&Segment)) {
        let left = left.max(self.una);
        let (Some(first), Some(last)) = (self.segments.front(), self.segments.back()) else {
            return;
        };
        let (left, right) = (left.max(first.position), right.min(last.end()));
        if left >= right {
            return;
        }
        // Of a block only its two ends can cut a record.
        let room = self.cuts + 2 <= MOST_PIECES;
        let mut sacked = std::mem::take(&mut self.sacked);
        if !sacked.add(left, right, room, |left, right| self.mark(left, right, &mut newly)) {
            self.overcut = true;
        }
        self.sacked = sacked;
    }

    fn mark(&mut self, left: u64, right: u64, newly: &mut impl FnMut(&Segment)) {
        let mut index = self.cut(left);
        self.cut(right);
        while let Some(segment) = self.segments.get_mut(index) {
            if segment.position >= right {
                break;
            }
            segment.sacked = true;
            self.retransmitted -= u32::from(segment.again > 0);
            newly(segment);
            index += 1;
        }
    }

    /// The receiver has forgotten what it had SACKed (RFC 2018 section 8).
    pub fn forget_sacks(&mut self) {
        self.sacked.clear();
        self.segments.iter_mut().for_each(|s| s.sacked = false);
        self.retransmitted = self.segments.iter().filter(|s| s.again > 0).count() as u32;
    }
}
