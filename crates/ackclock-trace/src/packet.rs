//! From a frame to the TCP segment in it: link layers, IPv4 and IPv6, the TCP header and its options.

use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::wire::{Control, Options};
use ackclock_tcp::{Seq, Time};

use crate::file::Frame;

/// A TCP segment in a capture, perhaps a super-segment that the host had not cut yet (TSO) or had put together (GRO).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its frame, counted from 1.
    pub frame: u64,
    /// When it was captured, in nanoseconds since 1970.
    pub at: Time,
    /// Whose it is.
    pub src: SocketAddr,
    /// For whom.
    pub dst: SocketAddr,
    /// Sequence number of its first byte, or of its SYN.
    pub seq: Seq,
    /// Acknowledgment number; significant with [`Control::ACK`] only.
    pub ack: Seq,
    /// Control bits.
    pub control: Control,
    /// The window field, not scaled.
    pub wnd: u16,
    /// Bytes of payload on the wire, however many of them the capture has kept.
    pub len: u32,
    /// The options, as far as they were kept.
    pub options: Options,
    /// Whether options are missing, cut off by the snap length.
    pub options_cut: bool,
    /// Identification in the IPv4 header: senders count it up, so that it tells a retransmission from a late original.
    pub ip_id: Option<u16>,
    /// Time to live or hop limit.
    pub ttl: u8,
}

impl Packet {
    /// The address it came from.
    pub fn src_ip(&self) -> IpAddr {
        self.src.ip()
    }
}

/// Why a frame yields no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ignored {
    /// A link type that is not known here.
    Link,
    /// Not IP.
    NotIp,
    /// IP, but not TCP.
    NotTcp,
    /// A fragment of an IP packet: its TCP header is not in it, or its payload is elsewhere.
    Fragment,
    /// The snap length cut it within the headers that are needed: TCP's first 20 bytes.
    Cut,
    /// Lengths or fields that cannot be.
    Malformed,
}

/// The TCP segment in a frame.
///
/// # Errors
/// Why there is none.
pub fn decode(_frame: &Frame<'_>) -> Result<Packet, Ignored> {
    todo!()
}
