//! The IPv6 header (RFC 8200). Hop-by-hop options, destination options and a routing header that is used up are skipped, within
//! bounds; fragments are refused.

use std::net::Ipv6Addr;

use super::ParseError;

/// Bytes of the header.
pub const HEADER_LEN: usize = 40;

/// Extension headers that are skipped; RFC 8200 section 4.1 has at most two destination options and one of each other.
const MOST_EXTENSIONS: usize = 4;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION: u8 = 60;

/// A whole IPv6 packet as received.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    fixed: &'a [u8; HEADER_LEN],
    protocol: u8,
    payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Splits an IPv6 packet. Bytes after its payload length are padding.
    ///
    /// # Errors
    /// It is cut off, no IPv6, a fragment, or its extension headers are not to be skipped.
    pub fn parse(bytes: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let (fixed, rest) = split(bytes)?;
        let len = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
        Packet::skip_extensions(fixed, rest.get(..len).ok_or(ParseError::Truncated)?)
    }

    /// The beginning of a packet, as ICMPv6 quotes it: the payload may be cut off.
    ///
    /// # Errors
    /// Not even the headers are there, or they are not those of a packet of ours.
    pub fn parse_quoted(bytes: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let (fixed, rest) = split(bytes)?;
        Packet::skip_extensions(fixed, rest)
    }

    fn skip_extensions(fixed: &'a [u8; HEADER_LEN], mut rest: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let mut protocol = fixed[6];
        for _ in 0..=MOST_EXTENSIONS {
            match protocol {
                HOP_BY_HOP | DESTINATION | ROUTING => {}
                FRAGMENT => return Err(ParseError::Fragment),
                _ => return Ok(Packet { fixed, protocol, payload: rest }),
            }
            let &[next, units, _, left, ..] = rest else { return Err(ParseError::Truncated) };
            let (header, after) = rest.split_at_checked(usize::from(units) * 8 + 8).ok_or(ParseError::Truncated)?;
            // RFC 8200 section 4.4: a routing header of a type we do not know may be ignored if no segments are left. RFC 5095
            // deprecates the type that has some.
            let refused = match protocol {
                ROUTING => left != 0,
                _ => !options_may_be_skipped(&header[2..]),
            };
            if refused {
                return Err(ParseError::BadExtension);
            }
            (protocol, rest) = (next, after);
        }
        Err(ParseError::BadExtension)
    }

    /// Source address.
    pub fn src(&self) -> Ipv6Addr {
        address(self.fixed, 8)
    }

    /// Destination address.
    pub fn dst(&self) -> Ipv6Addr {
        address(self.fixed, 24)
    }

    /// The protocol of the payload, after the extension headers.
    pub fn protocol(&self) -> u8 {
        self.protocol
    }

    /// Bytes of the whole packet as its header says, which are not all there if it is quoted.
    pub fn total_len(&self) -> u32 {
        u32::from(u16::from_be_bytes([self.fixed[4], self.fixed[5]])) + HEADER_LEN as u32
    }

    /// The payload.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

fn split(bytes: &[u8]) -> Result<(&[u8; HEADER_LEN], &[u8]), ParseError> {
    let (fixed, rest): (&[u8; HEADER_LEN], _) = bytes.split_first_chunk().ok_or(ParseError::Truncated)?;
    if fixed[0] >> 4 == 6 { Ok((fixed, rest)) } else { Err(ParseError::BadHeader) }
}

fn address(fixed: &[u8; HEADER_LEN], at: usize) -> Ipv6Addr {
    let mut octets = [0; 16];
    octets.copy_from_slice(&fixed[at..at + 16]);
    Ipv6Addr::from(octets)
}

/// RFC 8200 section 4.2: the two highest bits of the type of an option that we do not know, which is all of them but padding, say
/// whether it may be skipped.
fn options_may_be_skipped(mut options: &[u8]) -> bool {
    loop {
        match options {
            [] => return true,
            [0, rest @ ..] => options = rest,
            [kind, len, rest @ ..] if kind >> 6 == 0 && rest.len() >= usize::from(*len) => {
                options = &rest[usize::from(*len)..];
            }
            _ => return false,
        }
    }
}

/// An IPv6 header by meaning: no extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source address.
    pub src: Ipv6Addr,
    /// Destination address.
    pub dst: Ipv6Addr,
    /// The protocol of the payload.
    pub protocol: u8,
    /// Bytes of payload.
    pub payload_len: u16,
}

impl Repr {
    /// The header; traffic class and flow label are zero.
    pub fn emit(&self, bytes: &mut [u8; HEADER_LEN]) {
        *bytes = [0; HEADER_LEN];
        bytes[0] = 0x60;
        bytes[4..6].copy_from_slice(&self.payload_len.to_be_bytes());
        bytes[6] = self.protocol;
        bytes[7] = super::HOP_LIMIT;
        bytes[8..24].copy_from_slice(&self.src.octets());
        bytes[24..40].copy_from_slice(&self.dst.octets());
    }
}
