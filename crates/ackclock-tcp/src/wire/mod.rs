//! The TCP header on the wire (RFC 9293 section 3.1), its options and its checksum; in [`ip`] the
//! headers around it.
//!
//! Two halves: [`Packet`] is a view of received bytes, [`Repr`] what an endpoint means by a header.
//! [`Packet::parse`] is the only place where received bytes can be refused; every accessor of a
//! [`Packet`] then succeeds, whatever the bytes are. [`Repr::emit`] writes exactly one layout for
//! each value: that of common stacks, options aligned to whole words. **Nothing here panics on any
//! input**, and nothing allocates.

mod checksum;
pub mod ip;
mod options;
#[cfg(test)]
mod tests;

use core::fmt;

pub use checksum::{Checksum, PseudoHeader};
pub use options::{Malformed, Options};

use crate::segment::{Codepoint, Ecn, Flags, Segment};
use crate::seq::Seq;

/// Bytes of a header without options.
pub const MIN_HEADER_LEN: usize = 20;
/// Bytes of the longest header: the data offset counts at most 15 words.
pub const MAX_HEADER_LEN: usize = 60;
/// Bytes that timestamps take in each segment, with padding (RFC 7323 appendix A).
pub const TIMESTAMPS_LEN: u16 = 12;
/// The send MSS over IPv4 where the peer's SYN names none (RFC 9293 section 3.7.1).
pub const DEFAULT_MSS: u16 = 536;
/// No less than this is taken for an MSS, options included, as by Linux (`TCP_MIN_SND_MSS`: the
/// longest options and eight bytes of data; CVE-2019-11479). An MSS of one byte would have us send
/// forty bytes of headers, and remember a segment, for each byte of data.
pub const LEAST_MSS: u16 = 48;
/// Where the checksum stands in a header.
pub const CHECKSUM: core::ops::Range<usize> = 16..18;

/// The window scale for a buffer: the least with which a window field reaches its last multiple of
/// 2^scale, and at most 14 (RFC 7323 section 2.3; Linux's `tcp_select_initial_window`).
pub fn window_scale(buffer: u64) -> u8 {
    (0..14).find(|scale| buffer >> scale <= 65_535).unwrap_or(14)
}

/// Control bits, as the byte at offset 13 has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Control(pub u8);

impl Control {
    /// No more data from the sender.
    pub const FIN: Control = Control(0x01);
    /// Synchronize sequence numbers.
    pub const SYN: Control = Control(0x02);
    /// Reset the connection.
    pub const RST: Control = Control(0x04);
    /// Push.
    pub const PSH: Control = Control(0x08);
    /// The acknowledgment field is significant.
    pub const ACK: Control = Control(0x10);
    /// The urgent pointer is significant.
    pub const URG: Control = Control(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: Control = Control(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Control = Control(0x80);

    /// Whether all bits of `other` are set.
    pub const fn contains(self, other: Control) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits of both.
    pub const fn with(self, other: Control) -> Control {
        Control(self.0 | other.0)
    }
}

/// Why bytes are no TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    /// Fewer bytes than the header has; a capture may have cut it off.
    Truncated,
    /// The data offset is below five words.
    BadDataOffset,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParseError::Truncated => "TCP header is cut off",
            ParseError::BadDataOffset => "TCP data offset is below 5",
        })
    }
}

impl core::error::Error for ParseError {}

/// Why a header cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmitError {
    /// The options need more than 40 bytes.
    OptionsTooLong,
    /// The bytes given are fewer than [`Repr::header_len`].
    NoRoom,
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EmitError::OptionsTooLong => "TCP options need more than 40 bytes",
            EmitError::NoRoom => "no room for the TCP header",
        })
    }
}

impl core::error::Error for EmitError {}

/// A TCP segment as received: header, options and payload.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    fixed: &'a [u8; MIN_HEADER_LEN],
    options: &'a [u8],
    payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Splits a TCP segment (what an IP packet carries) into its parts. The checksum is not looked
    /// at.
    pub fn parse(bytes: &'a [u8]) -> Result<Packet<'a>, ParseError> {
        let (fixed, rest) = bytes.split_first_chunk().ok_or(ParseError::Truncated)?;
        let fixed: &[u8; MIN_HEADER_LEN] = fixed;
        let header_len = usize::from(fixed[12] >> 4) * 4;
        let option_len = header_len.checked_sub(MIN_HEADER_LEN).ok_or(ParseError::BadDataOffset)?;
        let (options, payload) = rest.split_at_checked(option_len).ok_or(ParseError::Truncated)?;
        Ok(Packet { fixed, options, payload })
    }

    fn u16_at<const AT: usize>(&self) -> u16 {
        u16::from_be_bytes([self.fixed[AT], self.fixed[AT + 1]])
    }

    fn u32_at<const AT: usize>(&self) -> u32 {
        u32::from(self.u16_at::<AT>()) << 16
            | u32::from(u16::from_be_bytes([self.fixed[AT + 2], self.fixed[AT + 3]]))
    }

    /// Source port.
    pub fn src_port(&self) -> u16 {
        self.u16_at::<0>()
    }

    /// Destination port.
    pub fn dst_port(&self) -> u16 {
        self.u16_at::<2>()
    }

    /// Sequence number.
    pub fn seq(&self) -> Seq {
        Seq(self.u32_at::<4>())
    }

    /// Acknowledgment number; significant only with [`Control::ACK`].
    pub fn ack(&self) -> Seq {
        Seq(self.u32_at::<8>())
    }

    /// Control bits.
    pub fn control(&self) -> Control {
        Control(self.fixed[13])
    }

    /// The window field, not scaled.
    pub fn wnd(&self) -> u16 {
        self.u16_at::<14>()
    }

    /// The checksum field.
    pub fn checksum(&self) -> u16 {
        self.u16_at::<16>()
    }

    /// The urgent pointer; significant only with [`Control::URG`].
    pub fn urgent(&self) -> u16 {
        self.u16_at::<18>()
    }

    /// The options as they stand, padding included.
    pub fn option_bytes(&self) -> &'a [u8] {
        self.options
    }

    /// The payload.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Whether the checksum is right for a segment that came whole between these addresses.
    pub fn checksum_ok(&self, pseudo: &PseudoHeader) -> bool {
        pseudo.checksum(&[self.fixed, self.options, self.payload]) == 0
    }
}

