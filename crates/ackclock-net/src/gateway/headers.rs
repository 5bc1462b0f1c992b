//! What a gateway reads in the headers of foreign packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ackclock_tcp::Seq;
use ackclock_tcp::wire::{Control, Options, Packet};

const TCP: u8 = 6;
const UDP: u8 = 17;

/// What the headers of an IP packet say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// Bytes of the packet, its IP header included.
    pub len: u32,
    /// Where it comes from; port 0 where there are no ports.
    pub from: SocketAddr,
    /// Where it goes; as `from`.
    pub to: SocketAddr,
    /// The protocol in it, as IP numbers them.
    pub protocol: u8,
    /// What the TCP header says; `None` for other protocols, for fragments after the first, and for what is too short.
    pub tcp: Option<TcpHeader>,
}

/// What a TCP header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpHeader {
    /// Sequence number.
    pub seq: Seq,
    /// Acknowledgment number; significant with [`Control::ACK`].
    pub ack: Seq,
    /// Control bits.
    pub control: Control,
    /// Payload bytes.
    pub len: u32,
    /// Bytes of options.
    pub option_len: u32,
    /// The MSS option.
    pub mss: Option<u16>,
    /// Whether there is a timestamp.
    pub timestamps: bool,
}

impl Headers {
    /// Reads an IPv4 or IPv6 packet; `None` if it is neither, or cut off within its IP header. Checksums are not looked at.
    pub fn parse(packet: &[u8]) -> Option<Headers> {
        let ip = match packet.first()? >> 4 {
            4 => Ip::v4(packet)?,
            6 => Ip::v6(packet)?,
            _ => return None,
        };
        let ports =
            |payload: &[u8]| payload.first_chunk().map(|&[a, b, c, d]| [[a, b], [c, d]].map(u16::from_be_bytes));
        let [from, to] = match ip.payload {
            Some(payload) if ip.protocol == TCP || ip.protocol == UDP => ports(payload).unwrap_or_default(),
            _ => [0, 0],
        };
        let tcp = ip.payload.filter(|_| ip.protocol == TCP).and_then(TcpHeader::parse);
        Some(Headers {
            len: u32::try_from(packet.len()).unwrap_or(u32::MAX),
            from: SocketAddr::new(ip.from, from),
            to: SocketAddr::new(ip.to, to),
            protocol: ip.protocol,
            tcp,
        })
    }
}

impl TcpHeader {
    fn parse(segment: &[u8]) -> Option<TcpHeader> {
        let packet = Packet::parse(segment).ok()?;
        let (options, _) = Options::parse(packet.option_bytes());
        Some(TcpHeader {
            seq: packet.seq(),
            ack: packet.ack(),
            control: packet.control(),
            len: packet.payload().len() as u32,
            option_len: packet.option_bytes().len() as u32,
            mss: options.mss,
            timestamps: options.timestamps.is_some(),
        })
    }
}

/// What matters here of an IP header.
struct Ip<'a> {
    from: IpAddr,
    to: IpAddr,
    protocol: u8,
    /// `None` in a fragment after the first, which begins with no header of a transport.
    payload: Option<&'a [u8]>,
}

impl Ip<'_> {
    /// RFC 791 section 3.1.
    fn v4(packet: &[u8]) -> Option<Ip<'_>> {
        let fixed: &[u8; 20] = packet.first_chunk()?;
        let total = usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
        let offset = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x1fff;
        let payload = packet.get(usize::from(fixed[0] & 15) * 4..total.min(packet.len()));
        let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]).into();
        let payload = payload.filter(|_| offset == 0);
        Some(Ip { from: address(12), to: address(16), protocol: fixed[9], payload })
    }

    /// RFC 8200 sections 3 and 4, which all extension headers but that of a fragment begin alike.
    fn v6(packet: &[u8]) -> Option<Ip<'_>> {
        let (fixed, mut rest) = packet.split_first_chunk::<40>()?;
        let address = |at: usize| {
            let octets: Option<&[u8; 16]> = fixed[at..].first_chunk();
            octets.map(|&octets| Ipv6Addr::from(octets).into())
        };
        rest = &rest[..usize::from(u16::from_be_bytes([fixed[4], fixed[5]])).min(rest.len())];
        let (mut protocol, mut payload) = (fixed[6], Some(rest));
        while let (0 | 43 | 44 | 60, Some(&[next, len, high, low, ..])) = (protocol, payload) {
            let first = protocol != 44 || u16::from_be_bytes([high, low]) >> 3 == 0;
            let skip = if protocol == 44 { 8 } else { 8 * (usize::from(len) + 1) };
            payload = payload.and_then(|p| p.get(skip..)).filter(|_| first);
            protocol = next;
        }
        Some(Ip { from: address(8)?, to: address(24)?, protocol, payload })
    }
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;
