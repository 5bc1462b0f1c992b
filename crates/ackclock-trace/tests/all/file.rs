//! Capture files made byte by byte, against the frames that are in them.

use std::io::{self, Cursor, ErrorKind, Read, Write};

use ackclock_trace::{Damage, Reader};
use proptest::prelude::*;

use crate::build::{Bytes, Order, Seen, read, read_from, read_whole};

const BOTH: [Order; 2] = [Order::Little, Order::Big];
const S: u64 = 1_000_000_000;

fn damage(offset: u64, what: &str) -> Option<Damage> {
    Some(Damage { offset, what: what.into() })
}

/// Three records of 60, 1, and 0 bytes, at 24, 100 and 117; the file ends at 133.
fn pcap(order: Order) -> Bytes {
    Bytes::new(order)
        .pcap(0xa1b2_c3d4, 65535, 1)
        .record(1_700_000_000, 5, &[7; 60], 1514)
        .record(1_700_000_000, 999_999, &[8], 1)
        .record(4_294_967_295, 0, &[], 90)
}

fn pcap_frames() -> Vec<Seen> {
    vec![
        Seen::new(1, 1_700_000_000 * S + 5000, 1, &[7; 60], 1514),
        Seen::new(2, 1_700_000_000 * S + 999_999_000, 1, &[8], 1),
        Seen::new(3, 4_294_967_295 * S, 1, &[], 90),
    ]
}

/// Three packets of 60, 1, and 0 bytes in blocks at 48, 140 and 176; the file ends at 208.
fn pcapng(order: Order) -> Bytes {
    Bytes::new(order)
        .section(order)
        .interface(1, 65535, |b| b)
        .enhanced(0, 1_700_000_000_000_005, &[7; 60], 1514)
        .enhanced(0, 1_700_000_000_999_999, &[8], 1)
        .enhanced(0, 4_294_967_295_000_000, &[], 90)
}

#[test]
fn pcap_in_both_orders() {
    for order in BOTH {
        assert_eq!(read_whole(&pcap(order).bytes), pcap_frames());
    }
    assert_eq!(pcap(Order::Little).bytes[..6], [0xd4, 0xc3, 0xb2, 0xa1, 2, 0]);
    assert_eq!(pcap(Order::Big).bytes[..6], [0xa1, 0xb2, 0xc3, 0xd4, 0, 2]);
}

#[test]
fn pcap_with_nanoseconds() {
    for order in BOTH {
        let file =
            Bytes::new(order).pcap(0xa1b2_3c4d, 65535, 101).record(3, 999_999_999, &[1, 2], 9);
        assert_eq!(read_whole(&file.bytes), [Seen::new(1, 3 * S + 999_999_999, 101, &[1, 2], 9)]);
    }
}

#[test]
fn pcap_of_old_linux_has_longer_records() {
    for order in BOTH {
        let one = |b: Bytes, data: &[u8]| {
            b.u32(3).u32(4).u32(data.len() as u32).u32(99).u32(2).u16(0x0800).raw(&[0, 0]).raw(data)
        };
        let file = one(one(Bytes::new(order).pcap(0xa1b2_cd34, 1500, 1), &[1, 2]), &[3]);
        let at = 3 * S + 4000;
        assert_eq!(
            read_whole(&file.bytes),
            [Seen::new(1, at, 1, &[1, 2], 99), Seen::new(2, at, 1, &[3], 99)]
        );
    }
}

#[test]
fn pcap_link_type_is_the_lower_half() {
    // Frames with a check sequence of 4 bytes.
    let file = Bytes::new(Order::Little).pcap(0xa1b2_c3d4, 0, 0x4400_0001).record(1, 0, &[1], 1);
    assert_eq!(read_whole(&file.bytes)[0].link, 1);
}

#[test]
fn pcapng_in_both_orders() {
    for order in BOTH {
        assert_eq!(read_whole(&pcapng(order).bytes), pcap_frames());
    }
    assert_eq!(pcapng(Order::Little).bytes[8..12], [0x4d, 0x3c, 0x2b, 0x1a]);
}

