//! SMSS where the SYNs say more than the path takes: a router behind the capture has lowered their
//! option (MSS clamping), or the sender has heard of a smaller path MTU (RFC 9293 section 3.7.1).

use std::ops::RangeInclusive;

use ackclock_tcp::{Span, Time};

use crate::sender::Sight;
use crate::standards::least_packet;

/// What goes out this soon after other new data was ready beside it: what applications write in
/// pieces comes later.
const TOGETHER: Span = Span::from_millis(1);
/// So many segments of one size in a row, not counting the ends of what was written, are full ones:
/// fewer than the ten of an initial window, which is counted in them.
const ENOUGH: u8 = 8;
/// What tunnels and IPv6's least MTU leave of Ethernet.
const USUAL: RangeInclusive<u32> = 1200..=1460;
/// No frame is longer; over loopback segments are, and no path makes them shorter.
const LONGEST: u32 = 9000;

/// The sizes of what one end sends.
#[derive(Default)]
pub(super) struct SegmentSize {
    /// What was believed at first; 0 before another size was seen.
    offered: u16,
    candidate: u16,
    /// What a router has asked for; 0 if none has, or it is so by now.
    asked: u16,
    seen: u8,
    last: Time,
}

impl SegmentSize {
    /// New data goes out, of a super-segment perhaps. `mss` is what is believed to be SMSS. Returns
    /// it if it has turned out to be another.
    #[inline]
    pub fn sees(&mut self, len: u32, at: Time, mss: u32) -> Option<u32> {
        let together = at.since(std::mem::replace(&mut self.last, at)) <= TOGETHER;
        if len == mss {
            // Whatever is shorter was the end of what was written.
            self.candidate = 0;
            return None;
        }
        if !together || len < u32::from(self.candidate) {
            return None;
        }
        self.weigh(len, mss)
    }

    /// A router asks for packets of so many bytes at most, of which `header` are headers. `mss` as
    /// in [`SegmentSize::sees`].
    #[cold]
    pub fn is_asked(&mut self, packet: u32, header: u32, mss: u32) {
        let len = packet.max(least_packet(header)).saturating_sub(header);
        self.asked = u16::try_from(len).ok().filter(|_| len < mss).unwrap_or(self.asked);
    }

    /// The same as [`SegmentSize::sees`], of data that goes out again. A sender that does as a
    /// router has asked cuts what was too long first. One that sends it as it was does not, unless
    /// the capture is at the sender: there it may be cut later (GSO).
    #[inline]
    pub fn again(&mut self, len: u32, mss: u32, sight: Sight) -> Option<u32> {
        if self.asked == 0 {
            return None;
        }
        if len == mss && sight != Sight::Sent {
            self.asked = 0;
        }
        self.is_as_asked(len, mss)
    }

    /// What super-segments that go out again are cut into.
    pub fn cut(&self, mss: u32) -> u32 {
        if self.asked > 0 { self.asked.into() } else { mss }
    }

    /// Full segments are as long as a router has asked for. What is shorter may have been before,
    /// and what has a multiple of both lengths says nothing.
    #[cold]
    fn is_as_asked(&mut self, len: u32, mss: u32) -> Option<u32> {
        let asked = u32::from(self.asked);
        if asked == 0 || len == 0 || !len.is_multiple_of(asked) || len.is_multiple_of(mss) {
            return None;
        }
        if self.offered == 0 {
            self.offered = u16::try_from(mss).unwrap_or(0);
        }
        (self.asked, self.candidate, self.seen) = (0, 0, 0);
        Some(asked)
    }

    #[cold]
    fn weigh(&mut self, len: u32, mss: u32) -> Option<u32> {
        if self.offered == 0 {
            self.offered = u16::try_from(mss).ok()?;
        }
        if let Some(asked) = self.is_as_asked(len, mss) {
            return Some(asked);
        }
        let offered = u32::from(self.offered);
        if len == offered {
            (self.candidate, self.seen) = (0, 0);
            return Some(offered);
        }
        if len.is_multiple_of(mss) || offered > LONGEST {
            (self.candidate, self.seen) = (0, 0);
            return None;
        }
        if self.candidate == 0 || !len.is_multiple_of(self.candidate.into()) {
            let may_be = len < offered && (len > offered / 4 * 3 || USUAL.contains(&len));
            (self.candidate, self.seen) = (if may_be { len as u16 } else { 0 }, 0);
        }
        self.seen += u8::from(self.candidate > 0);
        (self.seen >= ENOUGH).then(|| {
            self.seen = 0;
            std::mem::take(&mut self.candidate).into()
        })
    }
}

#[cfg(test)]
mod tests;
