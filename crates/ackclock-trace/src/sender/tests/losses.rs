//! Trains of segments over a path whose fates are known. Headers have 40 bytes.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::loss::{LossCause, Losses};
use crate::standards::least_packet;

/// Bytes of a packet.
const PACKET: f64 = MSS as f64 + 40.0;
/// Of the bucket, and of the queue: bytes a millisecond, and bytes.
const RATE: f64 = 312.0;
const BURST: f64 = 20.0 * PACKET;

/// What takes segments.
#[derive(Clone, Copy, PartialEq)]
enum Path {
    Policer,
    /// A queue with the rate and the size of the bucket.
    Queue,
    /// One in 24, wherever.
    Random,
    /// The same, behind a slow start that loses every other segment at its end.
    RandomLater,
    /// The same, behind three trains that lose every fourth segment.
    RandomAfterTrains,
}

/// Trains of 60 segments with a millisecond between two, after pauses of 340 ms and 30 ms by turns.
/// The round trip is 50 ms, and a loss is repaired 130 ms after it.
fn trains(trains: u64, path: Path, sight: Sight) -> Losses {
    let mut line = Line::sack(50.0);
    line.model.stream.terms.sight = sight;
    // By time in nanoseconds and in order of their making: a segment goes out, or its ACK comes.
    let mut events: BTreeMap<(u64, u64), (u64, bool)> = BTreeMap::new();
    let (mut at, mut made) = (0, 0);
    for train in 0..trains {
        for n in 0..60 {
            made += 1;
            events.insert(((at + n) * 1_000_000, made), (train * 60 + n, true));
        }
        at += 60 + if train % 2 == 0 { 340 } else { 30 };
    }
    let (mut tokens, mut last) = (BURST, 0);
    let mut arrived = BTreeSet::new();
    let mut random = 1_u64;
    let mut sent = 0;
    while let Some(((now, _), (n, goes_out))) = events.pop_first() {
        let t = now as f64 / 1e6;
        made += 1;
        if !goes_out {
            arrived.insert(n);
            let una = (0..).find(|n| !arrived.contains(n)).unwrap();
            if n < una {
                line.ack(t, una);
            } else {
                let end = (n..).find(|n| !arrived.contains(n)).unwrap();
                let start = (una..=n).rev().take_while(|n| arrived.contains(n)).last().unwrap();
                line.ack_sack(t, una, &[(start, end)]);
            }
            continue;
        }
        tokens = (tokens + RATE * (now - last) as f64 / 1e6).min(BURST);
        last = now;
        line.send(t, [n]);
        let new = n >= sent;
        sent = sent.max(n + 1);
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let lost = match path {
            Path::Policer | Path::Queue => tokens < PACKET,
            Path::RandomLater if n < 60 => new && n % 2 == 0,
            Path::RandomAfterTrains if n < 180 => new && n % 4 == 0,
            Path::Random | Path::RandomLater | Path::RandomAfterTrains => {
                new && (random >> 33).is_multiple_of(24)
            }
        };
        if lost {
            events.insert((now + 130_000_000, made), (n, true));
            continue;
        }
        let bucket = matches!(path, Path::Policer | Path::Queue);
        tokens -= if bucket { PACKET } else { 0.0 };
        let queued = if path == Path::Queue { (BURST - tokens) / RATE * 1e6 } else { 0.0 };
        events.insert((now + 50_000_000 + queued as u64, made), (n, false));
    }
    line.found().losses
}

#[test]
fn a_policer() {
    let losses = trains(10, Path::Policer, Sight::Sent);
    let Some(LossCause::Policer { rate_bps, burst: Some(burst) }) = losses.cause else {
        panic!("{losses:?}")
    };
    // 312 bytes a millisecond are 2,496,000 bit/s; the bucket is known to two packets.
    assert!((rate_bps - 2_496_000.0).abs() < 0.02 * 2_496_000.0, "{rate_bps}");
    assert!((burst as f64 - BURST).abs() <= 2.0 * PACKET, "{burst}");
}

/// The same packets are lost. But what comes when the queue is full waits for 20 packets, of which
/// each takes 3.33 ms.
#[test]
fn a_queue_of_the_same_rate_and_size() {
    let losses = trains(10, Path::Queue, Sight::Sent);
    let Some(LossCause::DropTail { delay, .. }) = losses.cause else { panic!("{losses:?}") };
    let ms = delay.0 as f64 / 1e6;
    assert!((50.0..=66.7).contains(&ms), "{ms}");
}

