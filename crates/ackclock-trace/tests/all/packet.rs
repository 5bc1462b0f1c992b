//! Frames made byte by byte, against the segments that are in them.

use ackclock_tcp::wire::Options;
use ackclock_tcp::{Codepoint, SackBlock, SackBlocks, Seq, Time, Timestamps};
use ackclock_trace::{Frame, Ignored, LinkType, Packet, decode};
use proptest::prelude::*;

use crate::frames::{ETHERNET, RAW, ethernet, see, tcp, v4, v6, wanted, wanted_v6, whole};

#[test]
fn every_link_type() {
    let (four, six) = (v4(&tcp(&[], 11)), v6(6, &tcp(&[], 11)));
    let sll =
        |ethertype: [u8; 2]| [&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0][..], &ethertype].concat();
    let sll2 = |ethertype: [u8; 2]| {
        [&ethertype[..], &[0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0]].concat()
    };
    // The device, and the length and type of the packet.
    let nflog_le =
        |len| [&[2, 0, 0, 5, 7, 0, 10, 0, b'a', b'b', 0, 0][..], &[len, 0, 9, 0]].concat();
    let nflog_be =
        |len| [&[2, 0, 0, 5, 0, 7, 0, 10, b'a', b'b', 0, 0][..], &[0, len, 0, 9]].concat();
    let rows: [(u16, Vec<u8>, Vec<u8>); 18] = [
        (ETHERNET, ethernet(0x0800, &[]), ethernet(0x86dd, &[])),
        (RAW, vec![], vec![]),
        (12, vec![], vec![]),
        (14, vec![], vec![]),
        (228, vec![], vec![]),
        (229, vec![], vec![]),
        (113, sll([8, 0]), sll([0x86, 0xdd])),
        (276, sll2([8, 0]), sll2([0x86, 0xdd])),
        // A host with little-endian numbers: macOS.
        (0, vec![2, 0, 0, 0], vec![30, 0, 0, 0]),
        // With big-endian ones: FreeBSD.
        (0, vec![0, 0, 0, 2], vec![0, 0, 0, 28]),
        // Linux; NetBSD and OpenBSD.
        (0, vec![2, 0, 0, 0], vec![10, 0, 0, 0]),
        (108, vec![0, 0, 0, 2], vec![0, 0, 0, 24]),
        (9, vec![0x21], vec![0x57]),
        (9, vec![0, 0x21], vec![0, 0x57]),
        (9, vec![0xff, 3, 0, 0x21], vec![0xff, 3, 0, 0x57]),
        (50, vec![0xff, 3, 0x21], vec![0xff, 3, 0x57]),
        // NFLOG of a little-endian host and of a big-endian one.
        (239, nflog_le(4 + 51), nflog_le(4 + 71)),
        (239, nflog_be(4 + 51), nflog_be(4 + 71)),
    ];
    for (link, before_four, before_six) in rows {
        assert_eq!(whole(link, &[&before_four[..], &four].concat()), Ok(wanted(11)), "{link}");
        assert_eq!(whole(link, &[&before_six[..], &six].concat()), Ok(wanted_v6(11)), "{link}");
    }
    assert_eq!(whole(104, &four), Err(Ignored::Link));
}

#[test]
fn what_stands_between_ethernet_and_ip() {
    let ip = v4(&tcp(&[], 3));
    let rows: [(u16, &[u8]); 8] = [
        (0x8100, &[0, 5, 8, 0]),
        (0x88a8, &[0, 5, 0x81, 0, 0, 6, 8, 0]),
        (0x9100, &[0, 5, 0x81, 0, 0, 6, 8, 0]),
        (0x8847, &[0, 0, 0x11, 64]),
        (0x8848, &[0, 0, 0x10, 64, 0, 0, 0x21, 64]),
        (0x8100, &[0, 5, 0x88, 0x47, 0, 0, 0x11, 64]),
        (0x8864, &[0x11, 0, 0, 1, 0, 45, 0, 0x21]),
        (0x8864, &[0x11, 0, 0, 1, 0, 44, 0x21]),
    ];
    for (ethertype, between) in rows {
        assert_eq!(
            whole(ETHERNET, &ethernet(ethertype, &[between, &ip].concat())),
            Ok(wanted(3)),
            "{ethertype:x}"
        );
    }
    // The padding of Ethernet, counted into the length of IP, but not into that of PPPoE.
    let mut ip = v4(&tcp(&[], 0));
    ip[3] += 6;
    let session = [&[0x11, 0, 0, 1, 0, 42, 0, 0x21], &ip[..], &[9; 6]].concat();
    assert_eq!(whole(ETHERNET, &ethernet(0x8864, &session)), Ok(wanted(0)));
    let ip = v4(&tcp(&[], 3));
    // A VLAN tag behind Linux's cooked header, as captures on `any` have it.
    let cooked =
        [&[0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0, 0, 5, 8, 0], &ip[..]].concat();
    assert_eq!(whole(113, &cooked), Ok(wanted(3)));
}

