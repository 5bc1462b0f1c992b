//! Exact bytes of captures.

use std::path::Path;

use ackclock_report::{CaptureFormat, CaptureWriter, Handshake};
use ackclock_tcp::wire::{Control, Options, Packet, PseudoHeader, Repr};
use ackclock_tcp::{
    Cause, Codepoint, Ecn, SackBlock, SackBlocks, Segment, Sending, Seq, Sighting, Time, Timestamps,
};

/// A segment from the sender.
fn sent(at: u64, segment: &Segment, cause: Cause, transmission: u32, number: u32) -> Sighting {
    let header = Repr::from_segment(segment);
    Sighting {
        at: Time(at),
        to_receiver: true,
        header,
        len: segment.len,
        sent: Some(Sending { cause, transmission }),
        number,
        hops: 0,
    }
}

/// Another one, to the sender or from it.
fn other(at: u64, header: Repr, to_receiver: bool, number: u32) -> Sighting {
    Sighting { at: Time(at), to_receiver, header, len: 0, sent: None, number, hops: 0 }
}

fn capture(format: CaptureFormat) -> CaptureWriter<Vec<u8>> {
    CaptureWriter::new(Vec::new(), format, "sender").unwrap()
}

/// 6 bytes of data at 1.5 s, and a duplicate ACK with a SACK block 0.1 s later.
fn small(format: CaptureFormat) -> Vec<u8> {
    let mut capture = capture(format);
    let handshake = Handshake {
        mss: 1000,
        sender_wscale: 2,
        receiver_wscale: 7,
        rwnd: 64_000,
        ..Handshake::default()
    };
    capture.connection(1, [0; 2], handshake);
    let timestamps = |val, ecr| Some(Timestamps { val, ecr });
    let data = Segment {
        seq: Seq(1),
        ack: Seq(1),
        len: 6,
        wnd: 500,
        timestamps: timestamps(9, 8),
        ..Segment::default()
    };
    capture.packet(1, &sent(1_500_000_000, &data, Cause::FastRetransmit, 2, 1)).unwrap();
    let mut sack = SackBlocks::NONE;
    sack.push(SackBlock { left: Seq(7), right: Seq(13) });
    let ack = Segment {
        seq: Seq(1),
        ack: Seq(1),
        wnd: 500,
        timestamps: timestamps(10, 9),
        sack,
        ..Segment::default()
    };
    // Over two links, and so over a node that takes one off its time to live.
    let ack = other(1_600_000_000, Repr::from_segment(&ack), false, 1);
    capture.packet(1, &Sighting { hops: 2, ..ack }).unwrap();
    capture.finish().unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

const SYN: &str = "020000000002 020000000001 0800 \
    4500003c 00014000 40060686 0a000001 c6336401 \
    27110009 00000000 00000000 a002ffff ee6c0000 020403f4 0402080a 00000009 00000000 01030302";
const SYN_ACK: &str = "020000000001 020000000002 0800 \
    4500003c 00014000 40060686 c6336401 0a000001 \
    00092711 00000000 00000001 a012fa00 f44d0000 020403f4 0402080a 00000008 00000009 01030307";
const ACK: &str = "020000000002 020000000001 0800 \
    45000034 00024000 4006068d 0a000001 c6336401 \
    27110009 00000001 00000001 8010ffff 1b5b0000 0101080a 00000009 00000008";
const DATA: &str = "020000000002 020000000001 0800 \
    4500003a 00034000 40060686 0a000001 c6336401 \
    27110009 00000001 00000001 801001f4 19610000 0101080a 00000009 00000008 00000000 0000";
const DUPACK: &str = "020000000001 020000000002 0800 \
    45000040 00024000 3f060781 c6336401 0a000001 \
    00092711 00000001 00000001 b01001f4 e3390000 0101080a 0000000a 00000009 0101050a 00000007 \
    0000000d";

/// Each packet of the small capture as a block of pcapng: total length, high and low half of the
/// time, length, and the comment, padded.
fn packet_block(packet: &str, head: &str, comment: &str) -> Vec<u8> {
    let total = head.split(' ').next().unwrap();
    let padding = vec![0; bytes(packet).len().wrapping_neg() % 4];
    let mut block = bytes(&format!("06000000 {total} 00000000 {}", &head[total.len()..]));
    block.extend(
        [bytes(packet), padding, bytes("0100"), (comment.len() as u16).to_le_bytes().to_vec()]
            .concat(),
    );
    block.extend(comment.as_bytes());
    block.resize(block.len().next_multiple_of(4), 0);
    block.extend([bytes("00000000"), bytes(total)].concat());
    block
}

#[test]
fn pcapng_bytes() {
    let made_up = "ackclock: handshake, made up";
    let expected = [
        bytes(
            "0a0d0d0a 2c000000 4d3c2b1a 0100 0000 ffffffffffffffff 0400 0800 61636b636c6f636b \
             00000000 2c000000",
        ),
        bytes(
            "01000000 2c000000 0100 0000 00000400 0200 0600 73656e646572 0000 0900 0100 09000000 \
             00000000 2c000000",
        ),
        packet_block(SYN, "90000000 cf4c230d 002fabab 4a000000 4a000000", made_up),
        packet_block(SYN_ACK, "90000000 cf4c230d 002fabab 4a000000 4a000000", made_up),
        packet_block(ACK, "88000000 cf4c230d 002fabab 42000000 42000000", made_up),
        packet_block(
            DATA,
            "9c000000 cf4c230d 002fabab 48000000 48000000",
            "ackclock: fast_retransmit, transmission 2",
        ),
        packet_block(
            DUPACK,
            "94000000 cf4c230d 0010a1b1 4e000000 4e000000",
            "ackclock: duplicate ack 1",
        ),
    ];
    assert_eq!(hex(&small(CaptureFormat::PcapNg)), hex(&expected.concat()));
}

#[test]
fn pcap_bytes() {
    let expected = [
        bytes("4d3cb2a1 0200 0400 00000000 00000000 00000400 01000000"),
        bytes(&format!("81436d38 0065cd1d 4a000000 4a000000 {SYN}")),
        bytes(&format!("81436d38 0065cd1d 4a000000 4a000000 {SYN_ACK}")),
        bytes(&format!("81436d38 0065cd1d 42000000 42000000 {ACK}")),
        bytes(&format!("81436d38 0065cd1d 48000000 48000000 {DATA}")),
        bytes(&format!("81436d38 0046c323 4e000000 4e000000 {DUPACK}")),
    ];
    assert_eq!(hex(&small(CaptureFormat::Pcap)), hex(&expected.concat()));
}

/// The packets of a pcap file.
fn packets(mut file: &[u8]) -> Vec<&[u8]> {
    file = &file[24..];
    let mut packets = Vec::new();
    while let Some((head, rest)) = file.split_at_checked(16) {
        let len = u32::from_le_bytes(head[8..12].try_into().unwrap()) as usize;
        packets.push(&rest[..len]);
        file = &rest[len..];
    }
    packets
}

/// Sequence number, acknowledgment number and payload length of a packet whose checksums are right.
fn parse(packet: &[u8]) -> (u32, u32, usize) {
    let ip = &packet[14..];
    let sum: u32 = ip[..20].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "the header checksum");
    assert_eq!(usize::from(ip[2]) << 8 | usize::from(ip[3]), ip.len(), "the total length");
    let address = |at: usize| std::net::Ipv4Addr::new(ip[at], ip[at + 1], ip[at + 2], ip[at + 3]);
    let tcp = Packet::parse(&ip[20..]).unwrap();
    assert!(tcp.checksum_ok(&PseudoHeader::V4 { src: address(12), dst: address(16) }));
    (tcp.seq().0, tcp.ack().0, tcp.payload().len())
}