#[test]
fn pcapng_sections_have_their_own_order_and_interfaces() {
    let file = pcapng(Order::Little)
        .section(Order::Big)
        .interface(276, 0, |b| b)
        .enhanced(0, 7, &[1], 2)
        .section(Order::Little);
    let mut frames = pcap_frames();
    frames.push(Seen::new(4, 7000, 276, &[1], 2));
    assert_eq!(read_whole(&file.bytes), frames);
    let more = file.enhanced(0, 1, &[1], 1);
    let (seen, why) = read(&more.bytes);
    assert_eq!(seen, frames);
    assert_eq!(
        why,
        damage(
            208 + 28 + 20 + 36 + 28,
            "a block of interface 0, where the section has described 0 so far"
        )
    );
}

#[test]
fn pcapng_clocks() {
    // Resolution, offset in seconds, timestamp, nanoseconds.
    let rows: [(Option<u8>, Option<i64>, u64, u64); 13] = [
        (None, None, 1, 1000),
        (Some(6), None, 1, 1000),
        (Some(9), None, u64::from(u32::MAX) + 1, 4_294_967_296),
        (Some(0), None, 3, 3 * S),
        (Some(3), Some(10), 3, 10 * S + 3_000_000),
        (Some(9), Some(-2), 5 * S + 1, 3 * S + 1),
        (Some(9), Some(-2), 1, 0),
        (Some(12), None, 12_345, 12),
        (Some(127), None, u64::MAX, 0),
        (Some(0x80 | 10), None, 1024 + 512, S + S / 2),
        (Some(0x80), None, 2, 2 * S),
        (Some(0xff), None, u64::MAX, 0),
        (Some(0), Some(i64::MAX), u64::MAX, i64::MAX as u64),
    ];
    for (order, (resolution, offset, stamp, nanos)) in
        BOTH.into_iter().flat_map(|o| rows.map(|r| (o, r)))
    {
        let file = Bytes::new(order).section(order).interface(1, 0, |b| {
            let b = b.option(2, b"eth0");
            let b = resolution.map_or(b.clone(), |r| b.option(9, &[r]));
            let b = match offset {
                Some(o) if order == Order::Big => b.option(14, &o.to_be_bytes()),
                Some(o) => b.option(14, &o.to_le_bytes()),
                None => b,
            };
            b.option(0, &[])
        });
        let file = file.enhanced(0, stamp, &[], 0);
        assert_eq!(read_whole(&file.bytes)[0].at, nanos, "{resolution:?} {offset:?} {stamp}");
    }
}

#[test]
fn pcapng_interfaces_have_their_own_link_and_clock() {
    let file = Bytes::new(Order::Big)
        .section(Order::Big)
        .interface(1, 0, |b| b)
        .interface(113, 0, |b| b.option(9, &[9]))
        .enhanced(1, 5, &[1], 1)
        .enhanced(0, 6, &[2], 1);
    assert_eq!(
        read_whole(&file.bytes),
        [Seen::new(1, 5, 113, &[1], 1), Seen::new(2, 6000, 1, &[2], 1)]
    );
}

#[test]
fn pcapng_simple_and_obsolete_packets() {
    for order in BOTH {
        let file = Bytes::new(order)
            .section(order)
            .interface(101, 5, |b| b)
            .block(3, |b| b.u32(4).raw(&[1, 2, 3, 4]))
            .block(2, |b| b.u16(0).u16(17).u32(1).u32(2).u32(3).u32(1500).raw(&[1, 2, 3]))
            // The snap length says that 5 of the 8 bytes are the packet's.
            .block(3, |b| b.u32(1400).raw(&[1, 2, 3, 4, 5, 0, 0, 0]));
        let at = ((1 << 32) + 2) * 1000;
        let frames = [
            Seen::new(1, 0, 101, &[1, 2, 3, 4], 4),
            Seen::new(2, at, 101, &[1, 2, 3], 1500),
            Seen::new(3, at, 101, &[1, 2, 3, 4, 5], 1400),
        ];
        assert_eq!(read_whole(&file.bytes), frames);
    }
}

