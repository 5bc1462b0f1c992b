//! A TCP/IP host without I/O: IP packets and time come in, IP packets and deadlines come out.
//!
//! A [`Stack`] holds listeners and sockets around `ackclock_tcp::connection::Connection`, with their buffers. It reads no
//! clock and opens no device; `ackclock-live` gives it a TUN device, tests a simulated network.
//!
//! # The contract
//! After **every** input (`on_packet`, `on_deadline`, `write`, `read`, `connect`, ...):
//! 1. call [`Stack::poll_transmit`] until it returns `None`, and send what it returned, in that order;
//! 2. read [`Stack::next_deadline`]; call [`Stack::on_deadline`] at that time or as soon after it as possible;
//! 3. drain [`Stack::poll_ready`], and [`Stack::poll_event`] if events are recorded.

use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::connection::{CloseReason, KeepAlive, TcpState};
use ackclock_tcp::strategy::Composition;
use ackclock_tcp::{Cause, Event, Sender, Span, Time};

/// How the host behaves.
#[derive(Clone, Debug)]
pub struct StackConfig {
    /// The host's own addresses.
    pub addresses: Vec<IpAddr>,
    /// The largest IP packet that the link takes, at least 576 (1280 with an IPv6 address).
    pub mtu: u16,
    /// Leave the segmentation of up to 64 KiB, and TCP checksums, to the device ([`Outgoing::segment`]).
    pub offload: bool,
    /// The secret behind initial sequence numbers (RFC 6528) and SYN cookies; draw it at random.
    pub secret: [u8; 16],
    /// Half-open connections of a listener that are kept; beyond them SYNs are answered by cookies.
    pub half_open: usize,
}

/// How connections behave.
#[derive(Clone, Debug)]
pub struct TcpConfig {
    /// The strategy of the sender.
    pub strategy: Composition,
    /// Bytes that the application may write ahead of acknowledgment.
    pub send_buffer: usize,
    /// Bytes that may wait for the application to read them; bounds the window offered.
    pub receive_buffer: usize,
    /// Offer SACK.
    pub sack: bool,
    /// Offer timestamps.
    pub timestamps: bool,
    /// Offer a window scale that lets the window cover `receive_buffer`.
    pub window_scaling: bool,
    /// Announce at most this MSS, and send no larger segments; `None` for what the MTU allows.
    pub mss: Option<u16>,
    /// Initial window in segments, 1 to 10.
    pub initial_window: u32,
    /// Lower bound of the retransmission timeout; `None` takes the timer model's own.
    pub min_rto: Option<Span>,
    /// How long an ACK may wait for a second segment; `None` sends every ACK at once.
    pub delayed_ack: Option<Span>,
    /// Nagle's algorithm.
    pub nagle: bool,
    /// Keep-alives.
    pub keep_alive: Option<KeepAlive>,
    /// How long data may stay unacknowledged.
    pub user_timeout: Option<Span>,
    /// 2 MSL.
    pub time_wait: Span,
    /// Record the sender's events.
    pub events: bool,
}

/// A socket: a connection as the application sees it. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SocketId(pub u64);

/// A listener. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListenerId(pub u64);

/// Why a call had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nothing can be read, written or accepted now; [`Stack::poll_ready`] tells when.
    #[error("would block")]
    WouldBlock,
    /// The connection ended before its time.
    #[error("{0:?}")]
    Closed(CloseReason),
    /// The application has shut it down, or closed it.
    #[error("shut down")]
    ShutDown,
    /// There is no such socket or listener.
    #[error("no such socket")]
    NoSocket,
    /// Another listener has the port, or no port is free.
    #[error("address in use")]
    InUse,
    /// The local address is none of the host's, or the remote one is of the other family or cannot be a peer.
    #[error("address not available")]
    NoAddress,
}

/// What may have become possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ready {
    /// [`Stack::accept`] has something.
    Accept(ListenerId),
    /// The state of a socket changed, or it can be read or written where it could not.
    Socket(SocketId),
}

/// A socket at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The state of its connection.
    pub state: TcpState,
    /// Why it ended before its time.
    pub reason: Option<CloseReason>,
    /// Bytes that can be read.
    pub readable: usize,
    /// The peer has sent everything, and it has been read.
    pub at_end: bool,
    /// Bytes that can be written; 0 while it is being opened and after a shutdown.
    pub writable: usize,
    /// Bytes written and not yet acknowledged.
    pub unacked: usize,
    /// Our address.
    pub local: SocketAddr,
    /// The peer's address.
    pub remote: SocketAddr,
}

/// An IP packet to send: a header and up to two pieces of payload, which lie in a socket's buffer.
#[derive(Debug)]
pub struct Outgoing<'a> {
    /// IP and TCP headers.
    pub header: &'a [u8],
    /// The payload, one piece after the other.
    pub payload: [&'a [u8]; 2],
    /// Bytes of the IP header.
    pub ip_header: u16,
    /// With [`StackConfig::offload`]: cut the payload into segments of this size. 0 if it is one segment.
    pub segment: u16,
    /// With [`StackConfig::offload`]: the TCP checksum field holds the sum of the pseudo-header only.
    pub partial_checksum: bool,
    /// The socket, and of each segment in the packet why it is sent and its transmission; none for other packets.
    pub socket: Option<SocketId>,
    /// Cause and transmission of the first segment.
    pub sent: Option<(Cause, u32)>,
}

