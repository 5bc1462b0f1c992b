//! Whole connections: two ends that open and close.
//!
//! Everything happens in the order of time here, so that nothing of it weighs on flows that begin as established
//! ([`crate::engine`]). The server reads what arrives at once, and closes when the client has; what an application has not
//! written yet opens no connection.

use ackclock_tcp::connection::{Connection, ConnectionConfig, Outgoing};
use ackclock_tcp::strategy::Strategy;
use ackclock_tcp::wire::{Control, Repr};
use ackclock_tcp::{Cause, EventKind, Seq, Time};

use crate::config::{FlowId, Whole};
use crate::engine::Engine;
use crate::flow::{Agent, Sizes};
use crate::heap::{Key, Kind};
use crate::packet::{Kind as PacketKind, Options, Packet};
use crate::recorder::{Place, Recorder};
use crate::traffic::Writer;

/// An end before it opens, and then.
enum End {
    Waits(Box<(ConnectionConfig, Strategy)>),
    Open(Box<Connection>),
    /// Between the two.
    Opens,
}

impl End {
    fn connection(&self) -> Option<&Connection> {
        if let End::Open(connection) = self { Some(connection) } else { None }
    }

    fn connection_mut(&mut self) -> Option<&mut Connection> {
        if let End::Open(connection) = self { Some(connection) } else { None }
    }

    /// Opens it, unless it is.
    fn open(&mut self, open: impl FnOnce(ConnectionConfig, Strategy) -> Connection) {
        *self = match std::mem::replace(self, End::Opens) {
            End::Waits(waits) => End::Open(Box::new(open(waits.0, waits.1))),
            open => open,
        };
    }
}

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// The two ends of a whole connection.
pub(crate) struct Connections {
    client: End,
    server: End,
    /// The earliest entry that the event heap holds for each end's timer.
    client_timer: u64,
    server_timer: u64,
    /// Sequence number of the first data byte.
    isn: Seq,
    pub(crate) writer: Writer,
    /// As in [`crate::flow::Tcp`].
    pub(crate) total: u64,
    pub(crate) sizes: Sizes,
}

impl Connections {
    pub(crate) fn new(whole: Whole, writer: Writer, sizes: Sizes) -> Connections {
        Connections {
            isn: whole.client.0.iss + 1,
            client: End::Waits(Box::new(whole.client)),
            server: End::Waits(Box::new(whole.server)),
            client_timer: u64::MAX,
            server_timer: u64::MAX,
            total: writer.total(),
            writer,
            sizes,
        }
    }

    /// The sending end, once it has opened.
    pub(crate) fn client(&self) -> Option<&Connection> {
        self.client.connection()
    }

    /// Bytes of data acknowledged.
    pub(crate) fn acked(&self) -> u64 {
        self.client().map_or(0, Connection::acked)
    }

    /// The application writes. Returns when it will do so again.
    pub(crate) fn write(&mut self, now: u64) -> u64 {
        self.client.open(|config, strategy| Connection::connect(Time(now), config, strategy));
        let write = self.writer.write(now);
        self.total = self.writer.total();
        if let Some(client) = self.client.connection_mut() {
            client.write(Time(now), write.bytes);
            if write.last {
                client.shutdown(Time(now));
            }
        }
        write.next
    }

    fn end(&mut self, side: Side) -> (Option<&mut Connection>, &mut u64) {
        match side {
            Side::Client => (self.client.connection_mut(), &mut self.client_timer),
            Side::Server => (self.server.connection_mut(), &mut self.server_timer),
        }
    }

    /// A packet arrives at the server. Returns whether it brought nothing that had not arrived before.
    fn arrives(&mut self, now: u64, header: &Repr, packet: &Packet) -> bool {
        let Some(server) = self.server.connection_mut() else {
            if header.control == Control::SYN {
                self.server.open(|config, strategy| Connection::accept(Time(now), config, strategy, header));
            }
            return false;
        };
        let needless = server.holds(packet.position, packet.bytes());
        server.on_segment(Time(now), header, packet.len);
        server.read(Time(now), server.readable());
        if server.at_end() {
            server.shutdown(Time(now));
        }
        needless
    }

    /// The packet for what an end sends, but for its flow and its way.
    fn packet(&self, out: &Outgoing, side: Side, options: &mut Options) -> Packet {
        let (kind, position) = match side {
            Side::Client => (PacketKind::Data, out.position),
            // What it acknowledges; a reset may acknowledge nothing.
            Side::Server => {
                let read = self.server.connection().map_or(0, Connection::read_position);
                (PacketKind::Ack, out.header.ack.position(self.isn, read).unwrap_or(0))
            }
        };
        Packet {
            position,
            transmission: out.sent.map_or(0, |(_, transmission)| transmission),
            size: self.sizes.packet(out.len, out.header.options.len() as u32),
            fast_retransmission: out.sent.is_some_and(|(cause, _)| cause == Cause::FastRetransmit),
            ..Packet::with_header(kind, &out.header, out.len, options)
        }
    }
}

