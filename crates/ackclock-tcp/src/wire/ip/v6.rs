//! The IPv6 header (RFC 8200 section 3) and its extension headers (section 4).

use core::net::Ipv6Addr;

use super::{HOP_LIMIT, ParseError};
use crate::segment::Codepoint;

/// Bytes of the header.
pub const HEADER_LEN: usize = 40;

/// The least MTU of a link (RFC 8200 section 5).
pub const LEAST_MTU: u16 = 1280;

/// Extension headers that a host skips; RFC 8200 section 4.1 has at most two destination options
/// and one of each other.
const MOST_EXTENSIONS: usize = 4;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;

/// The header without extensions, whatever its fields say.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a>(pub &'a [u8; HEADER_LEN]);

impl Header<'_> {
    #[inline]
    fn address_at<const AT: usize>(&self) -> Ipv6Addr {
        Ipv6Addr::from(core::array::from_fn(|i| self.0[AT + i]))
    }

    /// The version field.
    #[inline]
    pub fn version(&self) -> u8 {
        self.0[0] >> 4
    }

    /// Bytes after this header, extension headers included.
    #[inline]
    pub fn payload_len(&self) -> u16 {
        u16::from_be_bytes([self.0[4], self.0[5]])
    }

    /// Bytes of the whole packet, header included.
    #[inline]
    pub fn total_len(&self) -> u32 {
        u32::from(self.payload_len()) + HEADER_LEN as u32
    }

    /// What follows: an extension header, or the payload's protocol.
    #[inline]
    pub fn next(&self) -> u8 {
        self.0[6]
    }

    /// Hop limit.
    #[inline]
    pub fn hop_limit(&self) -> u8 {
        self.0[7]
    }

    /// Source address.
    #[inline]
    pub fn src(&self) -> Ipv6Addr {
        self.address_at::<8>()
    }

    /// Destination address.
    #[inline]
    pub fn dst(&self) -> Ipv6Addr {
        self.address_at::<24>()
    }
}

/// An extension header: its number, and the first four bytes, in which all that can be skipped are
/// alike.
#[derive(Clone, Copy, Debug)]
pub struct Extension<'a> {
    number: u8,
    head: &'a [u8; 4],
}

impl<'a> Extension<'a> {
    /// Whether an extension header that can be skipped has this number.
    pub fn has_number(number: u8) -> bool {
        matches!(number, HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION)
    }

    /// The extension header of this number that begins with these bytes.
    pub fn new(number: u8, head: &'a [u8; 4]) -> Extension<'a> {
        Extension { number, head }
    }

    /// What follows it.
    pub fn next(&self) -> u8 {
        self.head[0]
    }

    /// Bytes of it, at least eight: so a chain comes to an end.
    pub fn header_len(&self) -> usize {
        let units = usize::from(self.head[1]);
        match self.number {
            FRAGMENT => 8,
            // In words of four bytes (RFC 4302 section 2.2).
            AUTHENTICATION => units * 4 + 8,
            _ => units * 8 + 8,
        }
    }

    /// As [`super::v4::Header::fragment_offset`].
    pub fn fragment_offset(&self) -> u16 {
        self.fragment_field() >> 3
    }

    /// As [`super::v4::Header::more_fragments`].
    pub fn more_fragments(&self) -> bool {
        self.fragment_field() & 1 != 0
    }

    /// Whether parts of the packet are elsewhere. A fragment header alone does not say so
    /// (RFC 6946).
    pub fn is_fragment(&self) -> bool {
        self.fragment_field() & 0xfff9 != 0
    }

    /// The offset, two reserved bits, and whether there are more; zero in other headers.
    fn fragment_field(&self) -> u16 {
        let [_, _, high, low] = *self.head;
        if self.number == FRAGMENT { u16::from_be_bytes([high, low]) } else { 0 }
    }
}

/// An IPv6 packet as received by a host. Hop-by-hop options, destination options, a routing header
/// that is used up, and the fragment header of a whole packet (RFC 6946) are skipped, within
/// bounds.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Its header.
    pub header: Header<'a>,
    /// The protocol of the payload, after the extension headers.
    pub protocol: u8,
    /// The payload.
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Splits an IPv6 packet. Bytes after its payload length are padding.
    ///
    /// # Errors
    /// It is cut off, no IPv6, a fragment, or its extension headers are not to be skipped.
    pub fn parse(bytes: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let (header, rest) = split(bytes)?;
        let len = usize::from(header.payload_len());
        Packet::skip_extensions(header, rest.get(..len).ok_or(ParseError::Truncated)?)
    }

