//! The time around a timeout, for a replay: what was outstanding when the first lost segment went out, and how many transmissions of
//! each segment were lost until all was repaired.

use ackclock_tcp::{Span, Time};

use super::outstanding::Segment;
use super::{Phase, SenderModel, Sight};
use crate::connection::{Episode, Retransmission};

/// Most segments of an episode.
const MOST: u64 = 1 << 16;

/// Fewest bytes, in segments, of a train of ACKs that measures a rate.
const TRAIN: u64 = 6;

/// From the first transmission of the first lost segment on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Period {
    /// The first retransmission, and the first one after it.
    first: usize,
    end: usize,
    /// When the first lost segment went out, and the first unacknowledged byte and the bytes outstanding then.
    start: Time,
    base: u64,
    flight: u32,
    window: u64,
    repaired: Option<Time>,
    /// Position after the last byte before the sender went idle; 0 until it has.
    idle: u64,
    unseen: bool,
}

/// A train of ACKs that came one upon the other: their rate is the bottleneck's.
#[derive(Debug, Default)]
pub(super) struct Train {
    start: Time,
    from: u64,
    bits_per_second: Option<f64>,
}

#[derive(Debug, Default)]
pub(super) struct Periods {
    open: Option<Period>,
    closed: Vec<Period>,
    /// Closed ones that wait for the sender to go idle.
    waiting: usize,
    train: Train,
}

impl SenderModel {
    /// `segment` is about to be sent again.
    pub(super) fn period_begins(&mut self, segment: &Segment) {
        let first = self.notes.len();
        let new = Period {
            first,
            end: first,
            start: segment.first_at,
            base: segment.end().saturating_sub(u64::from(segment.flight)),
            flight: segment.flight,
            window: self.window,
            repaired: None,
            idle: 0,
            unseen: segment.unseen,
        };
        let period = self.periods.open.get_or_insert(new);
        if segment.again == 0 && new.start < period.start {
            (period.start, period.base, period.flight) = (new.start, new.base, new.flight);
        }
        period.unseen |= segment.unseen;
    }

    /// After an ACK: whether all is repaired.
    pub(super) fn period_ends(&mut self, at: Time) {
        if self.periods.open.is_none() || self.repair.phase != Phase::Open || self.out.retransmitted > 0 {
            return;
        }
        let Some(mut period) = self.periods.open.take() else { return };
        period.end = self.notes.len();
        period.repaired = Some(at);
        let timed_out = self.found.timeouts.last().is_some_and(|t| t.retransmission >= period.first);
        if timed_out || self.has_open_probe(period.first) {
            self.periods.closed.push(period);
            self.periods.waiting += 1;
        }
    }

    /// Nothing is outstanding any more.
    #[inline]
    pub(super) fn periods_idle(&mut self) {
        if self.periods.waiting > 0 {
            let max = self.max;
            for period in self.periods.closed.iter_mut().rev().take(self.periods.waiting) {
                period.idle = max;
            }
            self.periods.waiting = 0;
        }
    }

    /// An ACK has advanced to `ack`, `gap` after the one before it.
    #[inline]
    pub(super) fn train(&mut self, at: Time, ack: u64, gap: Span) {
        // A pause of an eighth of a round trip ends a train: what follows it was clocked by something else.
        if gap.0 > self.clock.srtt().0 / 8 {
            self.train_ends(ack);
            (self.periods.train.start, self.periods.train.from) = (at, ack);
        }
    }

    fn train_ends(&mut self, ack: u64) {
        let train = &mut self.periods.train;
        let took = self.last_ack.since(train.start);
        let bytes = self.una.min(ack).saturating_sub(train.from);
        if bytes >= TRAIN * u64::from(self.terms.mss) && took > Span::ZERO {
            let rate = bytes as f64 * 8.0 / took.secs_f64();
            train.bits_per_second = Some(train.bits_per_second.map_or(rate, |r| r + (rate - r) / 4.0));
        }
    }

    /// At the end: the first timeout of each episode gets it.
    pub(super) fn settle_episodes(&mut self) {
        self.train_ends(self.una);
        self.periods_idle();
        for index in 0..self.periods.closed.len() {
            let period = self.periods.closed[index];
            let Some(episode) = self.episode(&period) else { continue };
            let first = self.found.timeouts.partition_point(|t| t.retransmission < period.first);
            if let Some(timeout) = self.found.timeouts.get_mut(first).filter(|t| t.retransmission < period.end) {
                timeout.episode = Some(episode);
            }
        }
    }

    fn episode(&self, period: &Period) -> Option<Episode> {
        let mss = u64::from(self.terms.mss.max(1));
        let segments = (period.idle.max(period.base) - period.base).div_ceil(mss);
        let rtt = self.clock.min_rtt();
        if self.terms.sight != Sight::Sent || period.unseen || segments > MOST || rtt == Span::ZERO {
            return None;
        }
        let acks = self.clock.round_trip().map_or(0, |r| r.samples);
        Some(Episode {
            mss: self.terms.mss,
            rtt,
            rate_bps: self.periods.train.bits_per_second,
            cwnd: (u64::from(period.flight).div_ceil(mss) as u32).max(1),
            rwnd: period.window,
            bytes: period.idle - period.base,
            lost: self.losses(period, segments as usize, mss)?,
            slow_start: period.first == 0,
            // More than four thirds of a segment for an ACK: most ACKs stand for two.
            delayed_ack: acks > 0 && self.una / acks * 3 > mss * 4,
            sack: self.terms.sack,
            timestamps: self.terms.timestamps,
            took: period.repaired?.since(period.start),
        })
    }

    /// How many transmissions of each segment were lost.
    fn losses(&self, period: &Period, segments: usize, mss: u64) -> Option<Vec<u8>> {
        let retransmissions = self.found.retransmissions.get(period.first..period.end)?;
        let end = |r: &Retransmission| (r.position + u64::from(r.len.max(1))).saturating_sub(period.base).div_ceil(mss);
        let segments = segments.min(retransmissions.iter().map(end).max().unwrap_or(0) as usize + 1);
        let mut lost = vec![0_u8; segments];
        // Transmissions known to be lost before the one looked at, and whether one has arrived.
        let mut seen = vec![(1_u8, false); segments];
        for r in retransmissions {
            let from = (r.position.checked_sub(period.base)? / mss) as usize;
            let to = from + (u64::from(r.len.max(1)).div_ceil(mss) as usize);
            for index in from..to.min(segments) {
                let (attempts, arrived) = &mut seen[index];
                if *arrived {
                    continue;
                }
                match (r.needless, r.lost) {
                    (None, Some(false)) => (*arrived, lost[index]) = (true, *attempts),
                    (None, Some(true)) => *attempts = attempts.saturating_add(1),
                    // One that went before it has arrived.
                    _ => (*arrived, lost[index]) = (true, *attempts - 1),
                }
            }
        }
        let last = lost.iter().rposition(|&l| l > 0).map_or(0, |i| i + 1);
        lost.truncate(last);
        lost.shrink_to_fit();
        Some(lost)
    }
}
