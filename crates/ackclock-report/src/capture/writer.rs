//! The packets of simulated flows in one capture.

use std::collections::HashMap;
use std::io::{self, Write};

use ackclock_tcp::Sighting;

use super::connection::{Connection, Handshake, PORTS};
use super::file::{CaptureFile, CaptureFormat};

/// Time zero of a run in a capture: 2000-01-01 00:00:00 UTC, in nanoseconds since 1970. Some tools
/// take 0 for "not set".
const ORIGIN: u64 = 946_684_800_000_000_000;
const LINKTYPE_ETHERNET: u16 = 1;

/// Writes packets as they were seen somewhere on their way into one capture.
///
/// Each flow is one connection from 10.0.0.1, port 10000 + flow, to 198.51.100.1, port 9; other
/// hosts have the addresses that follow (198.18.0.0/15 behind the first 254 receivers). A sender
/// has another one for each 50,000 flows. Made up are the payload, all zeros, and, unless its first
/// packet is a SYN or a reset, the handshake, right before that packet and at the same time. The
/// IPv4 identification counts the packets that a host has sent on the connection, so that it names
/// a transmission wherever that is seen. A segment above 65,000 bytes is written as several
/// packets. Hand packets in in order of time, and an `out` that buffers.
///
/// tcptrace reads both formats (6.6.7, through libpcap).
///
/// In pcapng each packet has a comment: `ackclock: ` and `fast_retransmit, transmission 2` for
/// data, by [`ackclock_tcp::Cause::name`], or `ack`, `duplicate ack 3`, `handshake`, `reset`.
pub struct CaptureWriter<W> {
    file: CaptureFile<W>,
    connections: HashMap<u32, Connection>,
    senders: Senders,
}

/// Numbers of the addresses that a host has as a sender, each for as many flows as it has ports.
type Senders = HashMap<(u32, u32), u32>;

impl<W: Write> CaptureWriter<W> {
    /// Begins a capture taken at `place`, as which it names its interface.
    ///
    /// # Errors
    /// What writing to `out` returns; so with all functions below.
    pub fn new(out: W, format: CaptureFormat, place: &str) -> io::Result<Self> {
        let file = CaptureFile::new(out, format, LINKTYPE_ETHERNET, ORIGIN, place)?;
        Ok(CaptureWriter { file, connections: HashMap::new(), senders: HashMap::new() })
    }

    /// Says between which hosts a flow is, by number, and how it began, before its first packet.
    /// Without it hosts are 0 and 0, and [`Handshake::default`] counts.
    pub fn connection(&mut self, flow: u32, hosts: [u32; 2], handshake: Handshake) {
        let connection = begin(&mut self.senders, flow, hosts, handshake);
        self.connections.insert(flow, connection);
    }

    /// The next packet.
    ///
    /// # Errors
    /// What writing returns.
    pub fn packet(&mut self, flow: u32, packet: &Sighting) -> io::Result<()> {
        let connection = self
            .connections
            .entry(flow)
            .or_insert_with(|| begin(&mut self.senders, flow, [0; 2], Handshake::default()));
        connection.packet(packet, &mut self.file)
    }

    /// Flushes `out` and returns it.
    ///
    /// # Errors
    /// What flushing returns.
    pub fn finish(self) -> io::Result<W> {
        self.file.finish()
    }
}

/// A connection with the next address, if its sender has none with ports left.
fn begin(
    senders: &mut Senders,
    flow: u32,
    [from, to]: [u32; 2],
    handshake: Handshake,
) -> Connection {
    let next = senders.len() as u32;
    let from = *senders.entry((from, flow / PORTS)).or_insert(next);
    Connection::new(flow, [from, to], handshake)
}