/// Counters of the host; they only grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct StackStats {
    /// IP packets that came.
    pub packets_in: u64,
    /// IP packets that went, super-segments counted once.
    pub packets_out: u64,
    /// Packets that came and were no valid packet of a known protocol for this host.
    pub malformed: u64,
    /// Segments that came with a wrong checksum.
    pub bad_checksums: u64,
    /// Resets sent for segments of no connection.
    pub resets_out: u64,
    /// SYN cookies sent.
    pub cookies_sent: u64,
    /// Connections established by a cookie.
    pub cookies_accepted: u64,
    /// Connections opened, by either side.
    pub opened: u64,
    /// Connections gone for good.
    pub closed: u64,
}

/// The host.
pub struct Stack {
    config: StackConfig,
}

#[allow(unused_variables)]
impl Stack {
    /// A host without sockets.
    pub fn new(config: StackConfig) -> Stack {
        Stack { config }
    }

    /// Listens at an address of the host (or the unspecified one, for all of its family), with at most `backlog` established
    /// connections that wait for [`Stack::accept`]. Port 0 takes a free one.
    ///
    /// # Errors
    /// [`Error::InUse`], [`Error::NoAddress`].
    pub fn listen(&mut self, local: SocketAddr, config: TcpConfig, backlog: usize) -> Result<ListenerId, Error> {
        todo!()
    }

    /// The address of a listener.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn listener_address(&self, listener: ListenerId) -> Result<SocketAddr, Error> {
        todo!()
    }

    /// Stops listening; connections that were not accepted are reset.
    pub fn unlisten(&mut self, now: Time, listener: ListenerId) {
        todo!()
    }

    /// Takes an established connection.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], [`Error::NoSocket`].
    pub fn accept(&mut self, listener: ListenerId) -> Result<SocketId, Error> {
        todo!()
    }

    /// Opens a connection, from a free port; [`Stack::status`] tells when it is established.
    ///
    /// # Errors
    /// [`Error::InUse`], [`Error::NoAddress`].
    pub fn connect(&mut self, now: Time, remote: SocketAddr, config: TcpConfig) -> Result<SocketId, Error> {
        todo!()
    }

    /// Writes as much as there is room for, at least a byte.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], [`Error::Closed`], [`Error::ShutDown`], [`Error::NoSocket`].
    pub fn write(&mut self, now: Time, socket: SocketId, bytes: &[u8]) -> Result<usize, Error> {
        todo!()
    }

    /// Reads what is there; `Ok(0)` at the end of the stream.
    ///
    /// # Errors
    /// [`Error::WouldBlock`], [`Error::Closed`], [`Error::NoSocket`].
    pub fn read(&mut self, now: Time, socket: SocketId, bytes: &mut [u8]) -> Result<usize, Error> {
        todo!()
    }

    /// No more will be written; what arrives can still be read.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn shutdown(&mut self, now: Time, socket: SocketId) -> Result<(), Error> {
        todo!()
    }

    /// Lets the socket go: what was written is still delivered, and the connection closes by itself.
    pub fn close(&mut self, now: Time, socket: SocketId) {
        todo!()
    }

    /// Lets the socket go with a reset.
    pub fn abort(&mut self, now: Time, socket: SocketId) {
        todo!()
    }

    /// A socket at this moment.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn status(&self, socket: SocketId) -> Result<Status, Error> {
        todo!()
    }

    /// The sending half of a socket, for its counters and windows.
    ///
    /// # Errors
    /// [`Error::NoSocket`].
    pub fn sender(&self, socket: SocketId) -> Result<&Sender, Error> {
        todo!()
    }

    /// An IP packet arrived. `trusted` says that its TCP checksum need not be looked at, as for packets that never were on a wire.
    /// A TCP segment may be larger than the MTU.
    pub fn on_packet(&mut self, now: Time, packet: &[u8], trusted: bool) {
        todo!()
    }

    /// The next packet to send now, or `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Outgoing<'_>> {
        todo!()
    }

    /// When to call [`Stack::on_deadline`]; [`Time::NEVER`] if no timer runs.
    pub fn next_deadline(&self) -> Time {
        todo!()
    }

    /// A deadline has come. Harmless if none has.
    pub fn on_deadline(&mut self, now: Time) {
        todo!()
    }

    /// What changed since the last calls, each once.
    pub fn poll_ready(&mut self) -> Option<Ready> {
        todo!()
    }

    /// The oldest event not yet taken of the sockets that record them.
    pub fn poll_event(&mut self) -> Option<(SocketId, Event)> {
        todo!()
    }

    /// Connections in any state, those half open or in TIME-WAIT included.
    pub fn connections(&self) -> usize {
        todo!()
    }

    /// Connections that the application has let go and whose data or FIN the peer has not acknowledged.
    pub fn lingering(&self) -> usize {
        todo!()
    }

    /// Counters.
    pub fn stats(&self) -> &StackStats {
        todo!()
    }

    /// The configuration.
    pub fn config(&self) -> &StackConfig {
        &self.config
    }
}
