//! Fragments of IP packets, against the segments that they are put together to.

use std::collections::BTreeMap;

use ackclock_tcp::Time;
use ackclock_trace::{Fragments, Frame, Ignored, LinkType, Packet, decode};
use proptest::prelude::*;

use crate::frames::{self, RAW, around, ethernet, tcp, v4, v6, vxlan, wanted, wanted_v6};

/// What is put together of frames that come second after second, the second also being the number.
#[derive(Default)]
struct Reader {
    fragments: Fragments,
    second: u64,
}

impl Reader {
    fn see(&mut self, data: &[u8]) -> Option<Packet> {
        self.cut(data, data.len())
    }

    /// With so many bytes kept.
    fn cut(&mut self, data: &[u8], kept: usize) -> Option<Packet> {
        self.second += 1;
        let frame = Frame {
            number: self.second,
            at: Time(self.second * 1_000_000_000),
            link: LinkType(RAW),
            data: &data[..kept.min(data.len())],
            wire_len: data.len() as u32,
        };
        assert_eq!(decode(&frame), Err(Ignored::Fragment));
        self.fragments.put(&frame)
    }

    fn ignored(&self) -> BTreeMap<String, u64> {
        let mut sum = BTreeMap::new();
        let waiting = self.fragments.waiting();
        let waiting = (waiting > 0).then_some((Ignored::Fragment, waiting));
        for (why, frames) in self.fragments.ignored().chain(waiting) {
            *sum.entry(format!("{why:?}")).or_default() += frames;
        }
        sum
    }
}

/// Who counts while frames come must not take anything back.
#[test]
fn what_waits_is_not_left_out_yet() {
    let whole = v4(&tcp(&[], 100));
    let mut reader = Reader::default();
    assert_eq!(reader.see(&part(&whole, 0, 64)), None);
    assert_eq!((reader.fragments.ignored().count(), reader.fragments.waiting()), (0, 1));
    assert!(reader.see(&part(&whole, 64, 120)).is_some());
    assert_eq!((reader.fragments.ignored().count(), reader.fragments.waiting()), (0, 0));
}

/// Bytes `from` to `to` of the payload of an IPv4 packet.
fn part(packet: &[u8], from: usize, to: usize) -> Vec<u8> {
    let mut bytes = packet[..20].to_vec();
    bytes.extend(&packet[20 + from..20 + to]);
    let more = if to < packet.len() - 20 { 0x2000 } else { 0 };
    let (total, field) = (bytes.len() as u16, more | (from / 8) as u16);
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
    bytes[6..8].copy_from_slice(&field.to_be_bytes());
    bytes
}

/// The same of an IPv6 packet, with `next` for what its payload is.
fn part_v6(payload: &[u8], next: u8, from: usize, to: usize) -> Vec<u8> {
    let field = ((from as u16) | u16::from(to < payload.len())).to_be_bytes();
    v6(44, &[&[next, 0, field[0], field[1], 0, 0, 0, 9], &payload[from..to]].concat())
}

fn at(packet: Packet, second: u64) -> Option<Packet> {
    Some(Packet { frame: second, at: Time(second * 1_000_000_000), ..packet })
}

#[test]
fn fragments_in_any_order_are_a_segment() {
    let packet = v4(&tcp(&[], 100));
    let parts = [part(&packet, 0, 48), part(&packet, 48, 96), part(&packet, 96, 120)];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut reader = Reader::default();
        let found = order.map(|i| reader.see(&parts[i]));
        assert_eq!(found, [None, None, at(wanted(100), 3)]);
        assert_eq!(reader.ignored(), BTreeMap::new());
    }
    // A header in several fragments.
    let mut reader = Reader::default();
    let parts = [part(&packet, 0, 8), part(&packet, 8, 16), part(&packet, 16, 120)];
    assert_eq!(parts.map(|part| reader.see(&part)), [None, None, at(wanted(100), 3)]);
}

