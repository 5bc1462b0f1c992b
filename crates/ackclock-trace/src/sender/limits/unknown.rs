//! Silence of which nothing is known, and when nothing was outstanding.

use ackclock_tcp::{Span, Time};

use super::Limits;
use crate::lifetime::Limit;

impl Limits {
    /// Nothing is known of the time until then. It counts as nothing.
    pub fn unknown(&mut self, until: Time) {
        let span = until.since(self.now);
        self.now = self.now.max(until);
        let waits = self.waits.get_or_insert_default();
        waits.unknown = waits.unknown + span;
    }

    /// Of how much time nothing is known.
    pub fn has_unknown(&self) -> Span {
        self.waits.as_ref().map_or(Span::ZERO, |waits| waits.unknown)
    }

    /// Nothing had been repaired for so long, as was thought ([`Limits::was_repairing`]).
    pub fn was_repairing_none(&mut self, span: Span) {
        let span = span.min(self.found.of(Limit::Recovery));
        self.found.take(Limit::Recovery, span);
        self.found.add(Limit::Application, span);
    }

    /// When a keep-alive last went out.
    pub fn alive(&self) -> Time {
        self.waits.as_ref().map_or(Time::ZERO, |waits| waits.silence.alive())
    }
}
