//! What losses and queues want to know of foreign packets: which flow, which segment, which transmission of it.
//!
//! - *Flows* are numbered as the scenario numbers its own: the first TCP connection that appears is its first `[[flow]]`, the
//!   first other flow (by addresses, ports and protocol) its first `[[cbr]]`; the rest come after those. Data and ACKs of a
//!   connection, in both directions, are one flow.
//! - *Segments* count from the byte after the SYN, in each direction by itself, in units of the flow's `tcp.mss`; where the
//!   scenario sets none, of the smaller MSS of the two SYNs (RFC 9293 section 3.7.1), less 12 bytes if both have timestamps.
//!   A connection whose SYN was not seen has no segment numbers. Other packets are counted, in each direction.
//! - *Transmissions* are counted as packets enter the gateway, until the ACK that covers a segment leaves it.
//! - *A fast retransmission* is inferred: of the first unacknowledged segment, after a duplicate ACK.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use ackclock_tcp::wire::Control;
use ackclock_tcp::{Segment, Seq};

use super::headers::{Headers, TcpHeader};
use crate::packet::{Kind, Options, Packet};
use crate::scenario::Tcp;

/// Flows beside those of the scenario that are known at the same time; then those unused for longest make room.
const MOST_FLOWS: usize = 1 << 16;
/// Segments in flight whose transmissions are counted, in each direction of a connection.
const MOST_SEGMENTS: u64 = 1 << 16;
/// What a SYN without the option says (RFC 9293 section 3.7.1).
const DEFAULT_MSS: u16 = 536;
const TIMESTAMPS_LEN: u32 = 12;

/// How packets of a flow are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    mss: Option<u32>,
    header: u32,
    ack_size: u32,
    count_options: bool,
}

impl Settings {
    pub(super) fn new(tcp: &Tcp) -> Self {
        Settings {
            mss: tcp.mss.map(|size| size.0 as u32),
            header: tcp.header.unwrap_or(40),
            ack_size: tcp.ack_size.unwrap_or(40),
            count_options: tcp.count_options.unwrap_or(true),
        }
    }

    /// Bytes on links, as [`crate::FlowConfig`] counts them: 40 bytes stand for the headers of IPv4 and TCP.
    fn size(&self, len: u32, tcp: &TcpHeader) -> u32 {
        let options = if self.count_options { 0 } else { tcp.option_len };
        let headers = if tcp.len == 0 { self.ack_size } else { self.header };
        len.saturating_sub(options).saturating_add(headers).saturating_sub(40)
    }
}

/// The ends of a flow, the lesser one first, and its protocol.
type Name = (SocketAddr, SocketAddr, u8);

/// What one end of a connection has sent.
#[derive(Debug, Default)]
struct Half {
    /// Sequence number of its first byte, if its SYN was seen.
    origin: Option<Seq>,
    /// Of its SYN.
    mss: Option<u16>,
    timestamps: bool,
    /// The position after the last byte seen; of other protocols, packets seen.
    nxt: u64,
    /// As far as this end has been told that its bytes arrived.
    una: u64,
    /// How often since it was told so.
    duplicates: u32,
    /// Transmissions of the segments from number `first` on.
    transmissions: VecDeque<u16>,
    first: u64,
}

#[derive(Debug)]
struct Flow {
    name: Name,
    halves: [Half; 2],
    /// Bytes of a segment, once known.
    mss: u32,
    /// A packet came since this flow was last considered for replacement.
    used: bool,
}

/// What is remembered of a packet that carries an ACK until it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ack {
    /// The end that it goes to.
    to: usize,
    ack: Seq,
    /// It carries nothing else.
    pure: bool,
}

/// The flows that packets belong to.
#[derive(Debug)]
pub(super) struct Flows {
    numbers: HashMap<Name, u32>,
    flows: Vec<Option<Flow>>,
    /// Of the scenario's flows, the TCP connections first; the last one is for all others.
    settings: Vec<Settings>,
    /// The numbers for the next connection and for the next other flow that the scenario has settings for.
    next_tcp: usize,
    next_other: usize,
    /// How many connections the scenario has.
    tcp: usize,
    /// The next one to be considered for replacement.
    hand: usize,
}

