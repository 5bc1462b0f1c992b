//! The checksum (RFC 9293 section 3.1, RFC 1071) with the pseudo-header of IPv4 or IPv6 (RFC 8200 section 8.1).

use core::net::{Ipv4Addr, Ipv6Addr};

const PROTOCOL: u64 = 6;

/// The addresses that a TCP checksum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PseudoHeader {
    /// Over IPv4.
    V4 {
        /// Source address.
        src: Ipv4Addr,
        /// Destination address.
        dst: Ipv4Addr,
    },
    /// Over IPv6.
    V6 {
        /// Source address.
        src: Ipv6Addr,
        /// Destination address.
        dst: Ipv6Addr,
    },
}

impl PseudoHeader {
    /// The checksum of a TCP segment that lies in `parts` one after the other, each but the last of even length: what
    /// belongs in its checksum field if that field is zero, or zero if that field is right.
    pub(super) fn checksum(&self, parts: &[&[u8]]) -> u16 {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        let addresses = match self {
            PseudoHeader::V4 { src, dst } => words(&src.octets()) + words(&dst.octets()),
            PseudoHeader::V6 { src, dst } => words(&src.octets()) + words(&dst.octets()),
        };
        let mut sum = addresses + PROTOCOL + len as u64 + parts.iter().map(|part| words(part)).sum::<u64>();
        while sum >> 16 != 0 {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }
}

/// The sum of the 16-bit words; an odd last byte counts as if a zero followed.
fn words(bytes: &[u8]) -> u64 {
    let (pairs, last) = bytes.as_chunks::<2>();
    let sum: u64 = pairs.iter().map(|pair| u64::from(u16::from_be_bytes(*pair))).sum();
    sum + last.first().map_or(0, |byte| u64::from(*byte) << 8)
}