#[test]
fn fragments_of_ipv6_are_a_segment() {
    let (mut reader, tcp) = (Reader::default(), tcp(&[], 100));
    assert_eq!(reader.see(&part_v6(&tcp, 6, 0, 64)), None);
    assert_eq!(reader.see(&part_v6(&tcp, 6, 64, 120)), at(wanted_v6(100), 2));
    // With destination options in the part that is cut.
    let behind = [&[6, 0, 1, 4, 0, 0, 0, 0], &tcp[..]].concat();
    assert_eq!(reader.see(&part_v6(&behind, 60, 0, 64)), None);
    assert_eq!(reader.see(&part_v6(&behind, 60, 64, 128)), at(wanted_v6(100), 4));
}

#[test]
fn tunnels_and_their_contents_may_be_in_fragments() {
    let inner = v4(&tcp(&[], 100));
    let outer = vxlan(&ethernet(0x0800, &inner));
    let len = outer.len() - 20;
    let mut reader = Reader::default();
    assert_eq!(reader.see(&part(&outer, 64, len)), None);
    assert_eq!(reader.see(&part(&outer, 0, 64)), at(wanted(100), 2));
    // The inner packet is in fragments, and what carries the first of them too.
    let first = around(4, &part(&inner, 0, 96));
    let second = around(4, &part(&inner, 96, 120));
    assert_eq!(reader.see(&part(&first, 0, 40)), None);
    assert_eq!(reader.see(&part(&first, 40, 116)), None);
    assert_eq!(reader.ignored(), BTreeMap::from([("Fragment".into(), 2)]));
    assert_eq!(reader.see(&second), at(wanted(100), 5));
    assert_eq!(reader.ignored(), BTreeMap::new());
}

#[test]
fn what_the_snap_length_cuts_of_fragments_is_still_counted() {
    let packet = v4(&tcp(&[], 2000));
    let mut reader = Reader::default();
    assert_eq!(reader.cut(&part(&packet, 0, 1480), 60), None);
    assert_eq!(reader.cut(&part(&packet, 1480, 2020), 60), at(wanted(2000), 2));
    // TCP's header is not there.
    assert_eq!(reader.cut(&part(&packet, 0, 1480), 39), None);
    assert_eq!(reader.cut(&part(&packet, 1480, 2020), 60), None);
    assert_eq!(reader.ignored(), BTreeMap::from([("Cut".into(), 2)]));
}

#[test]
fn fragments_of_packets_that_are_never_whole_are_counted() {
    let packet = v4(&tcp(&[], 100));
    let mut reader = Reader::default();
    assert_eq!(reader.see(&part(&packet, 0, 48)), None);
    assert_eq!(reader.see(&part(&packet, 96, 120)), None);
    assert_eq!(reader.ignored(), BTreeMap::from([("Fragment".into(), 2)]));
    // UDP, which no tunnel has sent: it may have been one as long as its begin was missing.
    let udp = frames::udp(53, &[0; 100]);
    assert_eq!(reader.see(&part(&udp, 40, 108)), None);
    assert_eq!(reader.see(&part(&udp, 0, 40)), None);
    let counted = BTreeMap::from([("Fragment".into(), 2), ("NotTcp".into(), 2)]);
    assert_eq!(reader.ignored(), counted);
    // After 30 seconds the identification is that of another packet.
    reader.second = 31;
    assert_eq!(reader.see(&part(&packet, 48, 96)), None);
    let counted = BTreeMap::from([("Fragment".into(), 3), ("NotTcp".into(), 2)]);
    assert_eq!(reader.ignored(), counted);
    assert_eq!(reader.see(&part(&packet, 0, 48)), None);
    assert_eq!(reader.see(&part(&packet, 96, 120)), at(wanted(100), 34));
    let counted = BTreeMap::from([("Fragment".into(), 2), ("NotTcp".into(), 2)]);
    assert_eq!(reader.ignored(), counted);
}

