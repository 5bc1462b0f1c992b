//! Why were packets lost? What is needed to say so: the losses of first transmissions, and a sparse
//! record of segments that arrived, each with the round trip, what was in flight, and when it went
//! out.
//!
//! Only what was seen going out counts: of a segment that was lost before the capture neither time
//! nor delay is known. At the receiver nothing counts.
//!
//! Memory is bounded: [`MOST_LOST`] losses and [`MOST_PASSED`] segments of 24 bytes, and
//! [`FEW_PASSED`] before there is a loss. Once there are as many losses, nothing more is recorded.

mod bucket;
mod delay;
mod size;
mod timeline;
mod verdict;

use ackclock_tcp::{Span, Time};
use thin_vec::ThinVec;

use self::timeline::Timeline;
use super::stream::Stream;
use super::stream::segment::{Departure, Segment};
use crate::connection::{Kind, Retransmission};
use crate::loss::{LossCause, Losses};

/// Losses that are recorded.
const MOST_LOST: usize = 256;
/// Losses of one episode that are recorded one by one. The slow start of a long path ends with the
/// loss of a window, which would leave no room for others.
const MOST_OF_EPISODE: u32 = 16;
/// Segments that arrived, of which a record is kept.
const MOST_PASSED: usize = 512;
/// The same before the first loss.
const FEW_PASSED: usize = 128;
/// Records of a round trip.
const PER_TRIP: u64 = 8;
/// Of so many of the last records none is left out: a loss is found that late at most.
const RECENT: usize = 64;

/// A segment that arrived on its first transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// When it went out.
    pub at: Time,
    /// Its position.
    pub position: u64,
    /// Bytes in flight then, its own included.
    pub flight: u32,
    /// Its round trip in microseconds.
    pub trip: u32,
}

/// A segment whose first transmission did not arrive, unless its retransmission was spurious.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    pub at: Time,
    pub position: u64,
    /// Bytes lost: its own, and those of the episode that have no record.
    pub len: u32,
    pub flight: u32,
    /// The round trip of what went out nearest to it, in microseconds.
    pub trip: Option<u32>,
    /// Index of the first retransmission.
    pub again: u32,
}

#[derive(Debug, Default)]
pub(crate) struct LossRecord {
    passed: ThinVec<Passed>,
    /// The next record is of a segment that goes out then or later.
    next: Time,
    /// From the first retransmission on.
    losses: Option<Box<AllLost>>,
}

#[derive(Debug, Default)]
struct AllLost {
    lost: Vec<Lost>,
    /// When the first loss of the last episode went out, and how many were recorded of it.
    episode: (Time, u32),
    /// Retransmissions of what was not seen going out.
    unseen: u32,
    /// The longest segment whose round trip was measured since the first retransmission, in bytes
    /// of payload.
    longest: u32,
    /// The mean of what was acknowledged before: one segment at least was as long.
    mean: u32,
}

impl LossRecord {
    /// An ACK measures the round trip of this segment, which went out later than all before it.
    #[inline]
    pub fn passed(&mut self, at: Time, gone: &Departure, least: Span) {
        if let Some(losses) = &mut self.losses {
            losses.longest = losses.longest.max(gone.len);
        }
        if gone.at >= self.next && !self.is_full() {
            self.record(at, gone, least);
        }
    }

    #[cold]
    fn record(&mut self, at: Time, gone: &Departure, least: Span) {
        let trip = micros(at.since(gone.at));
        let Departure { at, position, flight, .. } = *gone;
        if self.passed.capacity() == 0 {
            // Of many senders there is no other, since they send one request.
            self.passed.reserve_exact(1);
        }
        self.passed.push(Passed { at, position, flight, trip });
        self.next = at + Span((least.0 / PER_TRIP).max(1));
        let most = if self.lost().is_empty() { FEW_PASSED } else { MOST_PASSED };
        if self.passed.len() >= most {
            self.thin();
        }
    }

    /// Leaves out every second record, but for the recent ones.
    fn thin(&mut self) {
        let old = self.passed.len() - RECENT;
        let span = match (self.passed.first(), self.passed.get(old)) {
            (Some(first), Some(last)) => last.at.since(first.at),
            _ => return,
        };
        let spacing = Span(span.0 / (old as u64 / 2).max(1));
        let (mut index, mut last) = (0, None);
        self.passed.retain(|passed| {
            index += 1;
            let near = last.is_some_and(|last| passed.at.since(last) < spacing);
            let keeps = index > old || !near;
            last = if keeps { Some(passed.at) } else { last };
            keeps
        });
    }

