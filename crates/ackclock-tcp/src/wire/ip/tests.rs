//! Golden bytes (made by Scapy 2.8), what is refused, and any bytes at all.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::vec::Vec;

use proptest::prelude::*;

use super::v6::Extension;
use super::*;

const A4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const B4: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 2);
const A6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const B6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// The header of RFC 1071's kind: with ECT(0) in the TOS byte (2) its checksum is 4ea8 - 2 = 4ea6,
/// and with CE (3) 4ea5. An ECT(0) IPv6 packet has the traffic class in 60 20, a marked one in 60
/// 30.
#[test]
fn a_mark_mends_the_checksum() {
    let mut packet = bytes("4502 0019 0000 4000 4006 4ea6 c0000201 c6336402 68656c6c6f");
    let mut header = [0; v4::HEADER_LEN];
    v4::Repr { codepoint: Codepoint::Ect0, ..v4::Repr::new(A4, B4, TCP, 5) }.emit(&mut header);
    assert_eq!(header, packet[..v4::HEADER_LEN]);
    assert!(v4::Packet::parse(&packet).is_ok());
    assert_eq!(codepoint(&packet), Codepoint::Ect0);
    mark(&mut packet);
    let marked = bytes("4503 0019 0000 4000 4006 4ea5 c0000201 c6336402 68656c6c6f");
    assert_eq!(packet, marked);
    assert!(v4::Packet::parse(&packet).is_ok());
    mark(&mut packet);
    assert_eq!((codepoint(&packet), &packet), (Codepoint::Ce, &marked));

    let mut packet = bytes("6020 0000 0005 0640");
    assert_eq!(codepoint(&packet), Codepoint::Ect0);
    mark(&mut packet);
    assert_eq!((codepoint(&packet), packet), (Codepoint::Ce, bytes("6030 0000 0005 0640")));

    for short in [&[][..], &[0x45], &[0x45, 2], &[0x60], &[0x12, 3]] {
        let mut packet = short.to_vec();
        mark(&mut packet);
        assert_eq!(packet, short);
    }
}

#[test]
fn golden_ipv4() {
    let expected = bytes("4500 0019 0000 4000 40 06 4ea8 c0000201 c6336402 68656c6c6f");
    let mut header = [0xaa; v4::HEADER_LEN];
    v4::Repr::new(A4, B4, TCP, 5).emit(&mut header);
    assert_eq!([&header, &b"hello"[..]].concat(), expected);
    // Bytes behind the packet are padding.
    let padded = [&expected[..], &[0; 21]].concat();
    let packet = v4::Packet::parse(&padded).unwrap();
    assert_eq!(
        (
            packet.header.src(),
            packet.header.dst(),
            packet.header.protocol(),
            packet.header.total_len()
        ),
        (A4, B4, TCP, 25)
    );
    assert_eq!(packet.payload, b"hello");
    for len in 0..expected.len() {
        assert_eq!(v4::Packet::parse(&expected[..len]).err(), Some(ParseError::Truncated), "{len}");
    }
    for bit in 0..8 * v4::HEADER_LEN {
        let mut damaged = padded.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(v4::Packet::parse(&damaged).is_err(), "bit {bit}");
    }
}

#[test]
fn ipv4_options_are_skipped() {
    let packet =
        bytes("4600 0022 0007 0000 03 11 c88b c0000201 c6336402 01010101 0001 0002 000a 9b26 7879");
    let packet = v4::Packet::parse(&packet).unwrap();
    assert_eq!(
        (packet.header.protocol(), packet.payload),
        (17, &bytes("0001 0002 000a 9b26 7879")[..])
    );
}

#[test]
fn ipv4_fragments_and_headers_longer_than_the_packet_are_refused() {
    let with = |offset: usize, word: [u8; 2]| {
        let mut packet = bytes("4500 0019 0000 4000 40 06 0000 c0000201 c6336402 68656c6c6f");
        packet[offset..offset + 2].copy_from_slice(&word);
        let header = usize::from(packet[0] & 15).max(5) * 4;
        let checksum =
            crate::wire::Checksum::default().then(&packet[..header.min(packet.len())]).value();
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        v4::Packet::parse(&packet).err()
    };
    assert_eq!(with(6, [0x00, 0x00]), None);
    assert_eq!(with(6, [0x20, 0x00]), Some(ParseError::Fragment));
    assert_eq!(with(6, [0x00, 0x01]), Some(ParseError::Fragment));
    assert_eq!(with(6, [0x1f, 0xff]), Some(ParseError::Fragment));
    assert_eq!(with(0, [0x44, 0x00]), Some(ParseError::BadHeader));
    assert_eq!(with(0, [0x4f, 0x00]), Some(ParseError::BadHeader));
    assert_eq!(with(0, [0x65, 0x00]), Some(ParseError::BadHeader));
    assert_eq!(with(2, [0x00, 0x13]), Some(ParseError::BadHeader));
    assert_eq!(with(2, [0x00, 0x1a]), Some(ParseError::Truncated));
}

#[test]
fn golden_ipv6() {
    let expected = bytes(
        "60000000 0005 06 40 20010db8000000000000000000000001 20010db8000000000000000000000002 \
         68656c6c6f",
    );
    let mut header = [0xaa; v6::HEADER_LEN];
    let codepoint = Codepoint::NotEct;
    v6::Repr { codepoint, ..v6::Repr::new(A6, B6, TCP, 5) }.emit(&mut header);
    assert_eq!([&header, &b"hello"[..]].concat(), expected);
    let padded = [&expected[..], &[0; 21]].concat();
    let packet = v6::Packet::parse(&padded).unwrap();
    assert_eq!(
        (packet.header.src(), packet.header.dst(), packet.protocol, packet.header.total_len()),
        (A6, B6, TCP, 45)
    );
    assert_eq!(packet.payload, b"hello");
    for len in 0..expected.len() {
        assert_eq!(v6::Packet::parse(&expected[..len]).err(), Some(ParseError::Truncated), "{len}");
    }
}

