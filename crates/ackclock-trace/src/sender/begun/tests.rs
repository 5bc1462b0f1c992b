use super::*;

/// A full queue of a path of 50 ms, whose bottleneck takes 8 ms for a segment of 1,000 bytes, which
/// is 1 Mbit/s: each takes 200 ms. Less than a full one does not at the end. If that takes more
/// than half of it, nobody knows whether the bottleneck was busy.
#[test]
fn a_queue_that_was_full_before() {
    let found = |small: u64| {
        let mut bottleneck = Bottleneck::new(1000, None, true);
        let mut begun = Begun::default();
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let mut ack = |came: u64, went: u64, ack: u64, bytes: u64| {
            let (at, newest) = (at(came), at(went));
            let trip = Trip { at, oldest: newest, newest, ack, bytes, all: ack, flight: 0 };
            bottleneck.measured(&trip);
            begun.measured(&trip, &bottleneck);
        };
        (0..60).for_each(|n| ack(200 + 8 * n, 8 * n, 1000 * (n + 1), 1000));
        ack(1000 + small, 1000, 60_001, 1);
        begun.tell(&mut bottleneck);
        let holds = bottleneck.holds(bottleneck.base(), None);
        (bottleneck.bits_per_second(), holds)
    };
    assert_eq!(found(42), (Some(1e6), Some(6250.0)));
    assert_eq!(found(93), (None, None));
}
