//! Golden bytes (made by Scapy 2.8), what is refused, and any bytes at all.

use std::net::{Ipv4Addr, Ipv6Addr};

use ackclock_tcp::wire::PseudoHeader;
use proptest::prelude::*;

use super::icmp::{Message, Version, reply};
use super::*;

const A4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const B4: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 2);
const A6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const B6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);

const QUOTED4: &str = "450005dc 0000 4000 40 06 48e5 c0000201 c6336402 9c40 01bb 01020304";
const QUOTED6: &str = "60000000 05b4 06 40 20010db8000000000000000000000001 20010db8000000000000000000000002
    9c40 01bb 01020304";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn golden_ipv4() {
    let expected = bytes("4500 0019 0000 4000 40 06 4ea8 c0000201 c6336402 68656c6c6f");
    let mut header = [0xaa; ipv4::HEADER_LEN];
    ipv4::Repr { src: A4, dst: B4, protocol: TCP, payload_len: 5 }.emit(&mut header);
    assert_eq!([&header, &b"hello"[..]].concat(), expected);
    // Bytes behind the packet are padding.
    let padded = [&expected[..], &[0; 21]].concat();
    let packet = ipv4::Packet::parse(&padded).unwrap();
    assert_eq!((packet.src(), packet.dst(), packet.protocol(), packet.total_len()), (A4, B4, TCP, 25));
    assert_eq!(packet.payload(), b"hello");
    for len in 0..expected.len() {
        assert_eq!(ipv4::Packet::parse(&expected[..len]).err(), Some(ParseError::Truncated), "{len}");
    }
    for bit in 0..8 * ipv4::HEADER_LEN {
        let mut damaged = padded.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(ipv4::Packet::parse(&damaged).is_err(), "bit {bit}");
    }
}

#[test]
fn ipv4_options_are_skipped() {
    let packet = bytes("4600 0022 0007 0000 03 11 c88b c0000201 c6336402 01010101 0001 0002 000a 9b26 7879");
    let packet = ipv4::Packet::parse(&packet).unwrap();
    assert_eq!((packet.protocol(), packet.payload()), (17, &bytes("0001 0002 000a 9b26 7879")[..]));
}

#[test]
fn ipv4_fragments_and_headers_longer_than_the_packet_are_refused() {
    let with = |offset: usize, word: [u8; 2]| {
        let mut packet = bytes("4500 0019 0000 4000 40 06 0000 c0000201 c6336402 68656c6c6f");
        packet[offset..offset + 2].copy_from_slice(&word);
        let header = usize::from(packet[0] & 15).max(5) * 4;
        let checksum = ackclock_tcp::wire::Checksum::default().then(&packet[..header.min(packet.len())]).value();
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        ipv4::Packet::parse(&packet).err()
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
    let expected =
        bytes("60000000 0005 06 40 20010db8000000000000000000000001 20010db8000000000000000000000002 68656c6c6f");
    let mut header = [0xaa; ipv6::HEADER_LEN];
    ipv6::Repr { src: A6, dst: B6, protocol: TCP, payload_len: 5 }.emit(&mut header);
    assert_eq!([&header, &b"hello"[..]].concat(), expected);
    let padded = [&expected[..], &[0; 21]].concat();
    let packet = ipv6::Packet::parse(&padded).unwrap();
    assert_eq!((packet.src(), packet.dst(), packet.protocol(), packet.total_len()), (A6, B6, TCP, 45));
    assert_eq!(packet.payload(), b"hello");
    for len in 0..expected.len() {
        assert_eq!(ipv6::Packet::parse(&expected[..len]).err(), Some(ParseError::Truncated), "{len}");
    }
}

/// Hop-by-hop options, destination options, a routing header, TCP.
const EXTENDED: &str = "60000000 0036 00 40 20010db8000000000000000000000002 20010db8000000000000000000000001
    3c00 0104 00000000
    2b01 010c 000000000000000000000000
    0600 0400 00000000
    0001 0002 00000000 00000000 5002 2000 b9ee 0000 7a7a";

#[test]
fn ipv6_extension_headers_are_skipped_within_bounds() {
    let packet = bytes(EXTENDED);
    let parsed = ipv6::Packet::parse(&packet).unwrap();
    assert_eq!((parsed.protocol(), parsed.payload()), (TCP, &packet[72..]));
    let with = |offset: usize, byte: u8| {
        let mut packet = packet.clone();
        packet[offset] = byte;
        ipv6::Packet::parse(&packet).err()
    };
    // Segments left in the routing header; an option that must not be skipped; one longer than its header; one that may be.
    assert_eq!(with(67, 1), Some(ParseError::BadExtension));
    assert_eq!(with(42, 0x41), Some(ParseError::BadExtension));
    assert_eq!(with(43, 5), Some(ParseError::BadExtension));
    assert_eq!(with(42, 0x3f), None);
    // A header that is longer than the packet; a fragment.
    assert_eq!(with(49, 200), Some(ParseError::Truncated));
    assert_eq!(with(6, 44), Some(ParseError::Fragment));
    // Headers without end: each eight bytes, the next one destination options again.
    let mut chain = bytes(EXTENDED)[..40].to_vec();
    chain[6] = 60;
    for _ in 0..6 {
        chain.extend([60, 0, 1, 4, 0, 0, 0, 0]);
    }
    chain[5] = 48;
    assert_eq!(ipv6::Packet::parse(&chain).err(), Some(ParseError::BadExtension));
    // Four are the most that anybody has reason to send.
    let mut four = chain[..72].to_vec();
    (four[5], four[64]) = (32, TCP);
    assert_eq!(ipv6::Packet::parse(&four).map(|packet| packet.payload().len()).ok(), Some(0));
}

#[test]
fn golden_icmp() {
    let request = bytes("0800 3335 1234 0001 616263646566676821");
    assert_eq!(Message::parse(Version::V4, &request), Some(Message::EchoRequest));
    let mut answer = request.clone();
    reply(Version::V4, &mut answer);
    assert_eq!(answer, bytes("0000 3b35 1234 0001 616263646566676821"));
    assert_eq!(Message::parse(Version::V4, &answer), Some(Message::Other));
    let quoted = &bytes(QUOTED4)[..];
    for (header, expected) in [
        ("0304 5582 0000 0578", Message::TooBig { mtu: 1400, quoted }),
        ("0303 5afb 0000 0000", Message::Unreachable { hard: true, quoted }),
        ("0301 5afd 0000 0000", Message::Unreachable { hard: false, quoted }),
    ] {
        let message = [&bytes(header)[..], quoted].concat();
        assert_eq!(Message::parse(Version::V4, &message), Some(expected));
        for bit in 0..message.len() * 8 {
            let mut damaged = message.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Message::parse(Version::V4, &damaged), None, "bit {bit}");
        }
    }
    let packet = ipv4::Packet::parse_quoted(quoted).unwrap();
    assert_eq!((packet.src(), packet.dst(), packet.total_len(), packet.payload().len()), (A4, B4, 1500, 8));
    assert_eq!(Message::parse(Version::V4, &request[..7]), None);
}

