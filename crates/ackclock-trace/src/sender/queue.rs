//! A queue that never empties keeps the bottleneck busy, whatever fills it: this sender, or others
//! that the capture does not show. On a longer route nothing does.

use std::collections::BTreeMap;

use ackclock_tcp::{Span, Time};

use super::cells::{Cells, level, segments};
use super::rate::{Base, Bottleneck, Trip};
use super::route::{Route, Turn};
use crate::lifetime::{Lifetime, Limit};

/// Routes that are remembered.
const MOST: usize = 16;

/// Segments outstanding, at the least, that a queue is told by: delayed ACKs make single ones late.
const LEAST: u64 = 8;

/// Time by what was outstanding on the path.
pub(crate) trait Times: Default {
    /// The time with so much outstanding: in segments for [`Cells`], which put close numbers
    /// together, or in bytes.
    fn with(&mut self, outstanding: u64) -> &mut Span;

    /// Moves all of it there.
    fn empty_into(&mut self, to: &mut Self);

    /// All of it, which is taken.
    fn take_all(&mut self) -> Span;

    /// All of it, by bytes outstanding in segments of this size.
    fn by_bytes(&self, mss: u32) -> impl Iterator<Item = (u64, Span)>;
}

/// Time for which cwnd or the path was full, over one route and the next; from the first round trip
/// on that is longer than those before.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    route: Route,
    /// The path was full: there was a queue.
    queued: Span,
    /// The same since the route may have changed.
    lately: T,
    /// Cwnd or the path was full before the route may have changed.
    before: T,
    /// The same of the routes before, each with its shortest round trip.
    past: Vec<(Base, T)>,
}

impl<T: Times> Queue<T> {
    /// An ACK has measured a round trip, and the bottleneck knows of it. `full`: time for which
    /// cwnd or the path was full. Returns the shortest round trip of the route before, if the route
    /// has become longer.
    #[inline]
    pub fn measured(
        queue: &mut Option<Box<Queue<T>>>,
        trip: &Trip,
        bottleneck: &mut Bottleneck,
        full: &mut T,
    ) -> Option<Base> {
        if let Some(queue) = queue {
            return queue.hear(trip, bottleneck, full);
        }
        if bottleneck.is_queued(trip.span()) {
            *queue = Some(Box::new(Queue {
                route: Route::new(trip.at),
                queued: Span::ZERO,
                lately: T::default(),
                before: T::default(),
                past: Vec::new(),
            }));
        }
        None
    }

    fn hear(&mut self, trip: &Trip, bottleneck: &mut Bottleneck, full: &mut T) -> Option<Base> {
        match self.route.measured(trip, bottleneck) {
            Turn::Same => {}
            Turn::Perhaps => {
                self.queued = self.queued + self.lately.take_all();
                full.empty_into(&mut self.before);
            }
            Turn::Since(base) => {
                self.lately.empty_into(full);
                if self.past.len() < MOST {
                    self.past.push((base, std::mem::take(&mut self.before)));
                }
                return Some(base);
            }
        }
        None
    }

    /// Whether until now there was a queue for so long, with so many segments outstanding.
    pub fn was_there(&self, at: Time, span: Span, segments: u64) -> bool {
        segments >= LEAST && self.route.is_queued(at, span)
    }

    /// The time for which the path was full with so much outstanding ([`Times::with`]), to be
    /// changed.
    pub fn full_with(&mut self, outstanding: u64) -> &mut Span {
        self.lately.with(outstanding)
    }

    /// What filled cwnd or the path before the route may have changed goes there. Takes what did
    /// over routes before, whose round trips stay.
    pub fn take_past(&mut self, full: &mut T) -> Vec<(Base, T)> {
        self.before.empty_into(full);
        self.past.iter_mut().map(|(base, full)| (*base, std::mem::take(full))).collect()
    }

    /// The route has become longer.
    pub fn has_moved(&self) -> bool {
        !self.past.is_empty()
    }

