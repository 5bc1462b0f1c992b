//! Events for a picture, in the engine's vocabulary. Causes are written in at the end, when they
//! are decided.

use std::collections::BTreeSet;

use ackclock_tcp::{Cause, Event, EventKind, Span, Time};

use super::input::{Acked, Sent};
use super::stream::Stand;
use crate::connection::{Recovery, Retransmission, Timeout};
use crate::steps;

/// Few connections are drawn, so that the others have no place for it.
#[derive(Debug)]
pub(crate) struct Picture(Option<Box<Drawn>>);

#[derive(Debug)]
struct Drawn {
    /// Further events are kept.
    on: bool,
    events: Vec<Event>,
    /// The event of each retransmission, as an index, for as long as events are kept.
    retransmissions: Vec<usize>,
    /// What was found only later, each with the place of the event that it goes before.
    late: Vec<(usize, Event)>,
}

impl Picture {
    pub fn new(on: bool) -> Picture {
        let (events, retransmissions, late) = Default::default();
        let drawn = || Drawn { on, events, retransmissions, late };
        Picture(on.then(drawn).map(Box::new))
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.as_ref().is_some_and(|drawn| drawn.on)
    }

    /// Keeps no further events.
    pub fn stop(&mut self) {
        if let Some(drawn) = &mut self.0 {
            drawn.on = false;
        }
    }

    pub fn draw(&mut self, at: Time, stand: Stand, kind: EventKind) {
        if let Some(drawn) = self.0.as_mut().filter(|drawn| drawn.on) {
            drawn.events.push(event(at, stand, kind));
        }
    }

    #[cold]
    pub fn sent(&mut self, sent: &Sent, stand: Stand) {
        self.draw(sent.at, stand, sent_kind(sent, 1));
    }

    pub fn retransmitted(&mut self, sent: &Sent, stand: Stand, transmission: u32) {
        if let Some(drawn) = self.0.as_mut().filter(|drawn| drawn.on) {
            drawn.retransmissions.push(drawn.events.len());
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
            dsack: a.dsack.is_some(),
        };
        self.draw(a.at, stand, kind);
    }

    pub fn timed_out(&mut self, timeout: &Timeout, stand: Stand, backoff: u32, rto: Span) {
        self.draw(timeout.at, stand, timed_out_kind(timeout, backoff, rto));
    }

    /// A probe turns out to have been a timeout: its event belongs before what it sent.
    pub fn timed_out_late(&mut self, timeout: &Timeout, rto: Span) {
        let Some(drawn) = &mut self.0 else { return };
        let Some(&index) = drawn.retransmissions.get(timeout.retransmission) else { return };
        let Some(&sent) = drawn.events.get(index) else { return };
        drawn.late.push((index, expiry(timeout, &sent, rto)));
    }

    /// At the end: the events, with the causes that were decided, the recoveries that were found,
    /// and the reductions for ECN, each after all else of its time.
    pub fn into_events(
        self,
        retransmissions: &[Retransmission],
        recoveries: &[Recovery],
        reductions: &[Time],
    ) -> Vec<Event> {
        let Some(drawn) = self.0 else { return Vec::new() };
        let mut events = drawn.events;
        for (r, &index) in retransmissions.iter().zip(&drawn.retransmissions) {
            if let Some(EventKind::Sent { cause, .. }) = events.get_mut(index).map(|e| &mut e.kind)
            {
                *cause = r.kind.cause().unwrap_or(Cause::Unknown);
            }
        }
        insert_all(&mut events, drawn.late);
        draw_recoveries(recoveries, &mut events);
        let reduced = |&at: &Time| {
            let after = events.partition_point(|event| event.at <= at);
            let before = *events.get(after.checked_sub(1)?)?;
            let kind = EventKind::Reduced { cwnd_before: before.cwnd };
            Some((after, Event { at, kind, ..before }))
        };
        let reduced = reductions.iter().filter_map(reduced).collect();
        insert_all(&mut events, reduced);
        events
    }
}

