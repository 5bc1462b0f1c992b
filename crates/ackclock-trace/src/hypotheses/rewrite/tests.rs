use ackclock_tcp::{Event, Seq, Time, TimeoutClass};

use super::super::tests::{ack, seen};
use super::super::trial::{Expiry, Says};
use super::*;
use crate::connection::{Stall, State};
use crate::sender::Sent;

fn terms() -> Terms {
    Terms {
        start: Time(0),
        handshake_rtt: None.into(),
        events: true,
        ..crate::hypotheses::tests::terms(false)
    }
}

/// The segment of a frame, which is also its time in ms and its number.
fn sent(frame: u64) -> Sent {
    Sent {
        frame,
        at: Time(frame * 1_000_000),
        position: frame * 1000,
        seq: Seq(frame as u32 * 1000),
        len: 1000,
        ..Sent::default()
    }
}

fn retransmission(frame: u64, kind: Kind) -> Retransmission {
    let Sent { at, seq, position, len, .. } = sent(frame);
    Retransmission {
        frame,
        at,
        seq,
        position,
        len,
        kind,
        probability: None,
        syn: false,
        spurious: None,
        known: true,
        lost: Some(false),
        transmission: 2,
        sacked: 0,
        too_big: false,
        all_seen: false,
    }
}

fn timeout(frame: u64, retransmission: usize, class: TimeoutClass) -> Timeout {
    let Sent { at, seq, position, .. } = sent(frame);
    Timeout {
        at,
        seq,
        position,
        retransmission,
        class,
        state: State::Open,
        flight: 1,
        cwnd: 2,
        waited: Span(3),
        spurious: None,
        passed: ackclock_tcp::Time::ZERO,
        episode: None,
    }
}

fn stall(start: u64, end: u64, cause: StallCause) -> Stall {
    let [start, end] = [start, end].map(|ms| Time(ms * 1_000_000));
    let (frame, newest) = (0, start);
    Stall { start, end, frame, cause, timeout: None, came_twice: false, alone: true, newest }
}

fn verdict(frame: u64, kind: Option<Kind>, class: Option<TimeoutClass>) -> Verdict {
    let expiry = class.map(|class| Expiry {
        class,
        state: State::Recovery,
        flight: 5000,
        cwnd: 6000,
        waited: Span(7),
    });
    let says = Says { kind, expiry, transmission: 4, ..Says::default() };
    let sent = sent(frame);
    Verdict { sent, kind, probability: 0.75, by_either_timer: false, doubt: 0.0, says }
}

fn event(frame: u64, kind: EventKind) -> Event {
    Event { at: sent(frame).at, cwnd: 1, ssthresh: u64::MAX, snd_una: 2, snd_nxt: 3, kind }
}

fn drawn(frame: u64, cause: Cause, transmission: u32) -> Event {
    let (seq, len) = (sent(frame).position, 1000);
    event(frame, EventKind::Sent { seq, len, cause, transmission, detected_by: None })
}

fn expired(frame: u64, class: TimeoutClass, [flight, cwnd, waited]: [u64; 3]) -> Event {
    let seq = sent(frame).position;
    let kind =
        EventKind::TimedOut { seq, class, backoff: 0, flight, cwnd_before: cwnd, rto: waited };
    Event { cwnd, ..event(frame, kind) }
}

/// What the model found: a timeout in frame 20, a recovery in 30, and a stall for each.
fn found() -> Found {
    Found {
        retransmissions: vec![
            retransmission(20, Kind::Timeout),
            retransmission(30, Kind::Recovery),
        ],
        timeouts: vec![timeout(20, 0, TimeoutClass::NonTrigger)],
        stalls: vec![
            Stall {
                timeout: Some(0),
                ..stall(5, 20, StallCause::Timeout(TimeoutClass::NonTrigger))
            },
            stall(21, 30, StallCause::Recovery),
            stall(31, 40, StallCause::Application),
        ],
        events: vec![
            drawn(10, Cause::New, 1),
            expired(20, TimeoutClass::NonTrigger, [1, 2, 3]),
            drawn(20, Cause::Timeout, 2),
            drawn(30, Cause::Recovery, 2),
        ],
        ..Found::default()
    }
}

fn kinds(found: &Found) -> Vec<(u64, Kind, Option<f64>)> {
    found.retransmissions.iter().map(|r| (r.frame, r.kind, r.probability)).collect()
}

/// Where a probe and the timer would have sent it alike, what was found of them stays; but what an
/// ACK seemed to have sent is the more probable of both.
#[test]
fn what_follows_tells_a_probe_from_a_timer() {
    let either = |frame| Verdict {
        by_either_timer: true,
        ..verdict(frame, Some(Kind::TailLossProbe), None)
    };
    let mut found = found();
    take_over(&[either(20), either(30)], terms(), &mut found);
    let expected = [(20, Kind::Timeout, None), (30, Kind::TailLossProbe, Some(0.75))];
    assert_eq!(kinds(&found), expected);
    assert_eq!(found.timeouts.iter().map(|t| t.at).collect::<Vec<_>>(), [sent(20).at]);
}