impl Flows {
    /// `tcp` are the settings of the scenario's connections, `others` is the number of its other flows.
    pub(super) fn new(tcp: Vec<Settings>, others: usize, rest: Settings) -> Self {
        let connections = tcp.len();
        let named = connections + others;
        let mut settings = tcp;
        settings.resize(named + 1, rest);
        Flows {
            numbers: HashMap::new(),
            flows: std::iter::repeat_with(|| None).take(named).collect(),
            settings,
            next_tcp: 0,
            next_other: connections,
            tcp: connections,
            hand: named,
        }
    }

    /// The unit in which segments of a flow are counted.
    pub(super) fn mss(&self, number: u32) -> u32 {
        self.flows.get(number as usize).and_then(Option::as_ref).map_or(1, |flow| flow.mss)
    }

    /// The packet with these headers as links see it, and what has to be told when it leaves.
    pub(super) fn enter(&mut self, headers: &Headers) -> (Packet, Option<Ack>) {
        let from = usize::from(headers.from > headers.to);
        let number = self.number(headers, from);
        let settings = self.settings[(number as usize).min(self.settings.len() - 1)];
        let blank = Packet::new(Kind::Datagram, &Segment::default(), &mut Options::default());
        let mut packet = Packet { flow: number, size: headers.len, ..blank };
        let Some(Some(flow)) = self.flows.get_mut(number as usize) else { return (packet, None) };
        flow.used = true;
        let Some(tcp) = &headers.tcp else {
            flow.mss = 1;
            packet.position = flow.halves[from].nxt;
            packet.len = 1;
            flow.halves[from].nxt += 1;
            return (packet, None);
        };
        if tcp.control.contains(Control::SYN) {
            flow.begin(from, tcp);
        }
        flow.mss = settings.mss.unwrap_or_else(|| flow.negotiated_mss()).max(1);
        let bare = tcp.len == 0 && !tcp.control.contains(Control::SYN) && !tcp.control.contains(Control::FIN);
        packet.kind = if bare { Kind::Ack } else { Kind::Data };
        packet.size = settings.size(headers.len, tcp);
        flow.halves[from].send(tcp, flow.mss, &mut packet);
        let ack = Ack { to: 1 - from, ack: tcp.ack, pure: bare };
        (packet, tcp.control.contains(Control::ACK).then_some(ack))
    }

    /// A packet of a flow that carries an ACK has left.
    pub(super) fn left(&mut self, number: u32, ack: &Ack) {
        if let Some(Some(flow)) = self.flows.get_mut(number as usize) {
            flow.halves[ack.to].acknowledged(ack, flow.mss);
        }
    }

    /// The number of the flow, which is a new one if it has not been seen or if its ports are used anew.
    fn number(&mut self, headers: &Headers, from: usize) -> u32 {
        let (a, b) = if from == 0 { (headers.from, headers.to) } else { (headers.to, headers.from) };
        let name = (a, b, headers.protocol);
        if let Some(&number) = self.numbers.get(&name)
            && let Some(Some(flow)) = self.flows.get(number as usize)
            && !headers.tcp.as_ref().is_some_and(|tcp| flow.is_over(from, tcp))
        {
            return number;
        }
        let number = self.place(headers.tcp.is_some());
        if let Some(old) = self.flows[number].replace(Flow::new(name))
            && self.numbers.get(&old.name) == Some(&(number as u32))
        {
            self.numbers.remove(&old.name);
        }
        self.numbers.insert(name, number as u32);
        number as u32
    }

    /// A place for a new flow.
    fn place(&mut self, tcp: bool) -> usize {
        let named = self.settings.len() - 1;
        let (next, end) = if tcp { (&mut self.next_tcp, self.tcp) } else { (&mut self.next_other, named) };
        if *next < end {
            *next += 1;
            return *next - 1;
        }
        if self.flows.len() < named + MOST_FLOWS {
            self.flows.push(None);
            return self.flows.len() - 1;
        }
        // Each is passed over once after its last packet, so that this ends within two rounds.
        loop {
            self.hand = if self.hand + 1 < self.flows.len() { self.hand + 1 } else { named };
            if !self.flows[self.hand].as_mut().is_some_and(|flow| std::mem::take(&mut flow.used)) {
                return self.hand;
            }
        }
    }
}

