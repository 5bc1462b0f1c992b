//! What a driver gives and gets.

use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::connection::{CloseReason, KeepAlive, TcpState};
use ackclock_tcp::strategy::Composition;
use ackclock_tcp::{DelayedAck, Registry, Sending, Span, TimeoutClass};

/// How the host behaves.
#[derive(Clone, Debug)]
pub struct StackConfig {
    /// The host's own addresses.
    pub addresses: Vec<IpAddr>,
    /// The largest IP packet that the link takes, at least 576 (1280 with an IPv6 address).
    pub mtu: u16,
    /// Leave the segmentation of up to 64 KiB, and TCP checksums, to the device
    /// ([`Outgoing::segment`]).
    pub offload: bool,
    /// The secret behind initial sequence numbers (RFC 6528) and SYN cookies; draw it at random.
    pub secret: [u8; 16],
    /// Half-open connections of a listener that are kept; beyond them SYNs are answered by
    /// cookies.
    pub half_open: usize,
    /// Bytes that all connections together may take for their buffers, for the list of what is
    /// outstanding, and in TIME-WAIT, beyond 8 KiB for each buffer. The more is in use, the less a
    /// buffer may grow. TIME-WAIT takes an eighth at most; beyond that there is none.
    pub memory: usize,
    /// The differentiated services codepoint of all packets, below 64 (RFC 2474).
    pub dscp: u8,
}

impl Default for StackConfig {
    /// No address yet, MTU 1500, no offload, a secret that is none, 256 half-open connections for
    /// each listener, no bound on memory, and DSCP 0.
    fn default() -> StackConfig {
        StackConfig {
            addresses: Vec::new(),
            mtu: 1500,
            offload: false,
            secret: [0; 16],
            half_open: 256,
            memory: usize::MAX,
            dscp: 0,
        }
    }
}

/// Who may ask for ECN (RFC 3168 section 6.1.1), as Linux's `tcp_ecn` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum EcnUse {
    /// Nobody: `tcp_ecn=0`.
    Off,
    /// The peer: `tcp_ecn=2`.
    #[default]
    Accept,
    /// Both: `tcp_ecn=1`.
    Ask,
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
    /// Explicit Congestion Notification.
    pub ecn: EcnUse,
    /// Offer a window scale that lets the window cover `receive_buffer`.
    pub window_scaling: bool,
    /// Look for paths that drop large packets and tell nobody, by timeouts in a row, and send
    /// smaller ones over them.
    pub find_black_holes: bool,
    /// Announce at most this MSS, and send no larger segments; `None` for what the MTU allows.
    pub mss: Option<u16>,
    /// Initial window in segments; `None` for what the strategy's window law begins with.
    pub initial_window: Option<u32>,
    /// Lower bound of the retransmission timeout; `None` takes the timer model's own.
    pub min_rto: Option<Span>,
    /// When an ACK may wait.
    pub delayed_ack: DelayedAck,
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

impl Default for TcpConfig {
    /// The strategy `linux`, with which a busy host has most experience, over buffers of 4 MiB,
    /// SACK, timestamps and window scaling; ECN where the peer asks, as Linux does; the initial
    /// window of RFC 6928; ACKs delayed by 40 ms, as Linux does; no Nagle, for whoever writes small
    /// pieces in turn with reading waits for nothing; no keep-alives (RFC 9293 section 3.8.4) and
    /// no user timeout; 2 MSL of 60 s.
    fn default() -> TcpConfig {
        TcpConfig {
            strategy: Registry::default().parse("linux").expect("a preset"),
            send_buffer: 4 << 20,
            receive_buffer: 4 << 20,
            sack: true,
            timestamps: true,
            ecn: EcnUse::Accept,
            window_scaling: true,
            find_black_holes: true,
            mss: None,
            initial_window: None,
            min_rto: None,
            delayed_ack: DelayedAck::After(Span::from_millis(40)),
            nagle: false,
            keep_alive: None,
            user_timeout: None,
            time_wait: Span::from_secs(60),
            events: false,
        }
    }
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
    /// Nothing can be read, written or accepted now; [`poll_ready`](crate::Stack::poll_ready) tells
    /// when.
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
    /// The local address is none of the host's, or the remote one is of the other family or cannot
    /// be a peer.
    #[error("address not available")]
    NoAddress,
}

/// What may have become possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ready {
    /// [`accept`](crate::Stack::accept) has something.
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
    /// Bytes that the application has written.
    pub written: u64,
    /// Bytes that the application has read.
    pub read: u64,
    /// Our address.
    pub local: SocketAddr,
    /// The peer's address.
    pub remote: SocketAddr,
    /// Its sender's strategy: 0 for that of the configuration, else 1 and more for one of
    /// [`choose_strategies`](crate::Stack::choose_strategies).
    pub strategy: usize,
    /// Whether ECN was negotiated (RFC 3168 section 6.1.1).
    pub ecn: bool,
    /// Segments with data that came marked with CE. What the device merged into one counts once.
    pub marks: u64,
}

impl Status {
    /// Bytes written that the peer has acknowledged.
    pub fn acked(&self) -> u64 {
        self.written.saturating_sub(self.unacked as u64)
    }
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
    /// With [`StackConfig::offload`]: cut the payload into segments of this size. 0 if it is one
    /// segment.
    pub segment: u16,
    /// With [`StackConfig::offload`]: the TCP checksum field holds the sum of the pseudo-header
    /// only.
    pub partial_checksum: bool,
    /// The socket; none for resets, cookies, and answers of ICMP and of TIME-WAIT.
    pub socket: Option<SocketId>,
    /// Why it is sent, the same for all segments in the packet; `None` for what is neither
    /// data nor a window probe.
    pub sent: Option<Sending>,
}

/// Retransmission timeouts by class, in the order of [`TimeoutClass::ALL`].
pub type Timeouts = [u64; TimeoutClass::ALL.len()];

/// Counters of the host; they only grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct StackStats {
    /// IP packets that came.
    pub packets_in: u64,
    /// IP packets that went, super-segments counted once.
    pub packets_out: u64,
    /// Packets that came and were none, or were from an address that no other host can have.
    pub malformed: u64,
    /// Packets that came and were in order, but for another address, as the multicasts that kernels
    /// send by themselves, or of a protocol other than TCP and ICMP.
    pub ignored: u64,
    /// IP fragments that came. They are not put together.
    pub fragments: u64,
    /// Segments that came with a wrong checksum.
    pub bad_checksums: u64,
    /// Segments of handshakes ignored because too many connections wait to be accepted.
    pub queue_full: u64,
    /// Resets sent for segments of no connection.
    pub resets_out: u64,
    /// SYN cookies sent.
    pub cookies_sent: u64,
    /// Connections established by a cookie.
    pub cookies_accepted: u64,
    /// Connections on whose path large packets vanish and no ICMP tells of it.
    pub black_holes: u64,
    /// Connections opened, by either side.
    pub opened: u64,
    /// Connections gone for good, also those that ended before they were open.
    pub closed: u64,
}