#[test]
fn a_huge_segment_at_the_wrap_becomes_several_packets() {
    let mut capture = capture(CaptureFormat::Pcap);
    let segment =
        Segment { seq: Seq(u32::MAX - 9), ack: Seq(0), len: 130_001, ..Segment::default() };
    capture.packet(u32::MAX, &sent(u64::MAX, &segment, Cause::New, u32::MAX, u32::MAX)).unwrap();
    let file = capture.finish().unwrap();
    let packets: Vec<_> = packets(&file).into_iter().map(parse).collect();
    let isn = u32::MAX - 10;
    assert_eq!(
        packets,
        [
            (isn, 0, 0),
            (u32::MAX, isn + 1, 0),
            (isn + 1, 0, 0),
            (isn + 1, 0, 65_495),
            (65_485, 0, 64_506),
        ]
    );
    // The last second that 32 bits can tell.
    assert_eq!(file[24..28], [0xff; 4]);
}

/// Each host has an address of its own as a sender and one as a receiver, and each connection a
/// port of its sender's.
#[test]
fn addresses_of_hosts() {
    let flows = [
        (0, [0, 0], [10, 0, 0, 1], [198, 51, 100, 1]),
        (1, [1, 253], [10, 0, 0, 2], [198, 51, 100, 254]),
        (2, [300, 254], [10, 0, 0, 3], [198, 18, 0, 254]),
        (3, [1, 0], [10, 0, 0, 2], [198, 51, 100, 1]),
        // The ports of 10.0.0.2 are used up.
        (50_000, [1, 0], [10, 0, 0, 4], [198, 51, 100, 1]),
    ];
    let mut capture = capture(CaptureFormat::Pcap);
    for (flow, hosts, _, _) in flows {
        capture.connection(flow, hosts, Handshake::default());
        let segment = Segment { seq: Seq(1), ack: Seq(1), len: 1, ..Segment::default() };
        capture.packet(flow, &sent(0, &segment, Cause::New, 1, 1)).unwrap();
    }
    let file = capture.finish().unwrap();
    // Each begins with a handshake that is made up.
    for ((flow, hosts, from, to), first) in flows.into_iter().zip(packets(&file).chunks(4)) {
        let first = first[0];
        assert_eq!((&first[26..30], &first[30..34]), (&from[..], &to[..]), "{flow} {hosts:?}");
        let port = u16::from_be_bytes([first[34], first[35]]);
        assert_eq!(u32::from(port), 10_000 + flow % 50_000);
    }
}

