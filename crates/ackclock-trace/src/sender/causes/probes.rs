//! Tail loss probes (RFC 8985 section 7): the one in flight, and those that may have been timeouts.
//!
//! A single segment that goes out again after silence may be either. If the timer expires again
//! after the same time, it was a probe; after twice the time, it was a timeout, since a timer that
//! has expired doubles. If nothing follows, it was what this sender is seen to do elsewhere.

use ackclock_tcp::{Span, Time};

use crate::connection::Timeout;
use crate::sender::input::Sent;
use crate::sender::stream::timers::{TICKS, Timers, nearly};

/// A probe in flight.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// It is answered when this position is acknowledged.
    end: u64,
    at: Time,
}

/// A probe that may have been a timeout.
#[derive(Debug)]
pub(crate) struct Ambiguous {
    /// What is to be said if it was one.
    pub timeout: Timeout,
    /// How long the sender was idle before it.
    pub waited: Span,
    pub rto: Span,
}

#[derive(Debug, Default)]
pub(crate) struct Probes {
    in_flight: Option<Probe>,
    ambiguous: Vec<Ambiguous>,
    /// Probes that can have been nothing else.
    certain: u32,
    /// Timeouts that a probe would have come before.
    missing: u32,
    of_new_data: u64,
}

/// What a segment of new data meets that goes out after silence.
pub(crate) struct Silence {
    /// Time without progress and new data, and without ACKs.
    pub idle: Span,
    pub since_ack: Span,
    /// A single segment is outstanding.
    pub single: bool,
    /// The window was full, so that something held the segment back.
    pub held_back: bool,
}

impl Probes {
    /// No probe waits for its answer.
    pub fn is_idle(&self) -> bool {
        self.in_flight.is_none()
    }

    /// When the probe in flight was sent.
    pub fn sent_at(&self) -> Option<Time> {
        self.in_flight.map(|probe| probe.at)
    }

    /// Probes that carried new data.
    pub fn of_new_data(&self) -> u64 {
        self.of_new_data
    }

    /// A probe goes out that ends at position `end`; `doubt` if it may also be a timeout.
    pub fn sent(&mut self, at: Time, end: u64, doubt: Option<Ambiguous>) {
        self.in_flight = Some(Probe { end, at });
        match doubt {
            Some(ambiguous) => self.ambiguous.push(ambiguous),
            None => self.certain += 1,
        }
    }

    /// New data goes out after silence. It is a probe if the sender has waited for about as long as
    /// a probe does, and nothing else let it send.
    pub fn new_data(&mut self, sent: &Sent, silence: &Silence, timers: &Timers) {
        let pto = timers.pto(silence.single);
        let in_time = silence.idle >= nearly(pto) && silence.idle.0 <= pto.0 / 10 * 11 + TICKS.0;
        if self.is_idle() && in_time && silence.held_back && silence.since_ack >= nearly(pto) {
            self.of_new_data += 1;
            self.in_flight = Some(Probe { end: sent.end(), at: sent.at });
        }
    }

    /// A probe is answered when all is acknowledged that was outstanding with it.
    pub fn acked(&mut self, ack: u64) {
        self.in_flight.take_if(|probe| ack >= probe.end);
    }

    /// A recovery or a timeout takes over from the probe in flight.
    pub fn forget(&mut self) {
        self.in_flight = None;
    }

    /// The timer expired where a probe would have come first.
    pub fn was_missing(&mut self) {
        self.missing += 1;
    }

    /// The retransmission that may have been a timeout, as an index, if one is still in doubt.
    pub fn in_doubt(&self) -> Option<usize> {
        self.ambiguous.last().map(|a| a.timeout.retransmission)
    }

    /// At `at` the timer sends a segment again that was sent at `before` by what may have been a
    /// probe. If that was a timeout, it is returned. `first_expiry`: no timeout was seen since the
    /// last progress.
    pub fn resolve(&mut self, at: Time, before: Time, first_expiry: bool) -> Option<Ambiguous> {
        let last = self.ambiguous.pop()?;
        let waited = at.since(before);
        let doubled = waited.0.abs_diff(last.waited.0 * 2) < waited.0.abs_diff(last.rto.0);
        if first_expiry && doubled {
            self.missing += 1;
            Some(last)
        } else {
            self.certain += 1;
            None
        }
    }

    /// At the end: those that were timeouts, the last one first, if this sender was seen to send no
    /// probes.
    pub fn settle(&mut self) -> impl Iterator<Item = Ambiguous> + use<> {
        let all = std::mem::take(&mut self.ambiguous);
        let without = self.certain == 0 && self.missing > 0;
        all.into_iter().rev().filter(move |_| without)
    }
}
