//! Events for a picture, in the engine's vocabulary. Causes are written in at the end, when they
//! are decided.

use ackclock_tcp::{Cause, Event, EventKind, Span, Time};

use super::input::{Acked, Sent};
use super::stream::Stand;
use crate::connection::{Retransmission, Timeout};

#[derive(Debug)]
pub(crate) struct Picture {
    /// Events are kept.
    on: bool,
    events: Vec<Event>,
    /// The event of each retransmission, as an index, for as long as events are kept.
    retransmissions: Vec<usize>,
}

impl Picture {
    pub fn new(on: bool) -> Picture {
        Picture { on, events: Vec::new(), retransmissions: Vec::new() }
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Keeps no further events.
    pub fn stop(&mut self) {
        self.on = false;
    }

    pub fn draw(&mut self, at: Time, stand: Stand, kind: EventKind) {
        if self.on {
            self.events.push(event(at, stand, kind));
        }
    }

    #[cold]
    pub fn sent(&mut self, sent: &Sent, stand: Stand) {
        self.draw(sent.at, stand, sent_kind(sent, 1));
    }

    pub fn retransmitted(&mut self, sent: &Sent, stand: Stand, transmission: u32) {
        if self.on {
            self.retransmissions.push(self.events.len());
            self.draw(sent.at, stand, sent_kind(sent, transmission));
        }
    }

    /// An ACK was taken in; `before` it, `una` and the bytes SACKed were these, and `sacked` are
    /// the bytes SACKed now.
    #[cold]
    pub fn acked(
        &mut self,
        a: &Acked,
        stand: Stand,
        before: (u64, u64),
        sacked: u64,
        dupacks: u32,
    ) {
        let kind = EventKind::Acked {
            ack: a.ack,
            dupacks,
            newly_acked: stand.una - before.0,
            newly_sacked: sacked.saturating_sub(before.1),
            window_edge: a.ack.saturating_add(a.window),
            sack: a.sack,
            sacks: a.sacks,
            dsack: a.dsack,
        };
        self.draw(a.at, stand, kind);
    }

    pub fn timed_out(&mut self, timeout: &Timeout, stand: Stand, backoff: u32, rto: Span) {
        self.draw(timeout.at, stand, timed_out_kind(timeout, backoff, rto));
    }

    /// A probe turns out to have been a timeout: its event belongs before what it sent.
    pub fn timed_out_late(&mut self, timeout: &Timeout, rto: Span) {
        let Some(&index) = self.retransmissions.get(timeout.retransmission) else { return };
        let Some(&sent) = self.events.get(index) else { return };
        self.events.insert(index, expiry(timeout, &sent, rto));
        for later in self.retransmissions.iter_mut().skip(timeout.retransmission) {
            *later += 1;
        }
    }

    /// At the end: the events, with the causes that were decided, and the reductions for ECN, each
    /// after all else of its time.
    pub fn into_events(
        mut self,
        retransmissions: &[Retransmission],
        reductions: &[Time],
    ) -> Vec<Event> {
        for (r, &index) in retransmissions.iter().zip(&self.retransmissions) {
            if let Some(EventKind::Sent { cause, .. }) =
                self.events.get_mut(index).map(|e| &mut e.kind)
            {
                *cause = r.kind.cause().unwrap_or(Cause::Recovery);
            }
        }
        for &at in reductions {
            let after = self.events.partition_point(|event| event.at <= at);
            if let Some(before) = after.checked_sub(1).and_then(|i| self.events.get(i)).copied() {
                let kind = EventKind::Reduced { cwnd_before: before.cwnd };
                self.events.insert(after, Event { at, kind, ..before });
            }
        }
        self.events
    }
}

/// The event of a timeout that was found only after the event of what it `sent`.
pub(crate) fn expiry(timeout: &Timeout, sent: &Event, rto: Span) -> Event {
    let stand = Stand { cwnd: timeout.cwnd, una: sent.snd_una, max: sent.snd_nxt };
    event(timeout.at, stand, timed_out_kind(timeout, 0, rto))
}

fn event(at: Time, stand: Stand, kind: EventKind) -> Event {
    let Stand { cwnd, una, max } = stand;
    Event { at, cwnd, ssthresh: u64::MAX, snd_una: una, snd_nxt: max, kind }
}

fn sent_kind(sent: &Sent, transmission: u32) -> EventKind {
    EventKind::Sent {
        seq: sent.position,
        len: sent.payload(),
        cause: Cause::New,
        transmission,
        detected_by: None,
    }
}

fn timed_out_kind(timeout: &Timeout, backoff: u32, rto: Span) -> EventKind {
    let Timeout { position: seq, class, flight, cwnd: cwnd_before, .. } = *timeout;
    EventKind::TimedOut { seq, class, backoff, flight, cwnd_before, rto: rto.0 }
}