#[test]
fn what_is_not_ip() {
    for (link, frame) in [
        (ETHERNET, ethernet(0x0806, &[0; 28])),
        (ETHERNET, ethernet(60, &[0x42; 60])),
        (ETHERNET, ethernet(0x8864, &[0x11, 0, 0, 1, 0, 4, 0xc0, 0x21, 1, 1])),
        (RAW, vec![0x50; 40]),
        (0, vec![7, 0, 0, 0, 0x45]),
        (0, vec![2, 0, 0, 1, 0x45]),
        (9, vec![0xff, 3, 0xc0, 0x21]),
        (9, vec![0xc0, 0x21]),
    ] {
        assert_eq!(whole(link, &frame), Err(Ignored::NotIp), "{frame:x?}");
    }
}

#[test]
fn ipv4_options_and_padding() {
    let mut ip = v4(&[&[1, 1, 1, 0], &tcp(&[], 0)[..]].concat());
    ip[0] = 0x46;
    assert_eq!(whole(RAW, &ip), Ok(wanted(0)));
    // Ethernet frames have 60 bytes at least, without the check sequence.
    let mut frame = ethernet(0x0800, &v4(&tcp(&[], 1)));
    frame.resize(60, 0);
    assert_eq!(whole(ETHERNET, &frame), Ok(wanted(1)));
}

/// A device has written the length of the padded frame into the IP header. Other zeros are data,
/// and so is what was pushed, and the one byte of a keep-alive.
#[test]
fn padding_that_is_told_as_payload() {
    let len = |options: &[u8], payload: &[u8], control: u8, kept: usize| {
        let mut segment = tcp(options, 0);
        segment[13] = control;
        let frame = ethernet(0x0800, &v4(&[&segment, payload].concat()));
        let wire = frame.len();
        see(ETHERNET, &frame[..wire - kept.min(payload.len())], wire).unwrap().len
    };
    let (ack, psh) = (0x10, 0x18);
    assert_eq!([len(&[], &[0; 6], ack, 0), len(&[], &[0; 2], ack, 0)], [0, 0]);
    assert_eq!(len(&[], &[0; 6], ack | 1, 0), 0);
    assert_eq!([len(&[], &[0; 1], ack, 0), len(&[], &[0; 7], ack, 0)], [1, 7]);
    assert_eq!([len(&[], &[0; 6], psh, 0), len(&[], &[0, 0, 0, 0, 0, 1], ack, 0)], [6, 6]);
    // Not all of it is there, or the frame is longer.
    assert_eq!([len(&[], &[0; 6], ack, 1), len(&[1; 4], &[0; 6], ack, 0)], [6, 6]);
}

#[test]
fn super_segments_too_long_for_their_length_field() {
    // 100,000 bytes of payload, of which the capture kept none.
    let mut four = v4(&tcp(&[], 0));
    four[2..4].copy_from_slice(&[0, 0]);
    assert_eq!(see(ETHERNET, &ethernet(0x0800, &four), 14 + 40 + 100_000), Ok(wanted(100_000)));
    let mut six = v6(6, &tcp(&[], 0));
    six[4..6].copy_from_slice(&[0, 0]);
    assert_eq!(see(ETHERNET, &ethernet(0x86dd, &six), 14 + 60 + 100_000), Ok(wanted_v6(100_000)));
    // With a jumbo payload option.
    let mut six = v6(0, &[&[6, 0, 0xc2, 4, 0, 1, 0x86, 0xbc], &tcp(&[], 0)[..]].concat());
    six[4..6].copy_from_slice(&[0, 0]);
    assert_eq!(see(RAW, &six, 68 + 100_000), Ok(wanted_v6(100_000)));
}

