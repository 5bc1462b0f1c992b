//! From a frame to the TCP segment in it: link layers, IPv4 and IPv6, the TCP header and its
//! options.

mod bytes;
mod fragments;
mod icmp;
mod ip;
mod link;
mod tunnel;
mod wlan;

use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::wire::ip::TCP;
use ackclock_tcp::wire::{Control, MIN_HEADER_LEN, Options, PseudoHeader};
use ackclock_tcp::{Codepoint, SackBlocks, Seq, Time, Timestamps};

use self::bytes::Bytes;
pub use self::bytes::{Ignored, Wrapper};
pub use self::fragments::Fragments;
pub use self::icmp::{TooBig, too_big};
use crate::file::{Frame, LinkType};

/// A TCP segment in a capture, perhaps a super-segment that the host had not cut yet (TSO) or had
/// put together (GRO).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its frame, counted from 1.
    pub frame: u64,
    /// When it was captured, in nanoseconds since 1970.
    pub at: Time,
    /// Whose it is.
    pub src: SocketAddr,
    /// For whom.
    pub dst: SocketAddr,
    /// Sequence number of its first byte, or of its SYN.
    pub seq: Seq,
    /// Acknowledgment number; significant with [`Control::ACK`] only.
    pub ack: Seq,
    /// Control bits.
    pub control: Control,
    /// The control bit AE of accurate ECN (RFC 9768).
    pub ae: bool,
    /// The window field, not scaled.
    pub wnd: u16,
    /// Bytes of payload on the wire, however many of them the capture has kept.
    pub len: u32,
    /// The options, as far as they were kept; where they are malformed, those before.
    pub options: Options,
    /// Whether options are missing, cut off by the snap length.
    pub options_cut: bool,
    /// Identification in the IPv4 header: senders count it up, so that a retransmission
    /// differs from a late original.
    pub ip_id: Option<u16>,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// The ECN field of the IP header around it, of the inner one in a tunnel.
    pub codepoint: Codepoint,
    /// Its TCP checksum is wrong: it was damaged on its way, or its sender's device has not filled
    /// the checksum in, unless it shows that (Linux). Told of whole segments without payload only.
    pub damaged: bool,
}

/// One counter of packets (IPv4 identification) goes on by less than this between two that are
/// seen: it counts ACKs, too, and that of a host the packets of others.
pub(crate) const LARGEST_STEP: u16 = 1024;

/// Whether the counter that gave the number `last` may have given this one later.
pub(crate) fn counts_on(last: u16, id: u16) -> bool {
    (1..LARGEST_STEP).contains(&id.wrapping_sub(last))
}

/// Whether [`decode`] knows frames of this link type.
pub fn is_known(link: LinkType) -> bool {
    link::is_known(link)
}

/// The TCP segment in a frame.
///
/// Known are Ethernet (also with 802.1Q and 802.1ad tags, MPLS labels and PPPoE sessions), Linux
/// cooked v1 and v2, raw IP, BSD's loopback, PPP, 802.11 with and without radiotap, FDDI, LLC over
/// ATM, and NFLOG. VXLAN, Geneve, GRE, ERSPAN, GTP-U, AYIYA, IP in IP and IPsec AH are opened, up
/// to eight in each other.
/// Of checksums, only those of segments without payload are looked at ([`Packet::damaged`]).
///
/// # Errors
/// Why there is none. What is an [`Ignored::Fragment`] may become a segment in [`Fragments`].
// However often it is called, as `Tracker::packet`. What nearly all frames are is looked at by
// itself: where it met what the others come to, it would go through memory, and be read back in
// other pieces than it was written, which a processor waits for. For the same reason a frame is
// handed on as a copy where that happens rarely: what has no address stays in registers.
#[inline(always)]
pub fn decode(frame: &Frame<'_>) -> Result<Packet, Ignored> {
    if let Some(packet) = link::ipv4_in_ethernet(frame.link, Bytes::of(frame))
        && let Ok(ip) = ip::v4(packet)
        && ip.protocol == TCP
        && ip.part.is_none()
    {
        return segment(frame, ip);
    }
    decode_any(*frame)
}

#[inline(never)]
fn decode_any(frame: Frame<'_>) -> Result<Packet, Ignored> {
    let packet = link::strip(frame.link, Bytes::of(&frame))?;
    let ip = tunnel::open(ip::any(packet)?)?;
    if ip.part.is_some() { Err(Ignored::Fragment) } else { segment(&frame, ip) }
}