    /// `segment` is retransmitted, for the first time, as the retransmission with this index.
    pub fn retransmitted(&mut self, segment: &Segment, index: usize, stream: &Stream) {
        let losses = self.losses.get_or_insert_with(|| {
            let acked = stream.segments().saturating_sub(stream.outstanding.len() as u64 + 1);
            let mean = stream.outstanding.una() / acked.max(1);
            Box::new(AllLost { mean: mean as u32, ..AllLost::default() })
        });
        if segment.unseen || segment.is_hole() {
            losses.unseen = losses.unseen.saturating_add(1);
            return;
        }
        if losses.is_full() || segment.again > 0 {
            return;
        }
        let trip_time = stream.timers.srtt().max(stream.timers.min_rtt());
        let (began, of_episode) = losses.episode;
        let goes_on = of_episode > 0 && segment.first_at.since(began) < trip_time;
        if goes_on && of_episode >= MOST_OF_EPISODE {
            if let Some(last) = losses.lost.last_mut() {
                last.len = last.len.saturating_add(segment.len);
            }
            return;
        }
        losses.episode = if goes_on { (began, of_episode + 1) } else { (segment.first_at, 1) };
        losses.lost.push(Lost {
            at: segment.first_at,
            position: segment.position,
            len: segment.len,
            flight: segment.flight,
            trip: trip_near(&self.passed, segment.first_at, trip_time),
            again: index as u32,
        });
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.losses.as_ref().is_some_and(|losses| losses.is_full())
    }

    fn lost(&self) -> &[Lost] {
        self.losses.as_ref().map_or(&[], |losses| &losses.lost)
    }

    /// Records of segments that arrived, and of losses.
    #[cfg(test)]
    pub fn size(&self) -> (usize, usize) {
        (self.passed.len(), self.lost().len())
    }

    /// At the end: what explains the losses.
    pub fn into_losses(
        mut self,
        stream: &Stream,
        retransmissions: &[Retransmission],
        rate_bps: Option<f64>,
    ) -> Losses {
        let sack = stream.terms.sack;
        let is_lost = |r: &Retransmission| {
            r.spurious.is_none() && (r.known || sack || r.kind != Kind::SlowStart)
        };
        let Some(losses) = &mut self.losses else { return Losses::default() };
        losses.lost.retain(|lost| retransmissions.get(lost.again as usize).is_some_and(is_lost));
        losses.lost.sort_by_key(|lost| (lost.at, lost.position));
        let too_long = size::too_long(losses, &stream.terms, retransmissions)
            .or_else(|| size::never_passed(stream, retransmissions));
        let (counted, unseen) = (losses.lost.len() as u32, losses.unseen);
        let Some(timeline) = Timeline::new(&self, stream, retransmissions) else {
            return Losses { counted, cause: too_long, ..Losses::default() };
        };
        let mostly_seen = u64::from(unseen) * 4 <= u64::from(counted);
        let other = || mostly_seen.then(|| verdict::cause(&timeline, rate_bps)).flatten();
        let in_vain = repairs_in_vain(retransmissions, counted);
        let other =
            || other().filter(|cause| !in_vain || !matches!(cause, LossCause::Random { .. }));
        let cause = too_long.or_else(other);
        Losses { counted, episodes: timeline.episodes() as u32, cause }
    }
}

/// A sender that repairs in vain more often than not meets reordering, and what is not known to
/// have been in vain is most likely so, too. In slow start it repeats what has arrived after a
/// loss.
fn repairs_in_vain(retransmissions: &[Retransmission], counted: u32) -> bool {
    let vain = |r: &&Retransmission| r.len > 0 && r.spurious.is_some() && r.kind != Kind::SlowStart;
    retransmissions.iter().filter(vain).count() > counted as usize
}

impl AllLost {
    fn is_full(&self) -> bool {
        self.lost.len() >= MOST_LOST
    }
}

/// The round trip of the record that is nearest in time, and no further than `within`.
fn trip_near(passed: &[Passed], at: Time, within: Span) -> Option<u32> {
    let after = passed.partition_point(|passed| passed.at < at);
    let before = after.checked_sub(1).and_then(|i| passed.get(i));
    let away = |p: &&Passed| p.at.since(at).max(at.since(p.at));
    let nearest = before.into_iter().chain(passed.get(after)).min_by_key(away)?;
    (away(&nearest) <= within).then_some(nearest.trip)
}

fn micros(span: Span) -> u32 {
    u32::try_from(span.0 / 1000).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
