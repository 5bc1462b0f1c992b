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
        syn: false,
        spurious: None,
        known: false,
        lost: None,
        transmission: 2,
        sacked: 0,
        too_big: false,
        all_seen: false,
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
        passed: ackclock_tcp::Time::ZERO,
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
