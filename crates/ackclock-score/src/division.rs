//! What limited a simulated sender, as the simulator knows it: it sees the windows, what the
//! application has written, and how much the path holds.

use std::collections::HashMap;

use ackclock_net::scenario::Scenario;
use ackclock_tcp::{Event, EventKind, Time};
use ackclock_trace::{Lifetime, Limit};

use crate::places::PLACES;

/// Bytes of headers beside the payload, with timestamps.
const HEADERS: u64 = 52;

/// What the path holds without a queue, in bytes of payload: the rate of its slowest link times the
/// shortest round trip of a full segment.
pub(crate) fn capacity(scenario: &Scenario, mss: u32) -> u64 {
    let (mss, full) = (u64::from(mss), u64::from(mss) + HEADERS);
    let rate = scenario.links.iter().map(|link| link.rate.0).min().unwrap_or(1).max(1);
    let trip: u64 = scenario
        .links
        .iter()
        .map(|link| {
            let both = (full + HEADERS) * 8 * 1_000_000_000 / link.rate.0.max(1);
            2 * link.delay.0.nanos() + both
        })
        .sum();
    (u128::from(trip) * u128::from(rate) / 8_000_000_000 * u128::from(mss) / u128::from(full))
        as u64
}

/// One sender, its time divided so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Division {
    start: Option<Time>,
    now: Time,
    established: bool,
    found: Lifetime,
    /// As it was when a packet left, by its number.
    left: HashMap<u32, Lifetime>,
    /// At each of [`PLACES`], as it was at the sender when the first packet that came there left,
    /// and at the last one that came there and here.
    seen: [Option<(Lifetime, Lifetime)>; PLACES.len()],
    /// As it was at the last event of the sender itself.
    before: (Time, Lifetime),
    mss: u64,
    written: u64,
    /// Where the FIN is: the last write, of a byte, which no application here writes.
    fin: Option<u64>,
    max: u64,
    una: u64,
    cwnd: u64,
    edge: Option<u64>,
    /// A tail loss probe up to here is not acknowledged.
    probe: u64,
}

impl Division {
    pub fn new(mss: u32) -> Division {
        Division { mss: u64::from(mss), ..Division::default() }
    }

    /// Bytes outstanding.
    pub fn flight(&self) -> u64 {
        self.max.saturating_sub(self.una)
    }

    /// A packet of the connection passes its sender, after [`Division::elapse`]. `leaves`: its
    /// number, if it is the sender's. What comes from the receiver has come to all places.
    pub fn passes(&mut self, at: Time, leaves: Option<u32>) {
        if self.start.is_none() {
            (self.start, self.now, self.before.0) = (Some(at), at, at);
        }
        match leaves {
            Some(number) => _ = self.left.insert(number, self.found),
            None => self.seen.iter_mut().flatten().for_each(|(_, last)| *last = self.found),
        }
    }

    /// A packet of the sender comes to this one of [`PLACES`].
    pub fn comes(&mut self, place: usize, number: u32) {
        let Some(left) = self.left.get(&number) else { return };
        let (_, last) = self.seen[place].get_or_insert((*left, *left));
        if left.whole() > last.whole() {
            *last = *left;
        }
    }

    /// The handshake is over.
    pub fn established(&mut self) {
        self.established = true;
    }

    /// Time goes on; `full`: what all flows have outstanding fills the path, `repairing`: this one
    /// repairs losses.
    pub fn elapse(&mut self, at: Time, full: bool, repairing: bool) {
        if self.start.is_some() {
            let span = at.since(self.now);
            self.now = self.now.max(at);
            self.found.add(self.limit(full, repairing), span);
        }
    }

    fn limit(&self, full: bool, repairing: bool) -> Limit {
        let unsent = self.written.saturating_sub(self.max);
        let next = unsent.min(self.mss);
        let closed = self.edge.is_some_and(|edge| self.max + next > edge);
        let held = if full { Limit::Path } else { Limit::CongestionWindow };
        match () {
            () if !self.established => Limit::Handshake,
            () if self.flight() == 0 && unsent == 0 => Limit::Application,
            () if self.flight() == 0 && closed => Limit::ReceiveWindow,
            () if repairing || self.una < self.probe => self.repaired(),
            () if unsent == 0 => Limit::Path,
            () if self.flight() + next > self.cwnd => held,
            () if closed => Limit::ReceiveWindow,
            // It is paced. If the path is not full, the smaller window limits it in the end.
            () if !full && self.edge.is_some_and(|edge| edge < self.una + self.cwnd) => {
                Limit::ReceiveWindow
            }
            () => held,
        }
    }

    /// What a loss limits: nothing where only the FIN is outstanding, behind all data.
    fn repaired(&self) -> Limit {
        if self.fin == Some(self.una) { Limit::Application } else { Limit::Recovery }
    }

    /// An event of the sender itself, after [`Division::elapse`].
    pub fn event(&mut self, event: &Event) {
        match event.kind {
            EventKind::Written { seq, len } => {
                self.written = self.written.max(seq + len);
                self.fin = (len == 1).then_some(seq);
            }
            EventKind::Sent { seq, len, cause, transmission, .. } => {
                if cause == ackclock_tcp::Cause::TailLossProbe {
                    self.waited(event.at);
                    if transmission > 1 {
                        self.probe = seq + u64::from(len);
                    }
                }
                self.max = self.max.max(seq + u64::from(len));
            }
            EventKind::Acked { window_edge, .. } => self.edge = self.edge.max(Some(window_edge)),
            EventKind::TimedOut { .. } => self.waited(event.at),
            EventKind::Arrived { .. }
            | EventKind::Dropped { .. }
            | EventKind::AckDropped { .. } => return,
            _ => {}
        }
        (self.una, self.cwnd) = (event.snd_una, event.cwnd);
        if !matches!(event.kind, EventKind::Written { .. }) {
            self.before = (event.at, self.found);
        }
    }

    /// A timer has expired: the time since the last event was lost by it.
    fn waited(&mut self, at: Time) {
        if self.established {
            let (last, found) = self.before;
            self.found = found;
            self.found.add(self.repaired(), at.since(last));
            self.before = (at, self.found);
        }
    }

    /// What of it a capture at this one of [`PLACES`] has: from the first packet that came there to
    /// the last one. `None` if none came.
    pub fn lifetime(&self, place: usize) -> Option<Lifetime> {
        let (first, last) = self.seen[place]?;
        let mut lifetime = Lifetime::default();
        for limit in Limit::ALL {
            lifetime.add(limit, last.of(limit) - first.of(limit));
        }
        Some(lifetime)
    }
}
