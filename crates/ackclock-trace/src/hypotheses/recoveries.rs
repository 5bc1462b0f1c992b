//! Recoveries by the retransmissions and timeouts as verdicts have left them, and their events.

use std::mem;

use ackclock_tcp::{Span, Time};

use super::Entry;
use crate::connection::{Kind, Recovery, Retransmission, Timeout};
use crate::sender::{Found, draw_recoveries};

/// Finds the recoveries anew. What the model of the sender had found stays where it agrees, and
/// behind the last of `entries`. `delay`: as in [`super::verdicts`]; where it is not known, nobody
/// can say when an ACK ended a recovery, and all stay as they are.
pub(super) fn rebuild(entries: &[Entry], delay: Span, found: &mut Found) {
    let Some(last) = entries.last().map(Entry::at).filter(|_| delay > Span::ZERO) else { return };
    let mut of_model = mem::take(&mut found.recoveries);
    let behind = of_model.split_off(of_model.partition_point(|old| old.start <= last));
    let all = walk(entries, delay, &found.retransmissions, &found.timeouts);
    let is_timeout = |at: Time| found.timeouts.iter().any(|timeout| timeout.at == at);
    let agrees = |new: &Recovery, old: &Recovery| {
        let found = |r: &Recovery| (r.retransmissions, r.by_timeout);
        old.start == new.start
            && (found(old) == found(new) || new.end.is_none())
            && (!old.by_timeout || old.end.is_some_and(is_timeout))
    };
    let known = |new: Recovery| *of_model.iter().find(|old| agrees(&new, old)).unwrap_or(&new);
    found.recoveries = all.into_iter().take_while(|new| new.start <= last).map(known).collect();
    found.recoveries.extend(behind);
    draw_recoveries(&found.recoveries, &mut found.events);
}

/// A recovery that goes on, with its recovery point, and when that was acknowledged.
struct Open {
    recovery: Recovery,
    recover: u64,
    over: Option<Time>,
}

/// What has gone on up to some moment of the sender.
struct Walk<'a> {
    entries: Vec<(Time, &'a Entry)>,
    next: usize,
    una: u64,
    max: u64,
    open: Option<Open>,
    all: Vec<Recovery>,
}

fn walk(
    entries: &[Entry],
    delay: Span,
    retransmissions: &[Retransmission],
    timeouts: &[Timeout],
) -> Vec<Recovery> {
    let at = |entry: &Entry| entry.at() + if entry.acked().is_some() { delay } else { Span::ZERO };
    let mut entries: Vec<(Time, &Entry)> = entries.iter().map(|e| (at(e), e)).collect();
    // An ACK that comes at the same time was there before.
    entries.sort_by_key(|(at, entry)| (*at, entry.sent().is_some()));
    let mut walk = Walk { entries, next: 0, una: 0, max: 0, open: None, all: Vec::new() };
    for (index, r) in retransmissions.iter().enumerate() {
        walk.until(r.at, r.frame);
        let timed_out = timeouts.binary_search_by_key(&index, |t| t.retransmission).is_ok();
        match r.kind {
            _ if timed_out => walk.close(Some(r.at), true),
            Kind::FastRetransmit => walk.begin(r),
            Kind::Recovery => walk.go_on(r),
            _ => {}
        }
    }
    walk.until(Time::NEVER, u64::MAX);
    walk.close(None, false);
    walk.all
}

impl Walk<'_> {
    /// Takes in what was before the packet of this frame.
    fn until(&mut self, now: Time, frame: u64) {
        while let Some(&(at, entry)) = self.entries.get(self.next)
            && at <= now
        {
            match entry {
                Entry::Sent(sent) | Entry::Late(sent) if at == now && sent.frame >= frame => break,
                Entry::Sent(sent) | Entry::Late(sent) => self.max = self.max.max(sent.end()),
                Entry::Acked(acked) => self.una = self.una.max(acked.ack),
            }
            self.next += 1;
            if let Some(open) = self.open.as_mut().filter(|open| self.una >= open.recover) {
                open.over.get_or_insert(at);
            }
        }
    }

    fn begin(&mut self, r: &Retransmission) {
        self.close(Some(r.at), false);
        let recovery = Recovery {
            start: r.at,
            end: None,
            by_timeout: false,
            flight: self.max.saturating_sub(self.una),
            retransmissions: 1,
            spurious: r.spurious.is_some(),
        };
        let recover = self.max.max(end(r));
        self.open = Some(Open { recovery, recover, over: None });
    }

    /// A retransmission that is not the first one of its recovery, unless that was lost before the
    /// capture. What ended the flight may have been lost there, too: then more belongs to the
    /// recovery than was seen when it began.
    fn go_on(&mut self, r: &Retransmission) {
        let is_new = |open: &Open| open.over.is_some() && r.position < self.max;
        let Some(open) = self.open.as_mut().filter(|open| !is_new(open)) else {
            return self.begin(r);
        };
        (open.recover, open.over) = (open.recover.max(end(r)), None);
        open.recovery.retransmissions += 1;
        open.recovery.spurious &= r.spurious.is_some();
    }

    fn close(&mut self, at: Option<Time>, by_timeout: bool) {
        let Some(Open { recovery, over, .. }) = self.open.take() else { return };
        let by_timeout = by_timeout && over.is_none();
        self.all.push(Recovery { end: over.or(at), by_timeout, ..recovery });
    }
}

