//! Captures: the packets of a flow as they passed the sender, for Wireshark, tshark and tcptrace.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use ackclock_tcp::{Event, EventKind, Seq};
use etherparse::{EtherType, Ethernet2Header, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};

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

/// One flow to be written into a capture, and what the events do not tell about it.
#[derive(Clone, Copy, Debug)]
pub struct CapturedFlow<'a> {
    /// Number of the flow; it gives the connection its addresses and ports.
    pub flow: u32,
    /// SMSS in bytes, for the MSS option of the handshake.
    pub mss: u32,
    /// Whether SACK was negotiated.
    pub sack: bool,
    /// Whether timestamps were negotiated.
    pub timestamps: bool,
    /// Its events in order of time.
    pub events: &'a [Event],
}

/// Time zero of a run in a capture: 2000-01-01 00:00:00 UTC, in seconds since 1970. Some tools take 0 for "not set".
const ORIGIN_S: u64 = 946_684_800;
const SENDER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const RECEIVER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
/// TEST-NET-2 (RFC 5737) and the discard service.
const RECEIVER: ([u8; 4], u16) = ([198, 51, 100, 1], 9);
/// Most payload of a packet that an IPv4 total length of 16 bits can tell, headers and any options allowed for.
const MAX_PAYLOAD: u32 = 65_000;
const LINKTYPE_ETHERNET: u16 = 1;
const SNAPLEN: u32 = 262_144;