/// Of 600 segments 4 % are lost, and two in a row are rare.
#[test]
fn at_random() {
    let losses = trains(10, Path::Random, Sight::Sent);
    let Some(LossCause::Random { rate, run }) = losses.cause else { panic!("{losses:?}") };
    let counted = f64::from(losses.counted);
    assert!((rate - counted / 600.0).abs() < 0.005, "{rate}, {losses:?}");
    assert!((1.0..1.3).contains(&run), "{run}");
}

/// Most were lost as a queue overflowed in slow start; the others are lost at random, at a rate
/// that all of them together do not tell. So nothing is said.
#[test]
fn at_random_behind_a_slow_start() {
    let losses = trains(15, Path::RandomLater, Sight::Sent);
    assert!(losses.episodes >= 10, "{losses:?}");
    assert_eq!(losses.cause, None);
}

/// The same, where no episode has more than 16 of them.
#[test]
fn at_random_behind_several_episodes_of_a_queue() {
    let losses = trains(15, Path::RandomAfterTrains, Sight::Sent);
    assert!(losses.counted >= 60, "{losses:?}");
    assert_eq!(losses.cause, None);
}

/// Two trains have two episodes.
#[test]
fn little_evidence() {
    let losses = trains(2, Path::Policer, Sight::Sent);
    assert_eq!((losses.episodes, losses.cause), (2, None));
}

/// At the receiver no lost segment was seen going out.
#[test]
fn losses_before_the_capture() {
    let mut line = Line::sack(50.0);
    line.model.stream.terms.sight = Sight::Received;
    line.send(0.0, [0, 2]);
    line.ack_sack(0.1, 1, &[(2, 3)]);
    line.send(60.0, [1]);
    line.ack(60.1, 3);
    assert_eq!(line.found().losses, Losses::default());
}

/// Before the first loss there are fewer than 128 records, as many round trips as it takes.
#[test]
fn memory_is_bounded() {
    let mut line = Line::sack(50.0);
    let mut most = 0;
    for n in 0..2000 {
        line.send(n as f64 * 60.0, [n]);
        line.ack(n as f64 * 60.0 + 50.0, n + 1);
        most = most.max(line.model.losses.size().0);
    }
    assert_eq!(most, 127);
}

/// And 256 losses at the most.
#[test]
fn losses_are_bounded() {
    assert_eq!(trains(40, Path::Policer, Sight::Sent).counted, 256);
}

/// After a request of 100 bytes, `attempts` timeouts send 1,000 bytes again in vain, and another
/// one `last` of them, which arrive. The rest follows in as large pieces, and then a segment of
/// `then` bytes.
fn black_hole(attempts: u32, last: u32, then: u32) -> Option<LossCause> {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    line.send_bytes(50.0, 0, 100);
    line.acked_at(100.0, 100);
    for n in 0..2 {
        line.send_bytes(100.0, 100 + 1000 * n, 1000);
    }
    let mut t = 350.0;
    for n in 0..attempts {
        line.send_bytes(t, 100, 1000);
        t += 500.0 * f64::from(1 << n);
    }
    let mut position = 100;
    while position < 2100 {
        line.send_bytes(t, position, last);
        position += u64::from(last);
        t += 50.0;
        line.acked_at(t, position);
    }
    line.send_bytes(t, 2100, then);
    line.acked_at(t + 50.0, 2100 + u64::from(then));
    line.found().losses.cause
}

#[test]
fn a_path_mtu_that_is_too_small() {
    let cause = LossCause::PathMtu { passed: 540, lost: 1040 };
    assert_eq!(black_hole(3, 500, 500), Some(cause));
}

/// An outage loses as much, but what was lost comes through at last.
#[test]
fn an_outage_is_no_path_mtu() {
    assert_eq!(black_hole(3, 1000, 1000), None);
    assert_eq!(black_hole(3, 500, 1000), None);
}

