//! Connections that open with a handshake and close with FINs.
//!
//! The client opens the connection when its application first writes. The server reads what
//! arrives at once, and closes when the client has.

use ackclock_tcp::connection::{Connection, ConnectionConfig, Outgoing};
use ackclock_tcp::strategy::Strategy;
use ackclock_tcp::wire::{Control, Repr};
use ackclock_tcp::{Cause, Seq, Time};

use crate::config::Endpoint;
use crate::packet::{Kind as PacketKind, Options, Packet};
use crate::packet_size::PacketSizes;
use crate::traffic::Writer;

/// One end of a connection.
enum End {
    /// It has not opened yet.
    Unopened(Box<Endpoint>),
    Open(Box<Connection>),
    /// Between the two.
    Opening,
}

impl End {
    fn connection(&self) -> Option<&Connection> {
        if let End::Open(connection) = self { Some(connection) } else { None }
    }

    fn connection_mut(&mut self) -> Option<&mut Connection> {
        if let End::Open(connection) = self { Some(connection) } else { None }
    }

    /// Opens it, unless it is open.
    fn open(&mut self, open: impl FnOnce(ConnectionConfig, Strategy) -> Connection) {
        *self = match std::mem::replace(self, End::Opening) {
            End::Unopened(end) => End::Open(Box::new(open(end.config, end.strategy))),
            open => open,
        };
    }
}

/// Which end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// The two ends of a connection.
pub(crate) struct Connections {
    client: End,
    server: End,
    /// The earliest entry that the event heap holds for each end's timer.
    client_timer: u64,
    server_timer: u64,
    /// Sequence number of the first data byte.
    isn: Seq,
    pub(crate) writer: Writer,
    /// As in [`crate::flow::Established`].
    pub(crate) total: u64,
    pub(crate) sizes: PacketSizes,
}

impl Connections {
    pub(crate) fn new(
        client: Box<Endpoint>,
        server: Box<Endpoint>,
        writer: Writer,
        sizes: PacketSizes,
    ) -> Connections {
        Connections {
            isn: client.config.iss + 1,
            client: End::Unopened(client),
            server: End::Unopened(server),
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

    /// An end, once it has opened, and when its timer comes up next.
    pub(crate) fn end(&mut self, side: Side) -> (Option<&mut Connection>, &mut u64) {
        match side {
            Side::Client => (self.client.connection_mut(), &mut self.client_timer),
            Side::Server => (self.server.connection_mut(), &mut self.server_timer),
        }
    }

    /// A packet arrives at the server. Returns whether all that it brought had arrived before.
    pub(crate) fn arrives(&mut self, now: u64, header: &Repr, packet: &Packet) -> bool {
        let Some(server) = self.server.connection_mut() else {
            // With ECE and CWR it offers ECN.
            if header.control.contains(Control::SYN) && !header.control.contains(Control::ACK) {
                self.server.open(|config, strategy| {
                    Connection::accept(Time(now), config, strategy, header)
                });
            }
            return false;
        };
        let spurious = server.holds(packet.position, packet.bytes());
        server.on_segment(Time(now), header, packet.len);
        server.read(Time(now), server.readable());
        if server.at_end() {
            server.shutdown(Time(now));
        }
        spurious
    }

    /// The packet for what an end sends. The caller fills in its flow and its hop.
    pub(crate) fn packet(&self, out: &Outgoing, side: Side, options: &mut Options) -> Packet {
        let (kind, position, transmission) = match side {
            Side::Client => {
                let transmission = out.sent.map_or(0, |sent| sent.transmission);
                (PacketKind::Data, out.position, transmission)
            }
            // What it acknowledges; a reset may acknowledge nothing.
            Side::Server => {
                let read = self.server.connection().map_or(0, Connection::read_position);
                let position = out.header.ack.position(self.isn, read).unwrap_or(0);
                let syn = out.header.control.contains(Control::SYN);
                (PacketKind::Ack, position, u32::from(!syn))
            }
        };
        Packet {
            position,
            transmission,
            size: self.sizes.packet(out.len, || out.header.options.len() as u32),
            fast_retransmission: out.sent.is_some_and(|sent| sent.cause == Cause::FastRetransmit),
            ..Packet::with_header(kind, &out.header, out.len, options)
        }
    }
}
