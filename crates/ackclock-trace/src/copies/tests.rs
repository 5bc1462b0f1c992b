use std::collections::HashSet;

use ackclock_tcp::wire::Options;
use ackclock_tcp::{Codepoint, Timestamps};

use super::*;

/// Times are kept in 32 bits of microseconds, which wrap every 71.6 minutes.
#[test]
fn a_copy_across_a_wrap() {
    let wrap = 1000 << 32;
    let (early, late) = (Time(wrap - 5_000_000), Time(wrap + 15_000_000));
    let apart = Span::from_millis(20);
    for times in [[early, late], [late, early]] {
        let mut seen = Copies::default();
        let ages = times.map(|at| seen.find(1 << 40, 0, at, WITHIN).map(|(_, age)| age));
        assert_eq!(ages, [None, Some(apart)]);
    }
    // Too late.
    let mut seen = Copies::default();
    let ages =
        [early, Time(wrap + 96_000_000)].map(|at| seen.find(1 << 40, 0, at, WITHIN).is_some());
    assert_eq!(ages, [false, false]);
}

/// Ends of connections whose packets say the same have them in the same place.
#[test]
fn no_copy_is_of_another_end() {
    let (mut seen, at) = (Copies::default(), Time(1_000_000));
    let found: Vec<bool> = (0..4).map(|of| seen.find(1 << 40, of, at, WITHIN).is_some()).collect();
    assert_eq!(found, [false; 4]);
    assert!((0..4).all(|of| seen.find(1 << 40, of, at, WITHIN).is_some()));
}

/// A place that is in two lines of memory takes as long again.
#[test]
fn a_bucket_is_in_one_line() {
    let seen = Copies::default();
    let line = |at: *const u8| at as usize / 64;
    for bucket in &seen.packets {
        let first: *const u8 = std::ptr::from_ref(bucket).cast();
        assert_eq!(line(first), line(first.wrapping_add(size_of::<Bucket>() - 1)));
    }
}

/// Of a download nothing looks like a copy: neither its segments nor the ACKs.
#[test]
fn prints_differ() {
    let address = "10.0.0.1:80".parse().unwrap();
    let packet = |n: u32, data: bool| Packet {
        frame: 0,
        at: Time::ZERO,
        src: address,
        dst: address,
        seq: Seq(if data { n * 1448 } else { 1 }),
        ack: Seq(if data { 1 } else { n * 2896 }),
        control: Control::ACK,
        ae: false,
        wnd: 65_535,
        len: if data { 1448 } else { 0 },
        options: Options {
            timestamps: Some(Timestamps { val: n / 80, ecr: n / 100 }),
            ..Options::default()
        },
        options_cut: false,
        ip_id: Some(n as u16),
        ttl: 64,
        codepoint: Codepoint::NotEct,
        damaged: false,
    };
    let packets = (0..1 << 16).flat_map(|n| [packet(n, true), packet(n, false)]);
    let kept = |print: u64| ((print >> 32) as usize % BUCKETS, print as u32 | 1);
    let prints: HashSet<(usize, u32)> = packets.map(|p| kept(print(&p))).collect();
    assert_eq!(prints.len(), 1 << 17);
}
