//! What limited a candidate: it knows what a capture does not show, cwnd and what was outstanding.
//!
//! A candidate that explains all that was seen has had what limited the sender, too.

use std::collections::{BTreeMap, VecDeque};

use ackclock_tcp::{Cause, Phase, Sender, Span, Time, Transmit};

use super::{Entry, Passed};
use crate::lifetime::{Lifetime, Limit, Shares};
use crate::sender::{
    Acked, ArrivalRate, Bottleneck, Opening, Queue, Terms, Trip, settle_full, settle_paced,
};

/// What is outstanding and was sent once.
struct Flying {
    end: u64,
    at: Time,
    /// Bytes outstanding then, its own included.
    flight: u32,
}

/// What kind of time counts by what was outstanding.
#[derive(Clone, Copy)]
enum Held {
    Full,
    /// It paced below the receiver's window, which was the smaller one.
    Paced,
    /// There was a queue.
    Queued,
}

/// The time of a candidate, divided so far.
pub(super) struct Division<'a> {
    /// Bytes that other connections have outstanding on the path, and what is to come of that.
    others: u64,
    to_come: &'a [(usize, u32)],
    entries: &'a [Entry],
    begin: Time,
    now: Time,
    /// All but what counts by what was outstanding.
    found: Shares,
    /// As it was at the last event of the sender itself.
    before: (Time, Shares),
    /// What was added by what was outstanding since then.
    since: Vec<(Held, u64, Span)>,
    /// A tail loss probe up to here is not acknowledged.
    probe: u64,
    /// Nothing but a FIN is outstanding.
    fin_alone: bool,
    /// For how long cwnd or the path was full, by bytes outstanding on the path.
    full: BTreeMap<u64, Span>,
    /// The same where it paced below the receiver's window, which was the smaller one.
    paced: BTreeMap<u64, Span>,
    /// The largest window that has limited it, in bytes.
    full_window: u64,
    flying: VecDeque<Flying>,
    /// The application writes now, at a time that is that of the capture: what goes out at once may
    /// have done so earlier, and measures nothing.
    writes: bool,
    /// No round trip is shorter: a candidate that has a shorter one has sent too late.
    least: Span,
    bottleneck: Bottleneck,
    /// From the first round trip on that is longer than those before.
    queue: Option<Box<Queue<BTreeMap<u64, Span>>>>,
    /// The last round trip.
    trip: Span,
    /// As far as it is acknowledged.
    una: u64,
}

/// What limited a candidate, from when it began.
pub(crate) struct Divided {
    /// When it began, and until when that is.
    pub ends: [Time; 2],
    pub lifetime: Lifetime,
    /// As in [`crate::sender::Found`].
    pub full_window: u64,
}