/// BIG TCP ends at 512 KB; what claims to be longer than 1 MiB would become millions of segments.
#[test]
fn super_segments_that_cannot_be() {
    let mut four = v4(&tcp(&[], 0));
    four[2..4].copy_from_slice(&[0, 0]);
    assert_eq!(see(RAW, &four, 1 << 20), Ok(wanted((1 << 20) - 40)));
    assert_eq!(see(RAW, &four, (1 << 20) + 1), Err(Ignored::Malformed));
    assert_eq!(see(RAW, &four, u32::MAX as usize), Err(Ignored::Malformed));
    let mut six = v6(6, &tcp(&[], 0));
    six[4..6].copy_from_slice(&[0, 0]);
    assert_eq!(see(RAW, &six, 40 + (1 << 20)), Ok(wanted_v6((1 << 20) - 20)));
    assert_eq!(see(RAW, &six, 41 + (1 << 20)), Err(Ignored::Malformed));
}

#[test]
fn ipv6_extension_headers() {
    let tcp = tcp(&[], 2);
    let hop_by_hop: &[u8] = &[60, 0, 1, 4, 0, 0, 0, 0];
    let destination: &[u8] = &[43, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let routing: &[u8] = &[51, 0, 4, 0, 0, 0, 0, 0];
    let authentication: &[u8] = &[44, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2];
    let alone: &[u8] = &[6, 0, 0, 0, 0, 0, 0, 9];
    let all = [hop_by_hop, destination, routing, authentication, alone, &tcp].concat();
    assert_eq!(whole(RAW, &v6(0, &all)), Ok(wanted_v6(2)));
    assert_eq!(whole(RAW, &v6(44, &[alone, &tcp].concat())), Ok(wanted_v6(2)));
    // First, middle and last fragment.
    for offset in [[0, 1], [0x10, 1], [0x10, 0]] {
        let header = [6, 0, offset[0], offset[1], 0, 0, 0, 9];
        assert_eq!(whole(RAW, &v6(44, &[&header, &tcp[..]].concat())), Err(Ignored::Fragment));
        let icmp = [58, 0, offset[0], offset[1], 0, 0, 0, 9];
        assert_eq!(whole(RAW, &v6(44, &[&icmp, &tcp[..]].concat())), Err(Ignored::NotTcp));
    }
    // No next header, UDP.
    for next in [59, 17] {
        assert_eq!(whole(RAW, &v6(next, &tcp)), Err(Ignored::NotTcp));
    }
    // An extension beyond the payload, and one that is beyond what was kept.
    assert_eq!(whole(RAW, &v6(0, &[6, 9, 0, 0, 0, 0, 0, 0])), Err(Ignored::Malformed));
    let long = v6(0, &[&[6, 9][..], &[0; 78], &tcp].concat());
    assert_eq!(see(RAW, &long[..70], long.len()), Err(Ignored::Cut));
    assert_eq!(whole(RAW, &long), Ok(wanted_v6(2)));
}

#[test]
fn ipv4_fragments() {
    for (flags, what) in
        [(0x2000_u16, Ignored::Fragment), (0x2001, Ignored::Fragment), (0x1fff, Ignored::Fragment)]
    {
        let mut ip = v4(&tcp(&[], 100));
        ip[6..8].copy_from_slice(&flags.to_be_bytes());
        assert_eq!(whole(RAW, &ip), Err(what));
        ip[9] = 1;
        assert_eq!(whole(RAW, &ip), Err(Ignored::NotTcp));
    }
    // The reserved bit and "don't fragment" are no matter.
    let mut ip = v4(&tcp(&[], 100));
    ip[6] = 0xc0;
    assert_eq!(whole(RAW, &ip), Ok(wanted(100)));
}

#[test]
fn what_the_snap_length_cuts() {
    let options = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];
    let frame = ethernet(0x0800, &v4(&tcp(&options, 1448)));
    let stamped = Packet {
        options: Options { timestamps: Some(Timestamps { val: 1, ecr: 2 }), ..Options::default() },
        ..wanted(1448)
    };
    for kept in 0..frame.len() {
        let found = match kept {
            0..54 => Err(Ignored::Cut),
            54..66 => Ok(Packet { options_cut: true, ..wanted(1448) }),
            _ => Ok(stamped),
        };
        assert_eq!(see(ETHERNET, &frame[..kept], frame.len()), found, "{kept}");
    }
}