/// What was called a timeout was none, what was called none was one, and what looked like new
/// data in frame 10 was retransmitted: timeouts, stalls and events follow.
#[test]
fn verdicts_take_the_place_of_what_was_found() {
    let mut found = found();
    let backed_off = TimeoutClass::BackedOff;
    let all = [
        verdict(10, Some(Kind::TailLossProbe), None),
        verdict(20, Some(Kind::FastRetransmit), None),
        verdict(30, Some(Kind::BackedOffTimeout), Some(backed_off)),
    ];
    take_over(&all, terms(), &mut found);
    let some = Some(0.75);
    let expected = [
        (10, Kind::TailLossProbe, some),
        (20, Kind::FastRetransmit, some),
        (30, Kind::BackedOffTimeout, some),
    ];
    assert_eq!(kinds(&found), expected);
    // The new one is known by what the candidate says, the others keep what the model knew.
    let new = &found.retransmissions[0];
    assert_eq!((new.transmission, new.known, new.lost, new.len), (4, false, Some(false), 1000));
    assert_eq!((found.retransmissions[1].transmission, found.retransmissions[1].known), (2, true));
    let timeout = Timeout {
        state: State::Recovery,
        flight: 5000,
        cwnd: 6000,
        waited: Span(7),
        ..timeout(30, 2, backed_off)
    };
    assert_eq!(found.timeouts, [timeout]);
    let causes: Vec<_> = found.stalls.iter().map(|s| (s.cause, s.timeout)).collect();
    let expected = [
        (StallCause::TailLossProbe, None),
        (StallCause::Timeout(backed_off), Some(0)),
        (StallCause::Application, None),
    ];
    assert_eq!(causes, expected);
    let events = [
        drawn(10, Cause::TailLossProbe, 4),
        drawn(20, Cause::FastRetransmit, 2),
        expired(30, backed_off, [5000, 6000, 7]),
        drawn(30, Cause::BackedOffTimeout, 2),
    ];
    assert_eq!(found.events, events);
}

/// A stall has the class of the last timeout in it, which ended it.
#[test]
fn the_last_timeout_ends_a_stall() {
    let mut found = found();
    let backed_off = TimeoutClass::BackedOff;
    found.stalls = vec![Stall { timeout: Some(0), ..stall(5, 40, StallCause::Recovery) }];
    take_over(&[verdict(30, Some(Kind::BackedOffTimeout), Some(backed_off))], terms(), &mut found);
    assert_eq!(found.timeouts.len(), 2);
    let stall = found.stalls[0];
    assert_eq!((stall.cause, stall.timeout), (StallCause::Timeout(backed_off), Some(1)));
}

/// What goes out as the window opens ends no stall of a closed window.
#[test]
fn a_closed_window_stays_the_receivers() {
    let mut found = found();
    found.stalls = vec![stall(5, 20, StallCause::ZeroWindow), stall(5, 20, StallCause::Network)];
    take_over(&[], terms(), &mut found);
    let causes: Vec<_> = found.stalls.iter().map(|s| s.cause).collect();
    let timeout = StallCause::Timeout(TimeoutClass::NonTrigger);
    assert_eq!(causes, [StallCause::ZeroWindow, timeout]);
}

/// What nothing decides is no recovery in the picture, either.
#[test]
fn the_undecided_is_drawn_as_such() {
    let mut found = found();
    take_over(&[verdict(30, Some(Kind::ProbeOrTimeout), None)], terms(), &mut found);
    assert_eq!(found.events[3], drawn(30, Cause::Unknown, 2));
}

/// A timeout of another class stays one event, and one that no verdict is about stays as it
/// was.
#[test]
fn what_no_verdict_is_about_stays() {
    let mut changed = found();
    let class = TimeoutClass::MultipleLosses;
    take_over(&[verdict(20, Some(Kind::Timeout), Some(class))], terms(), &mut changed);
    assert_eq!(kinds(&changed), [(20, Kind::Timeout, Some(0.75)), (30, Kind::Recovery, None)]);
    assert_eq!(changed.events[1], expired(20, class, [5000, 6000, 7]));
    assert_eq!(changed.events.len(), 4);
    assert_eq!(changed.stalls[0].cause, StallCause::Timeout(class));

    let mut same = found();
    // A first transmission, says the candidate: what the model saw again was seen again.
    take_over(&[verdict(20, None, None)], terms(), &mut same);
    assert_eq!(kinds(&same), kinds(&found()));
    assert_eq!((same.timeouts, same.events), (found().timeouts, found().events));
    assert_eq!((same.stalls[0].cause, same.stalls[0].timeout), (found().stalls[0].cause, Some(0)));
}

