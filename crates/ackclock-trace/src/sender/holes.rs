//! What went out and was not seen: lost before the capture, lost by the capture, or overtaken on the way to it. What comes later is
//! the original if it was sent before what overtook it, and a retransmission otherwise.

use ackclock_tcp::Span;

use super::outstanding::Segment;
use super::{SenderModel, Sent};

/// Most holes that are remembered; of older ones only time tells.
const MOST: usize = 64;

/// Largest step of the identification that counting makes for what is missing: one for each segment, and some for ACKs.
const STEP: u16 = 1024;

/// A hole, and the segment behind it that showed it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hole {
    start: u64,
    end: u64,
    tsval: Option<u32>,
    /// Its identification, if the sender counts.
    ip_id: Option<u16>,
}

impl SenderModel {
    /// Something went out that the capture does not have, or not yet.
    pub(super) fn missed(&mut self, sent: &Sent) {
        let counts = |last: u16, id: u16| (1..STEP).contains(&id.wrapping_sub(last));
        let ip_id = sent.ip_id.filter(|&id| self.last_id.is_some_and(|last| counts(last, id)));
        if self.holes.len() == MOST {
            self.holes.remove(0);
        }
        self.holes.push(Hole { start: self.max, end: sent.position, tsval: sent.tsval, ip_id });
        let mut position = self.max;
        while position < sent.position {
            let len = (sent.position - position).min(1 << 30) as u32;
            let flight = (position + u64::from(len) - self.una).min(u64::from(u32::MAX)) as u32;
            let segment = Segment { position, first_at: sent.at, len, flight, unseen: true, ..Segment::default() };
            if let Some(gone) = self.out.push(segment) {
                self.overflown(&gone);
            }
            position += u64::from(len);
        }
        self.max = sent.position;
    }

    /// Whether this fills a hole as the original. Then its records are no longer unseen.
    pub(super) fn late_original(&mut self, sent: &Sent, from: usize, to: usize) -> bool {
        if from >= to
            || !(from..to).all(|i| self.out.get(i).is_some_and(Segment::is_hole))
            || !self.went_before(sent, from)
        {
            return false;
        }
        for index in from..to {
            self.out.fill(index, sent.at);
        }
        self.found.bytes += u64::from(sent.len - u32::from(sent.fin));
        true
    }

    /// Whether it was sent before what showed the hole.
    fn went_before(&self, sent: &Sent, from: usize) -> bool {
        let hole = self.holes.iter().rev().find(|h| h.start <= sent.position && sent.position < h.end);
        if let Some((hole, tsval)) = hole.and_then(|h| Some((h.tsval?, sent.tsval?)))
            && hole != tsval
        {
            return (tsval.wrapping_sub(hole) as i32) < 0;
        }
        if let Some((hole, id)) = hole.and_then(|h| Some((h.ip_id?, sent.ip_id?)))
            && hole.abs_diff(id).min(hole.wrapping_sub(id)).min(id.wrapping_sub(hole)) < STEP
        {
            return (id.wrapping_sub(hole) as i16) < 0;
        }
        // A retransmission takes an ACK from behind the capture to the sender and back: no less than the round trip.
        let missed_at = self.out.get(from).map_or(sent.at, |s| s.first_at);
        sent.at.since(missed_at) < Span(self.clock.min_rtt().0 / 4 * 3)
    }
}
