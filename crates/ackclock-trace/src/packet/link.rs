//! Link layers: what stands before an IP header.

use super::bytes::{Bytes, Ignored, Wrapper};
use super::wlan;
use crate::file::LinkType;

const ETHERNET: LinkType = LinkType(1);

/// The Ethertype of IPv4.
const IPV4: u16 = 0x0800;

/// What is IPv4 without options by its Ethertype and its first byte, right behind an Ethernet
/// header.
#[inline(always)]
pub(super) fn ipv4_in_ethernet(link: LinkType, frame: Bytes<'_>) -> Option<Bytes<'_>> {
    match frame.kept {
        [_, _, _, _, _, _, _, _, _, _, _, _, 8, 0, 0x45, ..] if link == ETHERNET => {
            frame.after(14).ok()
        }
        _ => None,
    }
}

/// Whether frames of link type `link` are known here.
pub(super) fn is_known(link: LinkType) -> bool {
    strip(link, Bytes::new(&[], 0)).err() != Some(Ignored::Link)
}

/// The IP packet in a frame of link type `link`.
pub(super) fn strip(link: LinkType, frame: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    match link.0 {
        1 => ethernet(frame),
        // Raw IP: as files number it, as BSD and OpenBSD do, and of one version only.
        101 | 12 | 14 | 228 | 229 => Ok(frame),
        // Linux cooked v1 and v2.
        113 => {
            let head = frame.head::<16>()?;
            by_ethertype([head[14], head[15]], frame.after(16)?)
        }
        276 => {
            let head = frame.head::<20>()?;
            by_ethertype([head[0], head[1]], frame.after(20)?)
        }
        // BSD's loopback, in the byte order of the host and of the network.
        0 | 108 => by_family(*frame.head()?, frame.after(4)?),
        // LLC behind the header of FDDI, and alone, as ATM carries it (RFC 2684 section 5).
        10 => by_ethertype([0, 0], frame.after(13)?),
        100 => by_ethertype([0, 0], frame),
        // PPP, and PPP in HDLC-like framing.
        9 | 50 => ppp(frame),
        // 802.11, bare and behind radiotap.
        105 => wlan::bare(frame),
        127 => wlan::radiotap(frame),
        239 => nflog(frame),
        _ => Err(Ignored::Link),
    }
}

pub(super) fn ethernet(frame: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    let head = frame.head::<14>()?;
    by_ethertype([head[12], head[13]], frame.after(14)?)
}

/// What comes after an Ethertype: IP, or what stands between.
pub(super) fn by_ethertype(ethertype: [u8; 2], mut rest: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    let mut ethertype = u16::from_be_bytes(ethertype);
    loop {
        match ethertype {
            IPV4 | 0x86dd => return Ok(rest),
            // 802.1Q, 802.1ad, and what was used before it.
            0x8100 | 0x88a8 | 0x9100 | 0x9200 => {
                let head = rest.head::<4>()?;
                ethertype = u16::from_be_bytes([head[2], head[3]]);
                rest = rest.after(4)?;
            }
            0x8847 | 0x8848 => return mpls(rest),
            // Ethernet in a tunnel.
            0x6558 => {
                let head = rest.head::<14>()?;
                ethertype = u16::from_be_bytes([head[12], head[13]]);
                rest = rest.after(14)?;
            }
            // PPPoE session (RFC 2516 section 4). Its length does not count the padding of
            // Ethernet, which some devices have counted into that of IP.
            0x8864 => {
                let &[.., high, low] = rest.head::<6>()?;
                let len = u16::from_be_bytes([high, low]);
                return ppp(rest.after(6)?.within(len.into()));
            }
            // Cisco's metadata: version 1, with one option, which is a security group tag.
            0x8909 => match rest.head::<8>()? {
                [1, 1, .., high, low] => {
                    ethertype = u16::from_be_bytes([*high, *low]);
                    rest = rest.after(8)?;
                }
                _ => return Err(Ignored::NotIp),
            },
            // 802.1AE: mostly encrypted.
            0x88e5 => return Err(Ignored::Wrapped(Wrapper::Macsec)),
            // The length of a frame of 802.3.
            0..=1500 => {
                let (of, len) = llc(rest)?.ok_or(Ignored::NotIp)?;
                (ethertype, rest) = (of, rest.after(len)?);
            }
            _ => return Err(Ignored::NotIp),
        }
    }
}

/// The Ethertype behind LLC, and how many bytes that takes: with SNAP (RFC 1042), or with the
/// number that LLC itself has for IPv4.
pub(super) fn llc(rest: Bytes<'_>) -> Result<Option<(u16, usize)>, Ignored> {
    Ok(match *rest.head()? {
        [0xaa, 0xaa, 3] => match *rest.head()? {
            [_, _, _, 0, 0, 0, high, low] => Some((u16::from_be_bytes([high, low]), 8)),
            _ => None,
        },
        [6, 6, 3] => Some((IPV4, 3)),
        _ => None,
    })
}

/// A stack of labels (RFC 3032 section 2.1). What it carries is not said; IP tells itself by its
/// first four bits (RFC 4928). Others are those of a pseudowire (RFC 4385).
fn mpls(mut rest: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    loop {
        let bottom = rest.head::<4>()?[2] & 1 == 1;
        rest = rest.after(4)?;
        if bottom {
            return match rest.head::<1>()?[0] >> 4 {
                4 | 6 => Ok(rest),
                _ => Err(Ignored::Wrapped(Wrapper::Pseudowire)),
            };
        }
    }
}

/// PPP (RFC 1661 section 2), with or without address and control, and with a protocol field of one
/// or two bytes.
fn ppp(mut rest: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    if rest.kept.first() == Some(&0xff) && *rest.head()? == [0xff, 0x03] {
        rest = rest.after(2)?;
    }
    match *rest.head()? {
        [0x21 | 0x57] => rest.after(1),
        [0] if matches!(rest.head()?, [_, 0x21 | 0x57]) => rest.after(2),
        _ => Err(Ignored::NotIp),
    }
}

/// By address family, in either byte order: 2 is IPv4 everywhere, IPv6 differs from system to
/// system.
fn by_family(family: [u8; 4], rest: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    match family {
        // Linux, NetBSD and OpenBSD, FreeBSD, macOS.
        [0, 0, 0, 2 | 10 | 24 | 28 | 30] | [2 | 10 | 24 | 28 | 30, 0, 0, 0] => Ok(rest),
        _ => Err(Ignored::NotIp),
    }
}

/// What Linux's packet filter logs: a header of four bytes, then fields of which one is the packet.
/// Lengths and types are in the byte order of the host, and no type has more than a byte.
fn nflog(frame: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    const PAYLOAD: u8 = 9;
    let mut rest = frame.after(4)?;
    while rest.wire > 0 {
        let &[a, b, c, d] = rest.head()?;
        let (len, kind) = match d {
            0 => (u16::from_le_bytes([a, b]), c),
            _ => (u16::from_be_bytes([a, b]), d),
        };
        if len < 4 {
            return Err(Ignored::Malformed);
        }
        if kind == PAYLOAD {
            return rest.limit(u32::from(len)).after(4);
        }
        rest = rest.after(usize::from(len).next_multiple_of(4))?;
    }
    Err(Ignored::NotIp)
}
