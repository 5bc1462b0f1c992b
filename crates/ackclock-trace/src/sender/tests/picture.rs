//! Events for a picture: causes as they are known at the end.

use ackclock_tcp::{Cause, EventKind, TimeoutClass};

use super::{Line, MSS, ms};
use crate::sender::picture::Picture;

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
