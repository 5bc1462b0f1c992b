//! A receiver behind a slow link that answers each packet by one ACK.

use super::Line;
use crate::connection::Spurious;

/// Segments 0 and 1 go out, and the timer expires before their ACKs can come; the first of these
/// sends the second segment again, and the next one lets segments 2 and 3 go. Then come `acks`,
/// 400 ms apart, the first of which came before: what each acknowledges, with which window.
fn slow_link(acks: &[(u64, u64)]) -> Vec<Option<Spurious>> {
    late_link(acks, 400.0, false)
}

/// The same with a longer time before the third ACK, ahead of which a keep-alive may go out.
fn late_link(acks: &[(u64, u64)], third: f64, alive: bool) -> Vec<Option<Spurious>> {
    let mut line = Line::without_sack(50.0);
    line.ack(50.0, 0);
    line.send(100.0, 0..2);
    line.send(350.0, [0]);
    line.ack(500.0, 1);
    line.send(500.1, [1]);
    for (n, &(ack, window)) in acks.iter().enumerate() {
        let late = if n < 2 { 0.0 } else { third - 400.0 };
        let at = 900.0 + 400.0 * n as f64 + late;
        if n == 2 && alive {
            line.model.keeps_alive(super::ms(at - 50.0));
        }
        line.window = window;
        line.ack(at, ack);
        if n == 0 {
            line.send(at + 0.1, 2..4);
        }
    }
    let found = line.found();
    assert_eq!(found.retransmissions.len(), 2);
    assert!(found.retransmissions.iter().all(|r| r.spurious.is_none() || r.known));
    found.retransmissions.iter().map(|r| r.spurious).collect()
}

/// Each packet has its ACK: two for the segments, two for the retransmissions, and that of the next
/// segment, which would come sooner if one of them had been needed.
#[test]
fn an_ack_for_each_packet() {
    let (wide, proved) = (1 << 20, Some(Spurious::DuplicateAck));
    let acks = |all: &[u64]| slow_link(&all.iter().map(|ack| (*ack, wide)).collect::<Vec<_>>());
    assert_eq!(acks(&[2, 2, 2, 3, 4]), [proved; 2]);
    assert_eq!(acks(&[2, 2, 2]), [None; 2]);
    // One fewer: one of them was lost, or brought something.
    assert_eq!(acks(&[2, 2, 3, 4]), [None; 2]);
    // Segment 2 is lost: the second may be the answer to what is behind it.
    assert_eq!(acks(&[2, 2, 2, 4]), [None; 2]);
    // A receiver that reads tells of its window.
    let opens = [(2, wide), (2, wide), (2, wide + 1000), (3, wide + 1000)];
    assert_eq!(slow_link(&opens), [None; 2]);
}

/// The ACK before the third took 950 ms, so this one may take 1.9 s: it is that of what went out at
/// 500.1 ms. An answer to a keep-alive is no other than the ACK of a duplicate.
#[test]
fn an_ack_that_comes_too_late() {
    let acks = [2, 2, 2, 3, 4].map(|ack| (ack, 1 << 20));
    let proved = Some(Spurious::DuplicateAck);
    assert_eq!(late_link(&acks, 1_100.0, false), [proved; 2]);
    assert_eq!(late_link(&acks, 1_101.0, false), [None; 2]);
    assert_eq!(late_link(&acks, 1_100.0, true), [None; 2]);
}

/// After an ACK that is not so, what had gone out before proves nothing any more.
#[test]
fn what_was_outstanding_is_not_followed_again() {
    let mut line = Line::without_sack(50.0);
    line.ack(50.0, 0);
    line.send(100.0, 0..5);
    line.send(400.0, [0]);
    // Two segments at once: the receiver does not answer each, or one ACK was lost.
    line.ack(450.0, 2);
    line.send(450.1, [2]);
    for (at, ack) in [(500.0, 3), (550.0, 4), (600.0, 5), (650.0, 5)] {
        line.ack(at, ack);
    }
    line.send(700.0, 5..6);
    line.ack(750.0, 6);
    let found = line.found();
    assert_eq!(found.retransmissions.len(), 2);
    assert!(found.retransmissions.iter().all(|r| r.spurious.is_none()));
}
