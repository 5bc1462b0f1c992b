//! What a router says of a packet that is too big for the next link: ICMP's "fragmentation needed"
//! (RFC 792, RFC 1191 section 4) and ICMPv6's "packet too big" (RFC 4443 section 3.2). Both quote
//! the packet: of TCP its ports and its number at the least.

use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::wire::ip::{ICMP, ICMPV6, TCP, v4, v6};
use ackclock_tcp::wire::{Checksum, PseudoHeader};
use ackclock_tcp::{Seq, Time};

use super::bytes::{Bytes, Ignored};
use super::ip::{self, Ip};
use super::{link, tunnel};
use crate::file::Frame;

/// Bytes before the quoted packet.
const HEADER_LEN: usize = 8;

/// A router says that a TCP segment was too big for the next link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// The frame of the message, counted from 1.
    pub frame: u64,
    /// When it was captured, in nanoseconds since 1970.
    pub at: Time,
    /// Who says it.
    pub router: IpAddr,
    /// The largest packet that the link takes, in bytes. `None` from routers older than RFC 1191,
    /// which do not say it.
    pub mtu: Option<u32>,
    /// How long the segment was, in bytes with IP headers.
    pub len: u32,
    /// Whose the segment was, who is to make shorter ones.
    pub src: SocketAddr,
    /// For whom it was.
    pub dst: SocketAddr,
    /// The number of its first byte.
    pub seq: Seq,
}

/// Whether a packet is such a message, and no fragment of one.
pub(super) fn is_too_big(ip: &Ip<'_>) -> bool {
    let is_v4 = ip.src.is_ipv4();
    let kind = ip.payload.head::<2>();
    ip.part.is_none()
        && match kind {
            Ok([3, 4]) => ip.protocol == ICMP && is_v4,
            // RFC 4443 section 3.2: the code is ignored.
            Ok([2, _]) => ip.protocol == ICMPV6 && !is_v4,
            _ => false,
        }
}

/// What a frame says of a segment of which [`decode`](super::decode) said that it is
/// [`Ignored::TooBig`]. Its checksum is looked at if it was kept whole.
///
/// # Errors
/// Why it says nothing of one: it quotes no TCP, too little of it, or a packet of another host than
/// it goes to; it names an MTU that cannot be; or it is damaged.
pub fn too_big(frame: &Frame<'_>) -> Result<TooBig, Ignored> {
    let packet = link::strip(frame.link, Bytes::of(frame))?;
    let ip = tunnel::open_to(ip::any(packet)?, is_too_big)?;
    let &[.., a, b, c, d] = ip.payload.head::<HEADER_LEN>()?;
    if is_damaged(&ip) {
        return Err(Ignored::Damaged);
    }
    let (said, least) = match ip.src {
        IpAddr::V4(_) => (u16::from_be_bytes([c, d]).into(), v4::LEAST_MTU),
        IpAddr::V6(_) => (u32::from_be_bytes([a, b, c, d]), v6::LEAST_MTU),
    };
    let mtu = (said > 0 || ip.src.is_ipv6()).then_some(said);
    let packet = ip.payload.after(HEADER_LEN)?;
    // What a tunnel carries is left closed: its end hears of that, and not the sender.
    let (quoted, len) = (ip::any(packet)?, ip::total_len(packet)?);
    // RFC 8201 section 4, RFC 5927 section 7.2: no link has such an MTU, or the packet had room.
    let is_size = mtu.is_none_or(|mtu| mtu >= u32::from(least) && mtu < len);
    if !is_size || quoted.src != ip.dst {
        return Err(Ignored::Malformed);
    } else if quoted.protocol != TCP {
        return Err(Ignored::NotTcp);
    } else if quoted.part.is_some_and(|part| part.offset > 0) {
        return Err(Ignored::Fragment);
    }
    let &[src_high, src_low, dst_high, dst_low, seq @ ..] = quoted.payload.head::<8>()?;
    Ok(TooBig {
        frame: frame.number,
        at: frame.at,
        router: ip.src,
        mtu,
        len,
        src: SocketAddr::new(quoted.src, u16::from_be_bytes([src_high, src_low])),
        dst: SocketAddr::new(quoted.dst, u16::from_be_bytes([dst_high, dst_low])),
        seq: Seq(u32::from_be_bytes(seq)),
    })
}

/// The checksum is wrong of a message that was kept whole. Who writes captures without a network
/// leaves it zero.
fn is_damaged(ip: &Ip<'_>) -> bool {
    let Bytes { kept, wire, .. } = ip.payload;
    let begun = match (ip.src, ip.dst) {
        (IpAddr::V6(src), IpAddr::V6(dst)) => PseudoHeader::V6 { src, dst }.of(ICMPV6, wire),
        _ => Checksum::default(),
    };
    kept.len() == wire as usize && kept[2..4] != [0, 0] && begun.then(kept).value() != 0
}
