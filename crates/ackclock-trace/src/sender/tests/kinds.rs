//! Each kind of retransmission, and what must not be taken for one.

use super::{Line, kinds, ms, timeouts};
use crate::connection::{Class, Kind, Needless, State};

/// Ten segments, the first is lost; RFC 6675: the third report of something above it sends it again.
#[test]
fn fast_retransmit() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..10);
    for n in 1..4 {
        line.ack_sack(50.0 + n as f64 * 0.1, 0, &[(1, 1 + n)]);
    }
    line.send(50.31, [0]);
    line.ack_sack(50.4, 0, &[(1, 5)]);
    line.ack(100.4, 10);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::FastRetransmit)]);
    assert_eq!(timeouts(&found), []);
    let recovery = found.recoveries[0];
    assert_eq!((recovery.start, recovery.end), (ms(50.31), Some(ms(100.4))));
    assert_eq!(
        (recovery.flight, recovery.retransmissions, recovery.by_timeout, recovery.needless),
        (10_000, 1, false, false)
    );
    assert_eq!(found.retransmissions[0].lost, Some(false));
}

/// Segments 0 and 3 are lost: the scoreboard names the second.
#[test]
fn recovery_from_the_scoreboard() {
    let mut line = Line::sack(50.0);
    line.send(0.0, 0..10);
    line.ack_sack(50.1, 0, &[(1, 2)]);
    line.ack_sack(50.2, 0, &[(1, 3)]);
    line.ack_sack(50.3, 0, &[(4, 5), (1, 3)]);
    line.send(50.31, [0]);
    line.ack_sack(50.4, 0, &[(4, 8), (1, 3)]);
    line.send(50.41, [3]);
    line.ack(101.0, 10);
    assert_eq!(kinds(&line.found()), [(0, Kind::FastRetransmit), (3, Kind::Recovery)]);
}

/// NewReno: the partial ACK sends the next hole (RFC 6582 section 3.2 step 3).
#[test]
fn recovery_by_partial_ack() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..8);
    for n in 1..4 {
        line.ack(50.0 + n as f64 * 0.1, 0);
    }
    line.send(50.31, [0]);
    line.ack(50.5, 0);
    line.ack(101.0, 4);
    line.send(101.01, [4]);
    line.ack(152.0, 8);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::FastRetransmit), (4, Kind::Recovery)]);
    assert_eq!(found.recoveries.len(), 1);
}

/// The whole flight is lost: only the timer is left. RTO = 50 + 200 ms.
#[test]
fn timeout_then_slow_start() {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..4);
    line.send(251.0, [0]);
    line.ack(301.0, 1);
    line.send(301.01, [1, 2]);
    line.ack(351.0, 3);
    line.send(351.01, [3, 4, 5]);
    line.ack(401.0, 6);
    let found = line.found();
    assert_eq!(kinds(&found), [(0, Kind::Timeout), (1, Kind::SlowStart), (2, Kind::SlowStart), (3, Kind::SlowStart)]);
    assert_eq!(timeouts(&found), [(0, Class::NonTrigger, State::Open)]);
    let timeout = &found.timeouts[0];
    assert_eq!((timeout.flight, timeout.cwnd, timeout.waited.0), (4000, 4000, 251_000_000));
    assert_eq!(found.segments, 11);
    assert_eq!(found.bytes, 6000);
}

/// The receiver has 1 when the timeout's segment 0 arrives, and acknowledges both. A delayed ACK of 0 and 1, both sent again, would echo 0's
/// timestamp as well (RFC 7323 section 4.3), but not 30 ms after 1 on a path of 50.
#[test]
fn an_echo_that_comes_too_soon_proves_what_followed_needless() {
    for (acked_at, proved) in [(380.0, [None, Some(Needless::Timestamp)]), (401.0, [None, None])] {
        let mut line = Line::timestamped(50.0);
        line.model.terms.sack = false;
        line.send(0.0, 0..4);
        line.send(330.0, [0]);
        line.send(350.0, [1]);
        line.ack_echo(acked_at, 2, 330.0);
        let found = line.found();
        assert_eq!(kinds(&found)[0], (0, Kind::Timeout));
        assert_eq!(found.retransmissions.iter().map(|r| r.needless).collect::<Vec<_>>(), proved, "{acked_at}");
    }
}
