//! What sends the head twice within a recovery: an ACK and a timer.

use super::*;

/// A sender without SACK whose timer goes on from its first partial ACK (RFC 6582 section 4) sends
/// the head on the seventh, and once more so long after that.
fn head_again_after(later: f64) -> Vec<(u64, Kind)> {
    let mut line = Line::without_sack(50.0);
    line.send(0.0, 0..10);
    line.three_acks(50.0, 0);
    line.send(50.21, [0]);
    for n in 0..6 {
        let at = 100.3 + 50.0 * n as f64;
        line.ack(at, 2 + n);
        line.send(at + 0.01, [2 + n]);
    }
    line.send(350.31 + later, [7]);
    line.ack(400.4, 8);
    line.send(400.41, [8, 9]);
    line.ack(450.5, 10);
    kinds(&line.found())[6..].to_vec()
}

/// An ACK sends the head once. What sends it again before the next one is the timer, and the slow
/// start after it follows. But what comes at once may be two parts of one answer.
#[test]
fn no_ack_sends_the_head_twice() {
    let back = Kind::SlowStart;
    assert_eq!(
        head_again_after(5.0),
        [(7, Kind::Recovery), (7, Kind::Timeout), (8, back), (9, back)]
    );
    assert_eq!(head_again_after(0.5)[1], (7, back));
}

/// A fast retransmit does not set the timer anew (RFC 6298 section 5): it may expire right after.
/// Where it is not due, counted from when the head first went out, nothing is known to send the
/// head so soon again.
#[test]
fn a_timer_right_after_a_fast_retransmit() {
    for (heard, kind) in [(240.0, Kind::Timeout), (200.0, Kind::Unknown)] {
        let mut line = Line::sack(50.0);
        line.ack(0.0, 0);
        line.send(0.0, 0..8);
        line.ack_sack(50.0, 0, &[(3, 4)]);
        line.send(heard - 50.0, 8..10);
        line.ack_sack(heard, 0, &[(8, 10), (3, 4)]);
        line.send(heard + 0.01, [0]);
        line.send(heard + 13.0, [0]);
        line.ack_sack(heard + 60.0, 2, &[(8, 10), (3, 4)]);
        line.send(heard + 60.01, [2]);
        line.ack(heard + 120.0, 10);
        let found = kinds(&line.found());
        assert_eq!(found[..2], [(0, Kind::FastRetransmit), (0, kind)]);
        let next = if kind == Kind::Timeout { Kind::SlowStart } else { Kind::Recovery };
        assert_eq!(found[2..], [(2, next)]);
    }
}
