//! Golden bytes (made by Scapy 2.8), what is refused, and any bytes at all.

use std::net::{Ipv4Addr, Ipv6Addr};

use ackclock_tcp::wire::ip::{v4, v6};
use proptest::prelude::*;

use super::*;

const A4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const B4: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 2);
const A6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const B6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);

const QUOTED4: &str = "450005dc 0000 4000 40 06 48e5 c0000201 c6336402 9c40 01bb 01020304";
const QUOTED6: &str =
    "60000000 05b4 06 40 20010db8000000000000000000000001 20010db8000000000000000000000002
    9c40 01bb 01020304";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
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
    let packet = v4::Packet::parse_quoted(quoted).unwrap();
    assert_eq!(
        (packet.header.src(), packet.header.dst(), packet.header.total_len(), packet.payload.len()),
        (A4, B4, 1500, 8)
    );
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
    let packet = v6::Packet::parse_quoted(quoted).unwrap();
    assert_eq!(
        (packet.header.src(), packet.header.dst(), packet.header.total_len(), packet.payload.len()),
        (A6, B6, 1500, 8)
    );
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        for version in [Version::V4, Version::V6(PseudoHeader::V6 { src: A6, dst: B6 })] {
            let _ = Message::parse(version, &bytes);
            reply(version, &mut bytes);
        }
    }
}
