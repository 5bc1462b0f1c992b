//! Tunnels and radio, byte by byte, against the segments that are in them and against tshark.

use std::fs;
use std::process::Command;

use ackclock_trace::{Ignored, Packet, Wrapper};
use proptest::prelude::*;

use crate::build::{Bytes, Order};
use crate::frames::{
    ETHERNET, RAW, around, ethernet, see, tcp, udp, v4, v6, vxlan, wanted, wanted_v6, whole,
};

const RADIO: u16 = 105;
const RADIOTAP: u16 = 127;
const NFLOG: u16 = 239;
const FDDI: u16 = 10;
const ATM: u16 = 100;

fn gre(flags: [u8; 2], ethertype: u16, payload: &[u8]) -> Vec<u8> {
    let counted = (flags[0] & 0xb0).count_ones() as usize;
    let optional = vec![9; 4 * counted];
    around(47, &[&flags, &ethertype.to_be_bytes()[..], &optional, payload].concat())
}

/// ERSPAN's header of so many bytes. The last two of the first twelve say what is in it.
fn mirrored(len: usize, kind: [u8; 2], payload: &[u8]) -> Vec<u8> {
    let mut header = vec![if len == 8 { 0x10 } else { 0x20 }, 5, 0, 1];
    header.resize(len, 0);
    if len > 8 {
        header[10..12].copy_from_slice(&kind);
    }
    [&header, payload].concat()
}

/// IPsec's authentication header, with twelve bytes of check value.
fn authentic(next: u8) -> Vec<u8> {
    [&[next, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1][..], &[9; 12]].concat()
}

/// The header of GTP-U of tunnel 7 around 51 bytes: which fields there are, and these.
fn gtp(flags: u8, fields: &[u8]) -> Vec<u8> {
    [&[0x30 | flags, 255, 0, 51 + fields.len() as u8, 0, 0, 0, 7], fields].concat()
}

/// A header of AYIYA with an identity of 16 bytes and a signature of 20.
fn ayiya(code: u8, next: u8, payload: &[u8]) -> Vec<u8> {
    let header = [&[0x41, 0x52, 0x10 | code, next, 0, 0, 0, 1][..], &[9; 36]].concat();
    udp(5072, &[&header, payload].concat())
}

const SNAP: [u8; 8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
const CMD: [u8; 8] = [1, 1, 0, 1, 0, 5, 8, 0];

fn geneve(first: u8, ethertype: u16, payload: &[u8]) -> Vec<u8> {
    let options = vec![7; usize::from(first & 0x3f) * 4];
    let kind = ethertype.to_be_bytes();
    udp(6081, &[&[first, 0, kind[0], kind[1], 0, 0, 42, 0], &options[..], payload].concat())
}

/// A data frame of 802.11: frame control, the rest of the header, LLC and SNAP, and IPv4.
fn radio(kind: u8, flags: u8, header: usize, ip: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind, flags];
    bytes.resize(header, 2);
    bytes[22..24].copy_from_slice(&[0x50, 1]);
    if kind & 0x88 == 0x88 {
        bytes[if flags & 3 == 3 { 30 } else { 24 }] = 0;
    }
    [&bytes[..], &[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], ip].concat()
}

/// With flags, and behind a time if that is wanted; 4 bytes of check sequence follow the frame.
fn radiotap(time: bool, flags: u8, frame: &[u8]) -> Vec<u8> {
    let header: &[u8] = match time {
        false => &[0, 0, 9, 0, 2, 0, 0, 0, flags],
        true => &[0, 0, 17, 0, 3, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, flags],
    };
    [header, frame, &[0; 4]].concat()
}