#[test]
fn pcapng_unknown_blocks_and_options_are_passed_over() {
    let file = Bytes::new(Order::Little)
        .section(Order::Little)
        .block(0x0bad_cafe, |b| b.raw(&vec![9; 3_000_000]))
        .interface(1, 0, |b| b.option(1, b"a comment"))
        .block(4, |b| b)
        .block(6, |b| {
            b.u32(0).u32(0).u32(9).u32(2).u32(3).raw(&[1, 2]).pad().option(1, b"why").option(0, b"")
        });
    assert_eq!(read_whole(&file.bytes), [Seen::new(1, 9000, 1, &[1, 2], 3)]);
}

#[test]
fn pcapng_counts_what_the_capture_dropped() {
    let counts = |b: Bytes, interface: u32, dropped: u64, by_system: u64| {
        b.block(5, |b| {
            let order = b.order;
            let value = |n| Bytes::new(order).u64(n).bytes;
            b.u32(interface)
                .u64(0)
                .option(4, &value(77))
                .option(5, &value(dropped))
                .option(7, &value(by_system))
        })
    };
    for order in BOTH {
        let file = Bytes::new(order).section(order).interface(1, 0, |b| b).interface(1, 0, |b| b);
        // The later count of an interface includes the earlier one.
        let file = counts(counts(counts(file, 0, 1, 2), 0, 3, 4), 1, 10, 0);
        let file = counts(file.section(order).interface(1, 0, |b| b), 0, 100, 0);
        let mut reader = Reader::new(Box::new(Cursor::new(file.bytes.clone()))).expect("a capture");
        assert!(reader.next().expect("memory").is_none());
        assert_eq!(
            (reader.dropped_by_capture(), reader.consumed()),
            (117, file.bytes.len() as u64)
        );
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::GzBuilder::new()
        .filename("a.pcap")
        .write(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).expect("memory");
    out.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory")
}

#[test]
fn compressed_and_in_pieces() {
    for file in [pcap(Order::Little).bytes, pcapng(Order::Big).bytes] {
        let (a, b) = file.split_at(83);
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let forms = [
            file.clone(),
            gzip(&file),
            [gzip(a), gzip(b)].concat(),
            zstd(&file),
            [zstd(a), skippable.to_vec(), zstd(b)].concat(),
            [skippable.to_vec(), zstd(&file)].concat(),
        ];
        for form in forms {
            assert_eq!(read_whole(&form), pcap_frames());
            assert_eq!(
                read_from(OneByOne(Cursor::new(form), true)).expect("a capture"),
                (pcap_frames(), None)
            );
        }
    }
}

/// Gives a byte at a time, and is interrupted before each.
struct OneByOne<R>(R, bool);

impl<R: Read> Read for OneByOne<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(ErrorKind::Interrupted.into());
        }
        let n = into.len().min(1);
        self.0.read(&mut into[..n])
    }
}

/// Random bytes, which do not compress, in a capture of 3 MB.
fn large() -> (Vec<u8>, Vec<Seen>) {
    let mut state = 1_u32;
    let mut file = Bytes::new(Order::Little).pcap(0xa1b2_c3d4, 262_144, 1);
    let mut frames = Vec::new();
    for number in 1..=2000_u32 {
        let data: Vec<u8> = (0..1500)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        file = file.record(number, 0, &data, 1500);
        frames.push(Seen::new(u64::from(number), u64::from(number) * S, 1, &data, 1500));
    }
    (file.bytes, frames)
}

#[test]
fn large_files_in_every_form() {
    let (file, frames) = large();
    for form in [file.clone(), gzip(&file), zstd(&file)] {
        assert!(read_whole(&form) == frames);
    }
}

