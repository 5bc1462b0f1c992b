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

/// Packets with these numbers, of which those with a `true` have new data: was all seen?
fn all_seen(ttl: u8, packets: &[(Option<u16>, bool)]) -> Vec<bool> {
    let mut numbers = Numbers::default();
    let seen = |&(ip_id, is_new): &(Option<u16>, bool)| {
        numbers.passed(&packet(ip_id, ttl, 100), 1000, 0);
        let seen = numbers.all_seen();
        if is_new {
            numbers.begins_anew();
        }
        seen
    };
    packets.iter().map(seen).collect()
}

#[test]
fn one_number_behind_the_other_leaves_no_room() {
    let all = |ids: &[u16], new: &[usize]| {
        let packets: Vec<_> =
            ids.iter().enumerate().map(|(n, id)| (Some(*id), new.contains(&n))).collect();
        [64, 128].map(|ttl| all_seen(ttl, &packets)).into_iter().reduce(|a, b| {
            // Windows counts the packets of other connections, too.
            assert_eq!(a, b);
            a
        })
    };
    let is = |expected: &[bool]| Some(expected.to_vec());
    // Nothing is known before the first new data. ACKs are counted, and so is the wrap.
    assert_eq!(all(&[65_534, 65_535, 0, 1], &[0]), is(&[false, true, true, true]));
    assert_eq!(all(&[8, 9, 10], &[]), is(&[false; 3]));
    // What is missing is so until new data goes out again.
    assert_eq!(all(&[1, 3, 4, 5, 6], &[0, 3]), is(&[false, false, false, false, true]));
    // Constant numbers, and those of another order, tell nothing.
    assert_eq!(all(&[7, 7, 7], &[0]), is(&[false; 3]));
    assert_eq!(all(&[7, 6, 7], &[0]), is(&[false; 3]));
    // IPv6 has none.
    let none = [(Some(1), true), (None, false), (Some(2), false)];
    assert_eq!(all_seen(64, &none), [false; 3]);
}

/// Each segment of a super-segment has a number.
#[test]
fn a_super_segment_has_several_numbers() {
    for (next, seen) in [(4, true), (2, false)] {
        let mut numbers = Numbers::default();
        numbers.passed(&packet(Some(1), 64, 2500), 1000, 0);
        numbers.begins_anew();
        numbers.passed(&packet(Some(next), 64, 1000), 1000, 0);
        assert_eq!(numbers.all_seen(), seen);
    }
}
