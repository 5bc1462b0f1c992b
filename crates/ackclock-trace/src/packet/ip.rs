//! From an IP packet to its payload, however much of it was kept.

use std::net::IpAddr;

use ackclock_tcp::Codepoint;
use ackclock_tcp::wire::ip::v6::Extension;
use ackclock_tcp::wire::ip::{v4, v6};

use super::bytes::{Bytes, Ignored};

/// More than any packet has whose length field is 0: BIG TCP goes up to 512 KB.
const LARGEST: u32 = 1 << 20;

/// What an IP header says, and what is behind it.
pub(super) struct Ip<'a> {
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    pub(super) id: Option<u16>,
    pub(super) ttl: u8,
    pub(super) codepoint: Codepoint,
    /// What the payload is; of a fragment, what that of the whole packet is.
    pub(super) protocol: u8,
    /// Which part of a packet this is; `None` of a whole one.
    pub(super) part: Option<Part>,
    pub(super) payload: Bytes<'a>,
}

/// Where a fragment belongs.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// Identification: fragments of one packet have the same.
    pub(super) id: u32,
    /// Bytes of the payload before it.
    pub(super) offset: u32,
    /// Whether others come after it.
    pub(super) more: bool,
}

/// Of either version.
pub(super) fn any(packet: Bytes<'_>) -> Result<Ip<'_>, Ignored> {
    match packet.head::<1>()?[0] >> 4 {
        4 => v4(packet),
        6 => v6(packet),
        _ => Err(Ignored::NotIp),
    }
}

/// How long a packet was, whose end may not be there: ICMP quotes the beginning.
pub(super) fn total_len(packet: Bytes<'_>) -> Result<u32, Ignored> {
    /// Longer than the field can tell: BIG TCP.
    const LONGER: u32 = 1 << 16;
    Ok(match packet.head::<1>()?[0] >> 4 {
        4 => match v4::Header(packet.head()?).total_len() {
            0 => LONGER,
            len => len.into(),
        },
        _ => match v6::Header(packet.head()?) {
            header if header.payload_len() == 0 => LONGER,
            header => header.total_len(),
        },
    })
}

#[inline(always)]
pub(super) fn v4(packet: Bytes<'_>) -> Result<Ip<'_>, Ignored> {
    let header = v4::Header(packet.head()?);
    let header_len = header.header_len();
    // Captures at a sender show 0 for a super-segment that the field cannot tell; its length is
    // that of the frame then.
    let packet = match header.total_len() {
        0 if packet.wire > LARGEST => return Err(Ignored::Malformed),
        0 => packet,
        total => packet.limit(u32::from(total)),
    };
    if header_len < v4::HEADER_LEN || packet.wire < header_len as u32 {
        return Err(Ignored::Malformed);
    }
    Ok(Ip {
        src: IpAddr::V4(header.src()),
        dst: IpAddr::V4(header.dst()),
        id: Some(header.id()),
        ttl: header.ttl(),
        codepoint: Codepoint::from_tos(header.0[1]),
        protocol: header.protocol(),
        part: header.is_fragment().then(|| Part {
            id: u32::from(header.id()),
            offset: u32::from(header.fragment_offset()) * 8,
            more: header.more_fragments(),
        }),
        payload: packet.after(header_len)?,
    })
}

pub(super) fn v6(packet: Bytes<'_>) -> Result<Ip<'_>, Ignored> {
    let header = v6::Header(packet.head()?);
    let rest = packet.after(v6::HEADER_LEN)?;
    // As above; a jumbo payload option (RFC 2675) may say the length, and may be stripped before
    // the capture (BIG TCP).
    let rest = match header.payload_len() {
        0 if rest.wire > LARGEST => return Err(Ignored::Malformed),
        0 => rest,
        len => rest.limit(u32::from(len)),
    };
    let ip = Ip {
        src: IpAddr::V6(header.src()),
        dst: IpAddr::V6(header.dst()),
        id: None,
        ttl: header.hop_limit(),
        codepoint: Codepoint::from_tos(header.0[1] >> 4),
        protocol: header.next(),
        part: None,
        payload: rest,
    };
    ip.without_extensions()
}

impl Ip<'_> {
    /// Skips the extension headers of IPv6, up to that of a fragment.
    pub(super) fn without_extensions(mut self) -> Result<Self, Ignored> {
        while self.src.is_ipv6() && Extension::has_number(self.protocol) {
            let extension = Extension::new(self.protocol, self.payload.head()?);
            if extension.is_fragment() {
                let [.., a, b, c, d] = *self.payload.head::<8>()?;
                self.part = Some(Part {
                    id: u32::from_be_bytes([a, b, c, d]),
                    offset: u32::from(extension.fragment_offset()) * 8,
                    more: extension.more_fragments(),
                });
            }
            self.payload = self.payload.after(extension.header_len())?;
            self.protocol = extension.next();
            if self.part.is_some() {
                break;
            }
        }
        Ok(self)
    }
}