/// The segment in an IP packet.
#[inline(always)]
fn segment(frame: &Frame<'_>, ip: ip::Ip<'_>) -> Result<Packet, Ignored> {
    let tcp = ip.payload;
    let fixed = tcp.head::<MIN_HEADER_LEN>()?;
    let header_len = u32::from(fixed[12] >> 4) * 4;
    if header_len < MIN_HEADER_LEN as u32 {
        return Err(Ignored::Malformed);
    }
    let len = tcp.wire.checked_sub(header_len).ok_or(Ignored::Malformed)?;
    let len = if is_padding(&ip, header_len, len, fixed[13]) { 0 } else { len };
    let options = &tcp.kept[MIN_HEADER_LEN..tcp.kept.len().min(header_len as usize)];
    let options_cut = options.len() + MIN_HEADER_LEN < header_len as usize;
    let damaged = len == 0 && !options_cut && is_damaged(ip.src, ip.dst, fixed, options);
    let Frame { number, at, .. } = *frame;
    let segment = Segment { number, at, ip, fixed, len, options_cut, damaged };
    let timestamps = match options.as_chunks::<4>() {
        ([], []) => None,
        ([first, val, ecr], []) if u32::from_be_bytes(*first) == STAMPED => {
            let (val, ecr) = (u32::from_be_bytes(*val), u32::from_be_bytes(*ecr));
            Some(Timestamps { val, ecr })
        }
        _ => return Ok(segment.with_options(options)),
    };
    Ok(segment.packet(timestamps))
}

/// What the options of nearly every segment of an established connection begin with: NOP, NOP, and
/// the kind and length of timestamps (RFC 7323 appendix A).
const STAMPED: u32 = 0x0101_080a;

/// A device has counted the padding of the shortest Ethernet frame into the length of the IP
/// packet: zeros, up to 46 bytes with the headers, that no sender has pushed. One byte may be a
/// keep-alive (RFC 9293 section 3.8.4).
#[inline]
fn is_padding(ip: &ip::Ip<'_>, header_len: u32, len: u32, control: u8) -> bool {
    (2..=MOST_PADDING).contains(&len)
        && ip.src.is_ipv4()
        && !Control(control).contains(Control::PSH)
        && header_len + len <= MIN_HEADER_LEN as u32 + MOST_PADDING
        && ip.payload.kept.get(header_len as usize..).is_some_and(|payload| {
            payload.len() == len as usize && payload.iter().all(|byte| *byte == 0)
        })
}

/// The shortest Ethernet frame carries 46 bytes (IEEE 802.3), and the headers of IPv4 and TCP take
/// 40.
const MOST_PADDING: u32 = 6;

/// A segment without payload, whose header was kept, has a checksum that no sender leaves there.
/// Who writes captures without a network leaves it zero.
#[inline]
fn is_damaged(src: IpAddr, dst: IpAddr, fixed: &[u8; MIN_HEADER_LEN], options: &[u8]) -> bool {
    let pseudo = match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => PseudoHeader::V4 { src, dst },
        (IpAddr::V6(src), IpAddr::V6(dst)) => PseudoHeader::V6 { src, dst },
        _ => return false,
    };
    let begun = pseudo.tcp((MIN_HEADER_LEN + options.len()) as u32);
    let field = u16::from_be_bytes([fixed[16], fixed[17]]);
    // A device is to complete the sum that the field begins with (Linux's CHECKSUM_PARTIAL).
    field != 0 && begun.then(fixed).then(options).value() != 0 && field != begun.sum()
}

/// The default as a constant, which is copied and not put together.
const NO_OPTIONS: Options = Options {
    mss: None,
    wscale: None,
    sack_permitted: false,
    timestamps: None,
    sack: SackBlocks::NONE,
};

/// What is known of a segment before its options are looked at.
struct Segment<'a> {
    number: u64,
    at: Time,
    ip: ip::Ip<'a>,
    fixed: &'a [u8; MIN_HEADER_LEN],
    len: u32,
    options_cut: bool,
    damaged: bool,
}

impl Segment<'_> {
    /// With no option but timestamps.
    // A packet is large, so that it is built where it will stay and not copied there.
    #[inline(always)]
    fn packet(&self, timestamps: Option<Timestamps>) -> Packet {
        let u16_at = |at: usize| u16::from_be_bytes([self.fixed[at], self.fixed[at + 1]]);
        let u32_at = |at: usize| u32::from(u16_at(at)) << 16 | u32::from(u16_at(at + 2));
        let mut packet = Packet {
            frame: self.number,
            at: self.at,
            src: SocketAddr::new(self.ip.src, u16_at(0)),
            dst: SocketAddr::new(self.ip.dst, u16_at(2)),
            seq: Seq(u32_at(4)),
            ack: Seq(u32_at(8)),
            control: Control(self.fixed[13]),
            ae: self.fixed[12] & 1 == 1,
            wnd: u16_at(14),
            len: self.len,
            options: NO_OPTIONS,
            options_cut: self.options_cut,
            ip_id: self.ip.id,
            ttl: self.ip.ttl,
            codepoint: self.ip.codepoint,
            damaged: self.damaged,
        };
        packet.options.timestamps = timestamps;
        packet
    }

    /// With all of these.
    #[cold]
    #[inline(never)]
    fn with_options(self, bytes: &[u8]) -> Packet {
        Packet { options: Options::parse(bytes).0, ..self.packet(None) }
    }
}