/// RFC 3168 section 6.1.1: a handshake that is made up for a flow with ECN asks for it and accepts
/// it.
#[test]
fn a_made_up_handshake_agrees_on_ecn() {
    for (ecn, expected) in [(true, [0xc0, 0x40, 0]), (false, [0, 0, 0])] {
        let mut capture = capture(CaptureFormat::Pcap);
        capture.connection(1, [0; 2], Handshake { ecn, ..Handshake::default() });
        let segment = Segment { seq: Seq(1), ack: Seq(1), len: 1, ..Segment::default() };
        capture.packet(1, &sent(0, &segment, Cause::New, 1, 1)).unwrap();
        let file = capture.finish().unwrap();
        let packets = packets(&file);
        let flags = packets[..3].iter().map(|packet| packet[14 + 20 + 13] & 0xc0);
        assert_eq!(flags.collect::<Vec<_>>(), expected);
    }
}

/// RFC 3168: ECT(0) and CE are 2 and 3 in the TOS byte, CWR and ECE 0x80 and 0x40 in the flags.
#[test]
fn ecn_is_in_both_headers() {
    let mut capture = capture(CaptureFormat::Pcap);
    for (codepoint, ece, cwr) in [
        (Codepoint::NotEct, true, false),
        (Codepoint::Ect0, false, true),
        (Codepoint::Ce, false, false),
    ] {
        let ecn = Ecn::new(codepoint, ece, cwr);
        let segment = Segment { seq: Seq(1), ack: Seq(1), len: 1, ecn, ..Segment::default() };
        capture.packet(1, &sent(0, &segment, Cause::New, 1, 1)).unwrap();
    }
    let file = capture.finish().unwrap();
    let data = packets(&file).split_off(3);
    let ecn = data.iter().map(|packet| {
        parse(packet);
        (packet[14 + 1], packet[14 + 20 + 13] & 0xc0)
    });
    assert_eq!(ecn.collect::<Vec<_>>(), [(0, 0x40), (2, 0x80), (3, 0)]);
}

