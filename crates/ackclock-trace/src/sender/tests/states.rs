//! The state before each timeout, with flight and window.

use super::{Line, timeouts};
use ackclock_tcp::TimeoutClass;

use crate::connection::State;

/// NewReno: the first loss is repaired, the partial ACK shows the second, whose retransmission
/// is lost.
#[test]
fn in_recovery_with_the_retransmission_lost() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..8);
    line.three_acks(50.0, 0);
    line.send(50.21, [0]);
    line.ack(100.3, 4);
    line.send(100.31, [4]);
    line.send(352.0, [4]);
    line.ack(402.0, 8);
    let found = line.found();
    assert_eq!(timeouts(&found), [(4, TimeoutClass::LostRetransmission, State::Recovery)]);
    let timeout = &found.timeouts[0];
    assert_eq!((timeout.flight, timeout.waited.0), (4000, 251_700_000));
    assert_eq!((found.recoveries[0].by_timeout, found.recoveries[0].end), (true, Some(timeout.at)));
}

/// Reno: the first loss is repaired, the second one is found by the timer. Others were
/// retransmitted in this period, this one was not.
#[test]
fn after_a_recovery_with_a_second_loss() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..6);
    line.three_acks(50.0, 0);
    line.send(50.21, [0]);
    line.ack(100.3, 4);
    line.send(352.0, [4]);
    line.ack(402.0, 6);
    let found = line.found();
    assert_eq!(timeouts(&found), [(4, TimeoutClass::MultipleLosses, State::Recovery)]);
}

/// What was sent after the repair has no part in it: nothing had been retransmitted in this period.
#[test]
fn a_new_period() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..6);
    line.ack_sack(50.0, 0, &[(1, 4)]);
    line.send(50.01, [0]);
    line.ack(100.1, 6);
    line.send(101.0, 6..9);
    line.send(352.5, [6]);
    line.ack(402.5, 9);
    let found = line.found();
    assert_eq!(timeouts(&found), [(6, TimeoutClass::NonTrigger, State::Open)]);
}

/// After a timeout, with progress, and stuck once more: the slow start's retransmission was lost.
#[test]
fn in_loss() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..4);
    line.send(251.0, [0]);
    line.ack(301.0, 2);
    line.send(301.01, [2, 3]);
    line.send(803.0, [2]);
    line.ack(853.0, 4);
    let found = line.found();
    let expected = [
        (0, TimeoutClass::NonTrigger, State::Open),
        (2, TimeoutClass::LostRetransmission, State::Loss),
    ];
    assert_eq!(timeouts(&found), expected);
}

/// Without SACK a recovery is only over when more than its point is acknowledged (RFC 6582 section
/// 3.2, as Linux does it).
#[test]
fn held_at_the_recovery_point() {
    for (end, state) in [(8, State::Recovery), (9, State::Open)] {
        let mut line = Line::without_sack(50.0);
        line.send(0.0, 0..8);
        line.three_acks(50.0, 0);
        line.send(50.21, [0]);
        line.send(50.3, 8..12);
        line.ack(100.4, end);
        line.send(351.5, [end]);
        line.ack(401.5, 12);
        assert_eq!(timeouts(&line.found()), [(end, TimeoutClass::NonTrigger, state)], "{end}");
    }
}

/// The window is estimated as the largest flight: of eight segments four are acknowledged, and the
/// last of six is lost.
#[test]
fn window_and_flight() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..8);
    line.ack(50.0, 8);
    line.send(60.0, 8..14);
    line.ack(110.0, 11);
    line.send(362.0, [11]);
    line.ack(412.0, 14);
    let found = line.found();
    assert_eq!((found.timeouts[0].flight, found.timeouts[0].cwnd), (3000, 8000));
}
