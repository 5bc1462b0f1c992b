//! Flows of foreign packets: which flow a packet belongs to, and how its segments are counted.
//!
//! Losses and queues ask for the flow, the segment and the transmission of a packet.
//! - *Flows* are numbered as the scenario numbers its own. The first TCP connection that appears is
//!   its first `[[flow]]`; the first other flow (by addresses, ports and protocol) is its first
//!   `[[cbr]]`; the rest come after those. Data and ACKs of a connection, in both directions, are
//!   one flow.
//! - *Segments* count from the byte after the SYN, in each direction by itself, in units of the
//!   flow's `tcp.mss`. Where the scenario sets none, the unit is the smaller MSS of the two SYNs
//!   (RFC 9293 section 3.7.1), less 12 bytes if both have timestamps. A connection whose SYN was
//!   not seen has no segment numbers. Other packets are counted, in each direction.
//! - *Transmissions* are counted in each direction ([`super::direction`]).

use std::collections::HashMap;
use std::net::SocketAddr;

use ackclock_tcp::wire::{Control, DEFAULT_MSS, TIMESTAMPS_LEN};
use ackclock_tcp::{Ecn, Segment};

use super::direction::{Ack, Direction};
use super::headers::{Headers, TcpHeader};
use crate::packet::{Kind, Options, Packet};
use crate::scenario::Tcp;

/// The most flows beside those of the scenario that are known at the same time. Then those unused
/// for longest make room.
const MOST_FLOWS: usize = 1 << 16;

/// The scenario's settings for a flow: in which unit its segments count, and how large its packets
/// are on links.
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

    /// Bytes on links, as [`crate::FlowConfig`] counts them: 40 bytes stand for the headers of IPv4
    /// and TCP.
    fn size(&self, len: u32, tcp: &TcpHeader) -> u32 {
        let options = if self.count_options { 0 } else { tcp.option_len };
        let headers = if tcp.len == 0 { self.ack_size } else { self.header };
        len.saturating_sub(options).saturating_add(headers).saturating_sub(40)
    }
}

/// What tells a flow from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct FlowKey {
    /// The two ends; the lesser address comes first.
    ends: [SocketAddr; 2],
    protocol: u8,
}

#[derive(Debug)]
struct Flow {
    key: FlowKey,
    /// What each end sends.
    directions: [Direction; 2],
    /// Bytes of a segment, once known.
    mss: u32,
    /// A packet came since this flow was last considered for replacement.
    used: bool,
    /// It is among those that are over.
    listed: bool,
}

/// The flows that have been seen.
#[derive(Debug)]
pub(super) struct FlowTable {
    numbers: HashMap<FlowKey, u32>,
    flows: Vec<Option<Flow>>,
    /// Of the scenario's flows, the TCP connections first; the last one is for all others.
    settings: Vec<Settings>,
    /// The numbers for the next connection and for the next other flow that the scenario has
    /// settings for.
    next_tcp: usize,
    next_other: usize,
    /// How many connections the scenario has.
    tcp: usize,
    /// Flows beside those of the scenario that have ended, whose numbers the next ones take.
    over: Vec<u32>,
    /// The next one to be considered for replacement.
    hand: usize,
}

impl FlowTable {
    /// `tcp` are the settings of the scenario's connections, `others` is the number of its other
    /// flows.
    pub(super) fn new(tcp: Vec<Settings>, others: usize, rest: Settings) -> Self {
        let connections = tcp.len();
        let named = connections + others;
        let mut settings = tcp;
        settings.resize(named + 1, rest);
        FlowTable {
            numbers: HashMap::new(),
            flows: std::iter::repeat_with(|| None).take(named).collect(),
            settings,
            next_tcp: 0,
            next_other: connections,
            tcp: connections,
            over: Vec::new(),
            hand: named,
        }
    }

    /// The unit in which segments of a flow are counted.
    pub(super) fn mss(&self, number: u32) -> u32 {
        self.flows.get(number as usize).and_then(Option::as_ref).map_or(1, |flow| flow.mss)
    }