fn end(r: &Retransmission) -> u64 {
    r.position + u64::from(r.len)
}

#[cfg(test)]
mod tests {
    use ackclock_tcp::{Cause, Event, EventKind, Seq, TimeoutClass};

    use super::super::tests::{MSS, ack, ms, seen};
    use super::*;
    use crate::connection::State;

    const DELAY: Span = Span::from_millis(50);

    /// Segment `n` is retransmitted in the frame of its time in ms.
    fn again(t: u64, n: u64, kind: Kind) -> Retransmission {
        Retransmission {
            frame: t,
            at: ms(t as f64),
            seq: Seq((n * MSS) as u32),
            position: n * MSS,
            len: MSS as u32,
            kind,
            probability: None,
            spurious: None,
            known: false,
            lost: None,
            transmission: 2,
        }
    }

    fn timeout(of: &Retransmission, retransmission: usize) -> Timeout {
        Timeout {
            at: of.at,
            seq: of.seq,
            position: of.position,
            retransmission,
            class: TimeoutClass::NonTrigger,
            state: State::Open,
            flight: 0,
            cwnd: 0,
            waited: Span::ZERO,
            spurious: None,
            episode: None,
        }
    }

    fn recovery(t: [u64; 2], by_timeout: bool, flight: u64, retransmissions: u32) -> Recovery {
        let [start, end] = t.map(|t| ms(t as f64));
        let (end, flight) = (Some(end), flight * MSS);
        Recovery { start, end, by_timeout, flight, retransmissions, spurious: false }
    }

    /// Ten segments, of which 2, 3 and 7 are lost before the capture. ACKs need 50 ms.
    fn flight() -> Vec<Entry> {
        let mut all: Vec<Entry> = [0, 1, 4, 5, 6, 8, 9].map(|n| seen(100.0 + n as f64, n)).to_vec();
        all.push(ack(101.0, 2, &[]));
        all
    }

    fn event(t: u64, kind: EventKind) -> Event {
        let at = ms(t as f64);
        Event { at, cwnd: 5, ssthresh: u64::MAX, snd_una: 2 * MSS, snd_nxt: 10 * MSS, kind }
    }

    fn drawn(t: u64, transmission: u32) -> Event {
        let (seq, len, cause) = (0, 1000, Cause::Recovery);
        event(t, EventKind::Sent { seq, len, cause, transmission, detected_by: None })
    }

    fn entered(t: u64) -> Event {
        let (recover, flight, pipe) = (10 * MSS, 8 * MSS, 8 * MSS);
        event(t, EventKind::RecoveryEntered { recover, flight, pipe, by: "capture" })
    }

    fn left(t: u64, by_timeout: bool) -> Event {
        event(t, EventKind::RecoveryLeft { by_timeout, cwnd_before: 5 })
    }

    /// What the model took for a recovery that a timeout ended was repaired without one: the
    /// recovery lasts until the ACK of all has reached the sender, in the list and in the picture.
    #[test]
    fn a_recovery_without_its_timeout_ends_with_an_ack() {
        let mut entries = flight();
        entries.extend([seen(160.0, 2), seen(161.0, 3), ack(161.0, 7, &[]), seen(400.0, 7)]);
        entries.push(ack(400.0, 10, &[]));
        let kinds = [(160, 2, Kind::FastRetransmit), (161, 3, Kind::Recovery)];
        let mut found = Found {
            retransmissions: kinds.map(|(t, n, kind)| again(t, n, kind)).to_vec(),
            recoveries: vec![recovery([160, 400], true, 8, 2)],
            events: vec![
                entered(160),
                drawn(160, 2),
                drawn(161, 2),
                left(400, true),
                drawn(400, 2),
                event(450, EventKind::Undone { by: "none" }),
            ],
            ..Found::default()
        };
        found.retransmissions.push(again(400, 7, Kind::Recovery));
        rebuild(&entries, DELAY, &mut found);
        assert_eq!(found.recoveries, [recovery([160, 450], false, 8, 3)]);
        let events = [
            entered(160),
            drawn(160, 2),
            drawn(161, 2),
            drawn(400, 2),
            event(450, EventKind::Undone { by: "none" }),
            left(450, false),
        ];
        assert_eq!(found.events, events);
    }

