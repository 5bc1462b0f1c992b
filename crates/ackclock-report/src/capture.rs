//! Captures: the packets of a run as they were seen somewhere, for Wireshark, tshark and tcptrace.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::Path;

use ackclock_tcp::wire::{Control, Options, PseudoHeader, Repr};
use ackclock_tcp::{Cause, SackBlocks, Segment, Seq, Time, Timestamps};

/// Which file format a capture is written in. All fields are little-endian and times have nanoseconds in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureFormat {
    /// pcapng, with a comment on each packet.
    PcapNg,
    /// The older pcap, which has no comments.
    Pcap,
}

impl CaptureFormat {
    /// pcap if the file name ends in `.pcap`, otherwise pcapng.
    pub fn for_path(path: &Path) -> CaptureFormat {
        match path.extension() {
            Some(extension) if extension.eq_ignore_ascii_case("pcap") => CaptureFormat::Pcap,
            _ => CaptureFormat::PcapNg,
        }
    }
}

/// What a connection agreed on when it began. Of a connection that the engine begins as established the capture makes up the
/// handshake, without which no tool knows the window scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// SMSS in bytes.
    pub mss: u32,
    /// Whether SACK was negotiated. Whether timestamps were is seen from the first segment.
    pub sack: bool,
    /// Window scale shift of the data sender's own window.
    pub sender_wscale: u8,
    /// Window scale shift of the receiver: `ReceiverConfig::wscale`.
    pub receiver_wscale: u8,
    /// The receive window in bytes known before the first ACK; the SYN/ACK tells at most 65535 of it.
    pub rwnd: u64,
}

impl Default for Handshake {
    fn default() -> Self {
        Handshake { mss: 1460, sack: true, sender_wscale: 0, receiver_wscale: 0, rwnd: 65535 }
    }
}

/// Time zero of a run in a capture: 2000-01-01 00:00:00 UTC, in nanoseconds since 1970. Some tools take 0 for "not set".
const ORIGIN: u64 = 946_684_800_000_000_000;
const SENDER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const RECEIVER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
/// TEST-NET-2 (RFC 5737) and the discard service.
const RECEIVER: (Ipv4Addr, u16) = (Ipv4Addr::new(198, 51, 100, 1), 9);
/// The time to live that hosts begin with.
const HOPS: u8 = 64;
const ETHERNET_LEN: usize = 14;
const IPV4_LEN: usize = 20;
/// Most payload of a packet that an IPv4 total length of 16 bits can tell, whatever the options.
const MAX_PAYLOAD: u32 = 65_000;
const LINKTYPE_ETHERNET: u16 = 1;
/// IP packets without anything around them.
const LINKTYPE_RAW: u16 = 101;
/// Bytes of each packet that a [`PacketWriter`] keeps: the longest IP and TCP headers, and the first bytes of data.
const KEPT: usize = 128;
const SNAPLEN: u32 = 262_144;

/// A packet of a flow as it was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapturedPacket {
    /// Its flow.
    pub flow: u32,
    /// When.
    pub at: Time,
    /// Whether it comes from the sender of the data.
    pub to_receiver: bool,
    /// Its header; the ports are put in.
    pub header: Repr,
    /// Bytes of payload.
    pub len: u32,
    /// Of a data segment the cause, and the number of the transmission, from 1.
    pub sent: Option<(Cause, u32)>,
    /// The how-manieth packet it is that its host has sent on this connection, from 1.
    pub number: u32,
    /// Links that it has come over; all nodes between them have taken one off its time to live.
    pub hops: u32,
}

