//! A receiver behind a slow link that answers each packet by one ACK.

use super::Line;
use crate::connection::Spurious;

/// Segments 0 and 1 go out, and the timer expires before their ACKs can come; the first of these
/// sends the second segment again, and the next one lets segments 2 and 3 go. Then come `acks`,
/// 400 ms apart, the first of which came before: what each acknowledges, with which window.
fn slow_link(acks: &[(u64, u64)]) -> Vec<Option<Spurious>> {
    let mut line = Line::without_sack(50.0);
    line.ack(50.0, 0);
    line.send(100.0, 0..2);
    line.send(350.0, [0]);
    line.ack(500.0, 1);
    line.send(500.1, [1]);
    for (n, &(ack, window)) in acks.iter().enumerate() {
        let at = 900.0 + 400.0 * n as f64;
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
