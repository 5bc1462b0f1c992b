use super::super::Entry;
use super::super::tests::{ack, seen};
use super::*;

/// An ACK of segment 1 reaches the sender at 152 ms; 137 ms later it sends segment 2, and then
/// 3, 210 ms after an ACK of that. The round trip was 50 ms to 52 ms.
#[test]
fn waits_are_round_and_without_those_of_most_senders() {
    let all = [
        seen(100.0, 0),
        seen(100.1, 1),
        ack(102.0, 2, &[]),
        seen(289.0, 2),
        ack(289.0, 3, &[]),
        seen(549.0, 3),
        // An ACK has let this go.
        ack(549.0, 4, &[]),
        seen(600.0, 4),
    ];
    let [delay, grain] = [50, 3].map(Span::from_millis);
    let sent = || all.iter().filter_map(Entry::sent);
    let acks = || all.iter().filter_map(Entry::acked);
    let (whole, beside) = waits(sent, acks, delay, delay, grain);
    // With the grain 140 and 213 ms whole, 90 and 163 ms beside the round trip, both a little
    // less. 200 ms is tried anyway.
    assert_eq!(whole, [Span::from_millis(100)]);
    assert_eq!(beside, [80, 150].map(Span::from_millis));
    assert_eq!(round(Span::from_millis(99)), Span::from_millis(90));
    assert_eq!(round(Span::from_millis(449)), Span::from_millis(400));
    assert_eq!(round(Span::from_millis(599)), Span::from_millis(500));
}