    /// At the end: how long there was a queue, and what filled cwnd or the path over routes before.
    fn settle(mut self, full: &mut T) -> (Span, Vec<(Base, T)>) {
        self.before.empty_into(full);
        (self.queued + self.lately.take_all(), self.past)
    }
}

/// At the end: adds the time for which cwnd or the path was `full`. A path that `holds` so many
/// bytes over the route of a shortest round trip, in the end of this one, was full with as many
/// outstanding.
pub(crate) fn settle_full<T: Times>(
    found: &mut Lifetime,
    mut full: T,
    queue: Option<Box<Queue<T>>>,
    mss: u32,
    base: Base,
    holds: impl Fn(Base) -> Option<f64>,
) {
    let (queued, past) = queue.map(|queue| queue.settle(&mut full)).unwrap_or_default();
    found.add(Limit::Path, queued);
    found.add_full(queued);
    settle_routes(found, past.into_iter().chain([(base, full)]), mss, holds);
}

/// The same, over several routes, each with its shortest round trip.
pub(crate) fn settle_routes<T: Times>(
    found: &mut Lifetime,
    routes: impl IntoIterator<Item = (Base, T)>,
    mss: u32,
    holds: impl Fn(Base) -> Option<f64>,
) {
    for (base, full) in routes {
        let holds = holds(base);
        for (outstanding, span) in full.by_bytes(mss) {
            let limit = found.note_filled(filled(outstanding, holds), span);
            found.add(limit, span);
        }
    }
}

/// At the end: adds the time in which segments left at an even pace, which had this limit unless
/// they filled the path, if it is known what that `holds`.
pub(crate) fn settle_paced<T: Times>(
    found: &mut Lifetime,
    paced: &T,
    limit: Limit,
    mss: u32,
    holds: Option<f64>,
) {
    for (outstanding, span) in paced.by_bytes(mss) {
        if filled(outstanding, holds) >= 1.0 {
            found.add(Limit::Path, span);
            found.add_full(span);
        } else {
            found.add(limit, span);
        }
    }
}

/// At the end: of the time that the receiver's window limited, how long there was as much
/// outstanding as fills the path, if it is known what that `holds`.
pub(super) fn settle_filled<T: Times>(
    found: &mut Lifetime,
    by_window: &T,
    mss: u32,
    holds: Option<f64>,
) {
    let full = by_window.by_bytes(mss).filter(|(bytes, _)| filled(*bytes, holds) >= 1.0);
    full.for_each(|(_, span)| found.add_filled(span));
}

/// The part of the path that so many bytes fill.
fn filled(outstanding: u64, holds: Option<f64>) -> f64 {
    holds.map_or(0.0, |holds| outstanding as f64 / holds)
}

impl Times for Cells<Span> {
    fn with(&mut self, segments: u64) -> &mut Span {
        self.at(level(segments))
    }

    fn empty_into(&mut self, to: &mut Self) {
        Cells::empty_into(self, to);
    }

    fn take_all(&mut self) -> Span {
        std::mem::take(self).iter().fold(Span::ZERO, |sum, (_, span)| sum + span)
    }

    fn by_bytes(&self, mss: u32) -> impl Iterator<Item = (u64, Span)> {
        self.iter().map(move |(level, span)| (segments(level) * u64::from(mss), span))
    }
}

impl Times for BTreeMap<u64, Span> {
    fn with(&mut self, bytes: u64) -> &mut Span {
        self.entry(bytes).or_default()
    }

    fn empty_into(&mut self, to: &mut Self) {
        for (bytes, span) in std::mem::take(self) {
            let sum = to.entry(bytes).or_default();
            *sum = *sum + span;
        }
    }

    fn take_all(&mut self) -> Span {
        std::mem::take(self).into_values().fold(Span::ZERO, |sum, span| sum + span)
    }

    fn by_bytes(&self, _: u32) -> impl Iterator<Item = (u64, Span)> {
        self.iter().map(|(bytes, span)| (*bytes, *span))
    }
}
