//! Tunnels: IP packets that carry others.

use ackclock_tcp::wire::ip::v6::Extension;
use ackclock_tcp::wire::ip::{ICMP, ICMPV6, TCP, UDP};

use super::bytes::{Bytes, Ignored, Wrapper};
use super::ip::{self, Ip};
use super::{icmp, link};

/// Tunnels in each other that are opened.
const MOST: usize = 8;

const IPV4: u8 = 4;
const IPV6: u8 = 41;
const GRE: u8 = 47;
const ESP: u8 = 50;
const AH: u8 = 51;
const L2TP: u8 = 115;

/// Bytes of the headers of UDP, VXLAN, Geneve, GTP-U and AYIYA, those without their options.
const HEADER_LEN: usize = 8;

/// Opens tunnels down to a packet with TCP, or to a fragment that may be a part of one.
pub(super) fn open(ip: Ip<'_>) -> Result<Ip<'_>, Ignored> {
    open_to(ip, |ip| ip.protocol == TCP || (ip.part.is_some() && may_hold(ip.protocol)))
}

/// Opens tunnels down to what is looked for.
pub(super) fn open_to(mut ip: Ip<'_>, is_it: impl Fn(&Ip<'_>) -> bool) -> Result<Ip<'_>, Ignored> {
    for _ in 0..=MOST {
        if is_it(&ip) {
            return Ok(ip);
        }
        ip = match ip.protocol {
            AH => without_authentication(ip)?,
            _ => ip::any(carried(&ip)?)?,
        };
    }
    Err(Ignored::Wrapped(Wrapper::Deep))
}

/// Whether there may be a segment in a packet of this protocol. Extension headers may stand behind
/// the header of a fragment.
fn may_hold(protocol: u8) -> bool {
    matches!(protocol, IPV4 | IPV6 | GRE | UDP) || Extension::has_number(protocol)
}

/// Skips the header by which a packet is authentic (RFC 4302).
fn without_authentication(mut ip: Ip<'_>) -> Result<Ip<'_>, Ignored> {
    let header = Extension::new(AH, ip.payload.head()?);
    ip.payload = ip.payload.after(header.header_len())?;
    ip.protocol = header.next();
    Ok(ip)
}

/// The IP packet in the payload of another one.
fn carried<'a>(ip: &Ip<'a>) -> Result<Bytes<'a>, Ignored> {
    match ip.protocol {
        // RFC 2003, RFC 2473, RFC 4213.
        IPV4 | IPV6 => Ok(ip.payload),
        GRE => gre(ip.payload),
        UDP => udp(ip.payload),
        ESP => Err(Ignored::Wrapped(Wrapper::Esp)),
        L2TP => Err(Ignored::Wrapped(Wrapper::L2tp)),
        ICMP | ICMPV6 if icmp::is_too_big(ip) => Err(Ignored::TooBig),
        _ => Err(Ignored::NotTcp),
    }
}

/// RFC 2784, with key and sequence number (RFC 2890); also NVGRE (RFC 7637).
fn gre(packet: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    let &[flags, version, high, low] = packet.head()?;
    // The routing field of RFC 1701 has no fixed length, and nobody has it.
    if version & 7 != 0 || flags & 0x40 != 0 {
        let pptp = version & 7 == 1;
        return Err(if pptp { Ignored::Wrapped(Wrapper::Pptp) } else { Ignored::NotTcp });
    }
    // Checksum, key, sequence number.
    let optional = [0x80, 0x20, 0x10].into_iter().filter(|flag| flags & flag != 0).count();
    let rest = packet.after(4 + 4 * optional)?;
    match [high, low] {
        [0x88, 0xbe] => erspan(rest, flags & 0x10 != 0),
        [0x22, 0xeb] => erspan_3(rest),
        ethertype => link::by_ethertype(ethertype, rest),
    }
}