/// Within the address of PPP it is not known what comes.
#[test]
fn what_the_snap_length_cuts_of_ppp() {
    let frame = [&[0xff, 3, 0x21], &v4(&tcp(&[], 100))[..]].concat();
    for kept in 0..5 {
        assert_eq!(see(50, &frame[..kept], frame.len()), Err(Ignored::Cut), "{kept}");
    }
    assert_eq!(whole(50, &[0xff, 4, 0x21]), Err(Ignored::NotIp));
}

#[test]
fn options() {
    let sack = |edges: &[(u32, u32)]| {
        let mut blocks = SackBlocks::NONE;
        for &(left, right) in edges {
            assert!(blocks.push(SackBlock { left: Seq(left), right: Seq(right) }));
        }
        blocks
    };
    let syn = [2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 7];
    let blocks = [
        1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 0xff, 0xff,
        0xff, 0, 0, 0, 3,
    ];
    let timestamps = |val, ecr| Some(Timestamps { val, ecr });
    let seen = |options: &[u8]| whole(RAW, &v4(&tcp(options, 0))).expect("a segment").options;
    let wanted = Options {
        mss: Some(1460),
        wscale: Some(7),
        sack_permitted: true,
        timestamps: timestamps(9, 0),
        sack: sack(&[]),
    };
    assert_eq!(seen(&syn), wanted);
    assert_eq!(
        seen(&blocks),
        Options {
            timestamps: timestamps(1, 2),
            sack: sack(&[(1, 2), (0xffff_ffff, 3)]),
            ..Options::default()
        }
    );
    // Timestamps first, then padding: another layout of the same length.
    assert_eq!(
        seen(&[8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1]),
        Options { timestamps: timestamps(1, 2), ..Options::default() }
    );
    // Malformed after the window scale: what comes before counts.
    assert_eq!(seen(&[3, 3, 7, 8, 4, 0, 0, 0]), Options { wscale: Some(7), ..Options::default() });
    // Cut within the second SACK block: timestamps are kept.
    let frame = v4(&tcp(&blocks, 0));
    let cut = see(RAW, &frame[..64], frame.len()).expect("a segment");
    assert!(cut.options_cut);
    assert_eq!(cut.options, Options { timestamps: timestamps(1, 2), ..Options::default() });
}

#[test]
fn what_cannot_be() {
    let change = |at: usize, value: u8| {
        let mut ip = v4(&tcp(&[], 5));
        ip[at] = value;
        whole(RAW, &ip)
    };
    // Data offsets of 16 bytes and of 28, where 25 are there; header lengths of 16 bytes and of 48,
    // where there are 45.
    for (at, value) in [(32, 0x40), (32, 0x70), (0, 0x44), (0, 0x4c)] {
        assert_eq!(change(at, value), Err(Ignored::Malformed));
    }
    // Total lengths shorter than the headers.
    for total in [19, 39] {
        assert_eq!(change(3, total), Err(Ignored::Malformed));
    }
    // Frames that end on the wire before their headers do.
    assert_eq!(whole(ETHERNET, &[0; 13]), Err(Ignored::Malformed));
    assert_eq!(whole(RAW, &[]), Err(Ignored::Malformed));
    assert_eq!(whole(RAW, &v4(&[])[..19]), Err(Ignored::Malformed));
    assert_eq!(whole(RAW, &v6(6, &tcp(&[], 0)[..19])), Err(Ignored::Malformed));
    assert_eq!(whole(0, &[2, 0, 0]), Err(Ignored::Malformed));
    assert_eq!(see(0, &[2, 0, 0], 60), Err(Ignored::Cut));
}

