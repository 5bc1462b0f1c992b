//! Whether packets of an end were lost before they came to the capture: then that was not taken at
//! this end.
//!
//! A hole in what the end sends, with a number missing for each of its segments, is one. The end
//! then sends all of it again: packets with later numbers, so that no original was only late. What
//! is acknowledged and did not come again was not lost: the capture itself has dropped packets. It
//! may then have dropped some that were lost behind it, too, but fewer: the path's part of all.

use std::ops::Range;

use super::{Data, End};

#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    /// What is left of a hole, and the number of the packet behind it.
    hole: Option<(Range<u64>, u16)>,
    /// Holes of which all came again.
    refilled: u16,
    /// Holes of packets that the capture has dropped.
    dropped: u16,
}

impl Gaps {
    /// Behind this hole a packet with this number was seen, and as many numbers are missing. Of
    /// several holes one is watched at a time.
    pub fn opens(&mut self, hole: Range<u64>, number: u16) {
        if self.hole.is_none() {
            self.hole = Some((hole, number));
        }
    }

    /// The packet with this number carries what was sent before.
    pub fn again(&mut self, sent: Range<u64>, number: u16) {
        let Some((hole, behind)) = &mut self.hole else { return };
        let is_later = number.wrapping_sub(*behind) <= u16::MAX / 2;
        if !sent.contains(&hole.start) {
            return;
        }
        hole.start = sent.end;
        if !is_later || hole.is_empty() {
            self.refilled = self.refilled.saturating_add(is_later.into());
            self.hole = None;
        }
    }

    /// Everything before this position is acknowledged.
    pub fn acked(&mut self, ack: u64) {
        if self.hole.as_ref().is_some_and(|(hole, _)| ack > hole.start) {
            self.hole = None;
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    /// What was not seen of this end was lost before the capture, mostly.
    pub fn prove(&self) -> bool {
        self.refilled > self.dropped
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