#[test]
fn a_compressed_file_that_is_cut_off_yields_what_comes_before() {
    let (file, frames) = large();
    for (form, says) in [
        (gzip(&file), "the gzip stream is cut off"),
        (zstd(&file), "the zstd stream is cut off here, within a frame"),
    ] {
        let cut = form.len() / 2;
        let (seen, why) = read(&form[..cut]);
        let why = why.expect("damage");
        assert!(why.what.starts_with(says), "{why:?}");
        // What does not compress is stored as it is, in blocks of at most 128 KiB.
        assert!((cut as u64).abs_diff(why.offset) <= 132_000, "{why:?}");
        assert_eq!(seen.len() as u64, (why.offset - 24) / 1516);
        assert!(seen[..] == frames[..seen.len()]);
    }
}

#[test]
fn a_compressed_file_that_is_corrupt_yields_what_comes_before() {
    let (file, frames) = large();
    // At the end of what is compressed there are a checksum and a length (gzip), or a checksum
    // (zstd).
    let mut with_checksum = zstd::Encoder::new(Vec::new(), 3).expect("memory");
    with_checksum.include_checksum(true).expect("memory");
    with_checksum.write_all(&file).expect("memory");
    for (mut form, says) in
        [(gzip(&file), "gzip"), (with_checksum.finish().expect("memory"), "zstd")]
    {
        let end = form.len();
        form[end - 1] ^= 1;
        let (seen, why) = read(&form);
        let why = why.expect("damage");
        assert!(why.what.contains(says) && why.what.contains("corrupt"), "{why:?}");
        assert_eq!((seen.len(), why.offset), (2000, file.len() as u64));
        assert!(seen == frames);
    }
    // Random bytes where a block begins: stored blocks of gzip say their length twice.
    let mut form = gzip(&file);
    let half = form.len() / 2;
    for byte in &mut form[half..half + 140_000] {
        *byte ^= 0x55;
    }
    let (seen, why) = read(&form);
    let why = why.expect("damage");
    assert!(
        why.what.starts_with("the gzip stream is cut off or corrupt")
            || why.what.starts_with("a record of"),
        "{why:?}"
    );
    let before = (half - 40_000) / 1516;
    assert!(
        seen.len() >= before && seen[..before] == frames[..before],
        "{} of at least {before}",
        seen.len()
    );
}

#[test]
fn pcap_that_is_cut_off() {
    let file = pcap(Order::Little).bytes;
    for end in 24..file.len() {
        let (seen, why) = read(&file[..end]);
        let whole = [100, 117, 133].iter().filter(|&&record_end| record_end <= end).count();
        assert_eq!(seen, pcap_frames()[..whole], "{end}");
        let begin = [24, 100, 117][whole];
        let (there, len) = (end - begin, [60, 1, 0][whole]);
        let wanted = match there {
            0 => None,
            1..16 => damage(
                begin as u64,
                &format!("the header of a record is cut off: {there} of its 16 bytes are there"),
            ),
            _ => damage(
                begin as u64,
                &format!("a record is cut off: {} of its {len} bytes are there", there - 16),
            ),
        };
        assert_eq!(why, wanted);
    }
}

#[test]
fn pcapng_that_is_cut_off() {
    let file = pcapng(Order::Big).bytes;
    for end in 28..file.len() {
        let (seen, why) = read(&file[..end]);
        let whole = [140, 176, 208].iter().filter(|&&block_end| block_end <= end).count();
        assert_eq!(seen, pcap_frames()[..whole], "{end}");
        let begin = [28, 48, 140, 176].into_iter().rfind(|&begin| begin <= end).expect("one");
        let (there, len) = (
            end - begin,
            match begin {
                28 => 20,
                48 => 92,
                140 => 36,
                _ => 32,
            },
        );
        let wanted = match there {
            0 => None,
            1..8 => damage(
                begin as u64,
                &format!("the header of a block is cut off: {there} of its 8 bytes are there"),
            ),
            _ => damage(
                begin as u64,
                &format!("a block is cut off: {there} of its {len} bytes are there"),
            ),
        };
        assert_eq!(why, wanted);
    }
}

