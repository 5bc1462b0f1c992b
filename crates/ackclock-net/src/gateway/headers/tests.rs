use super::*;
use std::net::Ipv6Addr;

use ackclock_tcp::Timestamps;
use ackclock_tcp::wire::{PseudoHeader, Repr};

fn tcp(repr: &Repr, payload: usize) -> Vec<u8> {
    let pseudo = PseudoHeader::V4 { src: [10, 0, 0, 1].into(), dst: [10, 0, 0, 2].into() };
    let mut bytes = vec![7; repr.header_len() + payload];
    repr.emit(&pseudo, &mut bytes).expect("room");
    bytes
}

fn v4(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    packet[2..4].copy_from_slice(&(20 + payload.len() as u16).to_be_bytes());
    packet[6..8].copy_from_slice(&fragment.to_be_bytes());
    packet.extend_from_slice(payload);
    packet
}

fn v6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0, 0, 0, next, 64];
    packet[4..6].copy_from_slice(&(payload.len() as u16).to_be_bytes());
    packet.extend_from_slice(&Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1).octets());
    packet.extend_from_slice(&Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2).octets());
    packet.extend_from_slice(payload);
    packet
}

fn syn() -> Repr {
    let options = Options {
        mss: Some(1460),
        timestamps: Some(Timestamps { val: 1, ecr: 0 }),
        sack_permitted: true,
        ..Options::default()
    };
    Repr {
        src_port: 1000,
        dst_port: 80,
        seq: Seq(99),
        control: Control::SYN,
        options,
        ..Repr::default()
    }
}

#[test]
fn a_syn_over_both_versions() {
    let segment = tcp(&syn(), 0);
    let header = TcpHeader {
        seq: Seq(99),
        ack: Seq(0),
        control: Control::SYN,
        len: 0,
        option_len: segment.len() as u32 - 20,
        mss: Some(1460),
        timestamps: true,
    };
    let address = |text: &str| text.parse().expect("an address");
    let expected = Headers {
        len: 20 + segment.len() as u32,
        from: address("10.0.0.1:1000"),
        to: address("10.0.0.2:80"),
        protocol: 6,
        codepoint: Default::default(),
        tcp: Some(header),
    };
    assert_eq!(Headers::parse(&v4(6, 0, &segment)), Some(expected));
    let expected = Headers {
        len: 40 + segment.len() as u32,
        from: address("[fd00::1]:1000"),
        to: address("[fd00::2]:80"),
        ..expected
    };
    assert_eq!(Headers::parse(&v6(6, &segment)), Some(expected));
    // Behind options for each hop, and in the first fragment of several.
    let extended = [&[44, 0, 1, 4, 0, 0, 0, 0], &[6, 0, 0, 1, 0, 0, 0, 9][..], &segment].concat();
    let expected = Headers { len: expected.len + 16, ..expected };
    assert_eq!(Headers::parse(&v6(0, &extended)), Some(expected));
}

#[test]
fn the_payload_ends_where_ip_says() {
    let mut packet = v4(6, 0, &tcp(&Repr { options: Options::default(), ..syn() }, 100));
    packet.extend_from_slice(&[0; 6]);
    let headers = Headers::parse(&packet).expect("headers");
    assert_eq!((headers.len, headers.tcp.map(|t| (t.len, t.option_len))), (146, Some((100, 0))));
}

#[test]
fn what_has_no_ports() {
    let udp = [0x03, 0xe8, 0, 53, 0, 8, 0, 0];
    let ends = |packet: &[u8]| {
        Headers::parse(packet).map(|h| (h.from.port(), h.to.port(), h.protocol, h.tcp.is_some()))
    };
    assert_eq!(ends(&v4(17, 0, &udp)), Some((1000, 53, 17, false)));
    // More fragments follow; this is the second one.
    assert_eq!(ends(&v4(17, 0x2000, &udp)), Some((1000, 53, 17, false)));
    assert_eq!(ends(&v4(17, 0x2001, &udp)), Some((0, 0, 17, false)));
    assert_eq!(ends(&v4(1, 0, &udp)), Some((0, 0, 1, false)));
    assert_eq!(ends(&v6(44, &[17, 0, 0, 8, 0, 0, 0, 9, 1, 2, 3, 4])), Some((0, 0, 17, false)));
}

#[test]
fn no_bytes_make_it_panic() {
    for whole in [
        v4(6, 0, &tcp(&syn(), 3)),
        v6(0, &[&[6, 0, 1, 4, 0, 0, 0, 0][..], &tcp(&syn(), 3)].concat()),
    ] {
        for end in 0..whole.len() {
            Headers::parse(&whole[..end]);
        }
        for at in 0..whole.len() {
            for byte in 0..=255 {
                let mut packet = whole.clone();
                packet[at] = byte;
                Headers::parse(&packet);
            }
        }
    }
    assert_eq!(Headers::parse(&[]), None);
    assert_eq!(Headers::parse(&[0x55; 60]), None);
}