/// Writes packets as they were seen somewhere on their way into one capture.
///
/// Each flow is one connection from 10.0.0.1, port 10000 + flow (the next address after 50,000 flows), to 198.51.100.1,
/// port 9. Made up are the payload, all zeros, and, unless its first packet is a SYN or a reset, the handshake, right before that
/// packet and at the same time. The IPv4 identification counts the packets that a host has sent on the connection, so that it
/// names a transmission wherever that is seen. A segment above 65,000 bytes is written as several packets. Hand packets in in
/// order of time, and an `out` that buffers.
///
/// tcptrace reads both formats (6.6.7, through libpcap).
///
/// In pcapng each packet has a comment: `ackclock: ` and `fast_retransmit, transmission 2` for data, by
/// [`Cause::name`], or `ack`, `duplicate ack 3`, `handshake`, `reset`.
pub struct CaptureWriter<W> {
    file: CaptureFile<W>,
    connections: HashMap<u32, Connection>,
}

impl<W: Write> CaptureWriter<W> {
    /// Begins a capture taken at `place`, as which it names its interface.
    ///
    /// # Errors
    /// What writing to `out` returns; so with all functions below.
    pub fn new(out: W, format: CaptureFormat, place: &str) -> io::Result<Self> {
        let mut file = CaptureFile { out, format, linktype: LINKTYPE_ETHERNET, origin: ORIGIN, block: Vec::new() };
        file.header(place)?;
        Ok(CaptureWriter { file, connections: HashMap::new() })
    }

    /// Says how a flow began, before its first packet; without it [`Handshake::default`] counts.
    pub fn connection(&mut self, flow: u32, handshake: Handshake) {
        self.connections.insert(flow, Connection::new(flow, handshake));
    }

    /// The next packet.
    ///
    /// # Errors
    /// What writing returns.
    pub fn packet(&mut self, packet: &CapturedPacket) -> io::Result<()> {
        let CapturedPacket { flow, header, to_receiver, .. } = *packet;
        let connection = self.connections.entry(flow).or_insert_with(|| Connection::new(flow, Handshake::default()));
        if !connection.begun {
            connection.begun = true;
            if !header.control.contains(Control::SYN) && !header.control.contains(Control::RST) {
                connection.handshake(packet.at, &header.segment(packet.len), to_receiver, &mut self.file)?;
            }
        }
        connection.outstanding |= packet.sent.is_some();
        let comment = format!("ackclock: {}", connection.describe(packet));
        let mut rest = *packet;
        loop {
            let len = rest.len.min(MAX_PAYLOAD);
            connection.write(&CapturedPacket { len, ..rest }, &comment, &mut self.file)?;
            rest.len -= len;
            rest.header.seq = rest.header.seq + len;
            if rest.len == 0 {
                return Ok(());
            }
        }
    }

    /// Flushes `out` and returns it.
    ///
    /// # Errors
    /// What flushing returns.
    pub fn finish(mut self) -> io::Result<W> {
        self.file.out.flush()?;
        Ok(self.file.out)
    }
}

/// A connection as it is being written.
struct Connection {
    sender: (Ipv4Addr, u16),
    handshake: Handshake,
    begun: bool,
    /// Packets made up, to the sender and from it.
    made_up: [u32; 2],
    /// Acknowledgment number and window of the last ACK, and how often it came again.
    last_ack: (Seq, u16),
    duplicates: u32,
    /// Whether data was sent since the last ACK that acknowledged some.
    outstanding: bool,
    packet: Vec<u8>,
}

impl Connection {
    fn new(flow: u32, handshake: Handshake) -> Connection {
        Connection {
            sender: (Ipv4Addr::from_bits(0x0a00_0001 + flow / 50_000), 10_000 + (flow % 50_000) as u16),
            handshake,
            begun: false,
            made_up: [0; 2],
            last_ack: (Seq(0), 0),
            duplicates: 0,
            outstanding: false,
            packet: Vec::new(),
        }
    }

