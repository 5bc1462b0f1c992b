//! What routers say of packets that are too big, byte by byte.

use ackclock_tcp::wire::{Checksum, PseudoHeader};
use ackclock_tcp::{Seq, Time};
use ackclock_trace::{Frame, Ignored, LinkType, TooBig, decode, too_big};
use proptest::prelude::*;

use crate::frames::{ETHERNET, RAW, around, ethernet, tcp, v4, v6, vxlan};

/// "Fragmentation needed and DF set" with this next-hop MTU, about the begin of a packet.
fn needs_fragments(mtu: u16, quoted: &[u8]) -> Vec<u8> {
    let [high, low] = mtu.to_be_bytes();
    let mut message = [&[3, 4, 0, 0, 0, 0, high, low][..], quoted].concat();
    let sum = Checksum::default().then(&message).value();
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    message
}

/// From 203.0.113.9, the router, to 192.0.2.1.
fn from_router(message: &[u8]) -> Vec<u8> {
    let mut packet = v4(message);
    packet[9] = 1;
    packet[12..20].copy_from_slice(&[203, 0, 113, 9, 192, 0, 2, 1]);
    packet
}

/// "Packet too big" from 2001:db8::9 to 2001:db8::1.
fn from_router_v6(mtu: u32, quoted: &[u8]) -> Vec<u8> {
    let mut message = [&[2, 0, 0, 0][..], &mtu.to_be_bytes(), quoted].concat();
    let address = |last| std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last);
    let pseudo = PseudoHeader::V6 { src: address(9), dst: address(1) };
    let sum = pseudo.of(58, message.len() as u32).then(&message).value();
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut packet = v6(58, &message);
    (packet[23], packet[39]) = (9, 1);
    packet
}

/// A segment with `payload` bytes as it was sent, and as much of it as RFC 792 asks for: its IP
/// header and 8 bytes.
fn quote(payload: usize) -> Vec<u8> {
    v4(&tcp(&[], payload))[..28].to_vec()
}

fn see(link: u16, data: &[u8], wire_len: usize) -> Result<TooBig, Ignored> {
    let link = LinkType(link);
    let frame = Frame { number: 9, at: Time(5), link, data, wire_len: wire_len as u32 };
    assert_eq!(decode(&frame), Err(Ignored::TooBig));
    too_big(&frame)
}

fn whole(link: u16, data: &[u8]) -> Result<TooBig, Ignored> {
    see(link, data, data.len())
}

/// What both decoders make of a frame that is kept whole.
fn is_none(packet: &[u8]) -> Ignored {
    let link = LinkType(RAW);
    let wire_len = packet.len() as u32;
    let frame = Frame { number: 9, at: Time(5), link, data: packet, wire_len };
    assert!(too_big(&frame).is_err());
    decode(&frame).unwrap_err()
}

fn wanted() -> TooBig {
    TooBig {
        frame: 9,
        at: Time(5),
        router: "203.0.113.9".parse().unwrap(),
        mtu: Some(1400),
        len: 1500,
        src: "192.0.2.1:5001".parse().unwrap(),
        dst: "198.51.100.2:80".parse().unwrap(),
        seq: Seq(0xffff_fffe),
    }
}

fn wanted_v6() -> TooBig {
    TooBig {
        router: "2001:db8::9".parse().unwrap(),
        src: "[2001:db8::1]:5001".parse().unwrap(),
        dst: "[2001:db8::2]:80".parse().unwrap(),
        ..wanted()
    }
}

#[test]
fn fragmentation_needed() {
    let packet = from_router(&needs_fragments(1400, &quote(1460)));
    // Its checksum, by hand: RFC 1071.
    assert_eq!(packet[20..28], [3, 4, 0x6e, 0xa1, 0, 0, 5, 120]);
    assert_eq!(whole(RAW, &packet), Ok(wanted()));
    assert_eq!(whole(ETHERNET, &ethernet(0x0800, &packet)), Ok(wanted()));
    // Options in the quoted header, and more of the segment (RFC 1812 section 4.3.2.3).
    let mut quoted = v4(&[&[1, 1, 1, 0][..], &tcp(&[], 1460)].concat());
    quoted[0] = 0x46;
    let packet = from_router(&needs_fragments(1400, &quoted[..548]));
    assert_eq!(whole(RAW, &packet), Ok(TooBig { len: 1504, ..wanted() }));
}

