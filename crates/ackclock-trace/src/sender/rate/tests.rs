//! Segments of 1,000 bytes over a path of 50 ms; the bottleneck takes 8 ms for each, which is
//! 1 Mbit/s. Such a path holds 6,250 bytes.

use super::*;

/// ACKs in milliseconds: when each came, when the first and the last of its segments went out, and
/// how many segments are acknowledged.
fn after(handshake: Option<u64>, acks: &[(u64, u64, u64, u64)]) -> Bottleneck {
    let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
    let mut found = Bottleneck::new(1000, handshake.map(Span::from_millis), true);
    let mut before = 0;
    for &(came, oldest, newest, segments) in acks {
        let (ack, bytes) = (segments * 1000, (segments - before) * 1000);
        let (oldest, newest) = (at(oldest), at(newest));
        found.measured(&Trip { at: at(came), oldest, newest, ack, bytes });
        before = segments;
    }
    found
}

#[test]
fn a_burst() {
    let found = after(None, &[(50, 0, 0, 1), (58, 0, 0, 2), (66, 0, 0, 3)]);
    assert_eq!((found.bits_per_second(), found.holds()), (Some(1e6), Some(6250.0)));
}

/// The shortest round trip has the time of a segment ahead in it.
#[test]
fn an_ack_for_two() {
    let found = after(None, &[(58, 0, 0, 2), (74, 0, 0, 4), (90, 0, 0, 6)]);
    assert_eq!((found.bits_per_second(), found.holds()), (Some(1e6), Some(6250.0)));
}

/// The fifth segment waits for the timer of delayed ACKs.
#[test]
fn a_delayed_ack() {
    let found = after(None, &[(58, 0, 0, 2), (74, 0, 0, 4), (122, 0, 0, 5)]);
    assert_eq!(found.bits_per_second(), Some(1e6));
}

/// Nothing waited: each segment went out 20 ms after the one before it.
#[test]
fn an_idle_bottleneck() {
    let found = after(None, &[(50, 0, 0, 1), (70, 20, 20, 2), (90, 40, 40, 3), (110, 60, 60, 4)]);
    assert_eq!((found.bits_per_second(), found.holds()), (None, None));
}

/// The first of the pair waited, the second went out when the queue was empty.
#[test]
fn a_pair_apart() {
    let found = after(None, &[(58, 0, 0, 2), (98, 0, 40, 4)]);
    assert_eq!(found.bits_per_second(), None);
}

/// A single ACK of three segments 24 ms after what the handshake took.
#[test]
fn against_the_handshake() {
    let found = after(Some(42), &[(66, 0, 0, 3)]);
    assert_eq!((found.bits_per_second(), found.holds()), (None, Some(6250.0)));
    assert_eq!(after(None, &[(66, 0, 0, 3)]).holds(), None);
}

/// Seven segments at 1 Mbit/s fill a round trip. A train of 2 Mbit/s as long raises the estimate at
/// once by its weight, a slow one hardly lowers it.
#[test]
fn up_fast_and_down_slowly() {
    let trains = |gap: u64, segments: u64| {
        let first = (0..8).map(|n| (50 + 8 * n, 0, 0, n + 1));
        let second = (1..=segments).map(|n| (106 + gap * n, 0, 0, n + 8));
        let acks: Vec<_> = first.chain(second).collect();
        after(None, &acks).bits_per_second().unwrap()
    };
    assert_eq!(trains(4, 13), 2e6);
    let slow = trains(16, 4);
    assert!((slow - (1e6 - 1e6 / 24.0)).abs() < 1e-3, "{slow}");
}

/// Single ACKs come early and late. What counts is the time of all of them.
#[test]
fn jitter() {
    let acks = [(50, 0, 0, 1), (53, 0, 0, 2), (66, 0, 0, 3), (69, 0, 0, 4), (82, 0, 0, 5)];
    assert_eq!(after(None, &acks).bits_per_second(), Some(1e6));
}
