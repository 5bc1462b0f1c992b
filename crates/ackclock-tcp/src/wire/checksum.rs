//! The checksum (RFC 9293 section 3.1, RFC 1071) with the pseudo-header of IPv4 or IPv6 (RFC 8200
//! section 8.1).

use core::net::{Ipv4Addr, Ipv6Addr};

/// The number of TCP as an IP protocol.
pub const TCP: u8 = 6;

/// The Internet checksum (RFC 1071) of pieces that lie one after the other, of any lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Checksum {
    sum: u64,
    /// So many bytes came that the next one is the low half of a word.
    odd: bool,
}

impl Checksum {
    /// The next piece.
    #[must_use]
    #[inline]
    pub fn then(self, bytes: &[u8]) -> Checksum {
        let words = sum_of_words(bytes);
        // RFC 1071 section 2 (B): at an odd place the sum is the same with its bytes swapped.
        let words = if self.odd { words.swap_bytes() } else { words };
        Checksum { sum: self.sum + u64::from(words), odd: self.odd ^ (bytes.len() % 2 == 1) }
    }

    /// The one's complement sum.
    pub fn sum(self) -> u16 {
        fold(self.sum)
    }

    /// What belongs in a checksum field that was zero, or zero if the field is right.
    pub fn value(self) -> u16 {
        !self.sum()
    }
}

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
    /// The sum over the pseudo-header alone, for a TCP segment of `len` bytes. Devices that
    /// complete checksums expect it in the checksum field.
    #[inline]
    pub fn tcp(&self, len: u32) -> Checksum {
        self.of(TCP, len)
    }

    /// The sum over the pseudo-header of another protocol, as ICMPv6 has it (RFC 8200 section 8.1).
    #[inline]
    pub fn of(&self, protocol: u8, len: u32) -> Checksum {
        // All of it is whole words, which may be summed two or four at a time: RFC 1071 section 2.
        let addresses = match self {
            PseudoHeader::V4 { src, dst } => u64::from(src.to_bits()) + u64::from(dst.to_bits()),
            PseudoHeader::V6 { src, dst } => {
                let words = [src, dst].into_iter().flat_map(Ipv6Addr::segments);
                words.map(u64::from).sum()
            }
        };
        Checksum { sum: addresses + u64::from(len) + u64::from(protocol), odd: false }
    }

    /// The checksum of a TCP segment that lies in `parts` one after the other: what belongs in its
    /// checksum field if that field is zero, or zero if that field is right.
    pub fn checksum(&self, parts: &[&[u8]]) -> u16 {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        parts.iter().fold(self.tcp(len as u32), |sum, part| sum.then(part)).value()
    }
}

/// The sum of the 16-bit words; an odd last byte counts as if a zero followed. RFC 1071 section 2
/// (C): four bytes are summed at a time, as the machine has them, and the carries folded at the
/// end.
#[inline]
fn sum_of_words(bytes: &[u8]) -> u16 {
    let (words, last) = bytes.as_chunks::<4>();
    let mut sum: u64 = words.iter().map(|word| u64::from(u32::from_ne_bytes(*word))).sum();
    if !last.is_empty() {
        let mut word = [0; 4];
        word[..last.len()].copy_from_slice(last);
        sum += u64::from(u32::from_ne_bytes(word));
    }
    u16::from_be(fold(sum))
}

/// In one's complement a carry counts as one. Of 64 bits 33 are left, then 18, 17 and 16.
#[inline]
fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    sum as u16
}
