use std::net::SocketAddr;

use ackclock_tcp::wire::{Control, Options};
use ackclock_tcp::{Codepoint, Seq, Time};

use super::*;

fn packet(ip_id: Option<u16>, ttl: u8, len: u32) -> Packet {
    let address: SocketAddr = "10.0.0.1:80".parse().expect("an address");
    Packet {
        frame: 0,
        at: Time(0),
        src: address,
        dst: address,
        seq: Seq(0),
        ack: Seq(0),
        control: Control::ACK,
        ae: false,
        wnd: 0,
        len,
        options: Options::default(),
        options_cut: false,
        ip_id,
        ttl,
        codepoint: Codepoint::NotEct,
        damaged: false,
    }
}

/// A SYN of number 1 and packets with these numbers, of which those with a `true` have new data:
/// was all seen?
fn all_seen(ttl: u8, packets: &[(Option<u16>, bool)]) -> Vec<bool> {
    let mut numbers = Numbers::default();
    numbers.passed(&packet(Some(1), ttl, 0), 1000, 0);
    numbers.begins();
    let seen = |&(ip_id, is_new): &(Option<u16>, bool)| {
        numbers.passed(&packet(ip_id, ttl, 100), 1000, 0);
        let seen = numbers.all_seen();
        if is_new {
            numbers.has_newest();
        }
        seen
    };
    packets.iter().map(seen).collect()
}

/// The same of one that has new data in all packets but these.
fn seen(ids: &[u16], without: &[usize]) -> Vec<bool> {
    let packets: Vec<_> =
        ids.iter().enumerate().map(|(n, id)| (Some(*id), !without.contains(&n))).collect();
    // Windows counts the packets of other connections, too.
    let [linux, windows] = [64, 128].map(|ttl| all_seen(ttl, &packets));
    assert_eq!(linux, windows);
    linux
}

#[test]
fn one_number_behind_the_other_leaves_no_room() {
    assert_eq!(seen(&[2, 3, 4, 5], &[1, 2]), [true; 4]);
    // Constant numbers, and those of another order, tell nothing.
    assert_eq!(seen(&[1, 1, 1], &[]), [false; 3]);
    assert_eq!(seen(&[2, 1, 2], &[]), [true, false, false]);
    // IPv6 has none.
    let none = [(Some(2), true), (None, true), (Some(3), true)];
    assert_eq!(all_seen(64, &none), [true, false, false]);
}

/// Two were lost. What looks like new data next may be what they carried, until two have passed.
#[test]
fn what_was_missing_may_come_again() {
    assert_eq!(seen(&[2, 5, 6, 7], &[]), [true, false, false, true]);
    // ACKs, and what was seen before, are none of it.
    assert_eq!(seen(&[2, 5, 6, 7, 8, 9], &[2, 3]), [true, false, false, false, false, true]);
}

/// Without a SYN nothing is missing before the first packet.
#[test]
fn the_capture_may_begin_later() {
    for (next, seen) in [(40_001, true), (40_002, false)] {
        let mut numbers = Numbers::default();
        numbers.passed(&packet(Some(40_000), 64, 100), 1000, 0);
        numbers.has_newest();
        numbers.passed(&packet(Some(next), 64, 100), 1000, 0);
        assert_eq!(numbers.all_seen(), seen);
    }
}

/// A SYN/ACK has a number of its own: an initial window may have been lost behind it.
#[test]
fn another_sequence_begins() {
    let ids: Vec<u16> = (0..12).map(|n| 40_000 + n).collect();
    let known = seen(&ids, &[]).iter().position(|seen| *seen);
    assert_eq!(known, Some(10));
    // The wrap is none.
    let ids: Vec<u16> = (0..14).map(|n| 65_530_u16.wrapping_add(n)).collect();
    assert_eq!(seen(&ids, &[])[10..], [true; 4]);
}

/// Each segment of a super-segment has a number.
#[test]
fn a_super_segment_has_several_numbers() {
    for (next, seen) in [(4, true), (2, false)] {
        let mut numbers = Numbers::default();
        numbers.passed(&packet(Some(1), 64, 2500), 1000, 0);
        numbers.begins();
        numbers.passed(&packet(Some(next), 64, 1000), 1000, 0);
        assert_eq!(numbers.all_seen(), seen);
    }
}

/// Numbers of Windows begin anew behind 65535, and two packets are missing there.
#[test]
fn the_numbers_begin_anew() {
    let mut numbers = Numbers::default();
    let mut seen = |id| {
        numbers.passed(&packet(Some(id), 128, 100), 1000, 0);
        numbers.all_seen()
    };
    assert_eq!([65_534, 65_535, 2].map(&mut seen), [true, true, false]);
}

/// As many are missing as numbers are: only behind a SYN does a jump mean another sequence.
#[test]
fn a_jump_is_as_long_as_it_looks() {
    let all_seen_after = |jump: u16, new: usize| {
        let mut packets = vec![(Some(2), true), (Some(2 + jump), true)];
        packets.extend((1..=new as u16).map(|n| (Some(2 + jump + n), true)));
        all_seen(64, &packets).last() == Some(&true)
    };
    assert_eq!([(5, 3), (5, 4)].map(|(jump, new)| all_seen_after(jump, new)), [false, true]);
    assert_eq!([100, 254].map(|new| all_seen_after(2000, new)), [false; 2]);
}

/// An ACK from TIME_WAIT and a reset have the number 0 and none of the connection. One with data
/// has.
#[test]
fn what_a_closed_connection_answers_has_no_number() {
    let tells = |len: u32| {
        let mut numbers = Numbers::default();
        for id in 40_000..40_009 {
            numbers.passed(&packet(Some(id), 64, 0), 1000, 0);
        }
        let of_zero = numbers.passed(&packet(Some(0), 64, len), 1000, 0);
        (of_zero, numbers.all_seen(), numbers.passed(&packet(Some(40_009), 64, 0), 1000, 0))
    };
    assert_eq!(tells(0), ((0, true), true, (0, true)));
    assert_eq!(tells(1), ((0, false), false, (0, false)));
}
