//! One simulated connection in a capture: its handshake, its addresses, what its packets are.

use std::io::{self, Write};
use std::net::Ipv4Addr;

use ackclock_tcp::wire::ip::{HOP_LIMIT, TCP, v4};
use ackclock_tcp::wire::{Control, Options, PseudoHeader, Repr};
use ackclock_tcp::{SackBlocks, Segment, Sending, Seq, Sighting, Time, Timestamps};

use super::file::CaptureFile;

/// What a connection agreed on when it began. Of a connection that the engine begins as established
/// the capture makes up the handshake, without which no tool knows the window scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// SMSS in bytes.
    pub mss: u32,
    /// Whether SACK was negotiated. Whether timestamps were is seen from the first segment.
    pub sack: bool,
    /// Whether ECN was negotiated.
    pub ecn: bool,
    /// Window scale shift of the data sender's own window.
    pub sender_wscale: u8,
    /// Window scale shift of the receiver: `ReceiverConfig::wscale`.
    pub receiver_wscale: u8,
    /// The receive window in bytes known before the first ACK; the SYN/ACK tells at most 65535 of
    /// it.
    pub rwnd: u64,
}

impl Default for Handshake {
    fn default() -> Self {
        Handshake {
            mss: 1460,
            sack: true,
            ecn: false,
            sender_wscale: 0,
            receiver_wscale: 0,
            rwnd: 65535,
        }
    }
}

const SENDER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// RFC 3168 section 6.1.1.
const ECN_SETUP: Control = Control::SYN.with(Control::ECE).with(Control::CWR);
const RECEIVER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
/// The discard service.
const RECEIVER_PORT: u16 = 9;
/// The hosts that TEST-NET-2 (198.51.100.0/24, RFC 5737) has room for.
const TEST_NET: u32 = 254;
/// Flows that one address has ports for.
pub(super) const PORTS: u32 = 50_000;
/// The largest IPv4 packet: its total length has 16 bits (RFC 791 section 3.1).
const MAX_PACKET: usize = 65_535;

/// A connection as it is being written.
pub(super) struct Connection {
    sender: (Ipv4Addr, u16),
    receiver: (Ipv4Addr, u16),
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
    /// Between the sender and the receiver that have these numbers.
    pub(super) fn new(flow: u32, [from, to]: [u32; 2], handshake: Handshake) -> Connection {
        let receiver = if to < TEST_NET { 0xc633_6401 + to } else { 0xc612_0000 + (to & 0x1_ffff) };
        let sender = Ipv4Addr::from_bits(0x0a00_0001 + (from & 0x00ff_ffff));
        Connection {
            sender: (sender, 10_000 + (flow % PORTS) as u16),
            receiver: (Ipv4Addr::from_bits(receiver), RECEIVER_PORT),
            handshake,
            begun: false,
            made_up: [0; 2],
            last_ack: (Seq(0), 0),
            duplicates: 0,
            outstanding: false,
            packet: Vec::new(),
        }
    }

