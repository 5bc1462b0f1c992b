//! IPv4 and IPv6 headers: all that this workspace knows of their layout.
//!
//! A `Header` is a view of the fixed part of a received header, and says what its fields say. A
//! `Packet` is a packet as a host accepts it: whole, undamaged, no fragment. Who is less strict,
//! such as a reader of captures, takes the `Header` and makes its own of it. A `Repr` is what a
//! host means by a header. **Nothing here panics on any input**, and nothing allocates.

#[cfg(test)]
mod tests;
pub mod v4;
pub mod v6;

use core::fmt;

/// The number of TCP as an IP protocol.
pub const TCP: u8 = 6;
/// The number of UDP as an IP protocol.
pub const UDP: u8 = 17;
/// The number of ICMP as an IPv4 protocol.
pub const ICMP: u8 = 1;
/// The number of ICMPv6 as an IPv6 next header.
pub const ICMPV6: u8 = 58;

/// Time to live, or hop limit, that hosts begin with (RFC 1700).
pub const HOP_LIMIT: u8 = 64;

/// Why bytes are no packet that a host accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// Fewer bytes than the headers say.
    Truncated,
    /// Another version, or a header that is shorter than any.
    BadHeader,
    /// The header checksum is wrong.
    BadChecksum,
    /// A fragment. Nobody needs to fragment what TCP sends, and reassembly is a way to exhaust a
    /// host.
    Fragment,
    /// A chain of extension headers without end, or one that must not be skipped.
    BadExtension,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParseError::Truncated => "packet is cut off",
            ParseError::BadHeader => "no IP header",
            ParseError::BadChecksum => "wrong checksum",
            ParseError::Fragment => "fragment",
            ParseError::BadExtension => "extension header",
        })
    }
}

impl core::error::Error for ParseError {}
