//! Away from the sender: what waited before the capture.

use ackclock_tcp::{Span, TimeoutClass};

use super::{Line, Sight, kinds};
use crate::connection::Kind;

/// As at a receiver behind a queue that was held up for longer than the timer waits: first comes
/// what was new, and its ACKs are on their way; then what the timer sent, and the slow start after
/// it.
fn behind_a_spike(sight: Sight) -> Line {
    let mut line = Line::without_sack(50.0);
    line.model.stream.terms.sight = sight;
    line.send(0.0, 0..4);
    line.ack(50.0, 4);
    line.send(51.0, 4..12);
    line.send(500.0, [12]);
    line.ack(552.0, 13);
    line
}

#[test]
fn what_the_timer_sent_before_the_ack_came_is_seen_after_it() {
    let mut line = behind_a_spike(Sight::Received);
    line.send(553.0, 4..7);
    line.send(554.0, [13]);
    // Another expiry, of a segment that has gone again before.
    line.send(800.0, [6]);
    line.send(900.0, [6]);
    let found = line.found();
    let (slow_start, by_timer) = (Kind::SlowStart, Kind::Timeout);
    let expected = [
        (4, by_timer),
        (5, slow_start),
        (6, slow_start),
        (6, by_timer),
        (6, Kind::BackedOffTimeout),
    ];
    assert_eq!(kinds(&found), expected);
    let classes =
        [TimeoutClass::NonTrigger, TimeoutClass::LostRetransmission, TimeoutClass::BackedOff];
    assert_eq!(found.timeouts.iter().map(|t| t.class).collect::<Vec<_>>(), classes);
    assert_eq!(found.timeouts.iter().map(|t| t.retransmission).collect::<Vec<_>>(), [0, 3, 4]);
    // The estimate, since nobody saw the wait.
    assert!(found.timeouts.iter().all(|t| t.waited >= Span::from_millis(200)));
}

/// At the sender an ACK that has come is known: nothing waits before the capture.
#[test]
fn at_the_sender_nothing_waits_before_the_capture() {
    let mut line = behind_a_spike(Sight::Sent);
    line.send(553.0, 4..6);
    assert_eq!(kinds(&line.found()), [(4, Kind::Unknown), (5, Kind::Unknown)]);
}

/// The ACK of 0 comes to the capture before what the timer sent does. So 1 is not sent by the
/// timer, which sends the same segment each time, but by that ACK.
#[test]
fn a_timer_backs_off_with_the_same_segment_alone() {
    for (sight, kind) in [(Sight::Received, Kind::SlowStart), (Sight::Sent, Kind::BackedOffTimeout)]
    {
        let mut line = Line::without_sack(50.0);
        line.model.stream.terms.sight = sight;
        line.send(0.0, 0..4);
        line.ack(50.0, 1);
        line.send(300.0, [0]);
        line.send(400.0, [1]);
        assert_eq!(kinds(&line.found())[1], (1, kind), "{sight:?}");
    }
}
