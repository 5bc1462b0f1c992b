//! Silence that is none of loss recovery's: nothing is known of it, or nothing was outstanding.

use ackclock_tcp::{Span, Time};

use super::Limits;
use crate::lifetime::Limit;

impl Limits {
    /// Nothing is known of the time until then. It counts as a pause.
    pub fn unknown(&mut self, until: Time) {
        let span = until.since(self.now);
        self.now = self.now.max(until);
        self.found.add(Limit::Application, span);
        let waits = self.waits.get_or_insert_default();
        waits.unknown = waits.unknown + span;
    }

    /// Of how much time nothing is known.
    pub fn has_unknown(&self) -> Span {
        self.waits.as_ref().map_or(Span::ZERO, |waits| waits.unknown)
    }

    /// When a keep-alive last went out.
    pub fn alive(&self) -> Time {
        self.waits.as_ref().map_or(Time::ZERO, |waits| waits.silence.alive())
    }
}
