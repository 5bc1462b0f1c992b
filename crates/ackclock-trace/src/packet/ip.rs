//! IPv4 (RFC 791) and IPv6 (RFC 8200), down to a TCP segment that is whole on the wire.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Bytes, Ignored};

const TCP: u8 = 6;

/// More than any packet has whose length field is 0: BIG TCP goes up to 512 KB.
const LARGEST: u32 = 1 << 20;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;

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
    let head = packet.head::<20>()?;
    let header_len = usize::from(head[0] & 0x0f) * 4;
    // Captures at a sender show 0 for a super-segment that the field cannot tell; its length is that of the frame then.
    let packet = match u16::from_be_bytes([head[2], head[3]]) {
        0 if packet.wire > LARGEST => return Err(Ignored::Malformed),
        0 => packet,
        total => packet.limit(u32::from(total)),
    };
    if header_len < 20 || packet.wire < header_len as u32 {
        return Err(Ignored::Malformed);
    }
    if head[9] != TCP {
        return Err(Ignored::NotTcp);
    }
    // More fragments, or an offset.
    if (head[6] & 0x3f) | head[7] != 0 {
        return Err(Ignored::Fragment);
    }
    let address = |at: usize| {
        IpAddr::V4(Ipv4Addr::from_bits(u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]])))
    };
    Ok(Ip {
        src: address(12),
        dst: address(16),
        id: Some(u16::from_be_bytes([head[4], head[5]])),
        ttl: head[8],
        payload: packet.after(header_len)?,
    })
}

pub(super) fn v6(packet: Bytes<'_>) -> Result<Ip<'_>, Ignored> {
    let head = packet.head::<40>()?;
    let rest = packet.after(40)?;
    // As above; a jumbo payload option (RFC 2675) may say the length, and may be stripped before the capture (BIG TCP).
    let rest = match u16::from_be_bytes([head[4], head[5]]) {
        0 if rest.wire > LARGEST => return Err(Ignored::Malformed),
        0 => rest,
        len => rest.limit(u32::from(len)),
    };
    let address = |at: usize| {
        let bytes = head[at..].first_chunk().copied().unwrap_or([0; 16]);
        IpAddr::V6(Ipv6Addr::from(bytes))
    };
    Ok(Ip { src: address(8), dst: address(24), id: None, ttl: head[7], payload: extensions(head[6], rest)? })
}

/// Skips extension headers (RFC 8200 section 4). Each is at least 8 bytes long, so that they come to an end.
fn extensions<'a>(mut next: u8, mut rest: Bytes<'a>) -> Result<Bytes<'a>, Ignored> {
    loop {
        if next == TCP {
            return Ok(rest);
        }
        if !matches!(next, HOP_BY_HOP | ROUTING | DESTINATION | FRAGMENT | AUTHENTICATION) {
            return Err(Ignored::NotTcp);
        }
        let &[after, units, high, low] = rest.head()?;
        let len = match next {
            // An offset, or more to come; alone it is whole (RFC 6946).
            FRAGMENT if high != 0 || low & 0xf9 != 0 => {
                return Err(if after == TCP { Ignored::Fragment } else { Ignored::NotTcp });
            }
            FRAGMENT => 8,
            // In words of four bytes (RFC 4302 section 2.2).
            AUTHENTICATION => usize::from(units) * 4 + 8,
            _ => usize::from(units) * 8 + 8,
        };
        rest = rest.after(len)?;
        next = after;
    }
}
