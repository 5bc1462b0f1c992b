//! The IPv4 header (RFC 791). Options are skipped, fragments refused.

use std::net::Ipv4Addr;

use ackclock_tcp::wire::Checksum;

use super::ParseError;

/// Bytes of a header without options.
pub const HEADER_LEN: usize = 20;

const DONT_FRAGMENT: u16 = 0x4000;
/// More fragments, or an offset.
const FRAGMENT: u16 = 0x3fff;

/// A whole IPv4 packet as received.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    fixed: &'a [u8; HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Splits an IPv4 packet. Bytes after its total length are padding.
    ///
    /// # Errors
    /// It is cut off, no IPv4, damaged, or a fragment.
    pub fn parse(bytes: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let fixed: &[u8; HEADER_LEN] = bytes.first_chunk().ok_or(ParseError::Truncated)?;
        let header_len = header_len(fixed)?;
        let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
        let packet = bytes.get(..total).ok_or(ParseError::Truncated)?;
        let (header, payload) = packet.split_at_checked(header_len).ok_or(ParseError::BadHeader)?;
        if Checksum::default().then(header).value() != 0 {
            return Err(ParseError::BadChecksum);
        }
        if u16::from_be_bytes([fixed[6], fixed[7]]) & FRAGMENT != 0 {
            return Err(ParseError::Fragment);
        }
        Ok(Packet { fixed, payload })
    }

    /// The beginning of a packet, as ICMP quotes it: the payload may be cut off, and the checksum is not looked at, since routers
    /// change what it covers.
    ///
    /// # Errors
    /// Not even the header is there, or it is a fragment other than the first.
    pub fn parse_quoted(bytes: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let fixed: &[u8; HEADER_LEN] = bytes.first_chunk().ok_or(ParseError::Truncated)?;
        let payload = bytes.get(header_len(fixed)?..).ok_or(ParseError::Truncated)?;
        if u16::from_be_bytes([fixed[6], fixed[7]]) & 0x1fff != 0 {
            return Err(ParseError::Fragment);
        }
        Ok(Packet { fixed, payload })
    }

    /// Source address.
    pub fn src(&self) -> Ipv4Addr {
        let [.., a, b, c, d, _, _, _, _] = *self.fixed;
        Ipv4Addr::new(a, b, c, d)
    }

    /// Destination address.
    pub fn dst(&self) -> Ipv4Addr {
        let [.., a, b, c, d] = *self.fixed;
        Ipv4Addr::new(a, b, c, d)
    }

    /// The protocol of the payload.
    pub fn protocol(&self) -> u8 {
        self.fixed[9]
    }

    /// Bytes of the whole packet as its header says, which are not all there if it is quoted.
    pub fn total_len(&self) -> u16 {
        u16::from_be_bytes([self.fixed[2], self.fixed[3]])
    }

    /// The payload.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

fn header_len(fixed: &[u8; HEADER_LEN]) -> Result<usize, ParseError> {
    let words = usize::from(fixed[0] & 0x0f);
    if fixed[0] >> 4 != 4 || words < 5 { Err(ParseError::BadHeader) } else { Ok(words * 4) }
}

/// An IPv4 header by meaning: no options, don't fragment.
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
}

impl Repr {
    /// The header with its checksum. Its identification is zero, which is enough for what is never fragmented (RFC 6864
    /// section 4.1).
    pub fn emit(&self, bytes: &mut [u8; HEADER_LEN]) {
        *bytes = [0; HEADER_LEN];
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&(HEADER_LEN as u16).saturating_add(self.payload_len).to_be_bytes());
        bytes[6..8].copy_from_slice(&DONT_FRAGMENT.to_be_bytes());
        bytes[8] = super::HOP_LIMIT;
        bytes[9] = self.protocol;
        bytes[12..16].copy_from_slice(&self.src.octets());
        bytes[16..20].copy_from_slice(&self.dst.octets());
        let checksum = Checksum::default().then(bytes).value();
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}
