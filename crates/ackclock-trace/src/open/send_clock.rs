//! When a segment left a sender that the capture was not taken at: its timestamp says it.
//!
//! What a queue before the capture adds to the way of a segment is what passes between its
//! timestamp and its arrival, beyond the least such time of the connection. Linux, Windows, macOS
//! and FreeBSD count milliseconds (RFC 7323 section 5.4 admits 1 ms to 1 s). A clock that does not
//! fit says nothing. One that counts milliseconds but moves on by several at once, as an operating
//! system's own ticks do (10 or 15.6 ms), says as much less.

use ackclock_tcp::{Span, Time, Timestamps};

use crate::sender::TICK;

/// In percent of the time that has passed at the capture: with fewer ticks the clock is a slower
/// one, or the queue too long for so short a connection; with more it is a faster one.
const PERCENT: [u64; 2] = [60, 105];
/// Clocks run apart by less than one part of so many: ntpd slews one by up to 500 ppm. So much a
/// queue that never empties is underestimated.
pub(crate) const DRIFT: u64 = 2_000;
/// A clock that has counted for so long as one of milliseconds would is one: fewer ticks later on
/// say that data is late.
const KNOWN: Span = Span::from_secs(1);
/// By no less a clock is set (ntpd's step threshold is 128 ms), or a machine stands still
/// that nobody notices. A segment takes less than that behind another, at 100 kbit/s and more.
pub(crate) const SET: Span = Span::from_millis(128);
/// So long, in ns, beyond what was added, a wait that came at once has to last for a clock to have
/// been set: what waits behind a link that stands still has waited the less the later it was sent.
const LASTING: i64 = 1_000_000_000;
/// Until that is clear, no more than so much, in ns, is taken for a wait: links stand still for
/// seconds, suspended machines for hours.
const STANDSTILL: i64 = 4_000_000_000;
/// So many times a clock has to move on before the least of its steps counts: a sender that gets no
/// ACK meanwhile does not show smaller ones.
const STEPS: u8 = 8;
/// No operating system's own ticks are longer (Windows has 64 in a second). Where timestamps are
/// farther apart, the sender has waited for ACKs.
const LONGEST: Span = Span::from_millis(16);

/// The clock of one sender beside that of the capture.
#[derive(Default)]
pub(super) struct SendClock {
    /// The first timestamp, and when it was seen.
    first: Option<(u32, Time)>,
    /// The least time, in ns, by which data came later than its timestamp, beyond that of the
    /// first, and how long after that one this was, in ns. A small packet has no part in it: it
    /// takes less time on its way.
    least: Option<[i64; 2]>,
    /// It has fitted for [`KNOWN`].
    known: bool,
    /// By how much the clock moves on at once, at the most, and how often it was seen to.
    step: Option<Span>,
    steps: u8,
    last: Last,
    jump: Option<Jump>,
    /// The last segment waited for so long in queues.
    queued: Span,
}

/// The last data: what its clock had counted since the first timestamp, and how late it was, in ns.
#[derive(Clone, Copy, Default)]
struct Last {
    counted: i64,
    late: i64,
}

/// Data came so much later at once, in ns, and this was then, in ns after the first timestamp.
#[derive(Clone, Copy)]
struct Jump {
    by: i64,
    at: i64,
}

/// How long a clock of milliseconds may have counted in this time, at the least and at the most.
#[inline]
pub(crate) fn milliseconds(passed: Span) -> [Span; 2] {
    let [few, many] = PERCENT.map(|part| Span(passed.0 / 100).times(part));
    [few, many + TICK]
}

impl SendClock {
    /// A SYN with this timestamp was seen. The first one counts, unless it is none: Windows sends 0
    /// with a SYN, and begins to count with data.
    pub fn begin(&mut self, tsval: u32, at: Time) {
        if tsval > 0 {
            self.first.get_or_insert((tsval, at));
        }
    }

    /// Data with this timestamp passes the capture. Returns when it was sent, plus the shortest way
    /// from the sender to the capture.
    #[inline]
    pub fn sent(&mut self, tsval: u32, at: Time) -> Time {
        let (first, since) = *self.first.get_or_insert((tsval, at));
        let counted = TICK.times(u64::from(Timestamps::ticks_since(first, tsval)));
        let passed = at.since(since);
        let [few, many] = milliseconds(passed);
        self.queued = Span::ZERO;
        if (self.known || counted >= few) && counted <= many {
            self.known |= counted >= KNOWN;
            self.fits(counted.0 as i64, passed.0 as i64);
        }
        Time(at.0 - self.queued.0)
    }

    /// Data passes `now` and has the timestamp `counted`, both in ns after the first timestamp.
    fn fits(&mut self, counted: i64, now: i64) {
        let late = now - counted;
        let drifted = |[least, then]: [i64; 2]| least + (now - then) / DRIFT as i64;
        let least = self.least.map_or(late, |least| drifted(least).min(late));
        if counted > self.last.counted {
            let step = Span((counted - self.last.counted) as u64);
            self.step = Some(self.step.map_or(step, |least| least.min(step)));
            self.steps = self.steps.saturating_add(1);
        }
        self.jumps(counted, now, late);
        self.last = Last { counted, late };
        // A jump that lasts is none of a queue.
        let lasting = self.jump.filter(|jump| now - jump.at >= LASTING + jump.by);
        let least = lasting.map_or(least, |jump| (least + jump.by).min(late));
        if lasting.is_some() {
            self.jump = None;
        }
        self.least = Some([least, now]);
        let suspended = self.jump.filter(|jump| jump.by > STANDSTILL).map_or(0, |jump| jump.by);
        let beyond = (late - least - suspended).max(0);
        self.queued = Span(beyond as u64) - self.unknown();
    }

    /// What it shows is cut by so much, at the most.
    pub fn unknown(&self) -> Span {
        // What such a clock shows is cut to a millisecond, and so is the step that is seen.
        let is_long =
            |step: &Span| self.steps >= STEPS && (TICK + Span(1)..=LONGEST).contains(step);
        self.step.filter(is_long).map_or(TICK, |step| step + TICK.times(2))
    }

    /// Whether data comes later at once, and whether what did is still as late. What was sent long
    /// after the segment before may meet a queue that others have filled.
    fn jumps(&mut self, counted: i64, now: i64, late: i64) {
        let [sent, later] = [counted - self.last.counted, late - self.last.late];
        if let Some(jump) = &mut self.jump {
            let since = self.least.map_or(0, |[least, _]| late - least);
            if since < jump.by / 4 * 3 {
                self.jump = None;
            }
        } else if self.least.is_some() && later >= SET.0 as i64 && sent <= later / 4 {
            self.jump = Some(Jump { by: later, at: now });
        }
    }

    /// It counts milliseconds, as far as is known.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// The last segment was sent earlier than by the shortest way.
    #[inline]
    pub fn is_queued(&self) -> bool {
        self.queued > Span::ZERO
    }
}

#[cfg(test)]
mod tests;