/// Frames that have [`v4`] with 11 bytes of payload in them.
fn opened() -> Vec<(&'static str, u16, Vec<u8>)> {
    let ip = v4(&tcp(&[], 11));
    let inner = ethernet(0x0800, &ip);
    let tagged = ethernet(0x8100, &[&[0, 5, 8, 0], &ip[..]].concat());
    let on_ethernet = |ip: Vec<u8>| ethernet(0x0800, &ip);
    let padded = [&radio(0x88, 1, 26, &[])[..26], &[0; 2], &radio(0x88, 1, 26, &ip)[26..]].concat();
    vec![
        ("VXLAN", ETHERNET, on_ethernet(vxlan(&inner))),
        ("VXLAN with a VLAN in it", ETHERNET, on_ethernet(vxlan(&tagged))),
        ("Geneve with Ethernet", ETHERNET, on_ethernet(geneve(0, 0x6558, &inner))),
        ("Geneve with options and IP", ETHERNET, on_ethernet(geneve(3, 0x0800, &ip))),
        ("GRE", ETHERNET, on_ethernet(gre([0, 0], 0x0800, &ip))),
        ("GRE with all fields", ETHERNET, on_ethernet(gre([0xb0, 0], 0x0800, &ip))),
        ("NVGRE", ETHERNET, on_ethernet(gre([0x20, 0], 0x6558, &inner))),
        ("GRE with MPLS", RAW, gre([0, 0], 0x8847, &[&[0, 0, 0x11, 64], &ip[..]].concat())),
        ("GRE over IPv6", RAW, v6(47, &[&[0, 0, 8, 0], &ip[..]].concat())),
        ("ERSPAN I", ETHERNET, on_ethernet(gre([0, 0], 0x88be, &inner))),
        ("ERSPAN II", ETHERNET, on_ethernet(gre([0x10, 0], 0x88be, &mirrored(8, [0, 0], &inner)))),
        (
            "ERSPAN III",
            ETHERNET,
            on_ethernet(gre([0x10, 0], 0x22eb, &mirrored(12, [0, 0], &inner))),
        ),
        (
            "ERSPAN III with more, of a VLAN",
            RAW,
            gre([0x10, 0], 0x22eb, &mirrored(20, [0, 1], &tagged)),
        ),
        (
            "AH",
            ETHERNET,
            on_ethernet({
                let mut packet = v4(&[&authentic(6)[..], &ip[20..]].concat());
                packet[9] = 51;
                packet
            }),
        ),
        ("AH around a tunnel", RAW, around(51, &[&authentic(4)[..], &ip].concat())),
        ("AH over IPv6", RAW, v6(51, &[&authentic(4)[..], &ip].concat())),
        ("VXLAN-GPE with IP", RAW, udp(4790, &[&[0x0c, 0, 0, 1, 0, 0, 1, 0], &ip[..]].concat())),
        ("VXLAN-GPE", RAW, udp(4790, &[&[0x0c, 0, 0, 3, 0, 0, 1, 0], &inner[..]].concat())),
        ("LLC and SNAP", ETHERNET, ethernet(59, &[&SNAP, &ip[..]].concat())),
        ("LLC of IP", ETHERNET, ethernet(54, &[&[6, 6, 3], &ip[..]].concat())),
        ("LLC over ATM", ATM, [&SNAP, &ip[..]].concat()),
        ("FDDI", FDDI, [&[0x50; 13], &SNAP[..], &ip].concat()),
        ("GTP-U", RAW, udp(2152, &[&gtp(0, &[]), &ip[..]].concat())),
        (
            "GTP-U with a sequence number",
            RAW,
            udp(2152, &[&gtp(2, &[0, 1, 0, 0x85]), &ip[..]].concat()),
        ),
        ("GTP-U with extension headers", RAW, {
            let extended = [0, 0, 0, 0x85, 1, 0x10, 9, 0x40, 2, 0, 0, 0, 0, 0, 0, 0];
            udp(2152, &[&gtp(4, &extended), &ip[..]].concat())
        }),
        ("Cisco's metadata", ETHERNET, ethernet(0x8909, &[&CMD, &ip[..]].concat())),
        ("IP in IP", ETHERNET, on_ethernet(around(4, &ip))),
        ("IPv4 in IPv6", RAW, v6(4, &ip)),
        (
            "IPv4 in IPv6 behind an option",
            RAW,
            v6(60, &[&[4, 0, 1, 4, 0, 0, 0, 0], &ip[..]].concat()),
        ),
        ("VXLAN in GRE in IP in IP", RAW, around(4, &gre([0, 0], 0x0800, &vxlan(&inner)))),
        ("802.11", RADIO, radio(0x08, 1, 24, &ip)),
        ("802.11 with four addresses", RADIO, radio(0x08, 3, 30, &ip)),
        ("802.11 with QoS", RADIO, radio(0x88, 2, 26, &ip)),
        ("802.11 with QoS and HT control", RADIO, radio(0x88, 0x82, 30, &ip)),
        ("802.11 with QoS and four addresses", RADIO, radio(0x88, 3, 32, &ip)),
        ("radiotap", RADIOTAP, radiotap(false, 0x10, &radio(0x88, 1, 26, &ip))),
        ("radiotap with a time and a padded header", RADIOTAP, radiotap(true, 0x30, &padded)),
        ("VXLAN in NFLOG", NFLOG, {
            let outer = vxlan(&inner);
            let len = (4 + outer.len() as u16).to_le_bytes();
            [&[2, 0, 0, 5, len[0], len[1], 9, 0], &outer[..]].concat()
        }),
    ]
}

