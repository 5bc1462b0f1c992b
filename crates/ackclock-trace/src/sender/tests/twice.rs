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

/// A fast retransmit goes out at `heard`. The head follows once more `later`, and before it, if
/// `acked`, an ACK that says nothing of its last transmission.
fn after_a_fast_retransmit(heard: f64, acked: bool, later: f64) -> [(u64, Kind); 2] {
    let mut line = Line::sack(50.0);
    line.ack(0.0, 0);
    line.send(0.0, 0..8);
    line.ack_sack(50.0, 0, &[(3, 4)]);
    line.send(heard - 50.0, 8..10);
    line.send(heard - 45.0, [10]);
    line.ack_sack(heard, 0, &[(8, 10), (3, 4)]);
    line.send(heard + 0.01, [0]);
    if acked {
        line.ack_sack(heard + 5.0, 0, &[(8, 11), (3, 4)]);
    }
    line.send(heard + later, [0]);
    line.ack_sack(heard + 60.0, 2, &[(8, 11), (3, 4)]);
    line.send(heard + 60.01, [2]);
    line.ack(heard + 120.0, 11);
    let found = kinds(&line.found());
    assert_eq!(found[0], (0, Kind::FastRetransmit));
    [found[1], found[2]]
}

/// A fast retransmit does not set the timer anew (RFC 6298 section 5): it may expire right after,
/// also behind an ACK that says nothing of it. Where it is not due, counted from when the head
/// first went out, nothing is known to send the head so soon again, unless an ACK does.
#[test]
fn a_timer_right_after_a_fast_retransmit() {
    let timeout = [(0, Kind::Timeout), (2, Kind::SlowStart)];
    let repair = [(0, Kind::Recovery), (2, Kind::Recovery)];
    assert_eq!(after_a_fast_retransmit(240.0, false, 13.0), timeout);
    assert_eq!(after_a_fast_retransmit(240.0, true, 13.0), timeout);
    assert_eq!(after_a_fast_retransmit(240.0, true, 5.01), repair);
    assert_eq!(after_a_fast_retransmit(200.0, true, 13.0), repair);
    let unknown = [(0, Kind::Unknown), (2, Kind::Recovery)];
    assert_eq!(after_a_fast_retransmit(200.0, false, 13.0), unknown);
}
