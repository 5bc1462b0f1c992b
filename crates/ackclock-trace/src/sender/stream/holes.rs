//! What went out and was not seen: lost before the capture, lost by the capture, or overtaken on
//! the way to it. What fills such a hole later is the original if it was sent before the segment
//! that overtook it, and a retransmission otherwise.

use ackclock_tcp::{Span, Time, Timestamps};
use thin_vec::ThinVec;

use super::timers::Timers;
use super::unseen::Unseen;
use crate::packet::{LARGEST_STEP, counts_on};
use crate::sender::input::{EXCHANGED, Sent};

/// Most holes that are remembered; older ones are judged by time alone.
const MOST: usize = 64;

/// A hole, and the segment behind it that showed it.
#[derive(Clone, Copy, Debug)]
struct Hole {
    start: u64,
    end: u64,
    /// What lies below has been seen since.
    unseen: u64,
    tsval: Option<u32>,
    /// Its identification, if the sender counts.
    ip_id: Option<u16>,
    /// When it was shown.
    at: Time,
}

#[derive(Debug, Default)]
pub(crate) struct Holes {
    holes: ThinVec<Hole>,
    /// Identification of the last segment of new data.
    last_id: Option<u16>,
    /// Retransmissions that went out and were not seen.
    pub unseen: Unseen,
}

impl Holes {
    /// What was lost is repaired.
    #[inline]
    pub fn repaired(&mut self) {
        self.unseen = Unseen::default();
    }

    /// New data was seen.
    #[inline]
    pub fn new_data(&mut self, ip_id: Option<u16>) {
        self.last_id = ip_id;
    }

    /// `sent` shows that everything from `start` up to it went out unseen.
    pub fn shown_by(&mut self, sent: &Sent, start: u64) {
        // By its step from the packet before, or from the last new data.
        let is_near =
            |id: &u16| sent.skipped > 0 || self.last_id.is_some_and(|last| counts_on(last, *id));
        let ip_id = sent.ip_id.filter(is_near);
        let Sent { position: end, tsval, at, .. } = *sent;
        self.push(Hole { start, end, unseen: start, tsval, ip_id, at });
    }

    /// An ACK at `at` covers what went out unseen.
    pub fn shown_by_ack(&mut self, at: Time, start: u64, end: u64) {
        self.push(Hole { start, end, unseen: start, tsval: None, ip_id: None, at });
    }

    fn push(&mut self, hole: Hole) {
        if self.holes.len() == MOST {
            self.holes.remove(0);
        }
        self.holes.push(hole);
    }

    /// `sent` fills a hole, or a part of it, from the beginning of what is unseen.
    pub fn filled_by(&mut self, sent: &Sent) {
        let begins = |hole: &&mut Hole| hole.unseen == sent.position && sent.position < hole.end;
        if let Some(hole) = self.holes.iter_mut().rev().find(begins) {
            hole.unseen = sent.end();
        }
    }

    /// Whether `sent`, which is acknowledged, is what the capture had not seen, and follows its ACK
    /// so soon that the capture has exchanged them. It fills the hole up to its end.
    pub fn follows_its_ack(&mut self, sent: &Sent) -> bool {
        let (position, end) = (sent.position, sent.end());
        let exchanged = |hole: &&mut Hole| {
            hole.unseen <= position && end <= hole.end && sent.at.since(hole.at) <= EXCHANGED
        };
        let hole = self.holes.iter_mut().rev().find(exchanged);
        hole.map(|hole| hole.unseen = end).is_some()
    }

    /// Whether `sent`, which fills a hole that was noticed at `missed_at`, was sent before what
    /// showed the hole.
    pub fn is_original(&self, sent: &Sent, missed_at: Time, timers: &Timers) -> bool {
        // A retransmission takes an ACK from behind the capture to the sender and back: no less
        // than the round trip, once there is one. Until then, what is close was exchanged.
        let trip = Some(timers.least_trip()).filter(|trip| *trip > Span::ZERO).unwrap_or(EXCHANGED);
        self.overtaken(sent).unwrap_or(sent.at.since(missed_at) < trip)
    }

    /// The hole that `sent` fills, or has filled.
    fn of(&self, sent: &Sent) -> Option<&Hole> {
        let holds = |hole: &&Hole| hole.start <= sent.position && sent.position < hole.end;
        self.holes.iter().rev().find(holds)
    }

    /// Whether `sent` has the timestamp of what showed its hole.
    pub fn is_of_same_tick(&self, sent: &Sent) -> bool {
        self.of(sent).is_some_and(|hole| hole.tsval.is_some() && hole.tsval == sent.tsval)
    }

    /// Whether `sent` went out before what showed its hole, by timestamps or identifications.
    pub fn overtaken(&self, sent: &Sent) -> Option<bool> {
        let hole = self.of(sent)?;
        let stamps = hole.tsval.zip(sent.tsval).filter(|(hole, tsval)| hole != tsval);
        if let Some((hole, tsval)) = stamps {
            return Some(Timestamps::is_older(tsval, hole));
        }
        let (hole, id) = hole.ip_id.zip(sent.ip_id)?;
        let step = id.wrapping_sub(hole) as i16;
        (step.unsigned_abs() < LARGEST_STEP).then_some(step < 0)
    }
}
