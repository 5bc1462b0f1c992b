//! A queue that was full before the capture began, so that no full segment is ever seen to meet an
//! empty one.
//!
//! What is shorter tells how long the path takes: the FIN, which goes out when all has arrived. A
//! bottleneck is known to be busy by the round trip without a queue ([`Bottleneck`]), which is
//! known only then. So one that may be too long is assumed: half of the first round trip. Chosen:
//! where the path takes longer than that, the queue is shorter than the path, and nothing is said.

use ackclock_tcp::{Span, Time};

use super::rate::{Bottleneck, TRAIN, Trip, was_busy};
use crate::compact::Compact;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Begun {
    /// The last ACK, and what was delivered by then.
    last: Option<(Time, u64)>,
    /// The shortest round trip of less than a full segment.
    small: Compact<Span>,
    /// If a full segment takes no longer than this without a queue, the bottleneck was busy for
    /// `span`, and served so many bytes of all connections.
    least: Span,
    span: Span,
    bytes: u64,
}

impl Begun {
    /// An ACK has measured a round trip, and the bottleneck knows of it.
    pub fn measured(&mut self, trip: &Trip, bottleneck: &Bottleneck) {
        let small = self.small.get().is_none_or(|small| trip.span() < small);
        if trip.bytes < u64::from(bottleneck.mss()) && small {
            self.small = Some(trip.span()).into();
        }
        let Some(base) = bottleneck.base().trip() else { return };
        if self.least == Span::ZERO {
            self.least = Span(base.0 / 2);
        }
        let last = self.last.replace((trip.at, trip.all));
        if let Some((before, all)) = last.filter(|(at, _)| was_busy(*at, trip, self.least)) {
            self.span = self.span + trip.at.since(before);
            self.bytes += trip.all - all;
        }
    }

    /// At the end: if less than a full segment took much less than any full one did, these had all
    /// waited.
    pub fn tell(&self, bottleneck: &mut Bottleneck) {
        let Some((small, base)) = self.small.get().zip(bottleneck.base().trip()) else { return };
        let mss = u64::from(bottleneck.mss());
        if self.span < self.least || self.bytes < TRAIN * mss {
            return;
        }
        let rate = self.bytes as f64 * 8.0 / self.span.secs_f64();
        let full = small + Span::from_secs_f64(mss as f64 * 8.0 / rate);
        if full <= self.least && base > full + Span(full.0 / 4) {
            bottleneck.turns_out(full, rate);
        }
    }
}

#[cfg(test)]
mod tests;