impl Engine {
    /// A packet from the server reaches the client.
    #[cold]
    #[inline(never)]
    pub(crate) fn deliver_to_client<R: Recorder>(&mut self, now: u64, packet: &Packet, recorder: &mut R) {
        let header = packet.into_header(&mut self.options);
        let flow = &mut self.flows[packet.flow as usize];
        let Agent::Whole(whole) = &mut flow.agent else { return };
        if now >= flow.stop {
            return;
        }
        if let Some(client) = whole.client.connection_mut() {
            client.on_segment(Time(now), &header, packet.len);
        }
        if let Some(at) = flow.check_completion(now) {
            self.heap.push(Key::new(at, at, Kind::Source, packet.flow));
        }
        self.pump_end(now, now, packet.flow as usize, Side::Client, recorder);
    }

    /// A packet from the client reaches the server.
    #[cold]
    #[inline(never)]
    pub(crate) fn deliver_to_server<R: Recorder>(&mut self, now: u64, packet: &Packet, recorder: &mut R) {
        let index = packet.flow as usize;
        let header = packet.into_header(&mut self.options);
        let flow = &mut self.flows[index];
        let Agent::Whole(whole) = &mut flow.agent else { return };
        let needless = whole.arrives(now, &header, packet);
        if packet.transmission > 0 {
            flow.arrived += 1;
            flow.spurious_retransmissions += u64::from(needless && packet.transmission > 1 && !packet.copy);
            if recorder.wants_events() {
                let kind = EventKind::Arrived { seq: packet.position, len: packet.bytes(), needless };
                self.record(now, index, kind, recorder);
            }
        }
        self.pump_end(now, now, index, Side::Server, recorder);
    }

    /// The client's application has written, or its timer has expired.
    #[cold]
    #[inline(never)]
    pub(crate) fn pump_client<R: Recorder>(&mut self, now: u64, earliest: u64, index: usize, recorder: &mut R) {
        self.pump_end(now, earliest, index, Side::Client, recorder);
    }

    /// An entry for the client's timer has come up, which may be stale.
    #[cold]
    #[inline(never)]
    pub(crate) fn client_timer<R: Recorder>(&mut self, now: u64, index: usize, recorder: &mut R) {
        if now < self.flows[index].stop {
            self.end_timer(now, index, Side::Client, recorder);
        }
    }

    /// As [`Engine::client_timer`], for the server.
    #[cold]
    #[inline(never)]
    pub(crate) fn server_timer<R: Recorder>(&mut self, now: u64, index: usize, recorder: &mut R) {
        self.end_timer(now, index, Side::Server, recorder);
    }

    fn end_timer<R: Recorder>(&mut self, now: u64, index: usize, side: Side, recorder: &mut R) {
        let Agent::Whole(whole) = &mut self.flows[index].agent else { return };
        let (connection, timer) = whole.end(side);
        let Some(connection) = connection.filter(|_| *timer == now) else { return };
        *timer = u64::MAX;
        if connection.next_deadline().0 <= now {
            connection.on_deadline(Time(now));
        }
        self.pump_end(now, now.saturating_add(1), index, side, recorder);
    }

    /// Sends what an end has to send, hands the client's events on and sets the end's timer, to `earliest` or later.
    fn pump_end<R: Recorder>(&mut self, now: u64, earliest: u64, index: usize, side: Side, recorder: &mut R) {
        let (id, client) = (FlowId(index as u32), side == Side::Client);
        loop {
            let flow = &mut self.flows[index];
            let Agent::Whole(whole) = &mut flow.agent else { return };
            let (Some(connection), timer) = whole.end(side) else { return };
            let out = connection.poll_transmit(Time(now));
            if client && recorder.wants_events() {
                while let Some(event) = connection.poll_event() {
                    recorder.event(id, &event);
                }
            }
            let Some(out) = out else {
                let due = connection.next_deadline().0;
                if due < *timer {
                    *timer = due.max(earliest);
                    let kind = if client { Kind::SenderTimer } else { Kind::ReceiverTimer };
                    self.heap.push(Key::new(*timer, *timer, kind, id.0));
                }
                return;
            };
            let (hop, place) = if client { (flow.data_path, Place::Sender) } else { (flow.ack_path, Place::Receiver) };
            let mut packet = Packet { flow: id.0, hop, ..whole.packet(&out, side, &mut self.options) };
            if recorder.wants_packets() {
                self.options.mark(&mut packet, &out.header, out.sent.filter(|_| client));
                self.seen(now, place, &packet, recorder);
            }
            self.forward(now, &packet, recorder);
        }
    }
}