/// Seconds in the fraction are carried over.
#[test]
fn pcap_with_fractions_above_a_second() {
    for (magic, fraction, nanos) in [
        (0xa1b2_c3d4, 1_000_000, S),
        (0xa1b2_c3d4, 1_500_001, S + 500_001_000),
        (0xa1b2_3c4d, 2_000_000_003, 2 * S + 3),
        (0xa1b2_c3d4, u32::MAX, 4_294_967_295_000),
    ] {
        let file =
            Bytes::new(Order::Little).pcap(magic, 65535, 1).record(100, fraction, &[8], 1).bytes;
        assert_eq!(read_whole(&file), [Seen::new(1, 100 * S + nanos, 1, &[8], 1)]);
    }
}

/// Before version 2.3 the length on the wire stands first; in it, if it is the longer one.
#[test]
fn pcap_with_swapped_lengths() {
    for (minor, lengths, kept, wire_len) in [
        (2_u16, [60, 4], 4, 60),
        (3, [60, 4], 4, 60),
        (3, [4, 60], 4, 60),
        (4, [4, 60], 4, 60),
        (1, [4, 4], 4, 4),
    ] {
        let mut file = Bytes::new(Order::Big).pcap(0xa1b2_c3d4, 65535, 1);
        file.bytes[6..8].copy_from_slice(&minor.to_be_bytes());
        let file = file.u32(100).u32(0).u32(lengths[0]).u32(lengths[1]).raw(&[8; 4]).bytes;
        let frames = read_whole(&file);
        assert_eq!(frames, [Seen::new(1, 100 * S, 1, &[8; 4][..kept], wire_len)]);
    }
}

#[test]
fn pcap_with_impossible_records() {
    let file = |len: u32| pcap(Order::Little).u32(0).u32(0).u32(len).u32(4).bytes;
    let rows = [
        (u32::MAX, "a record of 4294967295 bytes; at most 262144 can be"),
        (262_145, "a record of 262145 bytes; at most 262144 can be"),
        (262_144, "a record is cut off: 0 of its 262144 bytes are there"),
    ];
    for (len, says) in rows {
        assert_eq!(read(&file(len)), (pcap_frames(), damage(133, says)));
    }
    // A snap length above all that can be does not let records be as long.
    let huge = Bytes::new(Order::Little)
        .pcap(0xa1b2_c3d4, u32::MAX, 1)
        .u32(0)
        .u32(0)
        .u32(u32::MAX - 1)
        .u32(4);
    assert_eq!(
        read(&huge.bytes),
        (vec![], damage(24, "a record of 4294967294 bytes; at most 16777216 can be"))
    );
}

