//! Events for a picture: causes as they are known at the end.

use ackclock_tcp::{Cause, EventKind, TimeoutClass};

use super::{Line, MSS};
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
