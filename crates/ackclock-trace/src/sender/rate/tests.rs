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
        found.measured(&Trip { at: at(came), oldest, newest, ack, bytes, all: ack, flight: 0 });
        before = segments;
    }
    found
}

fn holds(found: &Bottleneck, arrivals: Option<ArrivalRate>) -> Option<f64> {
    found.holds(found.base(), arrivals)
}

#[test]
fn a_burst() {
    let found = after(None, &[(50, 0, 0, 1), (58, 0, 0, 2), (66, 0, 0, 3)]);
    assert_eq!((found.bits_per_second(), holds(&found, None)), (Some(1e6), Some(6250.0)));
}

/// The shortest round trip has the time of a segment ahead in it.
#[test]
fn an_ack_for_two() {
    let found = after(None, &[(58, 0, 0, 2), (74, 0, 0, 4), (90, 0, 0, 6)]);
    assert_eq!((found.bits_per_second(), holds(&found, None)), (Some(1e6), Some(6250.0)));
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
    assert_eq!((found.bits_per_second(), holds(&found, None)), (None, None));
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
    assert_eq!((found.bits_per_second(), holds(&found, None)), (None, Some(6250.0)));
    assert_eq!(holds(&after(None, &[(66, 0, 0, 3)]), None), None);
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

/// ACKs come in bursts of ten each 80 ms, a millisecond apart (Wi-Fi). Bursts that break off tell a
/// rate that is too high, but it counts only until the bottleneck was busy for a round trip; and
/// that ends where the next burst begins.
#[test]
fn bursts() {
    let burst = |n: u64| (0..10).map(move |k| (50 + 80 * n + k, 0, 0, 10 * n + k + 1));
    let rate = |bursts: u64, then: Option<_>| {
        let acks: Vec<_> = (0..bursts).flat_map(burst).chain(then).collect();
        after(None, &acks).bits_per_second().map(f64::round)
    };
    assert_eq!(rate(1, Some((110, 60, 60, 11))), Some(8e6));
    assert_eq!(rate(6, None), Some(1e6));
    assert_eq!(rate(6, Some((510, 460, 460, 61))), Some(1e6));
}

/// Another connection has half of the bottleneck. Of what is short, only this one's own is known.
#[test]
fn shared() {
    let rate = |segments: u64| {
        let mut found = Bottleneck::new(1000, None, true);
        for n in 1..=segments {
            let at = Time::ZERO + Span::from_millis(50 + 8 * n);
            let (ack, all, oldest) = (1000 * n, 2000 * n, Time::ZERO);
            found.measured(&Trip { at, oldest, newest: oldest, ack, bytes: 1000, all, flight: 0 });
        }
        found.bits_per_second()
    };
    assert_eq!((rate(3), rate(20)), (Some(1e6), Some(2e6)));
}

/// Single ACKs come early and late. What counts is the time of all of them.
#[test]
fn jitter() {
    let acks = [(50, 0, 0, 1), (53, 0, 0, 2), (66, 0, 0, 3), (69, 0, 0, 4), (82, 0, 0, 5)];
    assert_eq!(after(None, &acks).bits_per_second(), Some(1e6));
}

/// The rate of packets that arrive at these times, in ms, of so many segments each.
fn arrived(packets: impl IntoIterator<Item = (f64, u32)>) -> Option<f64> {
    let mut found = Arrivals::default();
    for (ms, segments) in packets {
        found.arrived(Time((ms * 1e6).round() as u64), segments * 1000, 1000);
    }
    found.rate(true).map(|rate| rate.bits_per_second)
}

/// Ten segments one behind the other, 8 ms each: a train is of eight after the first.
#[test]
fn a_train_that_arrives() {
    assert_eq!(arrived((1..11).map(|n| (8.0 * f64::from(n), 1))), Some(1e6));
    assert_eq!(arrived((1..10).map(|n| (8.0 * f64::from(n), 1))), None);
}

/// A host puts four segments together: the first packet's bytes were at the bottleneck before it,
/// and two packets more are too few.
#[test]
fn packets_that_were_put_together() {
    assert_eq!(arrived((1..6).map(|n| (32.0 * f64::from(n), 4))), Some(1e6));
    assert_eq!(arrived((1..5).map(|n| (64.0 * f64::from(n), 8))), None);
    // All at one time.
    assert_eq!(arrived((0..40).map(|_| (5.0, 1))), None);
}

/// A silence ends a train, be it before the first packet or behind the last: the window was empty.
#[test]
fn a_silence_ends_a_train() {
    let flights = |segments: u32| {
        let flight =
            move |n: u32| (0..segments).map(move |k| (50.0 * f64::from(n) + f64::from(k), 1));
        arrived((1..9).flat_map(flight))
    };
    assert_eq!((flights(2), flights(8)), (None, None));
    assert_eq!(flights(11), Some(8e6));
    // Two of them always come together, which is no silence.
    assert_eq!(arrived((1..40).map(|n| (8.0 * f64::from(n / 2), 1))), Some(2e6));
}

/// Ten segments, 8 ms each, say the rate. The bottleneck has been busy since then, also where
/// packets come that say nothing of it; 17 ms are a silence.
#[test]
fn the_bottleneck_is_busy() {
    let mut found = Arrivals::default();
    let mut since = |ms: u64, new: bool| {
        let at = Time::ZERO + Span::from_millis(ms);
        if new {
            found.arrived(at, 1000, 1000);
        }
        found.busy_since(at, 1000).0 / 1_000_000
    };
    assert_eq!([8, 16, 24, 32, 40, 48, 56, 64, 72].map(|ms| since(ms, true)).last(), Some(&72));
    assert_eq!([(80, true), (96, false), (104, true)].map(|(ms, new)| since(ms, new)), [72; 3]);
    assert_eq!([121, 129].map(|ms| since(ms, true)), [121; 2]);
}

/// 50 ms at 1 Mbit/s, known to within an eighth; of no use where the round trip is not known. What
/// ACKs say of the rate is better, but if more arrives behind the bottleneck.
#[test]
fn what_a_path_holds_by_arrivals() {
    let longest = Span::from_millis(1);
    let rate = |bits_per_second, behind| Some(ArrivalRate { bits_per_second, behind, longest });
    let (slow, fast) = (rate(1e6, false), rate(2e6, false));
    let single = after(None, &[(50, 0, 0, 1)]);
    assert_eq!((holds(&single, None), holds(&single, slow)), (None, Some(6250.0 / 8.0 * 7.0)));
    assert_eq!(holds(&after(None, &[]), slow), None);
    assert_eq!(holds(&after(None, &[(0, 0, 0, 1)]), slow), None);
    let busy = after(None, &[(50, 0, 0, 1), (58, 0, 0, 2), (66, 0, 0, 3)]);
    assert_eq!(holds(&busy, fast), Some(6250.0));
    let behind = [1e6, 2e6].map(|bits_per_second| holds(&busy, rate(bits_per_second, true)));
    assert_eq!(behind, [Some(6250.0), Some(12500.0 / 8.0 * 7.0)]);
}

/// A bottleneck of 1 Mbit/s was busy for longer than a round trip of 50 ms. Frames come many at a
/// time behind it, a millisecond apart: that is no rate of the path, unless it lasts.
#[test]
fn frames_that_come_many_at_a_time() {
    let burst = |n: u64| (0..10).map(move |k| (50 + 80 * n + k, 0, 0, 10 * n + k + 1));
    let busy = after(None, &(0..6).flat_map(burst).collect::<Vec<_>>());
    let mut found = Arrivals::default();
    let mut longest = |at: u64, frames: u64| {
        for n in 0..frames {
            found.arrived(Time::ZERO + Span::from_millis(at + n), 1000, 1000);
        }
        let rate = found.rate(true).unwrap();
        (rate.longest.0 / 1_000_000, holds(&busy, Some(rate)))
    };
    assert_eq!(longest(80, 20), (16, Some(6250.0)));
    assert_eq!(longest(160, 26), (24, Some(6250.0)));
    assert_eq!(longest(240, 34), (32, Some(50_000.0 / 8.0 * 7.0)));
}