    /// The beginning of a packet, as ICMPv6 quotes it: the payload may be cut off.
    ///
    /// # Errors
    /// Not even the headers are there, or they are not those of a packet of ours.
    pub fn parse_quoted(bytes: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let (header, rest) = split(bytes)?;
        Packet::skip_extensions(header, rest)
    }

    fn skip_extensions(header: Header<'a>, mut rest: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let mut protocol = header.next();
        for _ in 0..=MOST_EXTENSIONS {
            match protocol {
                HOP_BY_HOP | DESTINATION | ROUTING | FRAGMENT => {}
                _ => return Ok(Packet { header, protocol, payload: rest }),
            }
            let head = rest.first_chunk().ok_or(ParseError::Truncated)?;
            let extension = Extension::new(protocol, head);
            if extension.is_fragment() {
                return Err(ParseError::Fragment);
            }
            let (bytes, after) =
                rest.split_at_checked(extension.header_len()).ok_or(ParseError::Truncated)?;
            // RFC 8200 section 4.4: a routing header of a type we do not know may be ignored if no
            // segments are left. RFC 5095 deprecates the type that has some.
            let refused = match protocol {
                ROUTING => head[3] != 0,
                FRAGMENT => false,
                _ => !options_may_be_skipped(&bytes[2..]),
            };
            if refused {
                return Err(ParseError::BadExtension);
            }
            (protocol, rest) = (extension.next(), after);
        }
        Err(ParseError::BadExtension)
    }
}

fn split(bytes: &[u8]) -> Result<(Header<'_>, &[u8]), ParseError> {
    let (header, rest) = bytes.split_first_chunk().ok_or(ParseError::Truncated)?;
    let header = Header(header);
    if header.version() == 6 { Ok((header, rest)) } else { Err(ParseError::BadHeader) }
}

/// RFC 8200 section 4.2: the two highest bits of the type of an option that we do not know, which
/// is all of them but padding, say whether it may be skipped.
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
    /// The ECN field.
    pub codepoint: Codepoint,
    /// The differentiated services codepoint, below 64 (RFC 2474).
    pub dscp: u8,
    /// The flow label, of 20 bits (RFC 6437); 0 for none.
    pub flow_label: u32,
}

impl Repr {
    /// The header of a packet without codepoints and flow label.
    pub fn new(src: Ipv6Addr, dst: Ipv6Addr, protocol: u8, payload_len: u16) -> Repr {
        let codepoint = Codepoint::NotEct;
        Repr { src, dst, protocol, payload_len, codepoint, dscp: 0, flow_label: 0 }
    }

    /// Writes the header.
    pub fn emit(&self, bytes: &mut [u8; HEADER_LEN]) {
        *bytes = [0; HEADER_LEN];
        let class = u32::from(self.dscp << 2 | self.codepoint as u8);
        let word = 6 << 28 | class << 20 | self.flow_label & 0x000f_ffff;
        bytes[..4].copy_from_slice(&word.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.payload_len.to_be_bytes());
        bytes[6] = self.protocol;
        bytes[7] = HOP_LIMIT;
        bytes[8..24].copy_from_slice(&self.src.octets());
        bytes[24..40].copy_from_slice(&self.dst.octets());
    }
}