    /// The next packet of the connection. A segment that no IPv4 packet can hold becomes several.
    pub(super) fn packet<W: Write>(
        &mut self,
        packet: &Sighting,
        file: &mut CaptureFile<W>,
    ) -> io::Result<()> {
        let Sighting { header, to_receiver, .. } = *packet;
        if !self.begun {
            self.begun = true;
            if !header.control.contains(Control::SYN) && !header.control.contains(Control::RST) {
                self.handshake(packet.at, &packet.segment(), to_receiver, file)?;
            }
        }
        self.outstanding |= packet.sent.is_some();
        let comment = format!("ackclock: {}", self.describe(packet));
        let mut rest = *packet;
        let most = (MAX_PACKET - v4::HEADER_LEN - header.header_len()) as u32;
        loop {
            let len = rest.len.min(most);
            self.write(&Sighting { len, ..rest }, &comment, file)?;
            rest.len -= len;
            rest.header.seq = rest.header.seq + len;
            if rest.len == 0 {
                return Ok(());
            }
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
        let (ours, theirs) =
            if to_receiver { (first.seq, first.ack) } else { (first.ack, first.seq) };
        let clocks =
            first.timestamps.map(|t| if to_receiver { (t.val, t.ecr) } else { (t.ecr, t.val) });
        let Handshake { mss, sack, ecn, sender_wscale, receiver_wscale, rwnd } = self.handshake;
        // The MSS option leaves room for the others out (RFC 6691).
        let mss = mss.saturating_add(
            Segment { timestamps: first.timestamps, ..Segment::default() }.option_len(),
        );
        let options = |wscale: u8, timestamps| Options {
            mss: Some(u16::try_from(mss).unwrap_or(u16::MAX)),
            wscale: Some(wscale.min(14)),
            sack_permitted: sack,
            timestamps,
            sack: SackBlocks::NONE,
        };
        let accepted = Control::SYN.with(Control::ACK);
        let unscaled = |window: u64| u16::try_from(window).unwrap_or(u16::MAX);
        let syn = Repr {
            seq: ours - 1,
            control: if ecn { ECN_SETUP } else { Control::SYN },
            wnd: u16::MAX,
            options: options(sender_wscale, clocks.map(|(val, _)| Timestamps { val, ecr: 0 })),
            ..Repr::default()
        };
        let syn_ack = Repr {
            seq: theirs - 1,
            ack: ours,
            control: if ecn { accepted.with(Control::ECE) } else { accepted },
            wnd: unscaled(rwnd),
            options: options(
                receiver_wscale,
                clocks.map(|(val, ecr)| Timestamps { val: ecr, ecr: val }),
            ),
            ..Repr::default()
        };
        let ack = Repr {
            seq: ours,
            ack: theirs,
            control: Control::ACK,
            wnd: u16::MAX,
            options: Options {
                timestamps: clocks.map(|(val, ecr)| Timestamps { val, ecr }),
                ..Options::default()
            },
            ..Repr::default()
        };
        self.last_ack = (ours, unscaled(rwnd >> receiver_wscale.min(14)));
        for (header, to_receiver, number) in [(syn, true, 1), (syn_ack, false, 1), (ack, true, 2)] {
            let packet = Sighting { at, to_receiver, header, len: 0, sent: None, number, hops: 0 };
            self.write(&packet, "ackclock: handshake, made up", file)?;
        }
        self.made_up = [1, 2];
        Ok(())
    }

    fn describe(&mut self, packet: &Sighting) -> String {
        let has = |control| packet.header.control.contains(control);
        match packet.sent {
            _ if has(Control::RST) => "reset".into(),
            _ if has(Control::SYN) => "handshake".into(),
            Some(Sending { cause, transmission }) => {
                format!("{}, transmission {transmission}", cause.name())
            }
            None if packet.to_receiver => "ack".into(),
            None => match self.count_duplicates(&packet.segment()) {
                0 => "ack".into(),
                n => format!("duplicate ack {n}"),
            },
        }
    }

    /// Which duplicate ACK this is (RFC 5681 section 2), 0 if none.
    fn count_duplicates(&mut self, segment: &Segment) -> u32 {
        let now = (segment.ack, segment.wnd);
        let duplicate =
            self.outstanding && segment.len == 0 && !segment.flags.fin() && now == self.last_ack;
        self.duplicates = if duplicate { self.duplicates.saturating_add(1) } else { 0 };
        self.last_ack = now;
        self.duplicates
    }

    /// Puts ports, addresses and checksums to a header, and writes the packet.
    fn write<W: Write>(
        &mut self,
        packet: &Sighting,
        comment: &str,
        file: &mut CaptureFile<W>,
    ) -> io::Result<()> {
        let &Sighting { at, to_receiver, header: mut repr, number, hops, .. } = packet;
        let payload = packet.len as usize;
        let (from, to) =
            if to_receiver { (self.sender, self.receiver) } else { (self.receiver, self.sender) };
        let macs =
            if to_receiver { [RECEIVER_MAC, SENDER_MAC] } else { [SENDER_MAC, RECEIVER_MAC] };
        (repr.src_port, repr.dst_port) = (from.1, to.1);
        let id = number.wrapping_add(self.made_up[usize::from(to_receiver)]) as u16;
        let tcp_len = repr.header_len() + payload;

        let packet = &mut self.packet;
        packet.clear();
        packet.extend_from_slice(&macs.concat());
        packet.extend_from_slice(&[0x08, 0x00]);
        let routers = u8::try_from(hops.saturating_sub(1)).unwrap_or(u8::MAX);
        let (src, dst) = (from.0, to.0);
        let ip = v4::Repr {
            id,
            ttl: HOP_LIMIT.saturating_sub(routers),
            codepoint: repr.codepoint,
            ..v4::Repr::new(src, dst, TCP, tcp_len as u16)
        };
        let mut ip_header = [0; v4::HEADER_LEN];
        ip.emit(&mut ip_header);
        packet.extend_from_slice(&ip_header);
        let headers_len = packet.len();
        packet.resize(headers_len + tcp_len, 0);
        let pseudo = PseudoHeader::V4 { src, dst };
        repr.emit(&pseudo, &mut packet[headers_len..]).map_err(io::Error::other)?;
        file.packet(at, packet, packet.len(), comment)
    }
}
