//! When the stream last moved: new data out, an ACK in, the first unacknowledged byte acknowledged.

use ackclock_tcp::{Span, Time};

#[derive(Debug, Default)]
pub(crate) struct Moments {
    /// When `una` last advanced, or, if nothing was outstanding, when the first segment went out.
    progress: Time,
    /// When new data last went out.
    new_data: Time,
    ack: Time,
    /// Between the last two ACKs.
    ack_gap: Span,
}

impl Moments {
    #[inline]
    pub fn progressed(&mut self, at: Time) {
        self.progress = at;
    }

    #[inline]
    pub fn new_data(&mut self, at: Time) {
        self.new_data = at;
    }

    #[inline]
    pub fn acked(&mut self, at: Time) {
        self.ack_gap = at.since(self.ack);
        self.ack = at;
    }

    pub fn progress(&self) -> Time {
        self.progress
    }

    pub fn last_ack(&self) -> Time {
        self.ack
    }

    pub fn ack_gap(&self) -> Span {
        self.ack_gap
    }

    #[inline]
    pub fn since_progress(&self, at: Time) -> Span {
        at.since(self.progress)
    }

    pub fn since_new_data(&self, at: Time) -> Span {
        at.since(self.new_data)
    }

    #[inline]
    pub fn since_ack(&self, at: Time) -> Span {
        at.since(self.ack)
    }

    /// Time without progress and without new data.
    pub fn idle(&self, at: Time) -> Span {
        at.since(self.progress.max(self.new_data))
    }

    /// Time without an ACK and without new data.
    #[inline]
    pub fn silence(&self, at: Time) -> Span {
        at.since(self.ack.max(self.new_data))
    }
}
