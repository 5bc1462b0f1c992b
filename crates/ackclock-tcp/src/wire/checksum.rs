//! The checksum (RFC 9293 section 3.1, RFC 1071) with the pseudo-header of IPv4 or IPv6 (RFC 8200
//! section 8.1).

use core::net::{Ipv4Addr, Ipv6Addr};

/// The number of TCP as an IP protocol.
pub const TCP: u8 = 6;

/// The Internet checksum (RFC 1071) of pieces that lie one after the other, of any lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Checksum {
    /// Of words as the machine has them: RFC 1071 section 2 (B), the sum of swapped words is the
    /// swapped sum.
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
        // At an odd place the bytes of each word are swapped.
        let words = if self.odd { fold(words).swap_bytes().into() } else { words };
        Checksum { sum: self.sum + words, odd: self.odd ^ (bytes.len() % 2 == 1) }
    }

    /// The one's complement sum.
    #[inline]
    pub fn sum(self) -> u16 {
        u16::from_be(fold(self.sum))
    }

    /// What belongs in a checksum field that was zero, or zero if the field is right.
    #[inline]
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
        let addresses = match self {
            PseudoHeader::V4 { src, dst } => {
                sum_of_words(&src.octets()) + sum_of_words(&dst.octets())
            }
            PseudoHeader::V6 { src, dst } => {
                sum_of_words(&src.octets()) + sum_of_words(&dst.octets())
            }
        };
        let [len, protocol] = [len, protocol.into()].map(|number| u64::from(number.to_be()));
        Checksum { sum: addresses + len + protocol, odd: false }
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
/// end, for which there is room in 16 GiB.
#[inline]
fn sum_of_words(bytes: &[u8]) -> u64 {
    let (words, last) = bytes.as_chunks::<4>();
    let mut sum: u64 = words.iter().map(|word| u64::from(u32::from_ne_bytes(*word))).sum();
    if !last.is_empty() {
        let mut word = [0; 4];
        word[..last.len()].copy_from_slice(last);
        sum += u64::from(u32::from_ne_bytes(word));
    }
    sum
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
