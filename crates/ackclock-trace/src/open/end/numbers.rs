//! Packets that did not get as far as the capture, by the numbers of those that did.
//!
//! Linux numbers the packets of a connection one by one (IPv4 identification, `inet_id`), ACKs
//! without data among them, and each segment of a super-segment. Other systems number all packets
//! of a host, or draw numbers, or give none. Windows numbers all that go to one host; its TTL is
//! 128 at first, that of others 64, or 255. Where Linux answers for a connection that is over, in
//! TIME_WAIT or by a reset, the packet has 0 and counts for none.

use crate::packet::Packet;

/// Numbers tell something after so many packets that each had the next one.
const ENOUGH: u8 = 8;

/// The TTLs of what has begun with 128, and has come over fewer than 64 hops.
const TTLS_OF_WINDOWS: std::ops::RangeInclusive<u8> = 65..=128;

/// More packets than this are not lost in a row: the numbers mean something else.
const MOST: u16 = 1024;

/// Behind a SYN/ACK, which may have the number 0, another sequence of numbers begins. As many may
/// be missing there as an initial window has segments (RFC 6928).
const INITIAL_WINDOW: u8 = 10;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    /// What the next packet has.
    next: u16,
    /// What the last packet was.
    last: Last,
    /// Packets that had the next number; halved by each that had another, unless as much data is
    /// missing.
    in_order: u8,
    /// Packets that were not seen and may have carried newer data than any that was, at most one
    /// segment each.
    unseen: u8,
    /// The number of the last packet before which some were missing when the numbers did not tell
    /// that yet; 0 if there is none.
    doubt: u16,
    /// By so much that has made `in_order` less.
    halved: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    /// There was none.
    #[default]
    None,
    Syn,
    /// Any other one.
    Other,
    /// One before which some were not seen.
    Behind,
}

impl Numbers {
    /// A packet of this end was seen. Returns how many before it were not, by the step of its
    /// number from the one before, and whether the numbers of this end are known to tell that.
    /// `mss`: what it is cut into if it is a super-segment. `hole`: bytes before it that were not
    /// seen either.
    #[inline]
    pub fn passed(&mut self, p: &Packet, mss: u32, hole: u64) -> (u16, bool) {
        let (missing, tells) = self.step(p, mss, hole);
        self.last = if tells && missing > 0 { Last::Behind } else { Last::Other };
        (missing, tells)
    }

    /// They tell what is missing.
    #[inline]
    pub fn tell(&self) -> bool {
        self.in_order >= ENOUGH
    }

    /// Packets before the last one are known to be missing.
    #[inline]
    pub fn skips(&self) -> bool {
        self.last == Last::Behind
    }

    /// No packet is missing that may have carried newer data than any before the last one: what the
    /// end has sent since its newest data was seen. Also numbers that count the packets of others
    /// tell that, and of those drawn at random one of 65,536 does so by chance.
    #[inline]
    pub fn all_seen(&self) -> bool {
        self.unseen == 0
    }

    /// The last packet was an ACK alone, right behind the SYN: its sequence number is SND.NXT (RFC
    /// 9293 section 3.10.7.4), so that no data was sent before.
    #[inline]
    pub fn has_sent_none(&mut self) {
        self.unseen = 0;
    }

    /// The last packet was a SYN: nothing was sent before.
    #[inline]
    pub fn begins(&mut self) {
        (self.unseen, self.last) = (0, Last::Syn);
    }

    /// The last packet has newer data than any that was seen. It may be what was missing.
    #[inline]
    pub fn has_newest(&mut self) {
        self.unseen = self.unseen.saturating_sub(1);
    }

    #[inline]
    fn step(&mut self, p: &Packet, mss: u32, hole: u64) -> (u16, bool) {
        let Some(id) = p.ip_id else {
            self.unseen = u8::MAX;
            return (0, false);
        };
        if id == 0 && self.next > 0 && p.len == 0 && self.last != Last::None {
            return (0, self.tell());
        }
        let packets = if p.len <= mss { 1 } else { p.len.div_ceil(mss.max(1)) };
        let missing = id.wrapping_sub(self.next);
        let unseen = match self.last {
            // What went out before the capture began has passed.
            Last::None => 0,
            Last::Syn if missing >= MOST => INITIAL_WINDOW,
            _ => u8::try_from(missing).unwrap_or(u8::MAX),
        };
        self.unseen = self.unseen.saturating_add(unseen);
        self.next = id.wrapping_add(packets as u16);
        if TTLS_OF_WINDOWS.contains(&p.ttl) {
            return (0, false);
        }
        if missing == 0 {
            self.in_order = self.in_order.saturating_add(1);
            return (0, self.tell());
        }
        if missing >= MOST {
            (self.in_order, self.doubt) = (0, 0);
            return (0, false);
        }
        let tells = self.tell();
        if hole == 0 || hole.div_ceil(mss.max(1).into()) != u64::from(missing) {
            self.doubt = if tells { 0 } else { id };
            self.halved = self.in_order.div_ceil(2);
            self.in_order /= 2;
        }
        (missing, tells)
    }

    /// The number of a packet before which some are missing, where only the packets behind it tell
    /// that, together with those before.
    #[inline]
    pub fn settle(&mut self) -> Option<u16> {
        let settled = self.doubt > 0 && self.in_order.saturating_add(self.halved) >= ENOUGH;
        settled.then(|| std::mem::take(&mut self.doubt))
    }
}

#[cfg(test)]
mod tests;