#[test]
fn each_flow_has_its_own_connection() {
    let mut capture = capture(CaptureFormat::Pcap);
    for flow in [0, 1, 49_999, 50_000, u32::MAX] {
        let ack = other(0, Repr { control: Control::ACK, ..Repr::default() }, false, 1);
        capture.packet(flow, &ack).unwrap();
    }
    let file = capture.finish().unwrap();
    let senders: Vec<_> =
        packets(&file).iter().step_by(4).map(|p| (hex(&p[26..30]), hex(&p[34..36]))).collect();
    let expected = [
        ("0a000001", "2710"),
        ("0a000001", "2711"),
        ("0a000001", "ea5f"),
        ("0a000002", "2710"),
        // 4294967295 = 85899 * 50000 + 17295.
        ("0a000003", "6a9f"),
    ];
    assert_eq!(senders, expected.map(|(address, port)| (address.to_string(), port.to_string())));
}

#[test]
fn options_that_do_not_fit_are_an_error() {
    let mut sack = SackBlocks::NONE;
    while sack.push(SackBlock::default()) {}
    let segment = Segment { sack, timestamps: Some(Timestamps::default()), ..Segment::default() };
    let mut capture = capture(CaptureFormat::PcapNg);
    let error = capture.packet(1, &other(0, Repr::from_segment(&segment), false, 1)).unwrap_err();
    assert_eq!(error.to_string(), "TCP options need more than 40 bytes");
}

#[test]
fn the_format_follows_the_file_name() {
    for (name, format) in [
        ("a.pcap", CaptureFormat::Pcap),
        ("a.PCAP", CaptureFormat::Pcap),
        ("a.pcapng", CaptureFormat::PcapNg),
        ("pcap", CaptureFormat::PcapNg),
        ("", CaptureFormat::PcapNg),
    ] {
        assert_eq!(CaptureFormat::for_path(Path::new(name)), format, "{name}");
    }
}

#[test]
fn an_empty_capture_is_a_header() {
    let file = |format| capture(format).finish().unwrap();
    assert_eq!(file(CaptureFormat::Pcap).len(), 24);
    assert_eq!(file(CaptureFormat::PcapNg).len(), 0x2c + 0x2c);
}

/// The handshake that a flow really made is written as it was, at its own times, and none is made
/// up.
#[test]
fn a_handshake_that_was_made() {
    let mut capture = capture(CaptureFormat::Pcap);
    let options = |wscale, (val, ecr)| Options {
        mss: Some(1012),
        wscale: Some(wscale),
        sack_permitted: true,
        timestamps: Some(Timestamps { val, ecr }),
        ..Options::default()
    };
    let syn = Repr {
        control: Control::SYN,
        wnd: u16::MAX,
        options: options(2, (9, 0)),
        ..Repr::default()
    };
    let control = Control::SYN.with(Control::ACK);
    let syn_ack =
        Repr { ack: Seq(1), control, wnd: 64_000, options: options(7, (8, 9)), ..Repr::default() };
    capture.packet(1, &other(5, syn, true, 1)).unwrap();
    capture.packet(1, &other(6, syn_ack, false, 1)).unwrap();
    let timestamps = Some(Timestamps { val: 9, ecr: 8 });
    let ack = Segment { seq: Seq(1), ack: Seq(1), wnd: u16::MAX, timestamps, ..Segment::default() };
    capture.packet(1, &other(7, Repr::from_segment(&ack), true, 2)).unwrap();
    capture.packet(1, &sent(8, &Segment { len: 6, wnd: 500, ..ack }, Cause::New, 1, 3)).unwrap();
    let written = capture.finish().unwrap();
    let packets = [SYN, SYN_ACK, ACK, DATA].map(bytes);
    let mut at = 24;
    for (packet, nanos) in packets.iter().zip([5u8, 6, 7, 8]) {
        assert_eq!(written[at + 4], nanos);
        assert_eq!(hex(&written[at + 16..at + 16 + packet.len()]), hex(packet));
        at += 16 + packet.len();
    }
    assert_eq!(at, written.len());
}
