//! Whether packets of an end were lost before they came to the capture: then that was not taken at
//! this end.
//!
//! A hole in what the end sends, with a number missing for each of its segments, is one. The end
//! then sends all of it again: packets with later numbers, so that no original was only late. What
//! is acknowledged and did not come again was not lost: the capture itself has dropped packets. It
//! may then have dropped some that the path has lost behind it, too, so that the larger number of
//! holes decides. Then holes say nothing where what is behind them comes again, too: the end sends
//! all again behind a loss (go-back-N), whatever the capture has dropped.

use std::ops::Range;

use super::{Data, End};

#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    /// Of several holes one is watched at a time.
    hole: Option<Hole>,
    /// Holes of which all came again, and what is behind them did not.
    refilled: u32,
    /// Holes that came again with what is behind them.
    swept: u32,
    /// Holes of packets that the capture has dropped.
    dropped: u32,
}

#[derive(Clone, Debug)]
struct Hole {
    /// What has not come again.
    left: Range<u64>,
    /// Where it ends.
    end: u64,
    /// The number of the packet behind it.
    behind: u16,
    /// Some of it came again.
    again: bool,
}

impl Gaps {
    /// Behind this hole a packet with this number was seen, and as many numbers are missing.
    pub fn opens(&mut self, hole: Range<u64>, number: u16) {
        if self.hole.is_none() {
            let end = hole.end;
            self.hole = Some(Hole { left: hole, end, behind: number, again: false });
        }
    }

    /// The packet with this number carries what was sent before.
    pub fn again(&mut self, sent: Range<u64>, number: u16) {
        let Some(Hole { left, end, behind, again }) = &mut self.hole else { return };
        if !left.is_empty() {
            if sent.end <= left.start || left.end <= sent.start {
                return;
            }
            let is_later = number.wrapping_sub(*behind) <= u16::MAX / 2;
            if !is_later {
                self.hole = None;
                return;
            }
            *again = true;
            if sent.start <= left.start {
                left.start = sent.end.min(left.end);
            } else if left.end <= sent.end {
                left.end = sent.start;
            }
            self.refilled += u32::from(left.is_empty());
        }
        if left.is_empty() && sent.contains(end) {
            self.refilled -= 1;
            self.swept += 1;
            self.hole = None;
        }
    }

    /// Everything before this position is acknowledged.
    pub fn acked(&mut self, ack: u64) {
        let Some(Hole { left, end, again, .. }) = &self.hole else { return };
        let over = if left.is_empty() { ack > *end } else { ack > left.start };
        if over {
            self.dropped += u32::from(!again);
            self.hole = None;
        }
    }

    /// What was not seen of this end was lost before the capture, mostly.
    pub fn prove(&self) -> bool {
        self.refilled > self.dropped || self.dropped == 0 && self.swept > 0
    }
}

impl End {
    /// Whether packets of it were lost before the capture, if their numbers tell anything now.
    #[inline]
    pub fn is_lost_before(&self) -> Option<bool> {
        let unusual = self.unusual.as_ref().filter(|_| self.numbers.tell())?;
        Some(unusual.gaps.prove())
    }

    /// Whether `data` has what the FIN has overtaken, for the first time.
    #[cold]
    pub fn was_overtaken(&mut self, data: &Data) -> bool {
        let Some(unusual) = self.unusual.as_mut() else { return false };
        let (missing, end) = (&mut unusual.overtaken, data.position + u64::from(data.len));
        let brings = missing.start < end && data.position < missing.end;
        if brings {
            missing.start = end;
        }
        brings
    }

    /// What came before `data` may not have been seen: so many bytes, of segments of `mss`. Or it
    /// comes again.
    #[inline]
    pub(super) fn note_gaps(&mut self, data: &Data, hole: u64, mss: u32) {
        let Some(number) = data.ip_id else { return };
        if hole > 0 && hole.div_ceil(mss.max(1).into()) == u64::from(data.skipped) {
            let hole = data.position - hole..data.position;
            self.unusual.get_or_insert_default().gaps.opens(hole, number);
        } else if let Some(unusual) = self.unusual.as_mut().filter(|_| data.again) {
            unusual.gaps.again(data.position..data.end(), number);
        }
    }
}

#[cfg(test)]
mod tests;