#[test]
fn pcapng_with_impossible_blocks() {
    let lengths = |kind: u32, len: u32, end: u32| {
        pcapng(Order::Little).u32(kind).u32(len).raw(&[0; 20]).u32(end).raw(&[0; 4096]).bytes
    };
    let bad = "; a multiple of 4 is right, at least";
    let rows = [
        (
            lengths(6, 0, 0),
            format!(
                "a block of 0 bytes{bad} 32, and at most 16777216 with a \
            packet"
            ),
        ),
        (
            lengths(6, 28, 28),
            format!(
                "a block of 28 bytes{bad} 32, and at most 16777216 with a \
            packet"
            ),
        ),
        (
            lengths(6, 33, 33),
            format!(
                "a block of 33 bytes{bad} 32, and at most 16777216 with a \
            packet"
            ),
        ),
        (
            lengths(6, u32::MAX - 3, 0),
            format!("a block of 4294967292 bytes{bad} 32, and at most 16777216 with a packet"),
        ),
        (
            lengths(77, 0, 0),
            format!(
                "a block of 0 bytes{bad} 12, and at most 16777216 with a \
            packet"
            ),
        ),
        (
            lengths(77, u32::MAX - 3, 0),
            "a block is cut off: 4128 of its 4294967292 bytes are \
            there"
                .into(),
        ),
        (
            lengths(77, 32, 36),
            "a block says at its begin that it has 32 bytes, and at its end that \
            it has 36"
                .into(),
        ),
        (
            lengths(3, 32, 36),
            "a block says at its begin that it has 32 bytes, and at its end that \
            it has 36"
                .into(),
        ),
        (
            pcapng(Order::Little)
                .block(6, |b| b.u32(0).u32(0).u32(0).u32(9).u32(9).raw(&[0; 8]))
                .bytes,
            "a block says that 9 bytes of a packet were kept, and has room for 8".into(),
        ),
        (
            pcapng(Order::Little).enhanced(1, 0, &[], 0).bytes,
            "a block of interface 1, where the section has described 1 so far".into(),
        ),
        (
            pcapng(Order::Little).interface(1, 0, |b| b.u16(2).u16(9).u32(0)).bytes,
            "an option of an interface description goes beyond the block".into(),
        ),
        (
            pcapng(Order::Little)
                .block(0x0a0d_0d0a, |b| b.u32(0x1a2b_3c4d).u16(2).u16(0).u64(0))
                .bytes,
            "a section of pcapng version 2, where 1 is known".into(),
        ),
        (
            pcapng(Order::Little)
                .block(0x0a0d_0d0a, |b| b.u32(0x1a2b_3c4e).u16(1).u16(0).u64(0))
                .bytes,
            "a section whose byte order is unknown: neither 1a 2b 3c 4d nor 4d 3c 2b 1a at its \
             byte 8"
                .into(),
        ),
    ];
    for (file, says) in rows {
        assert_eq!(read(&file), (pcap_frames(), damage(208, &says)));
    }
}

#[test]
fn interfaces_are_bounded() {
    let mut file = Bytes::new(Order::Little).section(Order::Little);
    for _ in 0..65_537 {
        file = file.interface(1, 0, |b| b);
    }
    assert_eq!(
        read(&file.bytes),
        (vec![], damage(28 + 20 * 65_536, "more than 65536 interfaces in a section"))
    );
}

#[test]
fn what_is_no_capture_is_said_so() {
    let rows: [(&[u8], &str); 9] = [
        (b"", "the file is empty; a capture begins with the header of pcap or pcapng"),
        (
            b"\xd4\xc3\xb2",
            "the file ends after 3 bytes; a capture begins with the header of pcap or pcapng",
        ),
        (
            b"hello",
            "no capture: the first bytes are 68 65 6c 6c; pcap begins with d4 c3 b2 a1 (or a1 b2 \
             c3 d4, 4d 3c b2 a1, a1 b2 3c 4d), \
             pcapng with 0a 0d 0d 0a",
        ),
        (
            b"\xfd7zXZ\0",
            "this is compressed with xz; pcap and pcapng are read, plain or compressed with gzip \
             or zstd",
        ),
        (
            b"snoop\0\0\0",
            "this is a capture of snoop; pcap and pcapng are read, plain or compressed with gzip \
             or zstd",
        ),
        (
            b"\xd4\xc3\xb2\xa1\x02\0",
            "the header of the file is cut off: 6 of its 24 bytes are there",
        ),
        (
            b"\xd4\xc3\xb2\xa1\x03\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0",
            "pcap of version 3, where 2 is known",
        ),
        (b"\x0a\x0d\x0d\x0a\0\0", "a block is cut off: 6 of its 28 bytes are there"),
        (
            b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a",
            "a block is cut off: 12 of its 28 bytes are there",
        ),
    ];
    let error = |bytes: &[u8]| read_from(Cursor::new(bytes.to_vec())).expect_err("no capture");
    for (bytes, says) in rows {
        let error = error(bytes);
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::InvalidData, says));
    }
    assert_eq!(
        error(&gzip(&gzip(b"x"))).to_string(),
        "this is compressed twice; pcap and pcapng are read, plain or compressed with gzip or zstd"
    );
    for corrupt in [&b"\x1f\x8b\x09\0\0\0\0\0\0\0\0\0"[..], b"\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff"]
    {
        assert_eq!(error(corrupt).kind(), ErrorKind::InvalidData);
    }
}