impl Flow {
    fn new(name: Name) -> Self {
        Flow { name, halves: Default::default(), mss: DEFAULT_MSS.into(), used: true }
    }

    /// Whether this segment begins another connection between the same ports.
    fn is_over(&self, from: usize, tcp: &TcpHeader) -> bool {
        let opens = tcp.control.contains(Control::SYN) && !tcp.control.contains(Control::ACK);
        let half = &self.halves[from];
        opens && half.origin != Some(tcp.seq + 1) && (half.origin.is_some() || half.nxt > 0)
    }

    /// A SYN.
    fn begin(&mut self, from: usize, tcp: &TcpHeader) {
        let half = &mut self.halves[from];
        if half.origin != Some(tcp.seq + 1) {
            let mss = Some(tcp.mss.unwrap_or(DEFAULT_MSS));
            *half = Half { origin: Some(tcp.seq + 1), mss, timestamps: tcp.timestamps, ..Half::default() };
        }
    }

    fn negotiated_mss(&self) -> u32 {
        let mss = self.halves.iter().filter_map(|half| half.mss).min().unwrap_or(DEFAULT_MSS);
        let timestamps = self.halves.iter().all(|half| half.timestamps);
        u32::from(mss).saturating_sub(if timestamps { TIMESTAMPS_LEN } else { 0 })
    }
}

impl Half {
    /// Fills in which bytes and which transmission this segment is.
    fn send(&mut self, tcp: &TcpHeader, mss: u32, packet: &mut Packet) {
        let first = tcp.seq + u32::from(tcp.control.contains(Control::SYN));
        let position = self.origin.and_then(|origin| first.position(origin, self.nxt));
        let Some(position) = position.filter(|at| at / u64::from(mss) < self.first + MOST_SEGMENTS) else {
            // Not known where: `nxt` only says that something was sent.
            self.nxt += u64::from(self.origin.is_none());
            return;
        };
        packet.position = position;
        packet.len = tcp.len;
        if packet.kind == Kind::Ack {
            return;
        }
        let end = position + u64::from(tcp.len);
        self.nxt = self.nxt.max(end);
        packet.transmission = self.count(position.div_ceil(u64::from(mss)), end.div_ceil(u64::from(mss)));
        packet.fast_retransmission = packet.transmission > 1 && position == self.una && self.duplicates > 0;
    }

    /// Counts a transmission of the segments from `first` to before `end`; returns which one it is of the first of them.
    fn count(&mut self, first: u64, end: u64) -> u32 {
        if first >= end {
            return 1;
        }
        if first < self.first {
            // It was acknowledged and is forgotten.
            return u32::MAX;
        }
        let (from, to) = ((first - self.first) as usize, (end - self.first).min(MOST_SEGMENTS) as usize);
        if self.transmissions.len() < to {
            self.transmissions.resize(to, 0);
        }
        self.transmissions.range_mut(from..to).for_each(|n| *n = n.saturating_add(1));
        self.transmissions.get(from).map_or(1, |&n| n.into())
    }

    /// This end has been told how far its bytes arrived.
    fn acknowledged(&mut self, ack: &Ack, mss: u32) {
        let Some(position) = self.origin.and_then(|origin| ack.ack.position(origin, self.una)) else { return };
        // A FIN is acknowledged like a byte.
        if position > self.nxt + 1 || position < self.una {
            return;
        }
        if position == self.una {
            self.duplicates += u32::from(ack.pure);
            return;
        }
        self.una = position;
        self.duplicates = 0;
        let first = position.min(self.nxt).div_ceil(u64::from(mss.max(1)));
        let forgotten = first.saturating_sub(self.first).min(self.transmissions.len() as u64);
        self.transmissions.drain(..forgotten as usize);
        self.first = self.first.max(first);
    }
}

#[cfg(test)]
#[path = "follow_tests.rs"]
mod tests;