#[test]
fn packet_too_big() {
    let segment = v6(6, &tcp(&[], 1440));
    let packet = from_router_v6(1400, &segment[..48]);
    assert_eq!(packet[40..48], [2, 0, packet[42], packet[43], 0, 0, 5, 120]);
    assert_eq!(whole(RAW, &packet), Ok(wanted_v6()));
    // RFC 4443 section 3.2: the code is ignored. Behind a hop-by-hop header, of both.
    let behind = v6(0, &[&[6, 0, 1, 4, 0, 0, 0, 0][..], &tcp(&[], 1440)].concat());
    let mut packet = from_router_v6(1400, &behind[..1232]);
    packet[41] = 7;
    packet[42..44].fill(0);
    let mut message = [&[58, 0, 1, 4, 0, 0, 0, 0][..], &packet[40..]].concat();
    let mut outer = v6(0, &message);
    outer[23] = 9;
    (outer[39], message[0]) = (1, 0);
    assert_eq!(whole(RAW, &outer), Ok(TooBig { len: 1508, ..wanted_v6() }));
}

/// RFC 1191 section 5: routers from before it say nothing of the MTU. RFC 8201 section 4: less than
/// 1280 is discarded, and no link of IPv4 has less than 68.
#[test]
fn sizes_that_no_link_has() {
    let four = |mtu| whole(RAW, &from_router(&needs_fragments(mtu, &quote(1460))));
    let six = |mtu| whole(RAW, &from_router_v6(mtu, &v6(6, &tcp(&[], 1440))[..48]));
    assert_eq!(four(0), Ok(TooBig { mtu: None, ..wanted() }));
    assert_eq!(four(68), Ok(TooBig { mtu: Some(68), ..wanted() }));
    assert_eq!(four(67), Err(Ignored::Malformed));
    assert_eq!(six(1280), Ok(TooBig { mtu: Some(1280), ..wanted_v6() }));
    assert_eq!((six(1279), six(0)), (Err(Ignored::Malformed), Err(Ignored::Malformed)));
    // RFC 5927 section 7.2: it had room.
    assert_eq!(four(1499), Ok(TooBig { mtu: Some(1499), ..wanted() }));
    assert_eq!(six(1499), Ok(TooBig { mtu: Some(1499), ..wanted_v6() }));
    for mtu in [1500, 1501, 0xffff] {
        assert_eq!(
            (four(mtu), six(u32::from(mtu))),
            (Err(Ignored::Malformed), Err(Ignored::Malformed))
        );
    }
    assert_eq!(six(70_000), Err(Ignored::Malformed));
    // Super-segments that a host has not cut yet may be longer than their header can tell.
    let mut longer = quote(1460);
    longer[2..4].fill(0);
    let long = TooBig { mtu: Some(9000), len: 1 << 16, ..wanted() };
    assert_eq!(whole(RAW, &from_router(&needs_fragments(9000, &longer))), Ok(long));
}

/// Of captures with a snap length the checksum says nothing. Padding of Ethernet is no part of it.
#[test]
fn what_is_cut_or_damaged() {
    let packet = from_router(&needs_fragments(1400, &quote(1460)));
    let mut longer = from_router(&needs_fragments(1400, &v4(&tcp(&[], 1460))[..548]));
    let wire = longer.len();
    let padded = [&ethernet(0x0800, &packet)[..], &[9; 4]].concat();
    assert_eq!(whole(ETHERNET, &padded), Ok(wanted()));
    longer[60] ^= 1;
    assert_eq!(whole(RAW, &longer), Err(Ignored::Damaged));
    assert_eq!(see(RAW, &longer[..56], wire), Ok(wanted()));
    assert_eq!(see(RAW, &longer[..55], wire), Err(Ignored::Cut));
    // What was written without a network has no checksum.
    longer[22..24].fill(0);
    assert_eq!(whole(RAW, &longer), Ok(wanted()));
    // It quotes too little.
    let short = from_router(&needs_fragments(1400, &quote(1460)[..27]));
    assert_eq!(whole(RAW, &short), Err(Ignored::Cut));
    let mut six = from_router_v6(1400, &v6(6, &tcp(&[], 1440))[..48]);
    six[60] ^= 1;
    assert_eq!(whole(RAW, &six), Err(Ignored::Damaged));
}

