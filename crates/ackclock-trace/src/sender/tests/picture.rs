//! Events for a picture: causes as they are known at the end.

use std::sync::Arc;

use ackclock_tcp::{Cause, Event, EventKind, Seq, Span, Time, TimeoutClass};

use super::{Line, MSS, ms};
use crate::connection::{Recovery, State, Timeout};
use crate::sender::picture::Picture;
use crate::sender::{Opening, SenderModel, Terms, insert_all};
use crate::steps;

#[test]
fn causes_are_those_decided_at_the_end() {
    let mut line = Line::sack(50.0);
    line.model.picture = Picture::new(true);
    line.send(0.0, [0]);
    line.send(251.0, [0]);
    line.send(752.0, [0]);
    line.ack(802.0, 1);
    let found = line.found();
    let sent = found.events.iter().filter_map(|e| match e.kind {
        EventKind::Sent { seq, cause, transmission, .. } => Some((seq / MSS, cause, transmission)),
        _ => None,
    });
    assert_eq!(
        sent.collect::<Vec<_>>(),
        [(0, Cause::New, 1), (0, Cause::Timeout, 2), (0, Cause::BackedOffTimeout, 3)]
    );
    let timeouts = found.events.iter().filter_map(|e| match e.kind {
        EventKind::TimedOut { class, backoff, .. } => Some((class, backoff)),
        _ => None,
    });
    assert_eq!(
        timeouts.collect::<Vec<_>>(),
        [(TimeoutClass::NonTrigger, 0), (TimeoutClass::BackedOff, 1)]
    );
    assert!(found.events.is_sorted_by_key(|e| e.at));
}

/// No window is less than a segment (RFC 5681 section 3.1), however little is outstanding: in
/// events and in timeouts.
#[test]
fn cwnd_is_at_least_a_segment() {
    let mut line = Line::sack(50.0);
    line.model.picture = Picture::new(true);
    for t in [0.0, 251.0, 752.0] {
        line.send_bytes(t, 0, 300);
    }
    line.acked_at(802.0, 300);
    let found = line.found();
    assert_eq!(found.timeouts.iter().map(|t| t.cwnd).collect::<Vec<_>>(), [MSS; 2]);
    assert_eq!(found.events.iter().map(|e| e.cwnd).collect::<Vec<_>>(), [MSS; 6]);
}

/// What was on its way when the capture began fills the window, too, whether an ACK or data comes
/// first.
#[test]
fn cwnd_counts_what_went_out_unseen() {
    let windows = |ack_first: bool| {
        let mut line = Line::sack(50.0);
        let terms = line.model.stream.terms;
        let terms = Terms { opening: Opening::Unseen, handshake_rtt: None.into(), ..terms };
        line.model = SenderModel::new(terms, Arc::default());
        line.model.picture = Picture::new(true);
        if ack_first {
            line.ack(0.0, 100);
        }
        line.send(1.0, [125]);
        line.ack(2.0, 101);
        line.send(2.1, [126]);
        line.ack(50.0, 127);
        line.send(51.0, [127, 128]);
        let events = line.found().events;
        let at = |t: f64| {
            let last = events.iter().rfind(|e| e.at.0 / 100_000 == ms(t).0 / 100_000).unwrap();
            [last.cwnd, last.snd_nxt - last.snd_una].map(|bytes| bytes / MSS)
        };
        [at(2.0), at(2.1), at(51.0)]
    };
    assert_eq!(windows(true), [[26, 25], [26, 26], [26, 2]]);
    assert_eq!(windows(false), [[25, 25], [26, 26], [26, 2]]);
}

/// By a probe or by the retransmission timer: the end of a capture leaves that open.
#[test]
fn a_cause_that_stays_undecided() {
    let mut line = Line::sack(50.0);
    line.model.picture = Picture::new(true);
    line.send(0.0, 0..8);
    line.ack(50.0, 8);
    line.send(100.0, [8]);
    line.send(351.0, [8]);
    let last = line.found().events.pop().unwrap();
    let EventKind::Sent { cause, transmission, .. } = last.kind else { panic!("{last:?}") };
    assert_eq!((cause, transmission), (Cause::Unknown, 2));
}