/// Fails once `0` bytes were read.
struct Fails(usize, Cursor<Vec<u8>>);

impl Read for Fails {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = into.len().min(self.0);
        self.0 -= n;
        if n == 0 { Err(ErrorKind::ConnectionReset.into()) } else { self.1.read(&mut into[..n]) }
    }
}

#[test]
fn an_input_that_fails_is_no_damage() {
    for form in [
        pcap(Order::Little).bytes,
        gzip(&pcap(Order::Little).bytes),
        zstd(&pcap(Order::Little).bytes),
    ] {
        for fails_at in 0..form.len() {
            let error =
                read_from(Fails(fails_at, Cursor::new(form.clone()))).expect_err("it fails");
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        }
    }
}

fn any_file() -> impl Strategy<Value = (Vec<u8>, Vec<Seen>)> {
    let packet = (
        any::<u32>(),
        0..1_000_000_u32,
        proptest::collection::vec(any::<u8>(), 0..90),
        0..2000_u32,
    );
    let packets = proptest::collection::vec(packet, 0..20);
    (packets, any::<bool>(), any::<bool>()).prop_map(|(packets, big, ng)| {
        let order = if big { Order::Big } else { Order::Little };
        let file = Bytes::new(order);
        let mut file = if ng {
            file.section(order).interface(1, 0, |b| b)
        } else {
            file.pcap(0xa1b2_c3d4, 0, 1)
        };
        let mut frames = Vec::new();
        for (number, (secs, micros, data, more)) in (1..).zip(packets) {
            let (at, wire_len) =
                (u64::from(secs) * 1_000_000 + u64::from(micros), data.len() as u32 + more);
            file = if ng {
                file.enhanced(0, at, &data, wire_len)
            } else {
                file.record(secs, micros, &data, wire_len)
            };
            frames.push(Seen::new(number, at * 1000, 1, &data, wire_len));
        }
        (file.bytes, frames)
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(kind in 0..6_usize, bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let begins: [&[u8]; 6] = [
            b"", b"\xd4\xc3\xb2\xa1\x02\0\x04\0", b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0",
            b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xa1\xb2\x3c\x4d\0\x02",
        ];
        drop(read_from(Cursor::new([begins[kind], &bytes].concat())));
    }

    #[test]
    fn what_comes_before_a_cut_is_read((file, frames) in any_file(), cut: prop::sample::Index) {
        let end = cut.index(file.len()).max(28);
        let (seen, why) = read(&file[..end.min(file.len())]);
        prop_assert_eq!(&seen[..], &frames[..seen.len()]);
        // All of it: the next frame's last byte is missing.
        if let Some(why) = why {
            prop_assert!(why.offset < end as u64);
        }
        let rest = read_from(Cursor::new(file.clone())).expect("a capture").0;
        prop_assert_eq!(rest, frames);
    }

    #[test]
    fn what_comes_before_a_mutation_is_read((file, frames) in any_file(), at: prop::sample::Index, flip in 1..=255_u8) {
        let mut mutated = file.clone();
        let at = at.index(file.len());
        mutated[at] ^= flip;
        let Ok((seen, _)) = read_from(Cursor::new(mutated)) else { return Ok(()) };
        // Frames that end before the byte: those that are read of the file cut off there.
        if at >= 28 {
            let before = read(&file[..at]).0.len();
            prop_assert!(seen.len() >= before);
            prop_assert_eq!(&seen[..before], &frames[..before]);
        }
    }
}
