//! What travels over links.

use ackclock_tcp::Segment;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A segment from a sender.
    Data,
    /// A segment from a receiver.
    Ack,
    /// A packet of a CBR stream.
    Datagram,
}

/// A packet under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// The header.
    pub(crate) segment: Segment,
    /// Stream position of the first payload byte; of an ACK, the position that it acknowledges.
    pub(crate) position: u64,
    /// Which flow it belongs to.
    pub(crate) flow: u32,
    /// Bytes on the link.
    pub(crate) size: u32,
    /// Where in the table of paths its next hop stands.
    pub(crate) hop: u32,
    /// 1 for the first transmission.
    pub(crate) transmission: u32,
    /// What it is.
    pub(crate) kind: Kind,
    /// A link made it by duplicating another.
    pub(crate) copy: bool,
}
