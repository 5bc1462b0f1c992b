//! Two hosts and a wire between them, in virtual time. The applications act only on what
//! `poll_ready` tells.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use ackclock_stack::{
    Error, ListenerId, Outgoing, Ready, SocketId, Stack, StackConfig, Status, TcpConfig,
};
use ackclock_tcp::connection::{CloseReason, TcpState};
use ackclock_tcp::wire::ip;
use ackclock_tcp::wire::{CHECKSUM, Control, Packet, PseudoHeader, Repr};
use ackclock_tcp::{Codepoint, Sending, Seq, Span, Time};

pub const MS: u64 = 1_000_000;

/// Byte `position` of the stream with number `stream`: no piece of it occurs twice within 2^32
/// bytes.
pub fn pattern(stream: u64, position: u64) -> u8 {
    let word = ((position / 8) ^ (stream << 40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((word ^ (word >> 29)) >> (position % 8 * 8)) as u8
}

/// What an application does with a socket: writes a stream, shuts down, and reads one until its
/// end.
#[derive(Clone, Debug)]
pub struct App {
    pub writes: u64,
    /// Which streams it writes and expects.
    pub stream: u64,
    pub expects: u64,
    pub written: u64,
    pub read: u64,
    /// Shut down after the last byte.
    pub shuts: bool,
    /// Reads at all.
    pub reads: bool,
    pub at_end: bool,
    pub shut: bool,
    pub closed: Option<CloseReason>,
}

impl App {
    pub fn new(writes: u64, stream: u64, expects: u64) -> App {
        let (written, read) = (0, 0);
        let (shuts, reads) = (true, true);
        App {
            writes,
            stream,
            expects,
            written,
            read,
            shuts,
            reads,
            at_end: false,
            shut: false,
            closed: None,
        }
    }

    /// Does what it can.
    pub fn act(&mut self, now: Time, stack: &mut Stack, id: SocketId) {
        let mut buffer = [0; 8192];
        while self.reads && !self.at_end {
            match stack.read(now, id, &mut buffer) {
                Ok(0) => self.at_end = true,
                Ok(len) => {
                    for (byte, position) in buffer[..len].iter().zip(self.read..) {
                        assert_eq!(
                            *byte,
                            pattern(self.expects, position),
                            "byte {position} of stream {}",
                            self.expects
                        );
                    }
                    self.read += len as u64;
                }
                Err(Error::Closed(reason)) => {
                    self.closed = Some(reason);
                    return;
                }
                Err(Error::WouldBlock) => break,
                Err(other) => panic!("{other}"),
            }
        }
        while self.written < self.writes {
            let len = (self.writes - self.written).min(buffer.len() as u64) as usize;
            for (byte, position) in buffer[..len].iter_mut().zip(self.written..) {
                *byte = pattern(self.stream, position);
            }
            match stack.write(now, id, &buffer[..len]) {
                Ok(len) => self.written += len as u64,
                Err(Error::WouldBlock) => return,
                Err(Error::Closed(reason)) => {
                    self.closed = Some(reason);
                    return;
                }
                Err(other) => panic!("{other}"),
            }
        }
        if self.shuts && !self.shut {
            let opening = matches!(
                stack.status(id).unwrap().state,
                TcpState::SynSent | TcpState::SynReceived
            );
            if !opening {
                self.shut = true;
                stack.shutdown(now, id).unwrap();
            }
        }
    }

    pub fn is_done(&self) -> bool {
        self.at_end && self.shut && self.written == self.writes
    }
}

pub struct Host {
    pub stack: Stack,
    pub apps: BTreeMap<SocketId, App>,
    /// Listeners, and what the application does with what they accept; it is told which connection
    /// it is.
    pub accepting: BTreeMap<ListenerId, fn(u64) -> App>,
    pub accepted: u64,
    /// Of each segment that left, why and which transmission it was.
    pub sent: Vec<Option<Sending>>,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Deliver,
    Drop,
    Twice,
    /// It comes so much later.
    Late(Span),
    /// This bit of it is wrong.
    Corrupt(u32),
    /// A queue on the path marks it.
    Mark,
}

type Decide = dyn FnMut(usize, &[u8]) -> Fate;

pub struct World {
    pub now: Time,
    pub hosts: [Host; 2],
    /// When, to which host, what.
    wire: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    order: u64,
    pub delay: Span,
    /// Nanoseconds that a byte takes; 0 for an infinitely fast wire.
    pub per_byte: u64,
    free_at: [Time; 2],
    /// Decides by host that sent it and packet; segments of a super-segment come one by one.
    pub fate: Box<Decide>,
    /// Whether hosts look at checksums of what comes.
    pub trusted: bool,
}

pub fn v4(host: usize) -> IpAddr {
    [10, 0, 0, host as u8 + 1].into()
}

pub fn v6(host: usize) -> IpAddr {
    [0xfd00, 0, 0, 0, 0, 0, 0, host as u16 + 1].into()
}

pub fn host_config(host: usize, offload: bool) -> StackConfig {
    StackConfig {
        addresses: vec![v4(host), v6(host)],
        mtu: 1500,
        offload,
        secret: [host as u8 + 7; 16],
        half_open: 64,
        ..StackConfig::default()
    }
}

impl World {
    pub fn new(offload: bool) -> World {
        World::with([host_config(0, offload), host_config(1, offload)])
    }

    pub fn with(configs: [StackConfig; 2]) -> World {
        let hosts = configs.map(|config| Host {
            stack: Stack::new(config),
            apps: BTreeMap::new(),
            accepting: BTreeMap::new(),
            accepted: 0,
            sent: Vec::new(),
        });
        World {
            now: Time(12_345 * MS),
            hosts,
            wire: BTreeMap::new(),
            order: 0,
            delay: Span::from_millis(5),
            per_byte: 0,
            free_at: [Time::ZERO; 2],
            fate: Box::new(|_, _| Fate::Deliver),
            trusted: false,
        }
    }

    /// Host 1 listens at port 80 of an address and answers as told.
    pub fn listen(
        &mut self,
        ip: IpAddr,
        config: TcpConfig,
        backlog: usize,
        app: fn(u64) -> App,
    ) -> ListenerId {
        let listener =
            self.hosts[1].stack.listen(SocketAddr::new(ip, 80), config, backlog).unwrap();
        self.hosts[1].accepting.insert(listener, app);
        listener
    }

    /// Host 0 connects to it.
    pub fn connect(&mut self, ip: IpAddr, config: TcpConfig, app: App) -> SocketId {
        let id = self.hosts[0].stack.connect(self.now, SocketAddr::new(ip, 80), config).unwrap();
        self.hosts[0].apps.insert(id, app);
        self.drain(0);
        id
    }

    pub fn status(&self, host: usize, id: SocketId) -> Status {
        self.hosts[host].stack.status(id).unwrap()
    }

    pub fn app(&self, host: usize, id: SocketId) -> &App {
        &self.hosts[host].apps[&id]
    }

    /// What the contract asks for after every input.
    pub fn drain(&mut self, host: usize) {
        loop {
            while let Some(outgoing) = self.hosts[host].stack.poll_transmit(self.now) {
                let packets = cut(&outgoing);
                let sent = outgoing.sent;
                self.hosts[host].sent.extend(packets.iter().map(|_| sent));
                for packet in packets {
                    self.put(host, packet);
                }
            }
            let Host { stack, apps, accepting, accepted, .. } = &mut self.hosts[host];
            match stack.poll_ready() {
                Some(Ready::Accept(listener)) => {
                    let Some(app) = accepting.get(&listener) else { continue };
                    while let Ok(id) = stack.accept(listener) {
                        let mut app = app(*accepted);
                        *accepted += 1;
                        app.act(self.now, stack, id);
                        apps.insert(id, app);
                    }
                }
                Some(Ready::Socket(id)) => {
                    if let Some(app) = apps.get_mut(&id) {
                        app.act(self.now, stack, id);
                    }
                }
                None => return,
            }
        }
    }

    /// An application acts although nothing told it to.
    pub fn act(&mut self, host: usize, id: SocketId) {
        let Host { stack, apps, .. } = &mut self.hosts[host];
        apps.get_mut(&id).unwrap().act(self.now, stack, id);
        self.drain(host);
    }

    fn put(&mut self, host: usize, mut packet: Vec<u8>) {
        let fate = (self.fate)(host, &packet);
        let begin = self.free_at[host].max(self.now);
        self.free_at[host] = begin + Span(self.per_byte * packet.len() as u64);
        let mut at = self.free_at[host] + self.delay;
        match fate {
            Fate::Drop => return,
            Fate::Late(by) => at += by,
            Fate::Corrupt(bit) => {
                let bit = bit as usize % (packet.len() * 8);
                packet[bit / 8] ^= 1 << (bit % 8);
            }
            Fate::Twice => self.push(at, 1 - host, packet.clone()),
            Fate::Mark => ip::mark(&mut packet),
            Fate::Deliver => {}
        }
        self.push(at, 1 - host, packet);
    }

    /// A packet will arrive at a host, whoever made it.
    pub fn push(&mut self, at: Time, host: usize, packet: Vec<u8>) {
        self.order += 1;
        self.wire.insert((at, self.order), (host, packet));
    }

    /// A forged packet arrives now.
    pub fn inject(&mut self, host: usize, packet: &[u8]) {
        self.hosts[host].stack.on_packet(self.now, packet, self.trusted);
        self.drain(host);
    }

    /// The next thing happens; `false` if there is none before `until`.
    pub fn step(&mut self, until: Time) -> bool {
        let timers = [0, 1].map(|host| self.hosts[host].stack.next_deadline());
        let arrival = self.wire.keys().next().map_or(Time::NEVER, |(at, _)| *at);
        let next = arrival.min(timers[0]).min(timers[1]);
        if next > until || next == Time::NEVER {
            self.now = self.now.max(until);
            return false;
        }
        self.now = self.now.max(next);
        if arrival == next {
            let (_, (host, packet)) = self.wire.pop_first().unwrap();
            self.hosts[host].stack.on_packet(self.now, &packet, self.trusted);
            self.drain(host);
        } else {
            let host = usize::from(timers[1] == next);
            self.hosts[host].stack.on_deadline(self.now);
            self.drain(host);
        }
        true
    }

    pub fn run_for(&mut self, span: Span) {
        let until = self.now + span;
        while self.step(until) {}
    }

    /// Until every application has what it waits for.
    pub fn run(&mut self) {
        let until = self.now + Span::from_secs(3600);
        let done =
            |world: &World| world.hosts.iter().all(|host| host.apps.values().all(App::is_done));
        while !(done(self) && self.hosts[1].accepted > 0) {
            assert!(self.step(until), "nothing more happens");
        }
    }

    /// Both applications let their sockets go.
    pub fn close_all(&mut self) {
        for host in 0..2 {
            let ids: Vec<SocketId> = self.hosts[host].apps.keys().copied().collect();
            for id in ids {
                self.hosts[host].stack.close(self.now, id);
            }
            self.hosts[host].apps.clear();
            self.drain(host);
        }
    }
}

/// What a device does with a packet: segmentation and checksums.
pub fn cut(outgoing: &Outgoing<'_>) -> Vec<Vec<u8>> {
    let payload = outgoing.payload.concat();
    let ip_len = usize::from(outgoing.ip_header);
    if !outgoing.partial_checksum {
        assert_eq!(outgoing.segment, 0);
        return vec![[outgoing.header, &payload].concat()];
    }
    let (ip, tcp) = outgoing.header.split_at(ip_len);
    let pseudo = pseudo(ip);
    let len = (tcp.len() + payload.len()) as u32;
    assert_eq!(tcp[CHECKSUM], pseudo.tcp(len).sum().to_be_bytes());
    let (repr, malformed) = Repr::parse(&Packet::parse(tcp).unwrap());
    assert_eq!(malformed, None);
    let size = match outgoing.segment {
        0 => payload.len().max(1),
        size => usize::from(size),
    };
    assert!(outgoing.segment == 0 || payload.len() > size);
    // CWR stands on one segment only, and a device may copy it.
    assert!(outgoing.segment == 0 || !repr.control.contains(Control::CWR));
    let mut pieces: Vec<&[u8]> = payload.chunks(size).collect();
    if pieces.is_empty() {
        pieces.push(&[]);
    }
    let mut packets = Vec::new();
    let last = pieces.len() - 1;
    for (index, piece) in pieces.into_iter().enumerate() {
        let mut header = Repr { seq: repr.seq + (index * size) as u32, ..repr };
        if index < last {
            header.control = Control(header.control.0 & !(Control::PSH.0 | Control::FIN.0));
        }
        header.codepoint = ip::codepoint(ip);
        let mut packet = tcp_packet(ip_addresses(ip).0, ip_addresses(ip).1, &header, piece);
        number(ip, index as u16, &mut packet);
        packets.push(packet);
    }
    packets
}

/// Numbers the packets that a device cuts from one of IPv4, where they are no more to be fragmented
/// than that one (Linux `inet_gso_segment`).
fn number(whole: &[u8], index: u16, packet: &mut [u8]) {
    let (IpAddr::V4(src), IpAddr::V4(dst)) = ip_addresses(whole) else { return };
    let [len, id, flags] = [&packet[2..], &whole[4..], &whole[6..]]
        .map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
    let dont_fragment = flags == 0x4000;
    let id = if dont_fragment { id } else { id.wrapping_add(index) };
    let codepoint = ip::codepoint(packet);
    let plain = ip::v4::Repr::new(src, dst, 6, len - ip::v4::HEADER_LEN as u16);
    let repr = ip::v4::Repr { codepoint, id, dont_fragment, ..plain };
    repr.emit(packet.first_chunk_mut().unwrap());
}

/// An IP packet with a TCP segment in it.
pub fn tcp_packet(src: IpAddr, dst: IpAddr, header: &Repr, payload: &[u8]) -> Vec<u8> {
    let mut segment = vec![0; header.header_len()];
    segment.extend_from_slice(payload);
    let pseudo = match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => PseudoHeader::V4 { src, dst },
        (IpAddr::V6(src), IpAddr::V6(dst)) => PseudoHeader::V6 { src, dst },
        _ => panic!("two families"),
    };
    header.emit(&pseudo, &mut segment).unwrap();
    ecn_packet(src, dst, 6, header.codepoint, &segment)
}

/// An IP packet that is not ECN-capable.
pub fn ip_packet(src: IpAddr, dst: IpAddr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    ecn_packet(src, dst, protocol, Codepoint::NotEct, payload)
}

/// An IP packet with this ECN field.
fn ecn_packet(
    src: IpAddr,
    dst: IpAddr,
    protocol: u8,
    codepoint: Codepoint,
    payload: &[u8],
) -> Vec<u8> {
    let payload_len = payload.len() as u16;
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let mut header = [0; ip::v4::HEADER_LEN];
            ip::v4::Repr { codepoint, ..ip::v4::Repr::new(src, dst, protocol, payload_len) }
                .emit(&mut header);
            [&header[..], payload].concat()
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let mut header = [0; ip::v6::HEADER_LEN];
            ip::v6::Repr { codepoint, ..ip::v6::Repr::new(src, dst, protocol, payload_len) }
                .emit(&mut header);
            [&header[..], payload].concat()
        }
        _ => panic!("two families"),
    }
}