/// Writes what `sent` and `acked` events tell as packets captured at the sender, all flows merged in order of time.
///
/// Each flow is one connection: from 10.0.0.1, port 10000 + flow (the next address after 50,000 flows), to
/// 198.51.100.1, port 9, its stream position 0 at sequence number 1 so that tools show stream positions plus one. What
/// the events do not tell is made up:
/// - a handshake, one first round trip before the first packet, with MSS, window scale, and SACK and timestamps if
///   they were negotiated; the window scale is the least with which every offered window fits its 16 bits;
/// - payload, all zeros; a segment above 65,000 bytes is written as several packets;
/// - timestamps, if negotiated: milliseconds of the run, echoed as if the latest transmission of a segment was the one
///   that arrived. Beside them only three SACK blocks fit, and a fourth is left out;
/// - the sender's own window, 65535.
///
/// In pcapng each packet bears a comment, `ackclock: ` and its cause and transmission number, the count of a duplicate
/// ACK, and what happened to the sender since the packet before (a timeout with its class, recovery entered or left).
///
/// # Errors
/// What writing to `out` returns.
pub fn write_capture(out: impl Write, format: CaptureFormat, flows: &[CapturedFlow<'_>]) -> io::Result<()> {
    let mut file = CaptureFile { out, format, block: Vec::new() };
    file.header()?;
    let mut connections: Vec<Connection> = flows.iter().map(Connection::new).collect();
    let mut order: Vec<(u64, usize, usize)> = Vec::new();
    for (f, flow) in flows.iter().enumerate() {
        order.extend(flow.events.iter().enumerate().map(|(e, event)| (event.at.nanos(), f, e)));
    }
    order.sort_unstable();
    for (_, f, e) in order {
        if let (Some(connection), Some(event)) = (connections.get_mut(f), flows.get(f).and_then(|w| w.events.get(e))) {
            connection.event(event, &mut file)?;
        }
    }
    file.out.flush()
}

struct CaptureFile<W> {
    out: W,
    format: CaptureFormat,
    block: Vec<u8>,
}

impl<W: Write> CaptureFile<W> {
    fn header(&mut self) -> io::Result<()> {
        match self.format {
            CaptureFormat::Pcap => {
                // Nanosecond magic, version 2.4, zone and accuracy zero (draft-ietf-opsawg-pcap section 4).
                let fields: [u32; 6] = [0xa1b2_3c4d, 2 | 4 << 16, 0, 0, SNAPLEN, LINKTYPE_ETHERNET.into()];
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
                self.block(1, |b| {
                    b.extend_from_slice(&LINKTYPE_ETHERNET.to_le_bytes());
                    b.extend_from_slice(&[0, 0]);
                    b.extend_from_slice(&SNAPLEN.to_le_bytes());
                    option(b, 2, b"sender");
                    option(b, 9, &[9]);
                    option(b, 0, b"");
                })
            }
        }
    }

    fn packet(&mut self, nanos: u64, bytes: &[u8], comment: &str) -> io::Result<()> {
        let len = (bytes.len() as u32).to_le_bytes();
        match self.format {
            CaptureFormat::Pcap => {
                // Seconds have 32 bits; what lies beyond them is pinned to the last second.
                let seconds = u32::try_from(nanos / 1_000_000_000).unwrap_or(u32::MAX);
                self.out.write_all(&seconds.to_le_bytes())?;
                self.out.write_all(&((nanos % 1_000_000_000) as u32).to_le_bytes())?;
                self.out.write_all(&len)?;
                self.out.write_all(&len)?;
                self.out.write_all(bytes)
            }
            // Enhanced Packet Block (section 4.3) on interface 0, with opt_comment.
            CaptureFormat::PcapNg => self.block(6, |b| {
                b.extend_from_slice(&[0; 4]);
                b.extend_from_slice(&((nanos >> 32) as u32).to_le_bytes());
                b.extend_from_slice(&(nanos as u32).to_le_bytes());
                b.extend_from_slice(&len);
                b.extend_from_slice(&len);
                b.extend_from_slice(bytes);
                b.resize(b.len().next_multiple_of(4), 0);
                option(b, 1, comment.as_bytes());
                option(b, 0, b"");
            }),
        }
    }

    /// A block: type, total length, body padded to words, total length again (section 3.1).
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

/// An option of a block: code, length, value padded to a word (section 3.5).
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(value.len() as u16).to_le_bytes());
    body.extend_from_slice(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    ToReceiver,
    ToSender,
}

/// What a TCP header needs beside ports.
#[derive(Default)]
struct Header {
    seq: u32,
    ack: Option<u32>,
    syn: bool,
    window: u16,
    options: Vec<TcpOptionElement>,
    payload: usize,
}

/// A connection as it is being written.
struct Connection {
    sender: ([u8; 4], u16),
    mss: u32,
    sack: bool,
    timestamps: bool,
    wscale: u8,
    first_rtt: u64,
    begun: bool,
    identification: [u16; 2],
    /// What happened since the last packet, for the next one's comment.
    notes: String,
    /// End and TSval of the latest transmission of what is not yet acknowledged, by first byte.
    sent: BTreeMap<u64, (u64, u32)>,
    acked: u64,
    /// TS.Recent of the receiver (RFC 7323 section 4.3).
    ts_recent: u32,
    /// The receiver's TSval that the sender echoes; the receiver's clock shows the time at which the ACK arrives.
    peer_val: u32,
    packet: Vec<u8>,
}

impl Connection {
    fn new(flow: &CapturedFlow<'_>) -> Connection {
        let host = 0x0a00_0001 + flow.flow / 50_000;
        let largest_window = flow.events.iter().map(|e| match e.kind {
            EventKind::Acked { ack, window_edge, .. } => window_edge.saturating_sub(ack),
            _ => 0,
        });
        let largest_window = largest_window.max().unwrap_or(0);
        let first = |wanted: fn(&EventKind) -> bool| flow.events.iter().find(|e| wanted(&e.kind)).map(|e| e.at);
        let first_sent = first(|k| matches!(k, EventKind::Sent { .. }));
        let first_acked = first(|k| matches!(k, EventKind::Acked { .. }));
        Connection {
            sender: (host.to_be_bytes(), 10_000 + (flow.flow % 50_000) as u16),
            mss: flow.mss,
            sack: flow.sack,
            timestamps: flow.timestamps,
            // RFC 7323 section 2.3: at most 14.
            wscale: (0..14).find(|shift| largest_window >> shift <= 0xffff).unwrap_or(14),
            first_rtt: match (first_sent, first_acked) {
                (Some(sent), Some(acked)) => acked.since(sent).nanos(),
                _ => 0,
            },
            begun: false,
            identification: [0; 2],
            notes: String::new(),
            sent: BTreeMap::new(),
            acked: 0,
            ts_recent: 0,
            peer_val: 0,
            packet: Vec::new(),
        }
    }

    fn event<W: Write>(&mut self, event: &Event, file: &mut CaptureFile<W>) -> io::Result<()> {
        let at = event.at.nanos();
        if matches!(event.kind, EventKind::Sent { .. } | EventKind::Acked { .. }) && !self.begun {
            self.begun = true;
            self.handshake(at, file)?;
        }
        match event.kind {
            EventKind::Sent { seq, len, cause, transmission } => {
                self.sent.insert(seq, (seq.saturating_add(len.into()), ts_val(at)));
                let comment = self.comment(format!("{}, transmission {transmission}", cause.name()));
                let mut done = 0;
                loop {
                    let payload = (len - done).min(MAX_PAYLOAD);
                    let header = Header {
                        seq: wire(seq.wrapping_add(done.into())),
                        ack: Some(1),
                        window: u16::MAX,
                        options: self.timestamps_option(ts_val(at), self.peer_val),
                        payload: payload as usize,
                        ..Header::default()
                    };
                    self.write(at, Direction::ToReceiver, &header, &comment, file)?;
                    done += payload;
                    if done >= len {
                        return Ok(());
                    }
                }
            }
            EventKind::Acked { ack, dupacks, newly_acked, window_edge, sack, sacks, .. } => {
                self.echo(ack);
                self.peer_val = ts_val(at);
                let mut options = self.timestamps_option(ts_val(at), self.ts_recent);
                let room = if self.timestamps { 3 } else { 4 };
                options.extend(sack_option(&sack[..usize::from(sacks).min(room)]));
                let window = window_edge.saturating_sub(ack) >> self.wscale;
                let header = Header {
                    seq: 1,
                    ack: Some(wire(ack)),
                    window: u16::try_from(window).unwrap_or(u16::MAX),
                    options,
                    ..Header::default()
                };
                let what = match (dupacks, newly_acked) {
                    (1.., 0) => format!("duplicate ack {dupacks}"),
                    _ => "ack".into(),
                };
                let comment = self.comment(what);
                self.write(at, Direction::ToSender, &header, &comment, file)
            }
            _ => {
                self.note(&event.kind);
                Ok(())
            }
        }
    }

    /// Keeps what the next packet's comment should tell. Writing into a `String` cannot fail.
    fn note(&mut self, kind: &EventKind) {
        let _ = match kind {
            EventKind::TimedOut { class, rto, .. } => {
                write!(self.notes, "; timed_out {}, rto {}s", class.name(), *rto as f64 / 1e9)
            }
            EventKind::RecoveryEntered { recover, by, .. } => {
                write!(self.notes, "; recovery_entered by {by}, recover {recover}")
            }
            EventKind::RecoveryLeft { by_timeout: false } => write!(self.notes, "; recovery_left"),
            EventKind::RecoveryLeft { by_timeout: true } => write!(self.notes, "; recovery_left by timeout"),
            EventKind::Undone { by } => write!(self.notes, "; undone by {by}"),
            _ => Ok(()),
        };
    }

    fn comment(&mut self, what: String) -> String {
        let comment = format!("ackclock: {what}{}", self.notes);
        self.notes.clear();
        comment
    }

    /// SYN and SYN/ACK a round trip apart, and the ACK, right before the first packet.
    fn handshake<W: Write>(&mut self, at: u64, file: &mut CaptureFile<W>) -> io::Result<()> {
        let mss = u16::try_from(self.mss).unwrap_or(u16::MAX);
        let options = |val, ecr, wscale| {
            let mut options = vec![TcpOptionElement::MaximumSegmentSize(mss)];
            if self.sack {
                options.push(TcpOptionElement::SelectiveAcknowledgementPermitted);
            }
            if self.timestamps {
                options.push(TcpOptionElement::Timestamp(val, ecr));
            }
            options.extend([TcpOptionElement::Noop, TcpOptionElement::WindowScale(wscale)]);
            options
        };
        let syn_val = ts_val(at).wrapping_sub((self.first_rtt / 1_000_000) as u32).max(1);
        let (seq, ack, syn, window) = (1, Some(1), true, u16::MAX);
        let first = Header { syn, window, options: options(syn_val, 0, 0), ..Header::default() };
        let second = options(ts_val(at), syn_val, self.wscale);
        let second = Header { ack, syn, window, options: second, ..Header::default() };
        (self.ts_recent, self.peer_val) = (ts_val(at), ts_val(at));
        let third = self.timestamps_option(ts_val(at), self.peer_val);
        let third = Header { seq, ack, window, options: third, ..Header::default() };
        // The origin of captures leaves room before time zero.
        let begin = (ORIGIN_S * 1_000_000_000 - self.first_rtt.min(ORIGIN_S * 1_000_000_000)).saturating_add(at);
        let comment = "ackclock: handshake, made up";
        self.write_at(begin, Direction::ToReceiver, &first, comment, file)?;
        self.write(at, Direction::ToSender, &second, comment, file)?;
        self.write(at, Direction::ToReceiver, &third, comment, file)
    }

    /// RFC 7323 section 4.3: the segment that holds the last acknowledged byte's successor sets TS.Recent.
    fn echo(&mut self, ack: u64) {
        if ack <= self.acked {
            return;
        }
        if let Some((_, (end, val))) = self.sent.range(..=self.acked).next_back() {
            if *end > self.acked {
                self.ts_recent = *val;
            }
        }
        self.sent = self.sent.split_off(&ack);
        self.acked = ack;
    }

    fn timestamps_option(&self, val: u32, ecr: u32) -> Vec<TcpOptionElement> {
        match self.timestamps {
            true => vec![TcpOptionElement::Noop, TcpOptionElement::Noop, TcpOptionElement::Timestamp(val, ecr)],
            false => Vec::new(),
        }
    }

    fn write<W: Write>(
        &mut self,
        at: u64,
        direction: Direction,
        header: &Header,
        comment: &str,
        file: &mut CaptureFile<W>,
    ) -> io::Result<()> {
        self.write_at((ORIGIN_S * 1_000_000_000).saturating_add(at), direction, header, comment, file)
    }

    fn write_at<W: Write>(
        &mut self,
        nanos: u64,
        direction: Direction,
        header: &Header,
        comment: &str,
        file: &mut CaptureFile<W>,
    ) -> io::Result<()> {
        let (from, to, source, destination) = match direction {
            Direction::ToReceiver => (self.sender, RECEIVER, SENDER_MAC, RECEIVER_MAC),
            Direction::ToSender => (RECEIVER, self.sender, RECEIVER_MAC, SENDER_MAC),
        };
        let mut tcp = TcpHeader::new(from.1, to.1, header.seq, header.window);
        tcp.syn = header.syn;
        tcp.ack = header.ack.is_some();
        tcp.acknowledgment_number = header.ack.unwrap_or_default();
        tcp.set_options(&header.options).map_err(io::Error::other)?;
        let total = tcp.header_len() + header.payload;
        let mut ip = Ipv4Header::new(total as u16, 64, IpNumber::TCP, from.0, to.0).map_err(io::Error::other)?;
        let identification = &mut self.identification[direction as usize];
        *identification = identification.wrapping_add(1);
        ip.identification = *identification;
        ip.dont_fragment = true;
        ip.header_checksum = ip.calc_header_checksum();
        let ethernet = Ethernet2Header { source, destination, ether_type: EtherType::IPV4 };

        // The payload lies in place first, zeros, because the checksum is taken over it.
        let headers = Ethernet2Header::LEN + ip.header_len() + tcp.header_len();
        self.packet.clear();
        self.packet.resize(headers + header.payload, 0);
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, &self.packet[headers..]).map_err(io::Error::other)?;
        let mut front = &mut self.packet[..headers];
        ethernet.write(&mut front).map_err(io::Error::other)?;
        ip.write(&mut front)?;
        tcp.write(&mut front)?;
        file.packet(nanos, &self.packet, comment)
    }
}

fn sack_option(blocks: &[(u64, u64)]) -> Vec<TcpOptionElement> {
    let wire_block = |(left, right): &(u64, u64)| (wire(*left), wire(*right));
    let Some((first, rest)) = blocks.split_first() else { return Vec::new() };
    let rest = [0, 1, 2].map(|i| rest.get(i).map(wire_block));
    let sack = TcpOptionElement::SelectiveAcknowledgement(wire_block(first), rest);
    vec![TcpOptionElement::Noop, TcpOptionElement::Noop, sack]
}

/// The sequence number of a stream position; the SYN has number 0.
fn wire(position: u64) -> u32 {
    Seq::at(Seq(1), position).0
}

/// A timestamp clock of a millisecond that is 1 at time zero.
fn ts_val(nanos: u64) -> u32 {
    ((nanos / 1_000_000) as u32).wrapping_add(1)
}
