//! What a host writes on the wire and reads from it beside TCP: IPv4, IPv6 and ICMP.
//!
//! As in `ackclock_tcp::wire`, a `Packet` is a view of received bytes and a `Repr` what a host means by a header. Parsing is the
//! only place where bytes can be refused. **Nothing here panics on any input**, and nothing allocates.

pub mod icmp;
pub mod ipv4;
pub mod ipv6;
#[cfg(test)]
mod tests;

/// The number of TCP as an IP protocol.
pub const TCP: u8 = 6;
/// The number of ICMP as an IPv4 protocol.
pub const ICMP: u8 = 1;
/// The number of ICMPv6 as an IPv6 next header.
pub const ICMPV6: u8 = 58;

/// Why bytes are no packet for us to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Fewer bytes than the headers say.
    #[error("packet is cut off")]
    Truncated,
    /// Another version, or a header that is shorter than any.
    #[error("no IP header")]
    BadHeader,
    /// The header checksum is wrong.
    #[error("wrong checksum")]
    BadChecksum,
    /// A fragment. Nobody needs to fragment what TCP sends, and reassembly is a way to exhaust a host.
    #[error("fragment")]
    Fragment,
    /// A chain of extension headers without end, or one that must not be skipped.
    #[error("extension header")]
    BadExtension,
}

/// Time to live, or hop limit, of what we send (RFC 1700).
const HOP_LIMIT: u8 = 64;