#[test]
fn every_tunnel_is_opened() {
    for (name, link, frame) in opened() {
        assert_eq!(whole(link, &frame), Ok(wanted(11)), "{name}");
    }
    let six = v6(6, &tcp(&[], 11));
    for (name, frame) in [
        ("6in4", around(41, &six)),
        ("IPv6 in IPv6", v6(41, &six)),
        ("AYIYA", ayiya(1, 41, &six)),
        ("GRE", gre([0x10, 0], 0x86dd, &six)),
        (
            "VXLAN on the port of Linux",
            udp(8472, &[&[8, 0, 0, 0, 0, 0, 1, 0], &ethernet(0x86dd, &six)[..]].concat()),
        ),
    ] {
        assert_eq!(whole(RAW, &frame), Ok(wanted_v6(11)), "{name}");
    }
}

/// The same ports, numbers and lengths as tshark finds.
#[test]
fn tshark_opens_the_same() {
    for link in [ETHERNET, RAW, RADIO, RADIOTAP, NFLOG, FDDI, ATM] {
        let frames: Vec<_> = opened().into_iter().filter(|(_, of, _)| *of == link).collect();
        let mut file = Bytes::new(Order::Little).pcap(0xa1b2_c3d4, 65_535, u32::from(link));
        for (second, (_, _, frame)) in frames.iter().enumerate() {
            file = file.record(second as u32, 0, frame, frame.len() as u32);
        }
        let path = std::env::temp_dir()
            .join(format!("ackclock-tunnels-{link}-{}.pcap", std::process::id()));
        fs::write(&path, &file.bytes).expect("a file can be written");
        // The fields of the innermost packet.
        let fields = ["ip.src", "tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.len"];
        let output = Command::new("tshark")
            .args(["-n", "-r"])
            .arg(&path)
            .args(["-T", "fields", "-E", "occurrence=l"])
            .args(fields.iter().flat_map(|field| ["-e", field]))
            .output();
        fs::remove_file(&path).expect("the file is there");
        let Ok(output) = output else {
            println!("skipped: there is no tshark");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(text.lines().count(), frames.len());
        for (line, (name, ..)) in text.lines().zip(&frames) {
            assert_eq!(line, "192.0.2.1\t5001\t80\t4294967294\t11", "{name}");
        }
    }
}

/// A cut in front of TCP's header is a cut; behind it nothing but options is missing.
#[test]
fn what_the_snap_length_cuts_of_tunnels() {
    for (name, link, frame) in opened() {
        // The check sequence of 802.11 comes after the payload.
        let header_end = frame.len() - 11 - if link == RADIOTAP { 4 } else { 0 };
        for kept in 0..frame.len() {
            let cut = if kept < header_end { Err(Ignored::Cut) } else { Ok(wanted(11)) };
            assert_eq!(see(link, &frame[..kept], frame.len()), cut, "{name}: {kept}");
        }
    }
}

/// A super-segment in a tunnel: its length is that of the inner header, or of the frame if that
/// is 0.
#[test]
fn super_segments_in_tunnels() {
    let ip = v4(&tcp(&[], 40_000));
    let frame = vxlan(&ethernet(0x0800, &ip));
    assert_eq!(see(RAW, &frame[..100], frame.len()), Ok(wanted(40_000)));
    let mut ip = v4(&tcp(&[], 0));
    ip[2..4].copy_from_slice(&[0, 0]);
    let mut frame = vxlan(&ethernet(0x0800, &ip));
    frame[2..4].copy_from_slice(&[0, 0]);
    let headers = frame.len();
    assert_eq!(see(RAW, &frame, headers + 100_000), Ok(wanted(100_000)));
}

#[test]
fn tunnels_that_are_not_opened_are_named() {
    let ip = v4(&tcp(&[], 11));
    let spi: &[u8] = &[0, 0, 16, 1, 0, 0, 0, 1, 9, 9, 9, 9];
    let mut protected = radio(0x88, 0x41, 26, &ip);
    let mut aggregate = radio(0x88, 1, 26, &ip);
    aggregate[24] = 0x80;
    protected[24] = 0;
    let rows = [
        (RAW, around(50, spi), Wrapper::Esp),
        (RAW, v6(50, spi), Wrapper::Esp),
        (RAW, udp(4500, spi), Wrapper::Esp),
        (RAW, udp(1701, &ip), Wrapper::L2tp),
        (RAW, around(115, &ip), Wrapper::L2tp),
        (RAW, gre([0x30, 0x81], 0x880b, &ip), Wrapper::Pptp),
        // GTP of version 2, and another network than IP.
        (RAW, udp(2152, &[0x48, 1, 0, 4, 0, 0, 0, 0]), Wrapper::Gtp),
        (RAW, udp(2152, &[&gtp(0, &[]), &[2; 20][..]].concat()), Wrapper::Gtp),
        (RAW, udp(51820, &[4, 0, 0, 0, 1, 2, 3, 4]), Wrapper::WireGuard),
        (RAW, udp(1194, &ip), Wrapper::OpenVpn),
        (ETHERNET, ethernet(0x88e5, &ip), Wrapper::Macsec),
        (
            ETHERNET,
            ethernet(0x8847, &[&[0, 0, 0x11, 64, 0, 0, 0, 0], &ip[..]].concat()),
            Wrapper::Pseudowire,
        ),
        (RAW, udp(37008, &[1, 0, 0, 1, 1]), Wrapper::Tzsp),
        (RADIO, protected, Wrapper::Wlan),
        (RADIO, aggregate, Wrapper::Amsdu),
    ];
    for (link, frame, wrapper) in rows {
        assert_eq!(whole(link, &frame), Err(Ignored::Wrapped(wrapper)));
    }
}

/// Without its flag P, VXLAN-GPE is VXLAN. Tshark does not open it.
#[test]
fn vxlan_on_the_port_of_its_successor() {
    let inner = ethernet(0x0800, &v4(&tcp(&[], 11)));
    let vxlan = |header: &[u8]| whole(RAW, &udp(4790, &[header, &inner[..]].concat()));
    assert_eq!(vxlan(&[8, 0, 0, 0, 0, 0, 1, 0]), Ok::<Packet, _>(wanted(11)));
    assert_eq!(vxlan(&[0, 0, 0, 0, 0, 0, 1, 0]), Err(Ignored::NotTcp));
    assert_eq!(vxlan(&[0xc, 0, 0, 0, 0, 0, 1, 0]), Err(Ignored::NotTcp));
}

#[test]
fn what_has_no_segment_in_it() {
    let ip = v4(&tcp(&[], 11));
    let rows = [
        ("VXLAN without a network", udp(4789, &[0; 60]), Ignored::NotTcp),
        ("Geneve of version 1", geneve(0x40, 0x0800, &ip), Ignored::NotTcp),
        ("GRE with routing", gre([0x40, 0], 0x0800, &ip), Ignored::NotTcp),
        ("GRE of version 2", gre([0, 2], 0x0800, &ip), Ignored::NotTcp),
        (
            "ERSPAN III with something else",
            gre([0x10, 0], 0x22eb, &mirrored(12, [0x14, 0], &ip)),
            Ignored::NotIp,
        ),
        ("VXLAN-GPE with NSH", udp(4790, &[0x0c, 0, 0, 4, 0, 0, 1, 0]), Ignored::NotTcp),
        ("spanning tree", gre([0, 0], 0x6558, &ethernet(38, &[0x42, 0x42, 3, 0])), Ignored::NotIp),
        ("GRE with ARP", gre([0, 0], 0x0806, &[0; 28]), Ignored::NotIp),
        ("VXLAN with ARP", vxlan(&ethernet(0x0806, &[0; 28])), Ignored::NotIp),
        ("VXLAN with UDP", vxlan(&ethernet(0x0800, &udp(53, &[0; 9]))), Ignored::NotTcp),
        ("IKE", udp(4500, &[0; 40]), Ignored::NotTcp),
        ("a keep-alive of IPsec", udp(4500, &[0xff]), Ignored::NotTcp),
        ("another protocol on the port of WireGuard", udp(51820, &[9; 40]), Ignored::NotTcp),
        ("an echo of GTP-U", udp(2152, &[0x32, 1, 0, 4, 0, 0, 0, 0, 0, 1, 0, 0]), Ignored::NotTcp),
        (
            "an extension header of GTP-U that has no length",
            udp(2152, &[&gtp(4, &[0, 0, 0, 0x85, 0, 0, 0, 0]), &ip[..]].concat()),
            Ignored::Malformed,
        ),
        ("a byte on the port of GTP-U", udp(2152, &[0]), Ignored::NotTcp),
        ("a keep-alive of SIP on that of AYIYA", udp(5072, b"\r\n\r\n"), Ignored::NotTcp),
        ("AYIYA that carries nothing", ayiya(1, 59, &[]), Ignored::NotTcp),
        ("a question of AYIYA", ayiya(3, 41, &ip), Ignored::NotTcp),
        ("an UDP header cut off on the wire", around(17, &[0; 7]), Ignored::Malformed),
        ("a GRE header cut off on the wire", around(47, &[0xb0, 0, 8, 0, 1]), Ignored::Malformed),
    ];
    for (name, frame, why) in rows {
        assert_eq!(whole(RAW, &frame), Err(why), "{name}");
    }
    for (name, frame, why) in [
        ("a beacon", radio(0x80, 0, 24, &ip), Ignored::NotIp),
        ("a frame without data", radio(0x48, 1, 24, &ip), Ignored::NotIp),
        ("another version", radio(0x09, 1, 24, &ip), Ignored::NotIp),
        ("a fragment", radio(0x08, 5, 24, &ip), Ignored::Fragment),
    ] {
        assert_eq!(whole(RADIO, &frame), Err(why), "{name}");
    }
    // Radiotap headers: too short for the words that say what is there, and without end.
    assert_eq!(whole(RADIOTAP, &[0, 0, 7, 0, 0, 0, 0, 0, 0]), Err(Ignored::Malformed));
    assert_eq!(
        whole(RADIOTAP, &[0, 0, 8, 0, 0, 0, 0, 0x80, 0, 0, 0, 0x80]),
        Err(Ignored::Malformed)
    );
    // The check sequence was wrong.
    let damaged = radiotap(false, 0x50, &radio(0x08, 1, 24, &ip));
    assert_eq!(whole(RADIOTAP, &damaged), Err(Ignored::Malformed));
    // NFLOG: a field shorter than its own header, and no packet.
    assert_eq!(whole(NFLOG, &[2, 0, 0, 5, 3, 0, 9, 0]), Err(Ignored::Malformed));
    assert_eq!(whole(NFLOG, &[2, 0, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0]), Err(Ignored::NotIp));
}

#[test]
fn eight_tunnels_are_opened_and_no_more() {
    let nested = |times| (0..times).fold(v4(&tcp(&[], 11)), |inner, _| around(4, &inner));
    assert_eq!(whole(RAW, &nested(8)), Ok::<Packet, _>(wanted(11)));
    assert_eq!(whole(RAW, &nested(9)), Err(Ignored::Wrapped(Wrapper::Deep)));
}

proptest! {
    /// As of frames without tunnels: what is cut off changes no verdict but "cut", and hides
    /// options only.
    #[test]
    fn any_change_of_any_tunnel(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((0..160_usize, any::<u8>()), 0..5),
        kept in 0..200_usize,
    ) {
        let all = opened();
        let (_, link, mut frame) = all[which.index(all.len())].clone();
        for (at, value) in changes {
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        let wire = frame.len();
        match (see(link, &frame[..kept.min(wire)], wire), see(link, &frame, wire)) {
            (Err(Ignored::Cut), _) => {}
            (Ok(cut), Ok(all)) => {
                let options = if cut.options_cut { cut.options } else { all.options };
                prop_assert_eq!(cut, Packet { options, options_cut: cut.options_cut, ..all });
            }
            (cut, all) => prop_assert_eq!(cut, all),
        }
    }
}