/// Inserts events at once, each before the one that is at its place: one by one, each would move
/// all behind it. Those of one place stay in order.
pub(crate) fn insert_all(events: &mut Vec<Event>, mut new: Vec<(usize, Event)>) {
    new.sort_by_key(|(place, _)| *place);
    let Some(&(first, _)) = new.first() else { return };
    let behind = events.split_off(first.min(events.len()));
    steps::count(behind.len());
    let mut new = new.into_iter().peekable();
    for (place, event) in (first..).zip(behind) {
        events.extend(std::iter::from_fn(|| new.next_if(|(at, _)| *at <= place)).map(|(_, e)| e));
        events.push(event);
    }
    events.extend(new.map(|(_, event)| event));
}

/// The event of a timeout that was found only after the event of what it `sent`.
pub(crate) fn expiry(timeout: &Timeout, sent: &Event, rto: Span) -> Event {
    let stand = Stand { cwnd: timeout.cwnd, una: sent.snd_una, max: sent.snd_nxt };
    event(timeout.at, stand, timed_out_kind(timeout, 0, rto))
}

/// Makes the events of recoveries those of `all`: takes out the others, and draws those that are
/// missing. Of an undo within a recovery that went on, nothing stays.
pub(crate) fn draw_recoveries(all: &[Recovery], events: &mut Vec<Event>) {
    let mut starts: BTreeSet<_> = all.iter().map(|r| (r.start, r.flight)).collect();
    let mut ends: BTreeSet<_> = all.iter().filter_map(|r| Some((r.end?, r.by_timeout))).collect();
    // When each begins, and when all up to it are over.
    let mut over = Time::ZERO;
    let mut all: Vec<_> = all.iter().map(|r| (r.start, r.end.unwrap_or(Time::NEVER))).collect();
    all.sort_unstable();
    all.iter_mut().for_each(|(_, end)| {
        over = over.max(*end);
        *end = over;
    });
    let goes_on = |at| {
        let begun = all.partition_point(|(start, _)| *start < at);
        begun.checked_sub(1).is_some_and(|last| at < all[last].1)
    };
    events.retain(|event| match event.kind {
        EventKind::RecoveryEntered { flight, .. } => starts.remove(&(event.at, flight)),
        EventKind::RecoveryLeft { by_timeout, .. } => ends.remove(&(event.at, by_timeout)),
        EventKind::Undone { .. } => !goes_on(event.at),
        _ => true,
    });
    // It begins and ends by timeout with what is sent then; else with the ACK.
    let sent = |events: &[Event], at: Time| {
        let first = events.partition_point(|event| event.at < at);
        let of_time = events.iter().skip(first).take_while(|event| event.at == at);
        let place = of_time.clone().position(|e| is_retransmission(&e.kind));
        first + place.unwrap_or_else(|| of_time.count())
    };
    let entered = |(at, flight)| {
        let place = sent(events, at);
        let event = *events.get(place)?;
        let recover = event.snd_nxt;
        let kind = EventKind::RecoveryEntered { recover, flight, pipe: flight, by: "capture" };
        Some((place, Event { at, kind, ..event }))
    };
    let entered = starts.into_iter().filter_map(entered).collect();
    insert_all(events, entered);
    // Events are not kept for ever.
    let last = events.last().map(|event| event.at);
    let left = |(at, by_timeout)| {
        let place = match by_timeout {
            true => sent(events, at),
            false => events.partition_point(|event| event.at <= at),
        };
        let event = *events.get(place.checked_sub(1)?)?;
        let kind = EventKind::RecoveryLeft { by_timeout, cwnd_before: event.cwnd };
        Some((place, Event { at, kind, ..event }))
    };
    let left = ends.into_iter().filter(|&(at, _)| Some(at) <= last).filter_map(left).collect();
    insert_all(events, left);
}

fn is_retransmission(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Sent { transmission, .. } if *transmission > 1)
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