/// A TCP header by meaning. Reserved bits are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Repr {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number.
    pub seq: Seq,
    /// Acknowledgment number.
    pub ack: Seq,
    /// Control bits.
    pub control: Control,
    /// The window field, not scaled.
    pub wnd: u16,
    /// The urgent pointer.
    pub urgent: u16,
    /// The ECN field of the IP header around it, which is the driver's to read and to write:
    /// parsing leaves [`Codepoint::NotEct`], and [`Repr::emit`] does not look at it.
    pub codepoint: Codepoint,
    /// Options.
    pub options: Options,
}

impl Repr {
    /// What a packet's header means, and where its options are malformed, if they are: those before
    /// that place count.
    pub fn parse(packet: &Packet<'_>) -> (Repr, Option<Malformed>) {
        let (options, malformed) = Options::parse(packet.option_bytes());
        let repr = Repr {
            src_port: packet.src_port(),
            dst_port: packet.dst_port(),
            seq: packet.seq(),
            ack: packet.ack(),
            control: packet.control(),
            wnd: packet.wnd(),
            urgent: packet.urgent(),
            codepoint: Codepoint::NotEct,
            options,
        };
        (repr, malformed)
    }

    /// The header of a segment of an established connection. Its ports are 0.
    pub fn from_segment(segment: &Segment) -> Repr {
        let mut control = Control::ACK;
        if segment.flags.psh() {
            control = control.with(Control::PSH);
        }
        if segment.flags.fin() {
            control = control.with(Control::FIN);
        }
        if segment.ecn.ece() {
            control = control.with(Control::ECE);
        }
        if segment.ecn.cwr() {
            control = control.with(Control::CWR);
        }
        Repr {
            src_port: 0,
            dst_port: 0,
            seq: segment.seq,
            ack: segment.ack,
            control,
            wnd: segment.wnd,
            urgent: 0,
            codepoint: segment.ecn.codepoint(),
            options: Options {
                timestamps: segment.timestamps,
                sack: segment.sack,
                ..Options::default()
            },
        }
    }

    /// What the engine needs of this header, with a payload of `len` bytes.
    pub fn segment(&self, len: u32) -> Segment {
        Segment {
            seq: self.seq,
            ack: self.ack,
            len,
            wnd: self.wnd,
            flags: Flags::new(
                self.control.contains(Control::PSH),
                self.control.contains(Control::FIN),
            ),
            ecn: Ecn::new(
                self.codepoint,
                self.control.contains(Control::ECE),
                self.control.contains(Control::CWR),
            ),
            timestamps: self.options.timestamps,
            sack: self.options.sack,
        }
    }

    /// Bytes of the header with its options; above [`MAX_HEADER_LEN`] if they do not fit.
    pub fn header_len(&self) -> usize {
        MIN_HEADER_LEN + self.options.len()
    }

    /// Writes the header and its checksum. `bytes` is the whole TCP segment: the first
    /// [`Repr::header_len`] bytes are written, the rest is the payload, already in place. On an
    /// error nothing is written.
    pub fn emit(&self, pseudo: &PseudoHeader, bytes: &mut [u8]) -> Result<(), EmitError> {
        self.emit_header(bytes)?;
        let checksum = pseudo.checksum(&[bytes]);
        if let Some(field) = bytes.get_mut(CHECKSUM) {
            field.copy_from_slice(&checksum.to_be_bytes());
        }
        Ok(())
    }

    /// Writes the header into the first [`Repr::header_len`] bytes, with zero for a checksum: for a
    /// payload that lies elsewhere, or a device that computes it. On an error nothing is
    /// written.
    pub fn emit_header(&self, bytes: &mut [u8]) -> Result<(), EmitError> {
        let header_len = self.header_len();
        if header_len > MAX_HEADER_LEN {
            return Err(EmitError::OptionsTooLong);
        }
        let Some((fixed, rest)) = bytes.split_first_chunk_mut::<MIN_HEADER_LEN>() else {
            return Err(EmitError::NoRoom);
        };
        let Some(options) = rest.get_mut(..header_len - MIN_HEADER_LEN) else {
            return Err(EmitError::NoRoom);
        };
        *fixed = [0; MIN_HEADER_LEN];
        fixed[0..2].copy_from_slice(&self.src_port.to_be_bytes());
        fixed[2..4].copy_from_slice(&self.dst_port.to_be_bytes());
        fixed[4..8].copy_from_slice(&self.seq.0.to_be_bytes());
        fixed[8..12].copy_from_slice(&self.ack.0.to_be_bytes());
        fixed[12] = ((header_len / 4) << 4) as u8;
        fixed[13] = self.control.0;
        fixed[14..16].copy_from_slice(&self.wnd.to_be_bytes());
        fixed[18..20].copy_from_slice(&self.urgent.to_be_bytes());
        self.options.emit(options);
        Ok(())
    }
}
