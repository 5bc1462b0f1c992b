//! The time of a connection. It stands still instead of going back, as the clock of a capture may:
//! the queues of a network card are not in order.

use ackclock_tcp::{Span, Time};

/// Clocks that are set and files put together in the wrong order go back by more than this; queues
/// and cores by less.
const BACK: Span = Span::from_millis(10);

pub(super) struct Clock {
    start: Time,
    last: Time,
    /// When the last packet was seen that was not followed by any that may be astray.
    sure: Time,
    /// The last packet's own time.
    stamp: Time,
    went_back: u32,
    /// Milliseconds for which the client had waited when an end closed the connection, and one
    /// more; 0 if none has.
    waited: u32,
    packets: u64,
}

/// When a packet was seen.
pub(super) struct Moment {
    pub at: Time,
    /// Since the packet before it that certainly belongs to the connection.
    pub silence: Span,
    /// The clock has not gone back, so that the time can be trusted.
    pub timed: bool,
}

impl Clock {
    pub fn new(start: Time) -> Clock {
        Clock { start, last: start, sure: start, stamp: start, went_back: 0, waited: 0, packets: 0 }
    }

    pub fn start(&self) -> Time {
        self.start
    }

    /// When the last packet was seen.
    pub fn last(&self) -> Time {
        self.last
    }

    /// An end closes the connection when the client has waited for so long. The first time counts.
    #[cold]
    pub fn gives_up(&mut self, waited: Span) {
        if self.waited == 0 {
            self.waited = u32::try_from(waited.0 / 1_000_000 + 1).unwrap_or(u32::MAX);
        }
    }

    /// For how long the client had waited when an end closed the connection; `None` if none has.
    pub fn waited(&self) -> Option<Span> {
        self.waited.checked_sub(1).map(|waited| Span::from_millis(waited.into()))
    }

    /// The first packet, the last one and the one before that have times of whole seconds: others
    /// have them once in a thousand million times, if they count milliseconds.
    pub fn has_whole_seconds(&self) -> bool {
        let Clock { start, sure, last, packets, .. } = *self;
        [start, sure, last].into_iter().all(is_whole_second) && packets >= 3
    }

    /// How often the clock of the capture has gone back by more than queues may explain.
    pub fn went_back(&self) -> u64 {
        self.went_back.into()
    }

    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// A packet that says nothing of the time.
    pub fn count(&mut self) {
        self.packets += 1;
    }

    /// So many packets that were counted belong elsewhere.
    pub fn forget(&mut self, packets: u64) {
        self.packets -= packets;
    }

    /// A packet with this time. `sure`: the one before it certainly belongs to the connection.
    #[inline]
    pub fn tick(&mut self, stamp: Time, sure: bool) -> Moment {
        self.packets += 1;
        if sure {
            self.sure = self.last;
        }
        let silence = stamp.since(self.sure);
        let at = self.last.max(stamp);
        self.last = at;
        self.went_back += u32::from(self.stamp.since(stamp) > BACK);
        self.stamp = stamp;
        Moment { at, silence, timed: at == stamp }
    }
}

/// A time without a fraction of a second.
pub(crate) fn is_whole_second(at: Time) -> bool {
    at.0.is_multiple_of(Span::from_secs(1).0)
}
