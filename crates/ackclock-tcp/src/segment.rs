//! What travels between two endpoints, without its payload: the engine names bytes by position and
//! its driver carries them.

use crate::seq::Seq;

/// The timestamps option (RFC 7323 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub val: u32,
    /// TSecr: the echo of the peer's clock.
    pub ecr: u32,
}

impl Timestamps {
    /// Whether one timestamp is older than another. They wrap (RFC 7323 section 5.2); one that is
    /// 2^31 away counts as older, which the RFC leaves open.
    #[inline]
    pub fn is_older(stamp: u32, than: u32) -> bool {
        (Timestamps::ticks_since(than, stamp) as i32) < 0
    }

    /// The ticks of the clock from one timestamp to a later one.
    #[inline]
    pub fn ticks_since(earlier: u32, later: u32) -> u32 {
        later.wrapping_sub(earlier)
    }

    /// Whether a SYN in TIME-WAIT cannot be an old one and opens a new connection (RFC 6191 section
    /// 2): by timestamps where both connections have them, else by sequence numbers (RFC 9293
    /// section 3.10.7.4). `recent`: the last timestamp of the old connection; `offered`: those of
    /// the SYN; `higher`: its number is above all that the old connection had.
    pub fn reopens(recent: Option<u32>, offered: Option<Timestamps>, higher: bool) -> bool {
        match (recent, offered) {
            (Some(recent), Some(ts)) if ts.val == recent => higher,
            (Some(recent), Some(ts)) => !Timestamps::is_older(ts.val, recent),
            (None, Some(_)) => true,
            (_, None) => higher,
        }
    }
}

/// A SACK block (RFC 2018 section 3): `left` is the first sequence number of the block, `right` the
/// one after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// First sequence number in the block.
    pub left: Seq,
    /// First sequence number after the block.
    pub right: Seq,
}

/// Up to four SACK blocks, the first one first (RFC 2018 section 4; a D-SACK block stands first,
/// RFC 2883 section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SackBlocks {
    len: u8,
    blocks: [SackBlock; SackBlocks::MAX],
}

impl SackBlocks {
    /// The most that 40 bytes of options hold; three beside timestamps (RFC 2018 section 3).
    pub const MAX: usize = 4;

    /// No blocks.
    pub const NONE: SackBlocks =
        SackBlocks { len: 0, blocks: [SackBlock { left: Seq(0), right: Seq(0) }; SackBlocks::MAX] };

    /// Appends a block; `false` if there is no room.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let Some(slot) = self.blocks.get_mut(usize::from(self.len)) else { return false };
        *slot = block;
        self.len += 1;
        true
    }

    /// The blocks in order.
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Header flags that an established connection uses, beside those of [`Ecn`]. In one byte, as there
/// are many segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(u8);

impl Flags {
    /// PSH and FIN.
    pub const fn new(psh: bool, fin: bool) -> Flags {
        Flags(psh as u8 | (fin as u8) << 1)
    }

    /// PSH.
    #[inline]
    pub const fn psh(self) -> bool {
        self.0 & 1 != 0
    }

    /// FIN.
    #[inline]
    pub const fn fin(self) -> bool {
        self.0 & 2 != 0
    }
}

/// The ECN field of an IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Codepoint {
    /// 00: the transport does not understand marks.
    #[default]
    NotEct = 0,
    /// 01: as ECT(0) (RFC 3168), or of an experiment (RFC 8311).
    Ect1 = 1,
    /// 10: the transport understands marks.
    Ect0 = 2,
    /// 11: a router has met congestion.
    Ce = 3,
}

impl Codepoint {
    /// The codepoint in the two lowest bits of IPv4's TOS byte or IPv6's traffic class.
    #[inline]
    pub const fn from_tos(tos: u8) -> Codepoint {
        match tos & 3 {
            0 => Codepoint::NotEct,
            1 => Codepoint::Ect1,
            2 => Codepoint::Ect0,
            _ => Codepoint::Ce,
        }
    }
}

/// What a segment says about congestion (RFC 3168): the codepoint of its IP header, and the flags
/// ECE and CWR of its TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Ecn(u8);

impl Ecn {
    /// Nothing: not ECN-capable, and neither flag.
    pub const NONE: Ecn = Ecn(0);

    const ECE: u8 = 0x40;
    const CWR: u8 = 0x80;

    /// The codepoint and the flags.
    pub const fn new(codepoint: Codepoint, ece: bool, cwr: bool) -> Ecn {
        let ece = if ece { Ecn::ECE } else { 0 };
        let cwr = if cwr { Ecn::CWR } else { 0 };
        Ecn(codepoint as u8 | ece | cwr)
    }

    /// The codepoint.
    #[inline]
    pub const fn codepoint(self) -> Codepoint {
        Codepoint::from_tos(self.0)
    }

    /// ECN-Echo: the receiver has seen a mark.
    #[inline]
    pub const fn ece(self) -> bool {
        self.0 & Ecn::ECE != 0
    }

    /// Congestion Window Reduced: the sender has answered an ECN-Echo.
    #[inline]
    pub const fn cwr(self) -> bool {
        self.0 & Ecn::CWR != 0
    }

    /// The same with ECE.
    pub const fn with_ece(self) -> Ecn {
        Ecn(self.0 | Ecn::ECE)
    }

    /// The same with CE for a codepoint, if its transport understands that: what a router does
    /// (RFC 3168 section 5).
    pub const fn marked(self) -> Option<Ecn> {
        match self.codepoint() {
            Codepoint::NotEct => None,
            _ => Some(Ecn(self.0 | Codepoint::Ce as u8)),
        }
    }
}

/// A segment of an established connection (ACK is always set).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Segment {
    /// Sequence number of the first payload byte.
    pub seq: Seq,
    /// Acknowledgment number.
    pub ack: Seq,
    /// Payload bytes.
    pub len: u32,
    /// The window field as on the wire, not yet scaled (RFC 7323 section 2).
    pub wnd: u16,
    /// PSH and FIN.
    pub flags: Flags,
    /// ECN: the codepoint, ECE and CWR.
    pub ecn: Ecn,
    /// Timestamps, if negotiated.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks.
    pub sack: SackBlocks,
}

impl Segment {
    /// Bytes of TCP options as they stand on the wire, padded to whole words the way every common
    /// stack does (timestamps 12, SACK 4 + 8 a block).
    pub fn option_len(&self) -> u32 {
        let timestamps = if self.timestamps.is_some() { 12 } else { 0 };
        let sack = if self.sack.is_empty() { 0 } else { 4 + 8 * self.sack.as_slice().len() as u32 };
        timestamps + sack
    }
}
