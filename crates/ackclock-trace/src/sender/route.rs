//! Is there a queue, or another route? Both make round trips longer.
//!
//! In a queue that never empties a segment waits for all that is outstanding before it, so that its
//! round trip grows with that (RFC 6297 section 2 lists senders that go by this). A route that is
//! longer takes as long with much or little outstanding, and the bottleneck, if its rate is known,
//! is not busy: less than that arrives.

use ackclock_tcp::{Span, Time};

use super::rate::{Base, Bottleneck, Trip};

/// Rounds that have to take as long before it is another route.
const ROUNDS: u8 = 4;

/// Two rounds take as long if they differ by this part of a round trip at the most.
const ALIKE: u64 = 64;

/// What is outstanding has to differ by this many times as large a part.
const APART: u64 = 4;

/// Segments by which what is outstanding differs anyway: ACKs are delayed, and come for several.
const UNSURE: u64 = 4;

/// What a round trip says of the route.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    /// Nothing.
    Same,
    /// It may be another one from now on.
    Perhaps,
    /// It has been another one since then, and was of this round trip before.
    Since(Base),
}

/// What round trips say, from the first on that is longer than those before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// When a segment was last acknowledged that had not waited, or that measured nothing.
    free: Time,
    /// The last ACK that measured something, and how long after it nothing is known any more.
    last: Time,
    knows: Span,
    /// The shortest of this round trip, and what was outstanding with that segment.
    least: Base,
    flight: u32,
    /// What goes out from then on belongs to the next one.
    end: Time,
    /// So many took as long, with so much outstanding at the least and at the most.
    rounds: u8,
    as_long: Span,
    outstanding: [u32; 2],
}

impl Route {
    /// At the first round trip that is longer than those before, whose ACK comes now.
    pub fn new(now: Time) -> Route {
        Route {
            free: now,
            last: now,
            knows: Span::ZERO,
            least: Base::default(),
            flight: 0,
            end: Time::ZERO,
            rounds: 0,
            as_long: Span::ZERO,
            outstanding: [0; 2],
        }
    }

    /// Whether all segments that were acknowledged in such a time until now have waited in a queue.
    pub fn is_queued(&self, at: Time, span: Span) -> bool {
        at.since(self.free) >= span && at.since(self.last) <= self.knows
    }

    /// An ACK has measured a round trip, and the bottleneck knows of it.
    pub fn measured(&mut self, trip: &Trip, bottleneck: &mut Bottleneck) -> Turn {
        if !bottleneck.is_queued(trip.span()) || trip.at.since(self.last) > self.knows {
            self.free = trip.at;
        }
        (self.last, self.knows) = (trip.at, trip.span());
        if self.least.trip().is_none_or(|least| trip.span() < least) {
            (self.least, self.flight) = (bottleneck.based_on(trip), trip.flight);
        }
        if trip.newest < self.end {
            return Turn::Same;
        }
        self.end = trip.at;
        let least = std::mem::take(&mut self.least);
        let took = least.trip().unwrap_or_default();
        let alike = Span(took.0 / ALIKE) + bottleneck.slack();
        let differs = took.max(self.as_long) - took.min(self.as_long);
        if self.rounds == 0 || differs > alike {
            (self.rounds, self.as_long, self.outstanding) = (1, took, [self.flight; 2]);
            return if bottleneck.is_queued(took) { Turn::Perhaps } else { Turn::Same };
        }
        self.rounds = self.rounds.saturating_add(1);
        let [few, many] = self.outstanding;
        self.outstanding = [few.min(self.flight), many.max(self.flight)];
        if self.is_longer(alike, bottleneck) && bottleneck.is_queued(took) {
            self.free = trip.at;
            return Turn::Since(bottleneck.takes(least));
        }
        Turn::Same
    }

    /// Round trips took as long, to within `alike`, with much and with little outstanding, and the
    /// bottleneck is known to carry a quarter more than arrived.
    fn is_longer(&self, alike: Span, bottleneck: &Bottleneck) -> bool {
        let [few, many] = self.outstanding.map(u64::from);
        let apart = (many - few).saturating_sub(UNSURE * u64::from(bottleneck.mss()));
        let longer = u128::from(self.as_long.0) * u128::from(apart);
        let moved = longer > u128::from(alike.0) * u128::from(APART) * u128::from(many);
        let rate = many as f64 * 8.0 / self.as_long.secs_f64();
        let more = bottleneck.bits_per_second().is_some_and(|known| rate * 1.25 < known);
        self.rounds >= ROUNDS && moved && more
    }
}