/// Full segments had arrived before, an outage came, and a sender that tries shorter ones goes on
/// with these. Where a longer one is lost again later, the path has changed. `again`: that one.
fn shorter_after_full_ones(again: Option<u32>) -> Option<LossCause> {
    let mut line = Line::sack(50.0);
    line.ack(50.0, 0);
    for n in 0..4 {
        line.send_bytes(50.0 * (n + 1) as f64, 1000 * n, 1000);
        line.acked_at(50.0 * (n + 2) as f64, 1000 * (n + 1));
    }
    line.send_bytes(250.0, 4000, 1000);
    for at in [500.0, 1000.0, 2000.0] {
        line.send_bytes(at, 4000, 1000);
    }
    for (at, position) in [(4000.0, 4000), (4050.0, 4500)] {
        line.send_bytes(at, position, 500);
        line.acked_at(at + 50.0, position + 500);
    }
    if let Some(len) = again {
        line.send_bytes(4100.0, 5000, len);
        for n in 0..4 {
            line.send_bytes(4101.0, 5000 + u64::from(len) + 500 * n, 500);
        }
        let end = 5000 + u64::from(len);
        for n in 1..5 {
            let mut sack = [(0, 0); 4];
            sack[0] = (end, end + 500 * n);
            line.heard(Acked { sack, sacks: 1, ..line.plain(4151.0 + n as f64, 5000) });
        }
        line.send_bytes(4156.0, 5000, 500);
        line.send_bytes(4156.0, 5500, len - 500);
        line.acked_at(4206.0, end + 2000);
    }
    line.found().losses.cause
}

#[test]
fn an_outage_after_full_segments_is_no_path_mtu() {
    assert_eq!(shorter_after_full_ones(None), None);
    let cause = LossCause::PathMtu { passed: 540, lost: 1040 };
    assert_eq!(shorter_after_full_ones(Some(800)), Some(cause));
}

/// The search for the MTU has found nearly what was lost.
#[test]
fn a_search_that_finds_the_length_is_no_path_mtu() {
    assert_eq!(black_hole(3, 993, 993), None);
    assert!(black_hole(3, 992, 992).is_some());
}

/// Two retransmissions may be lost by chance.
#[test]
fn a_path_mtu_takes_three_retransmissions_lost() {
    assert_eq!(black_hole(2, 500, 500), None);
}

/// Full segments go out, and a shorter one behind them; the first one goes again `attempts` times,
/// as long as `again` says, and nothing is acknowledged but the shorter one, or `sacked`.
fn never(first: u32, attempts: u32, again: u32, sacked: (u64, u64)) -> Option<LossCause> {
    never_of(1000, first, attempts, again, sacked)
}

/// The same with full segments of `len` bytes.
fn never_of(
    len: u32,
    first: u32,
    attempts: u32,
    again: u32,
    sacked: (u64, u64),
) -> Option<LossCause> {
    let mut line = Line::sack(50.0);
    let full = u64::from(len);
    line.ack(50.0, 0);
    line.send_bytes(50.0, 0, first);
    line.acked_at(100.0, u64::from(first));
    let begin = u64::from(first);
    for n in 0..3 {
        line.send_bytes(100.0, begin + full * n, len);
    }
    line.send_bytes(100.0, begin + 3 * full, 400);
    let mut sack = [(0, 0); 4];
    sack[0] = (begin + sacked.0, begin + sacked.1);
    line.heard(Acked { sack, sacks: 1, ..line.plain(150.0, begin) });
    for n in 0..attempts {
        line.send_bytes(500.0 * f64::from(1 << n), begin, again);
    }
    line.found().losses.cause
}

/// A sender that does not try shorter ones never goes on (RFC 2923 section 2.1).
#[test]
fn a_path_mtu_that_is_never_found() {
    let cause = LossCause::PathMtu { passed: 440, lost: 1040 };
    assert_eq!(never(100, 4, 1000, (3000, 3400)), Some(cause));
    // Two by chance, after which the first may have been a recovery's.
    assert_eq!(never(100, 2, 1000, (3000, 3400)), None);
    // One as long has arrived, before or behind it.
    assert_eq!(never(1000, 4, 1000, (3000, 3400)), None);
    assert_eq!(never(100, 4, 1000, (2000, 3000)), None);
    // Hosts make packets of 552 bytes for any path, and of 1280 in IPv6.
    assert_eq!([40, 52, 60, 72].map(least_packet), [552, 552, 1280, 1280]);
    let of = |len: u32| never_of(len, 100, 4, len, (3 * u64::from(len), 3 * u64::from(len) + 400));
    assert_eq!(of(512), None);
    assert_eq!(of(513), Some(LossCause::PathMtu { passed: 440, lost: 553 }));
    // Shorter ones do not come through either: an outage.
    assert_eq!(never(100, 4, 400, (3000, 3400)), None);
    assert_eq!(never(100, 4, 1000, (3000, 3200)), None);
}
