//! When the stream last moved: new data out, an ACK in, the first unacknowledged byte acknowledged.

use ackclock_tcp::{Span, Time};

/// What an ACK lets go follows it within microseconds, on a busy host within this time.
pub(crate) const HOST_BUSY: Span = Span::from_millis(1);

/// And within this time on a host that has nothing else to do.
pub(crate) const HOST_IDLE: Span = Span::from_micros(100);

#[derive(Debug, Default)]
pub(crate) struct Moments {
    /// When `una` last advanced, or, if nothing was outstanding, when the first segment went out.
    progress: Time,
    /// When new data last went out.
    new_data: Time,
    ack: Time,
    /// Between the last two ACKs.
    ack_gap: Span,
    /// [`Moments::lag`] in nanoseconds.
    lag: u32,
    /// New data last followed an ACK at once.
    at_once: bool,
}

impl Moments {
    #[inline]
    pub fn progressed(&mut self, at: Time) {
        self.progress = at;
    }

    #[inline]
    pub fn new_data(&mut self, at: Time) {
        self.at_once = self.on_ack(at) && self.ack > Time::ZERO;
        self.new_data = at;
    }

    /// The capture is at the sender: what an ACK lets go passes it so much later at the least. A
    /// mirrored port is a little way off.
    pub fn lags(&mut self, lag: Span) {
        self.lag = u32::try_from(lag.0).unwrap_or(u32::MAX);
    }

    /// By how much an ACK was at the sender later.
    #[inline]
    pub fn lag(&self) -> Span {
        Span(self.lag.into())
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

    pub fn newest(&self) -> Time {
        self.new_data
    }

    pub fn since_new_data(&self, at: Time) -> Span {
        at.since(self.new_data)
    }

    /// Since the last ACK was at the sender.
    #[inline]
    pub fn since_ack(&self, at: Time) -> Span {
        at.since(self.ack + self.lag())
    }

    /// What goes out now follows the last ACK.
    #[inline]
    pub fn on_ack(&self, at: Time) -> bool {
        self.since_ack(at) <= HOST_BUSY
    }

    /// New data last followed an ACK at once: nothing paced it.
    pub fn was_on_ack(&self) -> bool {
        self.at_once
    }

    /// What goes out now follows new data, so that it was given with that.
    #[inline]
    pub fn behind_data(&self, at: Time) -> bool {
        self.since_new_data(at) <= HOST_BUSY
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
