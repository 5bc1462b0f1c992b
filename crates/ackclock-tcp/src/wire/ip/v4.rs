//! The IPv4 header (RFC 791 section 3.1).

use core::net::Ipv4Addr;

use super::{HOP_LIMIT, ParseError};
use crate::segment::Codepoint;
use crate::wire::Checksum;

/// Bytes of a header without options.
pub const HEADER_LEN: usize = 20;

/// The least MTU of a link (RFC 1191 section 3).
pub const LEAST_MTU: u16 = 68;

/// The least MTU of a path that hosts believe in, whatever a router says: less makes tiny segments.
/// As in Linux (`net.ipv4.route.min_pmtu`).
pub const LEAST_PATH_MTU: u16 = 552;

const DONT_FRAGMENT: u16 = 0x4000;
const MORE_FRAGMENTS: u16 = 0x2000;
const FRAGMENT_OFFSET: u16 = 0x1fff;

/// The fixed part of a header, whatever its fields say.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a>(pub &'a [u8; HEADER_LEN]);

impl Header<'_> {
    #[inline]
    fn u16_at<const AT: usize>(&self) -> u16 {
        u16::from_be_bytes([self.0[AT], self.0[AT + 1]])
    }

    #[inline]
    fn address_at<const AT: usize>(&self) -> Ipv4Addr {
        let [a, b, c, d] = [self.0[AT], self.0[AT + 1], self.0[AT + 2], self.0[AT + 3]];
        Ipv4Addr::from_bits(u32::from_be_bytes([a, b, c, d]))
    }

    /// The version field.
    #[inline]
    pub fn version(&self) -> u8 {
        self.0[0] >> 4
    }

    /// Bytes of the header with its options; below [`HEADER_LEN`] in what is no header.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.0[0] & 0x0f) * 4
    }

    /// Bytes of the whole packet, header included.
    #[inline]
    pub fn total_len(&self) -> u16 {
        self.u16_at::<2>()
    }

    /// Identification.
    #[inline]
    pub fn id(&self) -> u16 {
        self.u16_at::<4>()
    }

    /// Where the payload belongs in that of the whole packet, in units of eight bytes.
    #[inline]
    pub fn fragment_offset(&self) -> u16 {
        self.u16_at::<6>() & FRAGMENT_OFFSET
    }

    /// Whether parts of the packet are elsewhere.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        self.u16_at::<6>() & (MORE_FRAGMENTS | FRAGMENT_OFFSET) != 0
    }

    /// Whether a part of the payload comes after this one.
    #[inline]
    pub fn more_fragments(&self) -> bool {
        self.u16_at::<6>() & MORE_FRAGMENTS != 0
    }

    /// Time to live.
    #[inline]
    pub fn ttl(&self) -> u8 {
        self.0[8]
    }

    /// The protocol of the payload.
    #[inline]
    pub fn protocol(&self) -> u8 {
        self.0[9]
    }

    /// Source address.
    #[inline]
    pub fn src(&self) -> Ipv4Addr {
        self.address_at::<12>()
    }

    /// Destination address.
    #[inline]
    pub fn dst(&self) -> Ipv4Addr {
        self.address_at::<16>()
    }
}

/// An IPv4 packet as received by a host. Options are skipped.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The fixed part of its header.
    pub header: Header<'a>,
    /// The payload.
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Splits an IPv4 packet. Bytes after its total length are padding.
    ///
    /// # Errors
    /// It is cut off, no IPv4, damaged, or a fragment.
    pub fn parse(bytes: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let header = header(bytes)?;
        let packet = bytes.get(..usize::from(header.total_len())).ok_or(ParseError::Truncated)?;
        let (header_bytes, payload) =
            packet.split_at_checked(header.header_len()).ok_or(ParseError::BadHeader)?;
        if Checksum::default().then(header_bytes).value() != 0 {
            return Err(ParseError::BadChecksum);
        }
        if header.is_fragment() {
            return Err(ParseError::Fragment);
        }
        Ok(Packet { header, payload })
    }

    /// The beginning of a packet, as ICMP quotes it: the payload may be cut off, and the checksum
    /// is not looked at, since routers change what it covers.
    ///
    /// # Errors
    /// Not even the header is there, or it is a fragment other than the first.
    pub fn parse_quoted(bytes: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let header = header(bytes)?;
        let payload = bytes.get(header.header_len()..).ok_or(ParseError::Truncated)?;
        if header.fragment_offset() != 0 {
            return Err(ParseError::Fragment);
        }
        Ok(Packet { header, payload })
    }
}

fn header(bytes: &[u8]) -> Result<Header<'_>, ParseError> {
    let header = Header(bytes.first_chunk().ok_or(ParseError::Truncated)?);
    let sound = header.version() == 4 && header.header_len() >= HEADER_LEN;
    if sound { Ok(header) } else { Err(ParseError::BadHeader) }
}

/// An IPv4 header by meaning, without options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// The protocol of the payload.
    pub protocol: u8,
    /// Bytes of payload, at most 65,515.
    pub payload_len: u16,
    /// Identification; zero is enough for what is never fragmented (RFC 6864 section 4.1).
    pub id: u16,
    /// No router may fragment it.
    pub dont_fragment: bool,
    /// Time to live.
    pub ttl: u8,
    /// The ECN field.
    pub codepoint: Codepoint,
    /// The differentiated services codepoint, below 64 (RFC 2474).
    pub dscp: u8,
}

impl Repr {
    /// The header of a packet as it leaves a host, not to be fragmented.
    pub fn new(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, payload_len: u16) -> Repr {
        let codepoint = Codepoint::NotEct;
        Repr {
            src,
            dst,
            protocol,
            payload_len,
            id: 0,
            dont_fragment: true,
            ttl: HOP_LIMIT,
            codepoint,
            dscp: 0,
        }
    }

    /// Writes the header with its checksum.
    pub fn emit(&self, bytes: &mut [u8; HEADER_LEN]) {
        *bytes = [0; HEADER_LEN];
        bytes[0] = 0x45;
        bytes[1] = self.dscp << 2 | self.codepoint as u8;
        bytes[2..4]
            .copy_from_slice(&(HEADER_LEN as u16).saturating_add(self.payload_len).to_be_bytes());
        bytes[4..6].copy_from_slice(&self.id.to_be_bytes());
        let flags = if self.dont_fragment { DONT_FRAGMENT } else { 0 };
        bytes[6..8].copy_from_slice(&flags.to_be_bytes());
        bytes[8] = self.ttl;
        bytes[9] = self.protocol;
        bytes[12..16].copy_from_slice(&self.src.octets());
        bytes[16..20].copy_from_slice(&self.dst.octets());
        let checksum = Checksum::default().then(bytes).value();
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}