/// What a switch mirrors (draft-foschiano-erspan-03): Ethernet. Type I has no header of its own and
/// no sequence number in that of GRE.
fn erspan(packet: Bytes<'_>, numbered: bool) -> Result<Bytes<'_>, Ignored> {
    link::ethernet(if numbered { packet.after(8)? } else { packet })
}

/// Type III, with Ethernet or IP (section 4.3).
fn erspan_3(packet: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    let &[.., kind, last] = packet.head::<12>()?;
    let rest = packet.after(if last & 1 == 1 { 20 } else { 12 })?;
    match kind >> 2 & 0x1f {
        0 => link::ethernet(rest),
        2 => Ok(rest),
        _ => Err(Ignored::NotIp),
    }
}

/// What is behind an UDP header, as the port says.
fn udp(packet: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    let &[a, b, c, d, ..] = packet.head::<HEADER_LEN>()?;
    let payload = packet.after(HEADER_LEN)?;
    let (from, to) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    match to {
        // The port of RFC 7348, and what Linux had before there was one.
        4789 | 8472 => return vxlan(payload),
        4790 => return vxlan_gpe(payload),
        6081 => return geneve(payload),
        _ => {}
    }
    let is = |port| from == port || to == port;
    // Keep-alives are shorter, and other programs may have these ports.
    let whole = payload.wire >= HEADER_LEN as u32;
    if is(1701) {
        return Err(Ignored::Wrapped(Wrapper::L2tp));
    } else if is(2152) && whole {
        return gtp(payload);
    } else if is(5072) && whole {
        return ayiya(payload);
    } else if is(1194) {
        return Err(Ignored::Wrapped(Wrapper::OpenVpn));
    } else if is(37008) {
        return Err(Ignored::Wrapped(Wrapper::Tzsp));
    }
    // A keep-alive is shorter.
    if payload.wire >= 4 {
        match *payload.head::<4>()? {
            // RFC 3948 section 2.2: zeros are IKE.
            spi if is(4500) && spi != [0; 4] => return Err(Ignored::Wrapped(Wrapper::Esp)),
            // Its port is among those that hosts give to anybody.
            [1..=4, 0, 0, 0] if is(51820) => return Err(Ignored::Wrapped(Wrapper::WireGuard)),
            _ => {}
        }
    }
    Err(Ignored::NotTcp)
}

/// RFC 7348 section 5: Ethernet.
fn vxlan(packet: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    let flags = packet.head::<HEADER_LEN>()?[0];
    // Without a network it is none.
    if flags & 0x08 == 0 {
        return Err(Ignored::NotTcp);
    }
    link::ethernet(packet.after(HEADER_LEN)?)
}

/// Draft-ietf-nvo3-vxlan-gpe-13 section 3: VXLAN that says what it carries, if its flag P is set.
/// Else it is what VXLAN is.
fn vxlan_gpe(packet: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    let &[flags, _, _, next, ..] = packet.head::<HEADER_LEN>()?;
    match next {
        1 | 2 if flags & 0x0c == 0x0c => packet.after(HEADER_LEN),
        0 if flags & 0x0c == 0x08 => link::ethernet(packet.after(HEADER_LEN)?),
        3 if flags & 0x0c == 0x0c => link::ethernet(packet.after(HEADER_LEN)?),
        _ => Err(Ignored::NotTcp),
    }
}

/// The user plane of mobile networks (3GPP TS 29.281 section 5), of version 1: IP, in most of them.
fn gtp(packet: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    const DATA: u8 = 255;
    let unknown = Err(Ignored::Wrapped(Wrapper::Gtp));
    let &[flags, kind, ..] = packet.head::<HEADER_LEN>()?;
    if flags >> 4 != 3 {
        return unknown;
    } else if kind != DATA {
        return Err(Ignored::NotTcp);
    }
    let mut rest = packet.after(HEADER_LEN)?;
    // With a sequence number, a number of N-PDU or extension headers, it has fields for all three.
    if flags & 7 != 0 {
        let &[.., first] = rest.head::<4>()?;
        let mut next = if flags & 4 != 0 { first } else { 0 };
        rest = rest.after(4)?;
        while next != 0 {
            let len = 4 * usize::from(rest.head::<1>()?[0]);
            let last = len.checked_sub(1).ok_or(Ignored::Malformed)?;
            next = rest.after(last)?.head::<1>()?[0];
            rest = rest.after(len)?;
        }
    }
    match rest.head::<1>()?[0] >> 4 {
        4 | 6 => Ok(rest),
        _ => unknown,
    }
}

/// What brokers of IPv6 tunnels had (draft-massar-v6ops-ayiya-02 section 3): behind a time stand an
/// identity and a signature.
fn ayiya(packet: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    const FORWARD: u8 = 1;
    let &[identity, signature, code, next, ..] = packet.head::<HEADER_LEN>()?;
    match (code & 0xf, next) {
        (FORWARD, IPV4 | IPV6) => {
            let fields = (1 << (identity >> 4)) + 4 * usize::from(signature >> 4);
            packet.after(HEADER_LEN + fields)
        }
        _ => Err(Ignored::NotTcp),
    }
}

/// RFC 8926 section 3.4.
fn geneve(packet: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    let &[first, _, high, low, ..] = packet.head::<HEADER_LEN>()?;
    if first >> 6 != 0 {
        return Err(Ignored::NotTcp);
    }
    let options = usize::from(first & 0x3f) * 4;
    link::by_ethertype([high, low], packet.after(HEADER_LEN + options)?)
}
