//! The time around a timeout, for a replay: what was outstanding when the first lost segment went
//! out, and how many transmissions of each segment were lost until all was repaired.

use ackclock_tcp::{Span, Time};

use super::input::Terms;
use super::stream::segment::Segment;
use super::stream::timers::Timers;
use crate::compact::Compact;
use crate::connection::{Episode, Retransmission, Timeout};

/// Most segments whose repair is an episode.
const MOST: u64 = 1 << 16;

/// From the first transmission of the first lost segment on.
#[derive(Clone, Copy, Debug)]
struct Period {
    /// The first retransmission, and the first one after the period, as indexes.
    first: usize,
    end: usize,
    /// When the first lost segment went out, the first unacknowledged byte then, and the bytes
    /// outstanding when all had gone out that followed at once.
    start: Time,
    base: u64,
    flight: u32,
    /// Offered by the receiver.
    window: u64,
    /// The shortest round trip that the sender had seen when the period began.
    before: Span,
    /// The round trip of the first retransmission that arrived.
    after: Compact<Span>,
    /// The shortest one when all was repaired.
    least: Span,
    repaired: Option<Time>,
    /// Position after the last byte before the sender went idle; 0 until it has.
    idle: u64,
    unseen: bool,
}

/// Those of one sender.
#[derive(Debug, Default)]
struct Periods {
    open: Option<Period>,
    closed: Vec<Period>,
    /// Closed ones that wait for the sender to go idle.
    waiting: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Episodes {
    /// From the first retransmission on.
    periods: Option<Box<Periods>>,
    /// ACKs that came while nothing was lost, and the bytes that they acknowledged.
    acks: u64,
    acked: u64,
    /// Position of the FIN if it went out by itself.
    fin: Compact<u64>,
}

impl Episodes {
    /// Whether the retransmission of this segment would be the beginning of an episode, as far as
    /// is known.
    pub fn begins_with(&self, segment: &Segment) -> bool {
        let earlier = |open: &Period| segment.again == 0 && segment.first_at < open.start;
        self.periods.as_ref().and_then(|periods| periods.open.as_ref()).is_none_or(earlier)
    }

    /// `segment` is retransmitted, as the retransmission with index `index`. `flight` was
    /// outstanding when all had gone out that followed it at once; `rtt` is the shortest round trip
    /// so far.
    pub fn retransmitted(
        &mut self,
        segment: &Segment,
        index: usize,
        window: u64,
        flight: u32,
        rtt: Span,
    ) {
        let begins = self.begins_with(segment);
        let new = Period {
            first: index,
            end: index,
            start: segment.first_at,
            base: segment.end().saturating_sub(u64::from(segment.flight)),
            flight: flight.max(segment.flight),
            window,
            before: rtt,
            after: None.into(),
            least: rtt,
            repaired: None,
            idle: 0,
            unseen: segment.unseen,
        };
        let period = self.periods.get_or_insert_default().open.get_or_insert(new);
        if begins {
            (period.start, period.base, period.flight) = (new.start, new.base, new.flight);
        }
        period.unseen |= segment.unseen;
    }

    /// A retransmission is reported, this long after it went out.
    pub fn arrived(&mut self, rtt: Span) {
        let open = self.periods.as_mut().and_then(|periods| periods.open.as_mut());
        if let Some(period) = open.filter(|period| period.after.get().is_none()) {
            period.after.set(rtt);
        }
    }

    /// All is repaired. `end` is the index of the next retransmission, `timeout` that of the last
    /// one that a timeout sent, or may have sent; `rtt` is the shortest round trip so far.
    pub fn repaired(&mut self, at: Time, end: usize, timeout: Option<usize>, rtt: Span) {
        let Some(periods) = &mut self.periods else { return };
        let Some(mut period) = periods.open.take() else { return };
        if timeout.is_some_and(|index| index >= period.first) {
            (period.end, period.repaired, period.least) = (end, Some(at), rtt);
            periods.closed.push(period);
            periods.waiting += 1;
        }
    }

    /// A FIN goes out by itself, later than the data before it. No window of the sender's holds it
    /// back (Linux's `tcp_cwnd_test`), so the application has closed only now: in a replay it would
    /// come too early.
    pub fn closes(&mut self, position: u64) {
        self.fin.set(position);
    }

    /// An ACK came while nothing was lost. Others say nothing of delayed ACKs: receivers answer at
    /// once what comes out of order (RFC 5681 section 4.2), and what fills a hole stands for more.
    #[inline]
    pub fn acked(&mut self, bytes: u64) {
        self.acks += 1;
        self.acked += bytes;
    }

