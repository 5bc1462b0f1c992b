//! Golden bytes (made by Scapy 2.6), malformed input, and round trips of arbitrary headers.

use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::segment::{SackBlock, SackBlocks, Timestamps};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn v4() -> PseudoHeader {
    PseudoHeader::V4 { src: [192, 0, 2, 1].into(), dst: [198, 51, 100, 2].into() }
}

fn v6() -> PseudoHeader {
    PseudoHeader::V6 {
        src: [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into(),
        dst: [0x2001, 0xdb8, 0, 0, 0, 0, 0, 2].into(),
    }
}

fn sack(blocks: &[(u32, u32)]) -> SackBlocks {
    let mut out = SackBlocks::NONE;
    for &(left, right) in blocks {
        assert!(out.push(SackBlock { left: Seq(left), right: Seq(right) }));
    }
    out
}

fn ports(src_port: u16, dst_port: u16) -> Repr {
    Repr { src_port, dst_port, ..Repr::default() }
}

/// `repr` with `payload` is written as `hex`, and `hex` is read as both.
fn golden(pseudo: PseudoHeader, repr: Repr, payload: &[u8], hex: &str) {
    let expected = bytes(hex);
    let mut written = std::vec![0xaa; repr.header_len()];
    written.extend_from_slice(payload);
    assert_eq!(repr.emit(&pseudo, &mut written), Ok(()));
    assert_eq!(written, expected);
    let packet = Packet::parse(&expected).unwrap();
    assert_eq!(Repr::parse(&packet), (repr, None));
    assert_eq!(packet.payload(), payload);
    assert!(packet.checksum_ok(&pseudo));
    for bit in 0..expected.len() * 8 {
        let mut damaged = expected.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        if bit / 8 != 12 {
            assert!(!Packet::parse(&damaged).unwrap().checksum_ok(&pseudo), "bit {bit}");
        }
    }
}

#[test]
fn golden_syn() {
    let options = Options {
        mss: Some(1460),
        wscale: Some(7),
        sack_permitted: true,
        timestamps: Some(Timestamps { val: 0x0102_0304, ecr: 0 }),
        ..Options::default()
    };
    let repr = Repr {
        seq: Seq(0xffff_fffe),
        control: Control::SYN,
        wnd: 64240,
        options,
        ..ports(40000, 443)
    };
    golden(
        v4(),
        repr,
        b"",
        "9c40 01bb fffffffe 00000000 a002 faf0 bed7 0000 020405b4 0402080a 01020304 00000000 \
         01030307",
    );
}

#[test]
fn golden_syn_ack_without_timestamps_over_ipv6() {
    let options =
        Options { mss: Some(1440), wscale: Some(14), sack_permitted: true, ..Options::default() };
    let control = Control::SYN.with(Control::ACK);
    let repr = Repr {
        seq: Seq(7),
        ack: Seq(0x8000_0000),
        control,
        wnd: 65535,
        options,
        ..ports(40000, 443)
    };
    golden(
        v6(),
        repr,
        b"",
        "9c40 01bb 00000007 80000000 8012 ffff f596 0000 020405a0 01010402 0103030e",
    );
}

#[test]
fn golden_data() {
    let segment = Segment {
        seq: Seq(1000),
        ack: Seq(2000),
        len: 5,
        wnd: 501,
        flags: Flags::new(true, false),
        ecn: Ecn::NONE,
        timestamps: Some(Timestamps { val: 5, ecr: 6 }),
        sack: SackBlocks::NONE,
    };
    let repr = Repr { src_port: 40000, dst_port: 443, ..Repr::from_segment(&segment) };
    assert_eq!(repr.segment(5), segment);
    golden(
        v4(),
        repr,
        b"hello",
        "9c40 01bb 000003e8 000007d0 8018 01f5 9af3 0000 0101080a 00000005 00000006 68656c6c6f",
    );
}

#[test]
fn golden_ack_with_timestamps_and_three_blocks() {
    let segment = Segment {
        seq: Seq(2000),
        ack: Seq(5000),
        wnd: 300,
        timestamps: Some(Timestamps { val: u32::MAX, ecr: 1 }),
        sack: sack(&[(5500, 6000), (7000, 7500), (4_294_967_000, 200)]),
        ..Segment::default()
    };
    assert_eq!(segment.option_len(), 40);
    let repr = Repr { src_port: 443, dst_port: 40000, ..Repr::from_segment(&segment) };
    assert_eq!(repr.segment(0), segment);
    golden(
        v6(),
        repr,
        b"",
        "01bb 9c40 000007d0 00001388 f010 012c 855f 0000 0101080a ffffffff 00000001
         0101051a 0000157c 00001770 00001b58 00001d4c fffffed8 000000c8",
    );
}

#[test]
fn golden_four_blocks() {
    let repr = Repr {
        seq: Seq(3),
        ack: Seq(4),
        control: Control::ACK,
        options: Options { sack: sack(&[(1, 2), (3, 4), (5, 6), (7, 8)]), ..Options::default() },
        ..ports(1, 2)
    };
    golden(
        v4(),
        repr,
        b"",
        "0001 0002 00000003 00000004 e010 0000 2d28 0000 01010522
         00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008",
    );
}

#[test]
fn golden_every_field() {
    let control = [Control::FIN, Control::URG, Control::ACK, Control::ECE, Control::CWR]
        .into_iter()
        .fold(Control::default(), Control::with);
    let repr = Repr { seq: Seq(3), ack: Seq(4), control, urgent: 9, ..ports(1, 2) };
    golden(v4(), repr, b"", "0001 0002 00000003 00000004 50f1 0000 c2a9 0009");
    assert!(repr.control.contains(Control::URG) && !repr.control.contains(Control::SYN));
    assert!(repr.segment(0).flags.fin());
}

#[test]
fn a_segment_cut_off_anywhere_is_refused_or_loses_payload_only() {
    let whole = bytes(
        "9c40 01bb 000003e8 000007d0 8018 01f5 9af3 0000 0101080a 00000005 00000006 68656c6c6f",
    );
    for len in 0..32 {
        assert_eq!(Packet::parse(&whole[..len]).unwrap_err(), ParseError::Truncated, "{len}");
    }
    for len in 32..=37 {
        assert_eq!(Packet::parse(&whole[..len]).unwrap().payload(), &whole[32..len]);
    }
    for offset in 0..5u8 {
        let mut bad = whole.clone();
        bad[12] = offset << 4;
        assert_eq!(Packet::parse(&bad).unwrap_err(), ParseError::BadDataOffset);
    }
}

fn options(hex: &str) -> (Options, Option<(u8, u8)>) {
    let (options, malformed) = Options::parse(&bytes(hex));
    (options, malformed.map(|m| (m.kind, m.offset)))
}

#[test]
fn padding_end_and_unknown_options_are_skipped() {
    let nothing = Options::default();
    let mss = Options { mss: Some(536), ..nothing };
    assert_eq!(options(""), (nothing, None));
    assert_eq!(options("01010101"), (nothing, None));
    assert_eq!(options("00 02040218"), (nothing, None), "nothing counts after the end");
    assert_eq!(options("fe04abcd 1e02 02040218"), (mss, None), "an experiment and MPTCP");
    assert_eq!(options("01 02040218 01 02 00"), (mss, Some((2, 6))));
    assert_eq!(options("02040100 02040218"), (mss, None), "the last counts");
    assert_eq!(options("0303ff"), (Options { wscale: Some(14), ..nothing }, None));
    let two = Options { sack: sack(&[(1, 2), (3, 4)]), ..nothing };
    assert_eq!(
        options("050a 00000001 00000002 050a 00000003 00000004"),
        (two, None),
        "blocks add up"
    );
}

#[test]
fn a_malformed_option_ends_the_list_and_is_reported() {
    for (bad, kind) in [
        ("02", 2),                        // no length
        ("0200", 2),                      // length below two
        ("0201", 2),                      //
        ("0203 05", 2),                   // not an MSS's length
        ("0205 050505", 2),               //
        ("0204 05", 2),                   // beyond the end
        ("0302", 3),                      // not a window scale's length
        ("0304 0101", 3),                 //
        ("0403 01", 4),                   // not SACK permitted's length
        ("0502", 5),                      // no block
        ("0506 00000001", 5),             // half a block
        ("050b 00000001 00000002 03", 5), // a block and a byte
        ("0809 00000001 000000", 8),      // not a timestamp's length
        ("080b 00000001 00000002 01", 8), //
        ("fe00", 254),                    // an unknown kind needs a length too
        ("fe05 0000", 254),               //
        ("ff", 255),                      //
    ] {
        let hex = std::format!("0303 02 01 {bad} 02040218");
        let before = Options { wscale: Some(2), ..Options::default() };
        let tail_fits = matches!(bad, "0204 05" | "fe05 0000" | "02" | "ff");
        if !tail_fits {
            assert_eq!(options(&hex), (before, Some((kind, 4))), "{bad}");
        }
        let last = std::format!("0303 02 01 {bad}");
        assert_eq!(options(&last), (before, Some((kind, 4))), "{bad} at the end");
    }
    // Five blocks do not fit into a header, but they do into a slice.
    assert_eq!(
        Options::parse(&[&[5, 42][..], &[0; 40][..]].concat()).1,
        Some(Malformed { kind: 5, offset: 0 })
    );
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let options = Options {
        sack: sack(&[(1, 2), (3, 4), (5, 6), (7, 8)]),
        timestamps: Some(Timestamps::default()),
        ..Options::default()
    };
    let repr = Repr { options, ..Repr::default() };
    assert_eq!(repr.header_len(), 68);
    let mut room = [7; 100];
    assert_eq!(repr.emit(&v4(), &mut room), Err(EmitError::OptionsTooLong));
    assert_eq!(ports(1, 2).emit(&v4(), &mut room[..19]), Err(EmitError::NoRoom));
    let repr = Repr { options: Options { mss: Some(1), ..Options::default() }, ..Repr::default() };
    assert_eq!(repr.emit(&v4(), &mut room[..23]), Err(EmitError::NoRoom));
    assert_eq!(room, [7; 100]);
    assert_eq!(repr.emit(&v4(), &mut room[..24]), Ok(()));
}

#[test]
fn a_long_payload_sums_without_overflow() {
    let mut segment = std::vec![0xff; 65_515];
    let repr = ports(0xffff, 0xffff);
    repr.emit(&v4(), &mut segment).unwrap();
    assert!(Packet::parse(&segment).unwrap().checksum_ok(&v4()));
    segment[30_000] = 0xfe;
    assert!(!Packet::parse(&segment).unwrap().checksum_ok(&v4()));
}

prop_compose! {
    fn any_options()(
        mss in proptest::option::of(any::<u16>()),
        wscale in proptest::option::of(0..=14u8),
        sack_permitted in any::<bool>(),
        timestamps in proptest::option::of((any::<u32>(), any::<u32>())),
        blocks in proptest::collection::vec((any::<u32>(), any::<u32>()), 0..=4),
    ) -> Options {
        let timestamps = timestamps.map(|(val, ecr)| Timestamps { val, ecr });
        Options { mss, wscale, sack_permitted, timestamps, sack: sack(&blocks) }
    }
}

prop_compose! {
    fn any_repr()(
        (src_port, dst_port) in any::<(u16, u16)>(),
        (seq, ack) in any::<(u32, u32)>(),
        control in any::<u8>(),
        (wnd, urgent) in any::<(u16, u16)>(),
        options in any_options(),
    ) -> Repr {
        Repr { src_port, dst_port, seq: Seq(seq), ack: Seq(ack), control: Control(control), wnd, urgent, options, ..Repr::default() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_emitted_is_parsed(repr in any_repr(), payload in proptest::collection::vec(any::<u8>(), 0..50)) {
        let mut buffer = std::vec![0x55; repr.header_len()];
        buffer.extend_from_slice(&payload);
        let result = repr.emit(&v6(), &mut buffer);
        if repr.header_len() > MAX_HEADER_LEN {
            prop_assert_eq!(result, Err(EmitError::OptionsTooLong));
        } else {
            prop_assert_eq!(result, Ok(()));
            let packet = Packet::parse(&buffer).unwrap();
            prop_assert_eq!(Repr::parse(&packet), (repr, None));
            prop_assert_eq!(packet.payload(), &payload[..]);
            prop_assert!(packet.checksum_ok(&v6()));
        }
    }

    #[test]
    fn any_bytes_are_parsed_or_refused(mut received in proptest::collection::vec(any::<u8>(), 0..80), offset in 5..=15u8) {
        if let Some(byte) = received.get_mut(12) {
            *byte = offset << 4;
        }
        let Ok(packet) = Packet::parse(&received) else {
            prop_assert!(received.len() < usize::from(offset) * 4);
            return Ok(());
        };
        let (repr, _) = Repr::parse(&packet);
        let mut again = std::vec![0; repr.header_len()];
        if repr.emit(&v4(), &mut again).is_ok() {
            prop_assert_eq!(Repr::parse(&Packet::parse(&again).unwrap()), (repr, None));
        }
    }
}

proptest! {
    /// Wherever a payload is cut, and whatever summed before it, the checksum is that of the whole.
    #[test]
    fn a_checksum_does_not_depend_on_where_the_pieces_end(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cuts in (0..200usize, 0..200usize),
    ) {
        let (mut a, mut b) = (cuts.0.min(bytes.len()), cuts.1.min(bytes.len()));
        if a > b {
            core::mem::swap(&mut a, &mut b);
        }
        let mut sum = 0u32;
        for (at, byte) in bytes.iter().enumerate() {
            sum += if at % 2 == 0 { u32::from(*byte) << 8 } else { u32::from(*byte) };
        }
        while sum >> 16 != 0 {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        let pieces = Checksum::default().then(&bytes[..a]).then(&bytes[a..b]).then(&bytes[b..]);
        prop_assert_eq!(pieces.value(), !(sum as u16));
    }
}