#[test]
fn golden_icmpv6() {
    let to_a = Version::V6(PseudoHeader::V6 { src: B6, dst: A6 });
    let request = bytes("8000 5f74 1234 0001 616263646566676821");
    assert_eq!(Message::parse(to_a, &request), Some(Message::EchoRequest));
    let mut answer = request;
    reply(Version::V6(PseudoHeader::V6 { src: A6, dst: B6 }), &mut answer);
    assert_eq!(answer, bytes("8100 5e74 1234 0001 616263646566676821"));
    let quoted = &bytes(QUOTED6)[..];
    for (header, expected) in [
        ("0200 3399 0000 0514", Message::TooBig { mtu: 1300, quoted }),
        ("0104 39a9 0000 0000", Message::Unreachable { hard: true, quoted }),
        ("0103 39aa 0000 0000", Message::Unreachable { hard: false, quoted }),
    ] {
        let message = [&bytes(header)[..], quoted].concat();
        assert_eq!(Message::parse(to_a, &message), Some(expected));
        let elsewhere = Version::V6(PseudoHeader::V6 { src: B6, dst: B6 });
        assert_eq!(Message::parse(elsewhere, &message), None);
    }
    let packet = ipv6::Packet::parse_quoted(quoted).unwrap();
    assert_eq!((packet.src(), packet.dst(), packet.total_len(), packet.payload().len()), (A6, B6, 1500, 8));
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..120), version in 0..3u8) {
        if let (Some(first), 1..) = (bytes.first_mut(), version) {
            *first = *first & 0x0f | [0, 0x40, 0x60][usize::from(version)];
        }
        for packet in [ipv4::Packet::parse(&bytes), ipv4::Packet::parse_quoted(&bytes)].into_iter().flatten() {
            let _ = (packet.src(), packet.dst(), packet.protocol(), packet.total_len(), packet.payload());
        }
        for packet in [ipv6::Packet::parse(&bytes), ipv6::Packet::parse_quoted(&bytes)].into_iter().flatten() {
            let _ = (packet.src(), packet.dst(), packet.protocol(), packet.total_len(), packet.payload());
        }
        for version in [Version::V4, Version::V6(PseudoHeader::V6 { src: A6, dst: B6 })] {
            let _ = Message::parse(version, &bytes);
            reply(version, &mut bytes);
        }
    }
}
