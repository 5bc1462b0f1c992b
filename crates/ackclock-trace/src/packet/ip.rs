//! From an IP packet down to a TCP segment that is whole on the wire, however much of it was kept.

use std::net::IpAddr;

use ackclock_tcp::wire::ip::v6::Extension;
use ackclock_tcp::wire::ip::{TCP, v4, v6};

use super::bytes::{Bytes, Ignored};

/// More than any packet has whose length field is 0: BIG TCP goes up to 512 KB.
const LARGEST: u32 = 1 << 20;

/// What an IP header says, and the TCP segment behind it.
pub(super) struct Ip<'a> {
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    pub(super) id: Option<u16>,
    pub(super) ttl: u8,
    pub(super) payload: Bytes<'a>,
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
    if header.protocol() != TCP {
        return Err(Ignored::NotTcp);
    }
    if header.is_fragment() {
        return Err(Ignored::Fragment);
    }
    Ok(Ip {
        src: IpAddr::V4(header.src()),
        dst: IpAddr::V4(header.dst()),
        id: Some(header.id()),
        ttl: header.ttl(),
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
    Ok(Ip {
        src: IpAddr::V6(header.src()),
        dst: IpAddr::V6(header.dst()),
        id: None,
        ttl: header.hop_limit(),
        payload: extensions(header.next(), rest)?,
    })
}

/// Skips extension headers.
fn extensions<'a>(mut next: u8, mut rest: Bytes<'a>) -> Result<Bytes<'a>, Ignored> {
    loop {
        if next == TCP {
            return Ok(rest);
        }
        if !Extension::has_number(next) {
            return Err(Ignored::NotTcp);
        }
        let extension = Extension::new(next, rest.head()?);
        if extension.is_fragment() {
            return Err(if extension.next() == TCP { Ignored::Fragment } else { Ignored::NotTcp });
        }
        rest = rest.after(extension.header_len())?;
        next = extension.next();
    }
}