#[test]
fn tunnels_around_both() {
    let packet = from_router(&needs_fragments(1400, &quote(1460)));
    assert_eq!(whole(RAW, &vxlan(&ethernet(0x0800, &packet))), Ok(wanted()));
    assert_eq!(whole(RAW, &around(4, &packet)), Ok(wanted()));
    // A link between the ends of a tunnel is too small: the end of the tunnel hears of it.
    for inner in [v4(&tcp(&[], 1440)), v6(6, &tcp(&[], 1420))] {
        let outer = around(if inner[0] == 0x45 { 4 } else { 41 }, &inner);
        let mut packet = from_router(&needs_fragments(1400, &outer[..80]));
        packet[16..20].copy_from_slice(&[10, 0, 0, 1]);
        assert_eq!(whole(RAW, &packet), Err(Ignored::NotTcp));
        // The sender in the tunnel is the end of it, too.
        let mut outer = outer;
        outer[12..16].copy_from_slice(&[192, 0, 2, 1]);
        let packet = from_router(&needs_fragments(1400, &outer[..80]));
        assert_eq!(whole(RAW, &packet), Err(Ignored::NotTcp));
    }
}

/// What goes to another host than the quoted packet comes from is not for its sender.
#[test]
fn what_is_for_another_host() {
    let mut packet = from_router(&needs_fragments(1400, &quote(1460)));
    packet[19] = 7;
    assert_eq!(whole(RAW, &packet), Err(Ignored::Malformed));
    let segment = v6(6, &tcp(&[], 1440));
    let packet = from_router(&needs_fragments(1400, &segment[..48]));
    assert_eq!(whole(RAW, &packet), Err(Ignored::Malformed));
    let packet = from_router_v6(1400, &quote(1460));
    assert_eq!(whole(RAW, &packet), Err(Ignored::Malformed));
}

#[test]
fn what_is_about_no_segment() {
    let mut sctp = quote(1460);
    sctp[9] = 132;
    assert_eq!(whole(RAW, &from_router(&needs_fragments(1400, &sctp))), Err(Ignored::NotTcp));
    // A fragment behind the first one.
    let mut part = quote(1460);
    part[7] = 1;
    assert_eq!(whole(RAW, &from_router(&needs_fragments(1400, &part))), Err(Ignored::Fragment));
    // The first one has the ports.
    part[6..8].copy_from_slice(&[0x20, 0]);
    assert_eq!(whole(RAW, &from_router(&needs_fragments(1400, &part))), Ok(wanted()));
}

/// Other messages, and the numbers of one version in the other.
#[test]
fn what_is_another_message() {
    let packet = from_router(&needs_fragments(1400, &quote(1460)));
    for (at, value) in [(20, 8), (21, 1), (9, 58)] {
        let mut other = packet.clone();
        other[at] = value;
        assert_eq!(is_none(&other), Ignored::NotTcp, "{at}");
    }
    let mut six = from_router_v6(1400, &v6(6, &tcp(&[], 1440))[..48]);
    six[6] = 1;
    assert_eq!(is_none(&six), Ignored::NotTcp);
    // In fragments it is not put together.
    let mut part = packet;
    part[6] = 0x20;
    assert_eq!(is_none(&part), Ignored::NotTcp);
}

proptest! {
    #[test]
    fn any_change(
        six in any::<bool>(),
        changes in proptest::collection::vec((0..110_usize, any::<u8>()), 1..4),
        kept in 0..120_usize,
    ) {
        let mut packet = match six {
            true => from_router_v6(1400, &v6(6, &tcp(&[], 1440))[..60]),
            false => from_router(&needs_fragments(1400, &v4(&tcp(&[], 1460))[..60])),
        };
        for (at, value) in changes {
            if let Some(byte) = packet.get_mut(at) {
                *byte = value;
            }
        }
        let data = &packet[..kept.min(packet.len())];
        let wire_len = packet.len() as u32;
        let frame = Frame { number: 1, at: Time(0), link: LinkType(RAW), data, wire_len };
        if too_big(&frame).is_ok() {
            prop_assert_eq!(decode(&frame), Err(Ignored::TooBig));
        }
    }
}