    /// The packet with these headers as links see it, and the ACK that it carries.
    pub(super) fn enter(&mut self, headers: &Headers) -> (Packet, Option<Ack>) {
        let from = usize::from(headers.from > headers.to);
        let number = self.number(headers, from);
        let settings = self.settings[(number as usize).min(self.settings.len() - 1)];
        let blank = Packet::new(Kind::Datagram, &Segment::default(), &mut Options::default());
        let ecn = Ecn::new(headers.codepoint, false, false);
        let mut packet = Packet { flow: number, size: headers.len, ecn, ..blank };
        let Some(Some(flow)) = self.flows.get_mut(number as usize) else { return (packet, None) };
        flow.used = true;
        let Some(tcp) = &headers.tcp else {
            flow.mss = 1;
            packet.position = flow.directions[from].count_packet();
            packet.len = 1;
            return (packet, None);
        };
        if tcp.control.contains(Control::SYN) {
            flow.directions[from].open(tcp, tcp.mss.unwrap_or(DEFAULT_MSS));
        }
        flow.mss = settings.mss.unwrap_or_else(|| flow.negotiated_mss()).max(1);
        let bare = tcp.len == 0
            && !tcp.control.contains(Control::SYN)
            && !tcp.control.contains(Control::FIN);
        packet.kind = if bare { Kind::Ack } else { Kind::Data };
        packet.size = settings.size(headers.len, tcp);
        flow.directions[from].send(tcp, flow.mss, &mut packet);
        let reset = tcp.control.contains(Control::RST);
        if reset {
            flow.directions[from].end();
        }
        let ack = Ack { to: 1 - from, ack: tcp.ack, pure: bare, reset };
        (packet, tcp.control.contains(Control::ACK).then_some(ack))
    }

    /// An ACK of a flow has left the gateway.
    pub(super) fn acknowledged(&mut self, number: u32, ack: &Ack) {
        let Some(Some(flow)) = self.flows.get_mut(number as usize) else { return };
        let direction = &mut flow.directions[ack.to];
        direction.acknowledged(ack, flow.mss);
        if ack.reset {
            direction.end();
        }
        if flow.is_over() && !flow.listed && number as usize >= self.settings.len() - 1 {
            flow.listed = true;
            self.over.push(number);
        }
    }

    /// The number of the flow, which is a new one if it has not been seen or if its ports are used
    /// anew.
    fn number(&mut self, headers: &Headers, from: usize) -> u32 {
        let mut ends = [headers.from, headers.to];
        ends.sort_unstable();
        let key = FlowKey { ends, protocol: headers.protocol };
        if let Some(&number) = self.numbers.get(&key)
            && let Some(Some(flow)) = self.flows.get(number as usize)
            && !headers.tcp.as_ref().is_some_and(|tcp| flow.is_followed_by(from, tcp))
        {
            return number;
        }
        let number = self.place(headers.tcp.is_some());
        if let Some(old) = self.flows[number].replace(Flow::new(key))
            && self.numbers.get(&old.key) == Some(&(number as u32))
        {
            self.numbers.remove(&old.key);
        }
        self.numbers.insert(key, number as u32);
        number as u32
    }

    /// A place for a new flow.
    fn place(&mut self, tcp: bool) -> usize {
        let named = self.settings.len() - 1;
        let (next, end) =
            if tcp { (&mut self.next_tcp, self.tcp) } else { (&mut self.next_other, named) };
        if *next < end {
            *next += 1;
            return *next - 1;
        }
        // Others may have taken the place meanwhile.
        while let Some(number) = self.over.pop() {
            if self.flows[number as usize].as_ref().is_some_and(Flow::is_over) {
                return number as usize;
            }
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
    fn new(key: FlowKey) -> Self {
        Flow {
            key,
            directions: Default::default(),
            mss: DEFAULT_MSS.into(),
            used: true,
            listed: false,
        }
    }

    /// Whether this segment begins another connection between the same ports.
    fn is_followed_by(&self, from: usize, tcp: &TcpHeader) -> bool {
        let opens = tcp.control.contains(Control::SYN) && !tcp.control.contains(Control::ACK);
        opens && self.directions[from].is_other_connection(tcp.seq)
    }

    /// Whether both ends have been acknowledged or reset.
    fn is_over(&self) -> bool {
        self.directions.iter().all(Direction::is_over)
    }

    fn negotiated_mss(&self) -> u32 {
        let mss = self
            .directions
            .iter()
            .filter_map(|direction| direction.mss)
            .min()
            .unwrap_or(DEFAULT_MSS);
        let timestamps = self.directions.iter().all(|direction| direction.timestamps);
        u32::from(mss.saturating_sub(if timestamps { TIMESTAMPS_LEN } else { 0 }))
    }
}

#[cfg(test)]
mod tests;
