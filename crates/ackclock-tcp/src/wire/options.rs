//! TCP options: maximum segment size (RFC 9293 section 3.7.1), window scale and timestamps (RFC
//! 7323), SACK (RFC 2018).

use core::fmt;

use crate::segment::{SackBlock, SackBlocks, Timestamps};
use crate::seq::Seq;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// The options that this engine understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Options {
    /// Maximum segment size in bytes; only on a SYN.
    pub mss: Option<u16>,
    /// Window scale shift, 0 to 14; only on a SYN.
    pub wscale: Option<u8>,
    /// SACK permitted; only on a SYN.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks, the first one first.
    pub sack: SackBlocks,
}

/// Where an option list stops making sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The kind of the option.
    pub kind: u8,
    /// Its offset within the options, 0 to 39.
    pub offset: u8,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed TCP option {} at byte {} of the options", self.kind, self.offset)
    }
}

impl core::error::Error for Malformed {}

impl Options {
    /// Reads an option list. Options of unknown kind are skipped. One whose length is wrong (below
    /// two, beyond the end, or not what its kind requires) ends the list and is reported. Of an
    /// option that stands twice the last counts; SACK blocks add up. A window scale above 14
    /// counts as 14 (RFC 7323 section 2.3).
    pub fn parse(bytes: &[u8]) -> (Options, Option<Malformed>) {
        let mut options = Options::default();
        let mut rest = bytes;
        loop {
            match rest {
                [] | [END, ..] => return (options, None),
                [NOP, tail @ ..] => rest = tail,
                [kind, tail @ ..] => {
                    let Some(next) = options.parse_one(*kind, tail) else {
                        let offset = (bytes.len() - rest.len()).min(usize::from(u8::MAX)) as u8;
                        return (options, Some(Malformed { kind: *kind, offset }));
                    };
                    rest = next;
                }
            }
        }
    }

    /// Reads what follows the kind; returns what follows the option, or `None` if it is malformed.
    fn parse_one<'a>(&mut self, kind: u8, tail: &'a [u8]) -> Option<&'a [u8]> {
        let (len, tail) = tail.split_first()?;
        let (value, next) = tail.split_at_checked(usize::from(*len).checked_sub(2)?)?;
        match (kind, value) {
            (MSS, &[a, b]) => self.mss = Some(u16::from_be_bytes([a, b])),
            (WINDOW_SCALE, &[shift]) => self.wscale = Some(shift.min(14)),
            (SACK_PERMITTED, []) => self.sack_permitted = true,
            (TIMESTAMPS, value) => {
                let ([val, ecr], []) = value.as_chunks::<4>() else { return None };
                self.timestamps = Some(Timestamps {
                    val: u32::from_be_bytes(*val),
                    ecr: u32::from_be_bytes(*ecr),
                });
            }
            (SACK, value) => {
                let (numbers, []) = value.as_chunks::<4>() else { return None };
                let (blocks, []) = numbers.as_chunks::<2>() else { return None };
                if blocks.is_empty() || blocks.len() > SackBlocks::MAX {
                    return None;
                }
                for [left, right] in blocks {
                    let (left, right) =
                        (Seq(u32::from_be_bytes(*left)), Seq(u32::from_be_bytes(*right)));
                    self.sack.push(SackBlock { left, right });
                }
            }
            (MSS | WINDOW_SCALE | SACK_PERMITTED, _) => return None,
            _ => {}
        }
        Some(next)
    }

    /// Bytes that these options take, a multiple of four. More than 40 do not fit into a header.
    pub fn len(&self) -> usize {
        let sack = if self.sack.is_empty() { 0 } else { 4 + 8 * self.sack.as_slice().len() };
        4 * usize::from(self.mss.is_some())
            + 12 * usize::from(self.timestamps.is_some())
            + 4 * usize::from(self.sack_permitted && self.timestamps.is_none())
            + 4 * usize::from(self.wscale.is_some())
            + sack
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `bytes`, which are [`Options::len`] long. Order and alignment are those of Linux: MSS,
    /// timestamps (with SACK permitted in place of their padding), window scale, SACK.
    pub(super) fn emit(&self, bytes: &mut [u8]) {
        let mut out = Writer { rest: bytes };
        if let Some(mss) = self.mss {
            let [a, b] = mss.to_be_bytes();
            out.put([MSS, 4, a, b]);
        }
        if self.sack_permitted {
            out.put(if self.timestamps.is_some() {
                [SACK_PERMITTED, 2, TIMESTAMPS, 10]
            } else {
                [NOP, NOP, SACK_PERMITTED, 2]
            });
        } else if self.timestamps.is_some() {
            out.put([NOP, NOP, TIMESTAMPS, 10]);
        }
        if let Some(timestamps) = self.timestamps {
            out.put(timestamps.val.to_be_bytes());
            out.put(timestamps.ecr.to_be_bytes());
        }
        if let Some(shift) = self.wscale {
            out.put([NOP, WINDOW_SCALE, 3, shift]);
        }
        let blocks = self.sack.as_slice();
        if !blocks.is_empty() {
            out.put([NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
        }
        for block in blocks {
            out.put(block.left.0.to_be_bytes());
            out.put(block.right.0.to_be_bytes());
        }
    }
}

/// Writes word after word into a slice.
struct Writer<'a> {
    rest: &'a mut [u8],
}

impl Writer<'_> {
    fn put(&mut self, word: [u8; 4]) {
        if let Some((slot, rest)) = core::mem::take(&mut self.rest).split_first_chunk_mut() {
            *slot = word;
            self.rest = rest;
        }
    }
}
