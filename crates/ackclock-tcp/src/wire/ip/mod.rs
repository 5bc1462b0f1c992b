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

use crate::segment::Codepoint;

pub use super::checksum::TCP;

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

/// The ECN field of a packet that begins with an IPv4 or IPv6 header (RFC 3168 section 5).
pub fn codepoint(packet: &[u8]) -> Codepoint {
    Codepoint::from_tos(match *packet {
        [first, tos, ..] if first >> 4 == 4 => tos,
        // The traffic class lies across two bytes.
        [first, second, ..] if first >> 4 == 6 => second >> 4,
        _ => 0,
    })
}

/// Marks such a packet with CE, and mends an IPv4 checksum that was right: RFC 1624 section 3,
/// HC' = ~(~HC + ~m + m').
pub fn mark(packet: &mut [u8]) {
    match packet.first().map(|first| first >> 4) {
        Some(4) => {
            let Some(header) = packet.first_chunk_mut::<{ v4::HEADER_LEN }>() else { return };
            let word = |header: &[u8]| u32::from(u16::from_be_bytes([header[0], header[1]]));
            let (old, checksum) = (word(&header[..2]), word(&header[10..12]));
            header[1] |= 3;
            let sum = (checksum ^ 0xffff) + (old ^ 0xffff) + word(&header[..2]);
            let sum = (sum & 0xffff) + (sum >> 16);
            let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
            header[10..12].copy_from_slice(&checksum.to_be_bytes());
        }
        Some(6) => {
            if let Some(second) = packet.get_mut(1) {
                *second |= 3 << 4;
            }
        }
        _ => {}
    }
}