/// What followed the timeout that was none is of the recovery, and what followed the fast
/// retransmit that was none is of the slow start, as far as no verdict is about it. Without SACK,
/// Tahoe's slow start follows a fast retransmit.
#[test]
fn what_followed_it_turns_with_it() {
    let turned = |sack: bool, of: [Kind; 4], verdict: Verdict| {
        let mut changed = found();
        changed.retransmissions =
            (20..24).zip(of).map(|(n, kind)| retransmission(n, kind)).collect();
        take_over(&[verdict], Terms { sack, ..terms() }, &mut changed);
        kinds(&changed).into_iter().map(|(_, kind, _)| kind).collect::<Vec<_>>()
    };
    let (fast, repair, back) = (Kind::FastRetransmit, Kind::Recovery, Kind::SlowStart);
    let by_timer = [Kind::Timeout, back, back, Kind::Timeout];
    let is_fast = || verdict(20, Some(fast), None);
    assert_eq!(turned(true, by_timer, is_fast()), [fast, repair, repair, Kind::Timeout]);
    assert_eq!(turned(false, by_timer, is_fast()), [fast, back, back, Kind::Timeout]);
    let by_ack = [fast, repair, back, repair];
    let class = Some(TimeoutClass::NonTrigger);
    let timed = verdict(20, Some(Kind::Timeout), class);
    assert_eq!(turned(true, by_ack, timed), [Kind::Timeout, back, back, repair]);
}

/// Where nothing seemed to be outstanding, a timer expired: the time of that stall is taken
/// from the application. Other stalls had been counted right.
#[test]
fn the_time_of_an_unseen_timeout_is_of_recovery() {
    let ms = Span::from_millis;
    let mut found = found();
    found.lifetime.add(Limit::Application, ms(30));
    found.lifetime.add(Limit::Recovery, ms(15));
    let again = |frame| verdict(frame, Some(Kind::Timeout), Some(TimeoutClass::NonTrigger));
    take_over(&[again(20), again(40)], terms(), &mut found);
    assert_eq!(found.stalls[2].cause, StallCause::Timeout(TimeoutClass::NonTrigger));
    let of = |limit| found.lifetime.of(limit);
    assert_eq!([Limit::Application, Limit::Recovery].map(of), [ms(21), ms(24)]);
}

/// A fast retransmit was taken for a probe, and its stall with it.
#[test]
fn a_stall_without_its_probe_is_of_recovery() {
    let mut found = Found {
        retransmissions: vec![retransmission(20, Kind::TailLossProbe)],
        stalls: vec![stall(5, 20, StallCause::TailLossProbe)],
        ..Found::default()
    };
    take_over(&[verdict(20, Some(Kind::FastRetransmit), None)], terms(), &mut found);
    assert_eq!(found.stalls[0].cause, StallCause::Recovery);
}

/// What may have been a probe or a timeout is decided.
#[test]
fn the_undecided_is_decided() {
    let mut found = Found {
        retransmissions: vec![retransmission(20, Kind::ProbeOrTimeout)],
        undecided: vec![timeout(20, 0, TimeoutClass::NonTrigger)],
        stalls: vec![stall(5, 20, StallCause::ProbeOrTimeout)],
        ..Found::default()
    };
    take_over(&[verdict(20, Some(Kind::TailLossProbe), None)], terms(), &mut found);
    assert_eq!((found.undecided.len(), found.timeouts.len()), (0, 0));
    assert_eq!(found.stalls[0].cause, StallCause::TailLossProbe);
}

/// What ended a pause of the application had been lost before the capture: it was none.
#[test]
fn a_pause_that_a_retransmission_ended() {
    let ended = |frame: u64, kind: Kind| {
        let pause = Stall { frame, ..stall(31, 40, StallCause::Application) };
        let mut found = Found { stalls: vec![pause], ..Found::default() };
        found.lifetime.add(Limit::Application, Span(20_000_000));
        take_over(&[verdict(40, Some(kind), None)], terms(), &mut found);
        let shares = [Limit::Application, Limit::Recovery].map(|limit| found.lifetime.of(limit));
        (found.stalls[0].cause, shares.map(|span| span.0 / 1_000_000))
    };
    assert_eq!(ended(40, Kind::TailLossProbe), (StallCause::TailLossProbe, [11, 9]));
    assert_eq!(ended(40, Kind::ProbeOrTimeout), (StallCause::ProbeOrTimeout, [11, 9]));
    assert_eq!(ended(40, Kind::Recovery), (StallCause::Recovery, [11, 9]));
    assert_eq!(ended(41, Kind::TailLossProbe), (StallCause::Application, [20, 0]));
}

/// Segments of 1,000 bytes go out each ms, and are acknowledged 2 ms later over 3 ms: five are
/// outstanding. A window of twice as many may have been full, or any if nothing says when they were
/// sent.
#[test]
fn a_window_that_nothing_came_near() {
    let sent = |n: u64| Some(seen(n as f64, n));
    let acked = |n: u64| ack(n as f64, n - 1, &[]);
    let entries: Vec<_> =
        (0..20).flat_map(|n| [sent(n), (n > 1).then(|| acked(n))]).flatten().collect();
    let full = |window: u64, timed: bool| {
        let passed = Passed { entries: &entries, others: &[], all: true, timed, arrivals: None };
        never_was_full(window, passed, Span::from_millis(3))
    };
    assert_eq!([full(0, true), full(10_000, true), full(10_001, true)], [false, false, true]);
    assert!(!full(10_001, false));
}