/// Hop-by-hop options, destination options, a routing header, TCP.
const EXTENDED: &str =
    "60000000 0036 00 40 20010db8000000000000000000000002 20010db8000000000000000000000001
    3c00 0104 00000000
    2b01 010c 000000000000000000000000
    0600 0400 00000000
    0001 0002 00000000 00000000 5002 2000 b9ee 0000 7a7a";

#[test]
fn ipv6_extension_headers_are_skipped_within_bounds() {
    let packet = bytes(EXTENDED);
    let parsed = v6::Packet::parse(&packet).unwrap();
    assert_eq!((parsed.protocol, parsed.payload), (TCP, &packet[72..]));
    let with = |offset: usize, byte: u8| {
        let mut packet = packet.clone();
        packet[offset] = byte;
        v6::Packet::parse(&packet).err()
    };
    // Segments left in the routing header; an option that must not be skipped; one longer than its
    // header; one that may be.
    assert_eq!(with(67, 1), Some(ParseError::BadExtension));
    assert_eq!(with(42, 0x41), Some(ParseError::BadExtension));
    assert_eq!(with(43, 5), Some(ParseError::BadExtension));
    assert_eq!(with(42, 0x3f), None);
    // A header that is longer than the packet; a fragment.
    assert_eq!(with(49, 200), Some(ParseError::Truncated));
    assert_eq!(with(6, 44), Some(ParseError::Fragment));
    // A fragment header alone is none: more to come, an offset, and neither (RFC 6946).
    let mut atomic = bytes(EXTENDED)[..40].to_vec();
    (atomic[5], atomic[6]) = (8, 44);
    for (field, error) in
        [([0, 1], Some(ParseError::Fragment)), ([0, 8], Some(ParseError::Fragment)), ([0, 0], None)]
    {
        let packet = [&atomic[..], &[TCP, 0, field[0], field[1], 1, 2, 3, 4]].concat();
        assert_eq!(v6::Packet::parse(&packet).err(), error, "{field:?}");
    }
    // Headers without end: each eight bytes, the next one destination options again.
    let mut chain = bytes(EXTENDED)[..40].to_vec();
    chain[6] = 60;
    for _ in 0..6 {
        chain.extend([60, 0, 1, 4, 0, 0, 0, 0]);
    }
    chain[5] = 48;
    assert_eq!(v6::Packet::parse(&chain).err(), Some(ParseError::BadExtension));
    // Four are the most that anybody has reason to send.
    let mut four = chain[..72].to_vec();
    (four[5], four[64]) = (32, TCP);
    assert_eq!(v6::Packet::parse(&four).map(|packet| packet.payload.len()).ok(), Some(0));
}

#[test]
fn what_a_header_says_that_no_host_accepts() {
    let fragment = bytes("4f00 0019 beef 2003 07 11 0000 c0000201 c6336402");
    let header = v4::Header(fragment.first_chunk().unwrap());
    assert_eq!((header.version(), header.header_len(), header.total_len()), (4, 60, 25));
    assert_eq!((header.id(), header.ttl(), header.protocol()), (0xbeef, 7, 17));
    assert_eq!((header.fragment_offset(), header.is_fragment()), (3, true));
    let mut written = [0; v4::HEADER_LEN];
    v4::Repr { id: 0xbeef, ttl: 7, ..v4::Repr::new(A4, B4, UDP, 5) }.emit(&mut written);
    let header = v4::Packet::parse_quoted(&written).unwrap().header;
    assert_eq!((header.id(), header.ttl(), header.is_fragment()), (0xbeef, 7, false));

    let extension = |number, bytes: [u8; 4]| {
        let e = Extension::new(number, &bytes);
        (e.next(), e.header_len(), e.fragment_offset(), e.is_fragment())
    };
    assert_eq!(extension(0, [6, 2, 0xff, 0xff]), (6, 24, 0, false));
    assert_eq!(extension(51, [6, 4, 0, 0]), (6, 24, 0, false));
    assert_eq!(extension(44, [6, 4, 0, 0]), (6, 8, 0, false));
    // The reserved bits mean nothing; more fragments; an offset.
    assert_eq!(extension(44, [6, 4, 0, 6]), (6, 8, 0, false));
    assert_eq!(extension(44, [6, 4, 0, 1]), (6, 8, 0, true));
    assert_eq!(extension(44, [6, 4, 1, 8]), (6, 8, 33, true));
    let known: Vec<u8> = (0..=255).filter(|&number| Extension::has_number(number)).collect();
    assert_eq!(known, [0, 43, 44, 51, 60]);
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_or_refused(
        mut bytes in prop::collection::vec(any::<u8>(), 0..120),
        version in 0..3u8,
    ) {
        if let (Some(first), 1..) = (bytes.first_mut(), version) {
            *first = *first & 0x0f | [0, 0x40, 0x60][usize::from(version)];
        }
        for packet in [v4::Packet::parse(&bytes), v4::Packet::parse_quoted(&bytes)] {
            let Ok(v4::Packet { header, payload }) = packet else { continue };
            let _ = (header.src(), header.dst(), header.protocol(), header.total_len(), payload);
            let _ = (header.id(), header.ttl());
        }
        for packet in [v6::Packet::parse(&bytes), v6::Packet::parse_quoted(&bytes)] {
            let Ok(v6::Packet { header, protocol, payload }) = packet else { continue };
            let _ = (header.src(), header.dst(), protocol, header.total_len(), payload);
            let _ = header.hop_limit();
        }
    }
}