    /// More than four thirds of a segment for an ACK: most ACKs stand for two.
    pub fn are_acks_delayed(&self, mss: u32) -> bool {
        self.acked * 3 > self.acks * u64::from(mss) * 4
    }

    /// Nothing is outstanding any more; the last byte was at `max`.
    #[inline]
    pub fn idle(&mut self, max: u64) {
        if let Some(periods) = &mut self.periods {
            let max = self.fin.get().map_or(max, |fin| max.min(fin));
            let waiting = std::mem::take(&mut periods.waiting);
            for period in periods.closed.iter_mut().rev().take(waiting) {
                period.idle = max;
            }
        }
    }

    /// At the end: the first timeout of each episode gets it.
    pub fn settle(&self, facts: &Facts<'_>, timeouts: &mut [Timeout]) {
        for period in self.periods.iter().flat_map(|periods| &periods.closed) {
            let Some(episode) = facts.episode(period) else { continue };
            let first = timeouts.partition_point(|t| t.retransmission < period.first);
            if let Some(timeout) = timeouts.get_mut(first).filter(|t| t.retransmission < period.end)
            {
                timeout.episode = Some(episode);
            }
        }
    }
}

/// What is known at the end.
pub(crate) struct Facts<'a> {
    pub terms: &'a Terms,
    pub timers: &'a Timers,
    pub retransmissions: &'a [Retransmission],
    pub rate_bps: Option<f64>,
    /// Most ACKs stand for two segments.
    pub delayed_ack: bool,
}

impl Facts<'_> {
    fn episode(&self, period: &Period) -> Option<Episode> {
        let mss = u64::from(self.terms.mss.max(1));
        let segments = (period.idle.max(period.base) - period.base).div_ceil(mss);
        let rtt = self.timers.min_rtt();
        let cwnd = (u64::from(period.flight).div_ceil(mss) as u32).max(1);
        let within = self.retransmissions.get(period.first..period.end)?;
        let reach = |r: &Retransmission| {
            (r.position + u64::from(r.len.max(1))).saturating_sub(period.base).div_ceil(mss)
        };
        let reach = segments.min(within.iter().map(reach).max().unwrap_or(0) + 1);
        if !self.terms.at_sender() || period.unseen || reach > MOST || rtt == Span::ZERO {
            return None;
        }
        let repaired = losses(within, period.base, reach as usize, mss)?.len() as u64;
        // Another strategy may send earlier what was lost only later.
        let seen = segments.min(repaired + Episode::ahead(cwnd));
        let near = period.base..period.base + seen * mss;
        let later = self.retransmissions.get(period.end..)?;
        let later = later.iter().take_while(|r| near.contains(&r.position)).count();
        let all = self.retransmissions.get(period.first..period.end + later)?;
        let lost = losses(all, period.base, seen as usize, mss)?;
        let bytes = period.idle - period.base;
        Some(Episode {
            start: period.start,
            position: period.base,
            mss: self.terms.mss,
            rtt,
            rtt_before: period.before.max(rtt),
            // What is answered sooner was spurious: the answer is that of an earlier transmission.
            rtt_after: period.after.get().filter(|after| *after >= self.timers.least_trip()),
            rtt_least: period.least,
            rate_bps: self.rate_bps,
            cwnd,
            rwnd: period.window,
            bytes,
            repaired: (repaired * mss).min(bytes),
            lost,
            slow_start: period.first == 0,
            delayed_ack: self.delayed_ack,
            sack: self.terms.sack,
            timestamps: self.terms.timestamps,
            took: period.repaired?.since(period.start),
        })
    }
}

/// How many transmissions of each segment from `base` on were lost.
fn losses(
    retransmissions: &[Retransmission],
    base: u64,
    segments: usize,
    mss: u64,
) -> Option<Vec<u8>> {
    let mut lost = vec![0_u8; segments];
    // Transmissions known to be lost before the one looked at, and whether one has arrived.
    let mut seen = vec![(1_u8, false); segments];
    for r in retransmissions {
        let from = (r.position.checked_sub(base)? / mss) as usize;
        let to = from + (u64::from(r.len.max(1)).div_ceil(mss) as usize);
        for index in from..to.min(segments) {
            let (attempts, arrived) = &mut seen[index];
            if *arrived {
                continue;
            }
            match (r.spurious, r.lost) {
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