#[test]
fn an_ack_says_what_is_new() {
    let mut line = Line::sack(50.0);
    line.model.picture = Picture::new(true);
    line.send(0.0, 0..6);
    line.ack_sack(50.0, 2, &[(3, 5)]);
    let found = line.found();
    let acked = found.events.iter().find_map(|e| match e.kind {
        EventKind::Acked { ack, newly_acked, newly_sacked, window_edge, .. } => {
            Some((ack, newly_acked, newly_sacked, window_edge))
        }
        _ => None,
    });
    assert_eq!(acked, Some((2000, 2000, 2000, 2000 + (1 << 20))));
}

/// A reduction for ECN is known only later, and stands after the ACK that echoed.
#[test]
fn reductions_for_ecn_stand_where_they_happened() {
    let mut line = Line::sack(100.0);
    line.model.picture = Picture::new(true);
    line.send(0.0, 0..10);
    line.ece = true;
    line.ack(100.0, 1);
    line.ack(101.0, 6);
    line.ece = false;
    line.ack(102.0, 10);
    let events = line.found().events;
    let at = events.iter().position(|e| e.kind.name() == "reduced").unwrap();
    assert_eq!(events.iter().filter(|e| e.kind.name() == "reduced").count(), 1);
    assert_eq!((events[at].at, events[at - 1].kind.name()), (ms(100.0), "acked"));
    assert_eq!((events[at - 1].at, events[at + 1].at), (ms(100.0), ms(101.0)));
    assert_eq!(events[at].kind, EventKind::Reduced { cwnd_before: events[at - 1].cwnd });
}

/// All that is found at the end goes in at once: each event moves once for all timeouts, once for
/// all beginnings of recoveries, once for all ends and once for all reductions.
#[test]
fn what_the_end_adds_moves_each_event_but_a_few_times() {
    let moves = |n: u64| {
        let mut line = Line::sack(50.0);
        line.model.picture = Picture::new(true);
        (0..n).for_each(|i| line.send(i as f64, [i]));
        line.send(n as f64, [0]);
        let mut picture = line.model.picture;
        let timeout = Timeout {
            at: ms(n as f64),
            seq: Seq(0),
            position: 0,
            retransmission: 0,
            class: TimeoutClass::NonTrigger,
            state: State::Open,
            flight: 0,
            cwnd: 0,
            waited: Span::ZERO,
            passed: Time::ZERO,
            spurious: None,
            episode: None,
        };
        (0..n).for_each(|_| picture.timed_out_late(&timeout, Span::ZERO));
        let times = || (0..n).map(|i| ms(i as f64));
        let recovery = |start| Recovery {
            start,
            end: Some(start + Span::from_micros(500)),
            by_timeout: false,
            flight: 0,
            retransmissions: 1,
            spurious: false,
        };
        let recoveries: Vec<_> = times().map(recovery).collect();
        let reductions: Vec<_> = times().collect();
        let mut all = 0;
        let steps = steps::of(|| all = picture.into_events(&[], &recoveries, &reductions).len());
        (steps as u64, all as u64)
    };
    // What comes before the first one of a kind stays.
    let expected = |n: u64| (1 + (2 * n + 1) + 3 * n + 4 * n, 5 * n + 2);
    assert_eq!([100, 200].map(moves), [100, 200].map(expected));
}

/// As one by one.
#[test]
fn events_are_inserted_in_order() {
    let event = |at: u64, cwnd: u64| Event {
        at: Time(at),
        cwnd,
        ssthresh: 0,
        snd_una: 0,
        snd_nxt: 0,
        kind: EventKind::Reduced { cwnd_before: 0 },
    };
    let mut events: Vec<Event> = (0..4).map(|at| event(at, 0)).collect();
    let new = [(4, 1), (1, 2), (3, 3), (1, 4), (9, 5)];
    insert_all(&mut events, new.map(|(place, cwnd)| (place, event(9, cwnd))).to_vec());
    let cwnds: Vec<u64> = events.iter().map(|event| event.cwnd).collect();
    assert_eq!(cwnds, [0, 2, 4, 0, 0, 3, 0, 1, 5]);
}