#[test]
fn what_is_not_tcp() {
    let mut udp = v4(&tcp(&[], 0));
    udp[9] = 17;
    assert_eq!(whole(RAW, &udp), Err(Ignored::NotTcp));
    assert_eq!(whole(RAW, &v6(58, &[0; 8])), Err(Ignored::NotTcp));
}

const LINKS: [u16; 16] = [1, 101, 12, 14, 228, 229, 113, 276, 0, 108, 9, 50, 1000, 105, 127, 239];

proptest! {
    #[test]
    fn any_bytes(link in prop::sample::select(&LINKS[..]), data in proptest::collection::vec(any::<u8>(), 0..120), wire in any::<u32>()) {
        let _ = decode(&Frame { number: 1, at: Time(0), link: LinkType(link), data: &data, wire_len: wire });
    }

    #[test]
    fn any_change(six in any::<bool>(), changes in proptest::collection::vec((0..120_usize, any::<u8>()), 1..4), kept in 0..160_usize) {
        let tcp = tcp(&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2], 50);
        let mut frame = if six { ethernet(0x86dd, &v6(6, &tcp)) } else { ethernet(0x0800, &v4(&tcp)) };
        for (at, value) in changes {
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        let wire = frame.len();
        let cut = see(ETHERNET, &frame[..kept.min(wire)], wire);
        // What is cut off changes no verdict but "cut", and hides options only.
        match (cut, see(ETHERNET, &frame, wire)) {
            (Err(Ignored::Cut), _) => {}
            (Ok(cut), Ok(all)) => {
                let options = if cut.options_cut { cut.options } else { all.options };
                prop_assert_eq!(cut, Packet { options, options_cut: cut.options_cut, ..all });
            }
            (cut, all) => prop_assert_eq!(cut, all),
        }
    }
}

/// RFC 3168 section 5: the two lowest bits of the TOS byte, and of the traffic class.
#[test]
fn the_codepoint_of_both_versions() {
    for (bits, codepoint) in
        [(0, Codepoint::NotEct), (1, Codepoint::Ect1), (2, Codepoint::Ect0), (3, Codepoint::Ce)]
    {
        let (mut four, mut six) = (v4(&tcp(&[], 10)), v6(6, &tcp(&[], 10)));
        // With a DSCP of 46.
        four[1] = 46 << 2 | bits;
        (six[0], six[1]) = (0x6b, 0x80 | bits << 4);
        for bytes in [four, six] {
            assert_eq!(whole(101, &bytes).unwrap().codepoint, codepoint);
        }
    }
}

/// A wrong checksum is told of whole segments without payload, unless it is zero, or what a sender
/// leaves there for a device to complete: the sum over the pseudo-header.
#[test]
fn a_segment_that_was_damaged() {
    let damaged = |sum: [u8; 2], payload: usize, cut: usize| {
        let mut segment = tcp(&[], payload);
        segment[16..18].copy_from_slice(&sum);
        let frame = ethernet(0x0800, &v4(&segment));
        see(1, &frame[..frame.len() - cut], frame.len()).unwrap().damaged
    };
    let mut segment = tcp(&[], 0);
    segment[16..18].fill(0);
    let (src, dst) = ([192, 0, 2, 1].into(), [198, 51, 100, 2].into());
    let pseudo = ackclock_tcp::wire::PseudoHeader::V4 { src, dst };
    let right = pseudo.checksum(&[&segment]).to_be_bytes();
    let begun = pseudo.tcp(segment.len() as u32).sum();
    assert!(damaged([0xab, 0xcd], 0, 0));
    assert!(damaged((begun + 1).to_be_bytes(), 0, 0));
    for sum in [right, [0, 0], begun.to_be_bytes()] {
        assert!(!damaged(sum, 0, 0), "{sum:x?}");
    }
    assert!(!damaged([0xab, 0xcd], 10, 0));
    assert!(!damaged([0xab, 0xcd], 10, 10));
}