    /// SYN, SYN/ACK and ACK that fit the first segment.
    fn handshake<W: Write>(
        &mut self,
        at: Time,
        first: &Segment,
        to_receiver: bool,
        file: &mut CaptureFile<W>,
    ) -> io::Result<()> {
        let (ours, theirs) = if to_receiver { (first.seq, first.ack) } else { (first.ack, first.seq) };
        let clocks = first.timestamps.map(|t| if to_receiver { (t.val, t.ecr) } else { (t.ecr, t.val) });
        let Handshake { mss, sack, sender_wscale, receiver_wscale, rwnd } = self.handshake;
        // The MSS option leaves room for the others out (RFC 6691).
        let mss = mss.saturating_add(Segment { timestamps: first.timestamps, ..Segment::default() }.option_len());
        let options = |wscale: u8, timestamps| Options {
            mss: Some(u16::try_from(mss).unwrap_or(u16::MAX)),
            wscale: Some(wscale.min(14)),
            sack_permitted: sack,
            timestamps,
            sack: SackBlocks::NONE,
        };
        let before = |seq: Seq| Seq(seq.0.wrapping_sub(1));
        let unscaled = |window: u64| u16::try_from(window).unwrap_or(u16::MAX);
        let syn = Repr {
            seq: before(ours),
            control: Control::SYN,
            wnd: u16::MAX,
            options: options(sender_wscale, clocks.map(|(val, _)| Timestamps { val, ecr: 0 })),
            ..Repr::default()
        };
        let syn_ack = Repr {
            seq: before(theirs),
            ack: ours,
            control: Control::SYN.with(Control::ACK),
            wnd: unscaled(rwnd),
            options: options(receiver_wscale, clocks.map(|(val, ecr)| Timestamps { val: ecr, ecr: val })),
            ..Repr::default()
        };
        let ack = Repr {
            seq: ours,
            ack: theirs,
            control: Control::ACK,
            wnd: u16::MAX,
            options: Options { timestamps: clocks.map(|(val, ecr)| Timestamps { val, ecr }), ..Options::default() },
            ..Repr::default()
        };
        self.last_ack = (ours, unscaled(rwnd >> receiver_wscale.min(14)));
        for (header, to_receiver, number) in [(syn, true, 1), (syn_ack, false, 1), (ack, true, 2)] {
            let packet = CapturedPacket { flow: 0, at, to_receiver, header, len: 0, sent: None, number, hops: 0 };
            self.write(&packet, "ackclock: handshake, made up", file)?;
        }
        self.made_up = [1, 2];
        Ok(())
    }

    fn describe(&mut self, packet: &CapturedPacket) -> String {
        let has = |control| packet.header.control.contains(control);
        match packet.sent {
            _ if has(Control::RST) => "reset".into(),
            _ if has(Control::SYN) => "handshake".into(),
            Some((cause, transmission)) => format!("{}, transmission {transmission}", cause.name()),
            None if packet.to_receiver => "ack".into(),
            None => match self.count_duplicates(&packet.header.segment(packet.len)) {
                0 => "ack".into(),
                n => format!("duplicate ack {n}"),
            },
        }
    }

    /// Which duplicate ACK this is (RFC 5681 section 2), 0 if none.
    fn count_duplicates(&mut self, segment: &Segment) -> u32 {
        let now = (segment.ack, segment.wnd);
        let duplicate = self.outstanding && segment.len == 0 && !segment.flags.fin && now == self.last_ack;
        self.duplicates = if duplicate { self.duplicates.saturating_add(1) } else { 0 };
        self.last_ack = now;
        self.duplicates
    }

