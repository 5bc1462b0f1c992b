//! Events for a picture, in the engine's vocabulary. Causes are decided at the end.

use ackclock_tcp::{Cause, Event, EventKind, Span, Time, TimeoutClass};

use super::{Acked, SenderModel, Sent};
use crate::connection::{Class, Kind, Timeout};

impl SenderModel {
    pub(super) fn picture(&mut self, at: Time, kind: EventKind) {
        if self.terms.events {
            let (cwnd, snd_una, snd_nxt) = (self.peak, self.una, self.max);
            self.found.events.push(Event { at, cwnd, ssthresh: u64::MAX, snd_una, snd_nxt, kind });
        }
    }

    /// `again` is the number of the retransmission.
    #[cold]
    pub(super) fn picture_sent(&mut self, sent: &Sent, again: Option<u32>) {
        let transmission =
            again.and_then(|n| self.found.retransmissions.get(n as usize - 1)).map_or(1, |r| r.transmission);
        let len = sent.len - u32::from(sent.fin);
        self.picture(sent.at, EventKind::Sent { seq: sent.position, len, cause: Cause::New, transmission });
        if let Some(note) = again.and_then(|n| self.notes.get_mut(n as usize - 1)) {
            note.event = self.found.events.len() as u32;
        }
    }

    /// `before` it, `una` and the bytes SACKed were these.
    #[cold]
    pub(super) fn picture_acked(&mut self, a: &Acked, before: (u64, u64)) {
        let newly_acked = self.una - before.0;
        let kind = EventKind::Acked {
            ack: a.ack,
            dupacks: self.dupacks,
            newly_acked,
            newly_sacked: (self.out.sacked_bytes).saturating_sub(before.1),
            window_edge: a.ack.saturating_add(a.window),
            sack: a.sack,
            sacks: a.sacks,
            dsack: a.dsack,
        };
        self.picture(a.at, kind);
    }

    pub(super) fn picture_timeout(&mut self, at: Time, timeout: &Timeout, backoff: u32, rto: Span) {
        let class = match timeout.class {
            Class::NonTrigger | Class::Unknown => TimeoutClass::NonTrigger,
            Class::MultipleLosses => TimeoutClass::MultipleLosses,
            Class::LostRetransmission | Class::Backoff => TimeoutClass::LostRetransmission,
        };
        let (flight, cwnd_before) = (timeout.flight, timeout.cwnd);
        let kind = EventKind::TimedOut { seq: timeout.position, class, backoff, flight, cwnd_before, rto: rto.0 };
        self.picture(at, kind);
    }

    /// A probe turns out to have been a timeout: its event belongs before what it sent.
    pub(super) fn picture_late_timeout(&mut self, timeout: &Timeout, rto: Span) {
        let number = self.notes.get(timeout.retransmission).map_or(0, |n| n.event);
        let Some(&sent) = (number as usize).checked_sub(1).and_then(|i| self.found.events.get(i)) else { return };
        self.picture_timeout(timeout.at, timeout, 0, rto);
        if let Some(event) = self.found.events.pop() {
            let (cwnd, snd_una, snd_nxt) = (timeout.cwnd, sent.snd_una, sent.snd_nxt);
            self.found.events.insert(number as usize - 1, Event { cwnd, snd_una, snd_nxt, ..event });
        }
        for note in self.notes.iter_mut().skip(timeout.retransmission).filter(|n| n.event > 0) {
            note.event += 1;
        }
    }

    /// Writes the causes in that the end has decided.
    pub(super) fn settle_picture(&mut self) {
        for (r, note) in self.found.retransmissions.iter().zip(&self.notes) {
            let event = (note.event as usize).checked_sub(1).and_then(|i| self.found.events.get_mut(i));
            if let Some(EventKind::Sent { cause, .. }) = event.map(|e| &mut e.kind) {
                *cause = match r.kind {
                    Kind::FastRetransmit => Cause::FastRetransmit,
                    Kind::Recovery if r.transmission > 2 => Cause::LostRetransmission,
                    Kind::Recovery | Kind::Unknown => Cause::PartialAck,
                    Kind::SlowStart => Cause::SlowStart,
                    Kind::Timeout | Kind::BackedOffTimeout => Cause::Timeout,
                    Kind::TailLossProbe => Cause::Probe,
                };
            }
        }
    }
}
