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

/// Header flags that an established connection uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags {
    /// PSH.
    pub psh: bool,
    /// FIN.
    pub fin: bool,
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
    /// Flags beside ACK.
    pub flags: Flags,
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