    /// Puts ports, addresses and checksums to a header, and writes the packet.
    fn write<W: Write>(&mut self, packet: &CapturedPacket, comment: &str, file: &mut CaptureFile<W>) -> io::Result<()> {
        let &CapturedPacket { at, to_receiver, header: mut repr, number, hops, .. } = packet;
        let payload = packet.len as usize;
        let (from, to) = if to_receiver { (self.sender, RECEIVER) } else { (RECEIVER, self.sender) };
        let macs = if to_receiver { [RECEIVER_MAC, SENDER_MAC] } else { [SENDER_MAC, RECEIVER_MAC] };
        (repr.src_port, repr.dst_port) = (from.1, to.1);
        let identification = number.wrapping_add(self.made_up[usize::from(to_receiver)]) as u16;
        let tcp_len = repr.header_len() + payload;

        let packet = &mut self.packet;
        packet.clear();
        packet.extend_from_slice(&macs.concat());
        packet.extend_from_slice(&[0x08, 0x00]);
        // RFC 791 section 3.1: version 4, five words; Don't Fragment; 64 hops at first; TCP.
        let ttl = HOPS.saturating_sub(u8::try_from(hops.saturating_sub(1)).unwrap_or(u8::MAX));
        packet.extend_from_slice(&[0x45, 0]);
        packet.extend_from_slice(&((IPV4_LEN + tcp_len) as u16).to_be_bytes());
        packet.extend_from_slice(&identification.to_be_bytes());
        packet.extend_from_slice(&[0x40, 0, ttl, 6, 0, 0]);
        packet.extend_from_slice(&from.0.octets());
        packet.extend_from_slice(&to.0.octets());
        let checksum = header_checksum(&packet[ETHERNET_LEN..]);
        packet[ETHERNET_LEN + 10..ETHERNET_LEN + 12].copy_from_slice(&checksum.to_be_bytes());
        packet.resize(ETHERNET_LEN + IPV4_LEN + tcp_len, 0);
        let pseudo = PseudoHeader::V4 { src: from.0, dst: to.0 };
        repr.emit(&pseudo, &mut packet[ETHERNET_LEN + IPV4_LEN..]).map_err(io::Error::other)?;
        file.packet(at, packet, packet.len(), comment)
    }
}

/// RFC 1071, over a header of whole words whose checksum field is zero.
fn header_checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header.chunks_exact(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Writes IP packets as they are into a capture, of each the first 128 bytes and its length. Hand packets in in order of time, and
/// an `out` that buffers.
pub struct PacketWriter<W> {
    file: CaptureFile<W>,
    kept: Vec<u8>,
}

impl<W: Write> PacketWriter<W> {
    /// Begins a capture whose time zero is `origin`, in nanoseconds since 1970.
    ///
    /// # Errors
    /// What writing to `out` returns; so with all functions below.
    pub fn new(out: W, format: CaptureFormat, origin: u64) -> io::Result<Self> {
        let mut file = CaptureFile { out, format, linktype: LINKTYPE_RAW, origin, block: Vec::new() };
        file.header("tun")?;
        Ok(PacketWriter { file, kept: Vec::with_capacity(KEPT) })
    }

    /// A packet, in pieces. In pcapng an empty comment is none.
    ///
    /// # Errors
    /// What writing returns.
    pub fn packet(&mut self, at: Time, pieces: &[&[u8]], comment: &str) -> io::Result<()> {
        self.kept.clear();
        for piece in pieces {
            let room = KEPT - self.kept.len();
            self.kept.extend_from_slice(piece.get(..room).unwrap_or(piece));
        }
        let len = pieces.iter().map(|piece| piece.len()).sum();
        self.file.packet(at, &self.kept, len, comment)
    }

    /// Flushes what is written so far.
    ///
    /// # Errors
    /// What flushing returns.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.out.flush()
    }
}

/// Writes frames of any link type as they are into a pcapng capture, each with a comment. Hand an `out` that buffers.
pub struct FrameWriter<W> {
    file: CaptureFile<W>,
}

impl<W: Write> FrameWriter<W> {
    /// Begins a capture of this link type (<https://www.tcpdump.org/linktypes.html>) whose time zero is 1970.
    ///
    /// # Errors
    /// What writing to `out` returns; so with all functions below.
    pub fn new(out: W, linktype: u16) -> io::Result<Self> {
        let mut file = CaptureFile { out, format: CaptureFormat::PcapNg, linktype, origin: 0, block: Vec::new() };
        file.header("")?;
        Ok(FrameWriter { file })
    }

    /// A frame of `len` bytes, of which these are the first. An empty comment is none.
    ///
    /// # Errors
    /// What writing returns.
    pub fn frame(&mut self, at: Time, bytes: &[u8], len: usize, comment: &str) -> io::Result<()> {
        self.file.packet(at, bytes, len, comment)
    }