/// RFC 5722, RFC 8200 section 4.5.
#[test]
fn fragments_that_contradict_each_other_are_refused() {
    let packet = v4(&tcp(&[], 100));
    let rows = [
        ("overlap", vec![(0, 48), (40, 96), (96, 120)]),
        ("overlap from before", vec![(48, 96), (0, 56), (96, 120)]),
        ("one in another", vec![(0, 96), (16, 24), (96, 120)]),
    ];
    for (name, parts) in rows {
        let mut reader = Reader::default();
        for &(from, to) in &parts {
            assert_eq!(reader.see(&part(&packet, from, to)), None, "{name}");
        }
        assert_eq!(reader.ignored(), BTreeMap::from([("Fragment".into(), 3)]), "{name}");
    }
    let long = v4(&tcp(&[], 200));
    let mut reader = Reader::default();
    // Two ends, and bytes behind the end.
    for (packet, from, to) in [(&packet, 48, 120), (&long, 120, 220), (&packet, 0, 48)] {
        assert_eq!(reader.see(&part(packet, from, to)), None);
    }
    assert_eq!(reader.ignored(), BTreeMap::from([("Fragment".into(), 3)]));
    let mut reader = Reader::default();
    for (packet, from, to) in [(&long, 120, 168), (&packet, 48, 120), (&packet, 0, 48)] {
        assert_eq!(reader.see(&part(packet, from, to)), None);
    }
    assert_eq!(reader.ignored(), BTreeMap::from([("Fragment".into(), 3)]));
    // No multiple of eight bytes, with more to come.
    let mut reader = Reader::default();
    for (from, to) in [(0, 44), (48, 120)] {
        assert_eq!(reader.see(&part(&packet, from, to)), None);
    }
    // Longer than a packet can be.
    let mut far = part(&packet, 96, 120);
    far[6..8].copy_from_slice(&0x1fff_u16.to_be_bytes());
    assert_eq!(reader.see(&far), None);
    assert_eq!(reader.ignored(), BTreeMap::from([("Fragment".into(), 3)]));
}

#[test]
fn a_fragment_that_the_capture_has_twice_is_no_overlap() {
    let packet = v4(&tcp(&[], 100));
    let (first, second) = (part(&packet, 0, 48), part(&packet, 48, 120));
    let mut reader = Reader::default();
    assert_eq!(reader.see(&first), None);
    assert_eq!(reader.see(&first), None);
    assert_eq!(reader.see(&second), at(wanted(100), 3));
}

/// The oldest of 1,024 gives way; 129 fragments are too many.
#[test]
fn what_waits_is_bounded() {
    let with_id = |id: u16, from, to| {
        let mut packet = v4(&tcp(&[], 100));
        packet[4..6].copy_from_slice(&id.to_be_bytes());
        part(&packet, from, to)
    };
    let mut reader = Reader::default();
    for id in 0..1025 {
        reader.second = 0; // All at one time.
        assert_eq!(reader.see(&with_id(id, 0, 48)), None);
    }
    assert_eq!(reader.see(&with_id(0, 48, 120)), None);
    reader.second = 0;
    let found = reader.see(&with_id(1024, 48, 120));
    assert_eq!(found, at(Packet { ip_id: Some(1024), ..wanted(100) }, 1));
    // Those of 1023 packets, of the first one before, and of the one that began then.
    assert_eq!(reader.ignored(), BTreeMap::from([("Fragment".into(), 1025)]));

    for (payload, found) in [(1004, true), (1012, false)] {
        let packet = v4(&tcp(&[], payload));
        let mut reader = Reader::default();
        let mut last = None;
        for from in (0..payload + 20).step_by(8) {
            reader.second = 0;
            last = reader.see(&part(&packet, from, (from + 8).min(payload + 20)));
        }
        assert_eq!(last, at(wanted(payload as u32), 1).filter(|_| found));
    }
}

proptest! {
    /// Whatever comes, nothing panics and every frame is accounted for.
    #[test]
    fn any_fragments(parts in prop::collection::vec((0..3_u8, 0..20_usize, 1..20_usize, 0..160_usize), 1..60)) {
        let mut reader = Reader::default();
        let mut found = 0;
        for &(id, from, len, kept) in &parts {
            let mut packet = v4(&tcp(&[], 300));
            packet[5] = id;
            let (from, to) = (from * 16, (from * 16 + len * 16).min(320));
            if from < to && (from, to) != (0, 320) {
                found += usize::from(reader.cut(&part(&packet, from, to), kept.max(20)).is_some());
            }
        }
        let frames = reader.second as usize;
        let ignored: u64 = reader.ignored().values().sum();
        prop_assert!(ignored as usize + found <= frames);
        prop_assert!(found > 0 || ignored as usize == frames);
    }
}