    /// What the model took for one recovery was ended by a timeout, which is in the list.
    #[test]
    fn a_timeout_ends_a_recovery() {
        let mut entries = flight();
        entries.extend([seen(160.0, 2), seen(400.0, 3), ack(400.0, 10, &[])]);
        let all = [again(160, 2, Kind::FastRetransmit), again(400, 3, Kind::Timeout)];
        let mut found = Found {
            timeouts: vec![timeout(&all[1], 1)],
            retransmissions: all.to_vec(),
            recoveries: vec![recovery([160, 450], false, 8, 2)],
            events: vec![entered(160), drawn(160, 2), drawn(400, 2), left(450, false)],
            ..Found::default()
        };
        rebuild(&entries, DELAY, &mut found);
        assert_eq!(found.recoveries, [recovery([160, 400], true, 8, 1)]);
        let events = [entered(160), drawn(160, 2), left(400, true), drawn(400, 2)];
        assert_eq!(found.events, events);
    }

    /// The model said that a timeout ended it. That was a probe, and the list has no timeout then:
    /// the recovery goes on, or ends with an ACK.
    #[test]
    fn no_timeout_ends_a_recovery_that_is_not_in_the_list() {
        for (acked, expected) in [(false, None), (true, Some(ms(450.0)))] {
            let mut entries = flight();
            entries.extend([seen(160.0, 2), seen(400.0, 9)]);
            if acked {
                entries.push(ack(400.0, 10, &[]));
            }
            let all = [again(160, 2, Kind::FastRetransmit), again(400, 9, Kind::TailLossProbe)];
            let mut found = Found {
                retransmissions: all.to_vec(),
                recoveries: vec![recovery([160, 400], true, 8, 1)],
                events: vec![entered(160), drawn(160, 2), left(400, true), drawn(400, 2)],
                ..Found::default()
            };
            rebuild(&entries, DELAY, &mut found);
            let ends: Vec<_> = found.recoveries.iter().map(|r| (r.end, r.by_timeout)).collect();
            assert_eq!(ends, [(expected, false)]);
            assert!(!found.events.contains(&left(400, true)));
        }
    }

    /// Without the delay between sender and capture, no ACK can be said to end anything.
    #[test]
    fn without_the_delay_all_stays() {
        let mut entries = flight();
        entries.extend([seen(160.0, 2), ack(160.0, 10, &[])]);
        let mut found = Found {
            retransmissions: vec![again(160, 2, Kind::FastRetransmit)],
            recoveries: vec![recovery([160, 400], true, 8, 1)],
            ..Found::default()
        };
        rebuild(&entries, Span::ZERO, &mut found);
        assert_eq!(found.recoveries, [recovery([160, 400], true, 8, 1)]);
        rebuild(&entries, DELAY, &mut found);
        assert_eq!(found.recoveries, [recovery([160, 210], false, 8, 1)]);
    }

    /// One that is over is not ended by a later timeout; a next one begins with what was lost after
    /// it, and one whose first retransmission was lost with the first that was seen. What the model
    /// knows beside stays where it agrees, and behind what was kept.
    #[test]
    fn recoveries_are_told_apart() {
        let mut entries = flight();
        entries.extend([seen(160.0, 2), ack(160.0, 10, &[]), seen(211.0, 10), seen(212.0, 12)]);
        entries.extend([seen(300.0, 11), ack(300.0, 13, &[]), seen(600.0, 13)]);
        let all = [
            again(160, 2, Kind::FastRetransmit),
            again(300, 11, Kind::Recovery),
            again(600, 13, Kind::Timeout),
        ];
        let spurious = Recovery { spurious: true, ..recovery([160, 210], false, 8, 1) };
        let behind = recovery([900, 950], true, 1, 1);
        let mut found = Found {
            timeouts: vec![timeout(&all[2], 2)],
            retransmissions: all.to_vec(),
            recoveries: vec![spurious, behind],
            ..Found::default()
        };
        rebuild(&entries, DELAY, &mut found);
        let expected = [spurious, recovery([300, 350], false, 3, 1), behind];
        assert_eq!(found.recoveries, expected);
        assert!(found.events.is_empty());
    }
}
