//! Long silences of all connections at once: has the clock of the capture been set ahead, or was
//! there a pause?
//!
//! Timestamps (RFC 7323) are made by the clocks of the ends. What those of both ends have not
//! counted of a silence has not passed: only the rest was a pause. If those of one have not moved,
//! it stood still, as a machine does that is suspended: its clock for timestamps stands still, too
//! (Linux's `jiffies`). Where they catch up soon after, it did not: a link had held back what it
//! sent before. Without timestamps, nothing tells.

use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::{Span, Time};

use crate::open::{DRIFT, SET, is_whole_second, milliseconds};
use crate::packet::Packet;
use crate::sender::TICK;

/// What is shorter may be a pause of both ends.
const LEAST: Span = Span::from_secs(1);

/// So many packets wait at most until those of both ends have come.
const MOST: usize = 64;

/// A connection was busy if its last packet passed in this part of the silence before it.
const BUSY: u64 = 8;

/// Where so many ticks have passed since the first packet, they say how long one takes.
const MANY: u32 = 50;

/// RFC 7323 section 5.4: a tick takes 1 ms to 1 s. Old BSDs have 500 ms, and there are finer ones.
const TICKS: [Span; 2] = [Span::from_millis(1), Span::from_secs(1)];

/// The longest tick in use today, for where nothing tells how long it is.
pub(crate) const USUAL: Span = Span::from_millis(100);

/// That of 4.4BSD.
const SLOW: Span = Span::from_millis(500);

/// What comes so much earlier than the first packet after a silence says that one of both is
/// astray.
const ASTRAY: Span = Span::from_millis(10);

/// A silence of all connections of a capture, and what timestamps say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// The first frame after it, counted from 1.
    pub frame: u64,
    /// When it began, by the time that is told: less what the clock had been set ahead by before.
    pub from: Time,
    /// How long it was by the clock of the capture, a second or more; if that was set ahead, by how
    /// much.
    pub by: Span,
    /// Who stood still meanwhile. `None` if the clock was set ahead: the times of all packets from
    /// here on count as so much earlier.
    pub stood_still: Option<IpAddr>,
}

/// What the timestamps of an end say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticks {
    /// This packet's.
    pub stamp: u32,
    /// By how many that is later than the last one.
    pub passed: u32,
    /// By how many that was later than the first one, and how long that took. `None` if too little
    /// passed in a capture that begins in the middle of the connection.
    pub since_first: Option<(u32, Span)>,
    /// When its connection was busy last.
    pub busy: Time,
}

impl Ticks {
    /// It counts milliseconds, as it did since the first one, or in the silence of this length.
    fn are_milliseconds(self, silence: Span) -> bool {
        self.since_known().into_iter().chain([(self.passed, silence)]).any(|(ticks, span)| {
            let [few, many] = milliseconds(span);
            (few..=many).contains(&TICK.times(ticks.into()))
        })
    }

    /// Nothing is known of its ticks, and so many as have passed fill the silence if they are slow
    /// ones.
    fn may_be_slow(self, silence: Span) -> bool {
        let counted = SLOW.times(self.passed.into());
        let off = counted.max(silence) - counted.min(silence);
        self.since_first.is_none() && self.passed >= MANY && off <= SLOW + Span(silence.0 / DRIFT)
    }

    /// What was counted since the first one, if that is enough to know the tick.
    fn since_known(self) -> Option<(u32, Span)> {
        self.since_first.filter(|(ticks, _)| *ticks >= MANY)
    }