/// Source and destination.
pub fn ip_addresses(bytes: &[u8]) -> (IpAddr, IpAddr) {
    if bytes[0] >> 4 == 4 {
        let header = ip::v4::Packet::parse_quoted(bytes).unwrap().header;
        (header.src().into(), header.dst().into())
    } else {
        let header = ip::v6::Packet::parse_quoted(bytes).unwrap().header;
        (header.src().into(), header.dst().into())
    }
}

fn pseudo(ip: &[u8]) -> PseudoHeader {
    match ip_addresses(ip) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => PseudoHeader::V4 { src, dst },
        (IpAddr::V6(src), IpAddr::V6(dst)) => PseudoHeader::V6 { src, dst },
        _ => unreachable!(),
    }
}

/// The TCP header and payload in an IP packet without extensions; its checksums have to be right.
pub fn parse(packet: &[u8]) -> (Repr, Vec<u8>) {
    let payload = if packet[0] >> 4 == 4 {
        ip::v4::Packet::parse(packet).unwrap().payload
    } else {
        ip::v6::Packet::parse(packet).unwrap().payload
    };
    let segment = Packet::parse(payload).unwrap();
    assert!(segment.checksum_ok(&pseudo(packet)));
    let (header, malformed) = Repr::parse(&segment);
    assert_eq!(malformed, None);
    (header, segment.payload().to_vec())
}

/// Everything that a stack has to send.
pub fn drain(stack: &mut Stack, now: Time) -> VecDeque<Vec<u8>> {
    let mut packets = VecDeque::new();
    while let Some(outgoing) = stack.poll_transmit(now) {
        packets.extend(cut(&outgoing));
    }
    packets
}

/// A plain header.
pub fn header(src_port: u16, dst_port: u16, control: Control, seq: u32, ack: u32) -> Repr {
    Repr {
        src_port,
        dst_port,
        control,
        seq: Seq(seq),
        ack: Seq(ack),
        wnd: 65_535,
        ..Repr::default()
    }
}