    /// Flushes what is written so far.
    ///
    /// # Errors
    /// What flushing returns.
    pub fn flush(&mut self) -> io::Result<()> {
        self.file.out.flush()
    }
}

struct CaptureFile<W> {
    out: W,
    format: CaptureFormat,
    linktype: u16,
    /// Time zero, in nanoseconds since 1970.
    origin: u64,
    block: Vec<u8>,
}

impl<W: Write> CaptureFile<W> {
    fn header(&mut self, interface: &str) -> io::Result<()> {
        match self.format {
            CaptureFormat::Pcap => {
                // Nanosecond magic, version 2.4, zone and accuracy zero (draft-ietf-opsawg-pcap section 4).
                let fields: [u32; 6] = [0xa1b2_3c4d, 2 | 4 << 16, 0, 0, SNAPLEN, self.linktype.into()];
                fields.iter().try_for_each(|f| self.out.write_all(&f.to_le_bytes()))
            }
            CaptureFormat::PcapNg => {
                // Section Header Block (draft-ietf-opsawg-pcapng section 4.1): magic, version 1.0, length unknown.
                self.block(0x0a0d_0d0a, |b| {
                    b.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
                    b.extend_from_slice(&[1, 0, 0, 0]);
                    b.extend_from_slice(&[0xff; 8]);
                    option(b, 4, b"ackclock");
                    option(b, 0, b"");
                })?;
                // Interface Description Block (section 4.2): if_name, and if_tsresol 9 for nanoseconds.
                let linktype = self.linktype;
                self.block(1, |b| {
                    b.extend_from_slice(&linktype.to_le_bytes());
                    b.extend_from_slice(&[0, 0]);
                    b.extend_from_slice(&SNAPLEN.to_le_bytes());
                    if !interface.is_empty() {
                        option(b, 2, interface.as_bytes());
                    }
                    option(b, 9, &[9]);
                    option(b, 0, b"");
                })
            }
        }
    }

    /// A packet of `len` bytes, of which these are the first.
    fn packet(&mut self, at: Time, bytes: &[u8], len: usize, comment: &str) -> io::Result<()> {
        let nanos = self.origin.saturating_add(at.nanos());
        let kept = (bytes.len() as u32).to_le_bytes();
        let len = (len as u32).to_le_bytes();
        match self.format {
            CaptureFormat::Pcap => {
                // Seconds have 32 bits; what lies beyond them is pinned to the last second.
                let seconds = u32::try_from(nanos / 1_000_000_000).unwrap_or(u32::MAX);
                self.out.write_all(&seconds.to_le_bytes())?;
                self.out.write_all(&((nanos % 1_000_000_000) as u32).to_le_bytes())?;
                self.out.write_all(&kept)?;
                self.out.write_all(&len)?;
                self.out.write_all(bytes)
            }
            // Enhanced Packet Block (section 4.3) on interface 0, with opt_comment.
            CaptureFormat::PcapNg => self.block(6, |b| {
                b.extend_from_slice(&[0; 4]);
                b.extend_from_slice(&((nanos >> 32) as u32).to_le_bytes());
                b.extend_from_slice(&(nanos as u32).to_le_bytes());
                b.extend_from_slice(&kept);
                b.extend_from_slice(&len);
                b.extend_from_slice(bytes);
                b.resize(b.len().next_multiple_of(4), 0);
                if !comment.is_empty() {
                    option(b, 1, comment.as_bytes());
                }
                option(b, 0, b"");
            }),
        }
    }

    /// A block: type, total length, body of whole words, total length again (section 3.1).
    fn block(&mut self, kind: u32, body: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.block.clear();
        body(&mut self.block);
        let total = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&total)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&total)
    }
}

/// An option of a block: code, length, value padded to a word (section 3.5). Our values are short.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(value.len() as u16).to_le_bytes());
    body.extend_from_slice(value);
    body.resize(body.len().next_multiple_of(4), 0);
}