    /// How long it has counted, at the least and at the most.
    fn counted(self) -> [Span; 2] {
        let [least, most] = TICKS;
        let known = self.since_known().map(|(ticks, span)| [Span(span.0 / u64::from(ticks)); 2]);
        let tick = known.unwrap_or_else(|| match self.since_first {
            // Part of a tick may have passed before the first one and after the last.
            Some((ticks @ 2.., span)) => [least, most.min(Span(span.0 / u64::from(ticks - 1)))],
            None => [least, USUAL],
            Some(_) => TICKS,
        });
        tick.map(|tick| tick.times(self.passed.into()))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Jumps {
    /// By how much the clock was set ahead so far.
    ahead: Span,
    /// What has come since a silence of which nothing is known so far.
    waiting: Vec<Packet>,
    /// When that silence began.
    from: Time,
    /// The timestamps of this end have not moved meanwhile.
    still: Option<Still>,
    found: Vec<Jump>,
    /// When the last one ended, if the host that stood still may catch up.
    watched: Option<Time>,
}

/// An end whose timestamps have not moved in a silence.
#[derive(Clone, Copy, Debug)]
struct Still {
    /// It, and the other end.
    ends: [SocketAddr; 2],
    /// Of a packet after the silence, beside the last one before.
    ticks: Ticks,
    /// When the silence began.
    from: Time,
    /// What its clock has not counted.
    uncounted: Span,
}

impl Still {
    fn host(&self) -> IpAddr {
        self.ends[0].ip()
    }

    /// What a later packet of the same end says beside the last one before the silence: what was
    /// held back comes one after the other, in small steps.
    fn since(&self, ticks: Ticks) -> Ticks {
        let passed = ticks.stamp.wrapping_sub(self.ticks.stamp).wrapping_add(self.ticks.passed);
        Ticks { passed, ..self.ticks }
    }
}

/// So long after a silence, in parts of it, its host may catch up: its clock can move on by half of
/// the silence in no other way.
const CATCHES_UP: u64 = 4;

impl Jumps {
    /// Whether there is something to be done about a packet of this time, if the last one came at
    /// `before`.
    #[inline]
    pub fn concern(&self, at: Time, before: Time) -> bool {
        self.ahead > Span::ZERO
            || !self.waiting.is_empty()
            || self.watched.is_some()
            || is_long(at, before)
    }

    /// A host that stood still may catch up.
    pub fn watches(&self) -> bool {
        self.watched.is_some()
    }

    /// Takes a packet that does not wait, to find that its host did not stand still. `ticks` as in
    /// [`Jumps::put`].
    pub fn watch(&mut self, p: &Packet, ticks: Option<Ticks>) {
        let (Some(ended), Some(jump)) = (self.watched, self.found.last()) else { return };
        if p.at.since(ended) > Span(jump.by.0 / CATCHES_UP) {
            self.watched = None;
        } else if jump.stood_still == Some(p.src.ip()) {
            let same = self.still.filter(|still| still.ends == [p.src, p.dst]);
            let moved = ticks.and_then(|ticks| match same {
                Some(still) => moved(still.since(ticks), jump.by, still.from),
                None => moved(ticks, jump.by, p.at),
            });
            if moved == Some(true) {
                self.watched = None;
                self.found.pop();
            }
        }
    }

    /// Whether a packet of this time ends a silence, or comes while it is not known what that was.
    pub fn wait(&self, at: Time, before: Time) -> bool {
        !self.waiting.is_empty() || is_long(at, before)
    }

    /// The same time without what the clock was set ahead by.
    pub fn time(&self, at: Time) -> Time {
        Time(at.0.saturating_sub(self.ahead.0))
    }

    /// What is found so far.
    pub fn found(&self) -> &[Jump] {
        &self.found
    }

    /// Forgets all of it but the last one, of which more may be learned.
    pub fn forget(&mut self) {
        self.found.drain(..self.found.len().saturating_sub(1));
    }

    /// Takes a packet that has to wait; `before` is when the last one came that did not. `ticks`:
    /// what its timestamp says. Returns what is decided of all that waits.
    pub fn put(&mut self, p: &Packet, before: Time, ticks: Option<Ticks>) -> Option<Decided> {
        if self.waiting.is_empty() {
            (self.from, self.still) = (before, None);
        }
        self.waiting.push(*p);
        let first = *self.waiting.first()?;
        if first.at.since(p.at) > ASTRAY {
            return Some(Decided::Pause);
        }
        // Of times of whole seconds, no more than that was cut off.
        if is_whole_second(first.at) && is_whole_second(self.from) {
            return Some(Decided::Pause);
        }
        let by = first.at.since(self.from);
        let this = ticks.and_then(|ticks| {
            let uncounted = uncounted(ticks, p.at, by, self.from)?;
            Some(Still { ends: [p.src, p.dst], ticks, from: self.from, uncounted })
        });
        let other = self.still.filter(|still| still.host() != p.src.ip());
        let Some(this) = this else {
            // What tells comes first, or not at all: a connection that was busy goes on.
            return if self.still.is_none() { Some(Decided::Pause) } else { self.over(p.at) };
        };
        if this.uncounted > Span::ZERO && other.is_none() {
            self.still = Some(this);
            return self.over(p.at);
        }
        let (frame, from) = (first.frame, self.from);
        let [less, more] = match other {
            Some(other) if other.uncounted > this.uncounted => [this, other],
            other => [other.unwrap_or(this), this],
        };
        // Both say the same, but for what waited in queues: a host that stood still and a queue do
        // not.
        if less.uncounted > Span::ZERO && less.uncounted.times(2) >= more.uncounted {
            let by = less.uncounted.min(by);
            self.found.push(Jump { frame, from, by, stood_still: None });
            self.ahead = self.ahead + by;
            self.waiting.iter_mut().for_each(|p| p.at = Time(p.at.0.saturating_sub(by.0)));
            return Some(Decided::Step);
        }
        if more.uncounted.times(2) > by {
            (self.still, self.watched) = (Some(more), Some(first.at));
            self.found.push(Jump { frame, from, by, stood_still: Some(more.host()) });
        }
        Some(Decided::Pause)
    }

    /// Nothing more will tell, if it is `now`.
    pub fn over(&self, now: Time) -> Option<Decided> {
        let first = self.waiting.first()?;
        let late = self.waiting.len() >= MOST || is_long(now, first.at);
        late.then_some(Decided::Pause)
    }

    /// What waits, to be let go.
    pub fn take(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.waiting)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decided {
    /// Time has passed, or nothing says otherwise.
    Pause,
    /// The clock was set ahead.
    Step,
}

fn is_long(at: Time, before: Time) -> bool {
    before > Time::ZERO && at.since(before) >= LEAST
}

/// How much of a silence of this length, which began at `from`, the clock of an end has not
/// counted, as a packet says that comes `at` this time. One of milliseconds says it to a
/// millisecond, others only whether it has moved. `None` if that is not sure.
fn uncounted(ticks: Ticks, at: Time, by: Span, from: Time) -> Option<Span> {
    let since = at.since(ticks.busy);
    if ticks.are_milliseconds(since) {
        let uncounted = since - TICK.times(ticks.passed.into());
        let is_set = uncounted >= SET + Span(since.0 / DRIFT);
        return Some(if is_set { uncounted } else { Span::ZERO });
    }
    if ticks.may_be_slow(since) {
        return Some(Span::ZERO);
    }
    let [at_least, _] = ticks.counted();
    Some(if moved(ticks, by, from)? { Span::ZERO } else { by - at_least })
}

/// Whether the clock of an end has moved in a silence of this length, which began at this time.
/// `None` if that is not sure, whatever its ticks are.
fn moved(ticks: Ticks, by: Span, from: Time) -> Option<bool> {
    let busy = ticks.busy;
    let half = Span(by.0 / 2);
    let [at_least, at_most] = ticks.counted();
    match () {
        () if from.since(busy).times(BUSY) > by => None,
        () if at_most < half => Some(false),
        () if at_least >= half => Some(true),
        () => None,
    }
}
