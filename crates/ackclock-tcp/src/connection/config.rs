//! How a connection behaves, what state it is in, and why it is over.

use crate::receiver::ReceiverConfig;
use crate::sender::SenderConfig;
use crate::seq::Seq;
use crate::time::{Span, Time};

/// The state of a connection (RFC 9293 section 3.3.2). LISTEN belongs to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TcpState {
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Data flows.
    Established,
    /// A FIN was sent.
    FinWait1,
    /// It was acknowledged.
    FinWait2,
    /// The peer sent a FIN.
    CloseWait,
    /// Both sent a FIN, and ours is not acknowledged.
    Closing,
    /// Ours, the second, is not acknowledged.
    LastAck,
    /// The peer may still send its FIN again.
    TimeWait,
    /// It is over.
    Closed,
}

/// Why a connection is [`TcpState::Closed`] other than by FINs both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// The peer answered our SYN with a reset.
    Refused,
    /// The peer reset it.
    Reset,
    /// [`Connection::abort`](super::Connection::abort), or a close that left data unread.
    Aborted,
    /// The peer acknowledged nothing for the user timeout, or answered no SYN or keep-alive.
    TimedOut,
    /// The network says that the peer cannot be reached (ICMP), while the connection was being
    /// opened.
    Unreachable,
}

/// Keep-alives (RFC 9293 section 3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// How long nothing has arrived before the first.
    pub idle: Span,
    /// From one to the next.
    pub interval: Span,
    /// So many without an answer end the connection.
    pub count: u32,
}

/// How a connection behaves, apart from its strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionConfig {
    /// Our initial sequence number (that of the SYN).
    pub iss: Seq,
    /// The MSS that we announce: the largest IP packet that we take, less its fixed headers (RFC
    /// 6691).
    pub local_mss: u16,
    /// The largest TCP payload that the path takes without TCP options, as far as known: MTU less
    /// fixed headers. With the peer's MSS and the options that each segment carries this gives
    /// SMSS. A peer whose SYN names no MSS takes 536 (RFC 9293 section 3.7.1); over IPv6 it
    /// takes 1220, which the driver puts into the SYN's options.
    pub path_mss: u16,
    /// What the path may take again, and from when on a probe may look for that: of a path that
    /// was found narrower lately. `None` does not look, and is the default.
    pub wide_path_mss: Option<(u16, Time)>,
    /// The same as `path_mss` for what every path takes: 536 over IPv4, where every host takes
    /// packets of 576 bytes (RFC 791), and 1220 over IPv6 (RFC 8200 section 5). If large segments
    /// vanish and no ICMP tells of it, the connection tries smaller ones, down to that. `None` does
    /// not look for such paths, and is the default.
    pub least_path_mss: Option<u16>,
    /// Offer SACK.
    pub sack: bool,
    /// Offer timestamps.
    pub timestamps: bool,
    /// Offer ECN (RFC 3168 section 6.1.1): off by default.
    pub ecn: bool,
    /// Our window scale shift, offered on the SYN; `None` offers none. More than 14 counts as 14
    /// (RFC 7323 section 2.3). It should be no more than the largest receive buffer to come needs:
    /// windows are multiples of 2^`wscale` bytes, and a
    /// [buffer](crate::ReceiverConfig::buffer) smaller than that serves the peer badly.
    pub wscale: Option<u8>,
    /// The sender. What the handshake finds out (sequence numbers, `mss`, `initial_rwnd`,
    /// `wscale`, `sack`, `timestamps`, `ecn`) is overwritten.
    pub sender: SenderConfig,
    /// The receiver, as above; `buffer` counts.
    pub receiver: ReceiverConfig,
    /// SYNs or SYN/ACKs retransmitted before the connection is given up. A timer whose intervals do
    /// not all double goes on for as long as if they did (`tcp_write_timeout`).
    pub syn_retries: u32,
    /// Keep-alives; off by default, as RFC 9293 section 3.8.4 has it.
    pub keep_alive: Option<KeepAlive>,
    /// How long data, a FIN or a window probe may stay unacknowledged (RFC 5482, RFC 9293 section
    /// 3.8.3); `None` for ever.
    pub user_timeout: Option<Span>,
    /// How long TIME-WAIT lasts: 2 MSL.
    pub time_wait: Span,
    /// How long FIN-WAIT-2 may last after [`Connection::close`](super::Connection::close), when
    /// nobody reads any more.
    pub fin_wait_2: Span,
}

impl Default for ConnectionConfig {
    /// Sequence numbers from 0, which only a test may use; Ethernet's MTU over IPv4; SACK,
    /// timestamps and a window scale of 7; six SYNs in all; a user timeout of 300 s (RFC 9293
    /// section 3.9.1 has 5 minutes); 2 MSL and FIN-WAIT-2 of 60 s; no keep-alives.
    fn default() -> ConnectionConfig {
        ConnectionConfig {
            iss: Seq(0),
            local_mss: 1460,
            path_mss: 1460,
            wide_path_mss: None,
            least_path_mss: None,
            sack: true,
            timestamps: true,
            ecn: false,
            wscale: Some(7),
            sender: SenderConfig::default(),
            receiver: ReceiverConfig::default(),
            syn_retries: 5,
            keep_alive: None,
            user_timeout: Some(Span::from_secs(300)),
            time_wait: Span::from_secs(60),
            fin_wait_2: Span::from_secs(60),
        }
    }
}
