//! What a gateway reads in the headers of foreign packets.

use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::wire::ip::v6::Extension;
use ackclock_tcp::wire::ip::{self, TCP, UDP, v4, v6};
use ackclock_tcp::wire::{Control, Options, Packet};
use ackclock_tcp::{Codepoint, Seq};

/// What the headers of an IP packet say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Headers {
    /// Bytes of the packet, its IP header included.
    pub len: u32,
    /// Where it comes from; port 0 where there are no ports.
    pub from: SocketAddr,
    /// Where it goes; as `from`.
    pub to: SocketAddr,
    /// The protocol in it, as IP numbers them.
    pub protocol: u8,
    /// The ECN field.
    pub codepoint: Codepoint,
    /// What the TCP header says; `None` for other protocols, for fragments after the first, and
    /// for what is too short.
    pub tcp: Option<TcpHeader>,
}

/// What a TCP header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Reads an IPv4 or IPv6 packet; `None` if it is neither, or cut off within its IP header.
    /// Checksums are not looked at.
    pub fn parse(packet: &[u8]) -> Option<Headers> {
        let ip = match packet.first()? >> 4 {
            4 => Ip::v4(packet)?,
            6 => Ip::v6(packet)?,
            _ => return None,
        };
        let ports = |payload: &[u8]| {
            payload.first_chunk().map(|&[a, b, c, d]| [[a, b], [c, d]].map(u16::from_be_bytes))
        };
        let [from, to] = match ip.payload {
            Some(payload) if ip.protocol == TCP || ip.protocol == UDP => {
                ports(payload).unwrap_or_default()
            }
            _ => [0, 0],
        };
        let tcp = ip.payload.filter(|_| ip.protocol == TCP).and_then(TcpHeader::parse);
        Some(Headers {
            len: u32::try_from(packet.len()).unwrap_or(u32::MAX),
            from: SocketAddr::new(ip.from, from),
            to: SocketAddr::new(ip.to, to),
            protocol: ip.protocol,
            codepoint: ip::codepoint(packet),
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
    fn v4(packet: &[u8]) -> Option<Ip<'_>> {
        let header = v4::Header(packet.first_chunk()?);
        let end = usize::from(header.total_len()).min(packet.len());
        let payload = packet.get(header.header_len()..end);
        Some(Ip {
            from: header.src().into(),
            to: header.dst().into(),
            protocol: header.protocol(),
            payload: payload.filter(|_| header.fragment_offset() == 0),
        })
    }

    fn v6(packet: &[u8]) -> Option<Ip<'_>> {
        let (header, rest) = packet.split_first_chunk()?;
        let header = v6::Header(header);
        let end = usize::from(header.payload_len()).min(rest.len());
        let (mut protocol, mut payload) = (header.next(), rest.get(..end));
        while let Some(rest) = payload.filter(|_| Extension::has_number(protocol))
            && let Some(head) = rest.first_chunk()
        {
            let extension = Extension::new(protocol, head);
            let first = extension.fragment_offset() == 0;
            payload = rest.get(extension.header_len()..).filter(|_| first);
            protocol = extension.next();
        }
        Some(Ip { from: header.src().into(), to: header.dst().into(), protocol, payload })
    }
}

#[cfg(test)]
mod tests;