impl<'a> Division<'a> {
    /// `least`: no round trip is shorter.
    pub fn new(terms: &Terms, begin: Time, passed: Passed<'a>, least: Span) -> Division<'a> {
        // The handshake alone, with no segment of data at its end, as the round trip to the sender
        // is known in the end.
        let handshake = match terms.opening {
            Opening::Seen => {
                terms.handshake_rtt.get().map(|trip| trip.min(begin.since(terms.start)))
            }
            Opening::Unseen | Opening::MadeUp => None,
        };
        Division {
            others: 0,
            to_come: passed.others,
            entries: passed.entries,
            begin,
            now: begin,
            found: Shares::default(),
            before: (begin, Shares::default()),
            since: Vec::new(),
            probe: 0,
            fin_alone: false,
            full: BTreeMap::new(),
            paced: BTreeMap::new(),
            full_window: 0,
            flying: VecDeque::new(),
            writes: false,
            least,
            // A candidate says exactly when it has sent what.
            bottleneck: Bottleneck::new(terms.mss, handshake, true),
            queue: None,
            trip: Span::ZERO,
            una: 0,
        }
    }

    /// Time goes on until then; the sender has not been told yet.
    pub fn elapse(&mut self, at: Time, sender: &Sender) {
        let span = at.since(self.now);
        self.now = self.now.max(at);
        if span == Span::ZERO {
            return;
        }
        self.hear_of_others();
        let s = sender.state();
        self.fin_alone = s.fin && s.snd_una + 1 == s.written;
        let (flight, unsent) = (s.flight(), s.written.saturating_sub(s.snd_max));
        let next = unsent.min(s.mss);
        let closed = s.snd_max + next > s.window_edge;
        let repairs = s.phase != Phase::Open || s.snd_una < self.probe;
        let limit = match () {
            () if flight == 0 && unsent == 0 => Limit::Application,
            () if flight == 0 && closed => Limit::ReceiveWindow,
            // A lost FIN holds up nothing.
            () if repairs && self.fin_alone => Limit::Application,
            () if repairs => Limit::Recovery,
            () if unsent == 0 => Limit::Path,
            () if flight + next <= s.cwnd && closed => Limit::ReceiveWindow,
            () => {
                // If it is paced, the smaller window limits it in the end.
                let paced = flight + next <= s.cwnd && s.window_edge < s.snd_una + s.cwnd;
                let outstanding = flight + self.others;
                let held = match () {
                    () if self.is_queued(outstanding / s.mss.max(1)) => Held::Queued,
                    () if paced => Held::Paced,
                    () => Held::Full,
                };
                let sum = self.held(held, outstanding);
                *sum = *sum + span;
                return self.since.push((held, outstanding, span));
            }
        };
        if limit == Limit::ReceiveWindow && closed {
            self.full_window = self.full_window.max(s.window_edge.saturating_sub(s.snd_una));
        }
        self.found.add(limit, span);
    }

    /// Whether there has been a queue for a round trip or longer.
    fn is_queued(&self, segments: u64) -> bool {
        let queue = self.queue.as_ref();
        queue.is_some_and(|queue| queue.was_there(self.now, self.trip, segments))
    }

    /// Time of this kind, with so many bytes outstanding.
    fn held(&mut self, held: Held, outstanding: u64) -> &mut Span {
        match (held, &mut self.queue) {
            (Held::Paced, _) => self.paced.entry(outstanding).or_default(),
            (Held::Queued, Some(queue)) => queue.full_with(outstanding),
            _ => self.full.entry(outstanding).or_default(),
        }
    }

    /// What other connections have outstanding by now.
    fn hear_of_others(&mut self) {
        while let Some(((entry, bytes), rest)) = self.to_come.split_first()
            && self.entries.get(*entry).is_none_or(|entry| entry.at() <= self.now)
        {
            (self.others, self.to_come) = (u64::from(*bytes), rest);
        }
    }

    /// The retransmission timer expires, or that of a probe: the time since the last event was lost
    /// by it.
    pub fn waited(&mut self) {
        let (last, found) = self.before;
        let span = self.now.since(last);
        self.found = found;
        let limit = if self.fin_alone { Limit::Application } else { Limit::Recovery };
        self.found.add(limit, span);
        for (held, outstanding, span) in std::mem::take(&mut self.since) {
            let sum = self.held(held, outstanding);
            *sum = *sum - span;
        }
        self.event();
    }

    /// Something has happened at the sender, other than that the application has written.
    fn event(&mut self) {
        self.before = (self.now, self.found);
        self.since.clear();
    }

    /// The application begins or ends to write.
    pub fn writes(&mut self, writes: bool) {
        self.writes = writes;
    }

    /// It sends.
    pub fn sent(&mut self, transmit: &Transmit) {
        let end = transmit.position + u64::from(transmit.segment.len);
        if transmit.cause == Cause::TailLossProbe {
            self.waited();
            if transmit.transmission > 1 {
                self.probe = end;
            }
        }
        self.event();
        if transmit.transmission == 1 && !self.writes {
            let flight = u32::try_from(end.saturating_sub(self.una)).unwrap_or(u32::MAX);
            self.flying.push_back(Flying { end, at: self.now, flight });
        } else {
            // Karn's rule.
            self.flying.clear();
        }
    }

    /// An ACK has reached it, which acknowledged up to `una` before, and does up to `ack` now.
    pub fn acked(&mut self, [una, ack]: [u64; 2], a: &Acked) {
        // A SYN/ACK that comes again says nothing new, as data of the other end does not.
        if ack > una || a.sacks > 0 || !a.with_data {
            self.event();
        }
        let mut covered = None;
        while self.flying.front().is_some_and(|flying| flying.end <= ack) {
            if let Some(Flying { at, flight, .. }) = self.flying.pop_front() {
                let [oldest, _] = covered.map_or([at; 2], |(times, _): ([Time; 2], u32)| times);
                covered = Some(([oldest, at], flight));
            }
        }
        self.una = ack;
        match covered {
            Some(([oldest, newest], flight))
                if a.timed && a.sacks == 0 && self.now.since(newest) >= self.least =>
            {
                let (at, bytes) = (self.now, ack - una);
                let trip = Trip { at, oldest, newest, ack, bytes, all: ack, flight };
                self.bottleneck.measured(&trip);
                self.trip = trip.span();
                let (queue, full) = (&mut self.queue, &mut self.full);
                Queue::measured(queue, &trip, &mut self.bottleneck, full);
            }
            _ => self.bottleneck.interrupted(),
        }
    }

    /// At the end. `arrivals`: as in [`Bottleneck::holds`].
    pub fn into_divided(
        mut self,
        end: Time,
        sender: &Sender,
        arrivals: Option<ArrivalRate>,
    ) -> Divided {
        self.elapse(end, sender);
        let Division { begin, found, full, paced, queue, bottleneck, full_window, .. } = self;
        let mut lifetime = Lifetime::from(found);
        let (base, holds) = (bottleneck.base(), |base| bottleneck.holds(base, arrivals));
        // Both are by bytes.
        let mss = 1;
        settle_paced(&mut lifetime, &paced, Limit::ReceiveWindow, mss, holds(base));
        settle_full(&mut lifetime, full, queue, mss, base, holds);
        Divided { ends: [begin, end], lifetime, full_window }
    }
}

#[cfg(test)]
mod tests;
