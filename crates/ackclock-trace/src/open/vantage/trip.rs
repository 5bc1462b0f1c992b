//! Round trips from the capture to one end and back.

use ackclock_tcp::{Span, Time, Timestamps};

use crate::compact::Compact;

/// Whoever waits for longer has not been answered, or not at once: timers send data and SYNs again
/// before (3 s in RFC 1122 section 4.2.3.1, 1 s in RFC 6298 section 2).
pub(super) const LONGEST: Span = Span::from_secs(3);

/// No timer sends a SYN again sooner (RFC 6298 section 2.1), but for its ticks.
const SYN_AGAIN: Span = Span::from_millis(900);

/// Measures round trips from the capture to one end and back, by what passes on the way there and
/// is answered: one at a time.
#[derive(Default)]
pub(super) struct Trip {
    /// The least so far.
    pub least: Compact<Span>,
    /// A position that waits to be acknowledged, and since when.
    data: Compact<u64>,
    pub data_at: Time,
    /// By so much later the last one passed, in microseconds.
    pub newest: u32,
    /// A timestamp that waits to be echoed, and since when.
    timestamp: u32,
    timestamp_at: Compact<Time>,
    /// The last timestamp that passed.
    pub last: Option<u32>,
}

impl Trip {
    /// The same way, with nothing under way.
    pub fn rest(&self) -> Trip {
        Trip { least: self.least, ..Trip::default() }
    }

    /// Something passes that will be acknowledged by `end`.
    #[inline]
    pub fn sent(&mut self, end: u64, at: Time) {
        if self.data.get().is_none() {
            self.data.set(end);
            self.data_at = at;
        }
        self.newest = u32::try_from(at.since(self.data_at).0 / 1000).unwrap_or(u32::MAX);
    }

    /// Something passes again, or at a time that is not known: what will be acknowledged measures
    /// nothing.
    pub fn retransmitted(&mut self) {
        self.data = Compact::default();
    }

    /// What waits for an answer measures nothing.
    pub fn answers_nothing(&mut self) {
        self.retransmitted();
        self.timestamp_at = Compact::default();
    }

    /// A SYN passes. If it is not the first one, the answer will be to this one, as timers of SYNs
    /// are longer than round trips; unless its timestamp says otherwise. Behind a SYN that has
    /// come again a SYN/ACK goes sooner: which one will be answered is not known.
    pub fn syn(&mut self, at: Time) {
        let by_timer = at.since(self.data_at) >= SYN_AGAIN;
        let alone = self.data_at == Time::ZERO || by_timer;
        self.data = Compact::from(alone.then_some(0));
        (self.data_at, self.newest) = (at, 0);
    }

    /// An acknowledgment passes, of `all` that has passed before or not. Returns what it measures.
    /// A receiver may wait for a second segment (RFC 5681 section 4.2), and with offloads for many:
    /// then the last one has drawn it out, not the first.
    #[inline]
    pub fn acked(&mut self, ack: u64, all: bool, at: Time) -> Option<Span> {
        let answered = self.data.get().is_some_and(|end| ack >= end);
        answered.then(|| {
            self.data = Compact::default();
            let later = if all { self.newest } else { 0 };
            at.since(self.data_at) - Span::from_micros(later.into())
        })
    }

    /// A timestamp passes. Only where it is new is it known since when it waits for its echo.
    #[inline]
    pub fn stamped(&mut self, val: u32, at: Time) {
        if self.last != Some(val) {
            if self.timestamp_at.get().is_none()
                && self.last.is_none_or(|last| Timestamps::is_older(last, val))
            {
                self.timestamp = val;
                self.timestamp_at.set(at);
            }
            self.last = Some(val);
        }
    }

    /// An echo passes. Returns what it measures. A timer may have sent what goes out `again`: its
    /// echo measures nothing.
    #[inline]
    pub fn echoed(&mut self, ecr: u32, at: Time, again: bool) -> Option<Span> {
        // The answer to a SYN before the last one.
        if self.data.get() == Some(0) && self.last.is_some_and(|last| last != ecr) {
            self.data = Compact::default();
        }
        if let Some(since) = self.timestamp_at.get()
            && !Timestamps::is_older(ecr, self.timestamp)
        {
            self.timestamp_at = Compact::default();
            return (ecr == self.timestamp && !again).then(|| at.since(since));
        }
        None
    }

    /// Returns whether it is the shortest so far.
    #[inline]
    pub fn sample(&mut self, trip: Span) -> bool {
        let shorter = trip < self.least.get().unwrap_or(LONGEST);
        if shorter {
            self.least.set(trip);
        }
        shorter
    }
}
