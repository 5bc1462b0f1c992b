//! Frames that the capture has twice: by a mirror port that sees a packet come and go, or on
//! several interfaces of one host.

use ackclock_tcp::wire::Control;
use ackclock_tcp::{Span, Time};

use crate::packet::Packet;

/// How much later the second copy may be. A sender counts IP identifications up, so that this may
/// be longer than a round trip. No SYN is sent again so soon (RFC 6298 section 2.1).
const WITHIN: Span = Span::from_millis(100);
/// The same with an identification and a timestamp: what is sent again after [`WITHIN`] has others.
/// No packet is under way for longer (the maximum segment lifetime of RFC 9293 section 3.4.2). A
/// SYN that goes again may have the same, as those of the simulator have.
const WITHIN_BOTH: Span = Span::from_secs(120);
/// The same where copies and retransmissions have no identification to differ by (IPv6), only a
/// timestamp, which may be of the same tick.
const WITHIN_TICK: Span = Span::from_micros(500);
/// The same where they have no timestamp either: but in a datacenter no loss is repaired so soon.
const WITHIN_LEAST: Span = Span::from_micros(100);
/// A queue between both copies may grow to so many times what it was when a copy was certain.
const GROWS: u64 = 4;
/// Of the last 32 packets so many are the same as others up to their timestamps: a mirror port sees
/// half of all packets again, those without data too. What a sender repairs within a tick of its
/// clock comes with ACKs that differ.
const MANY: u32 = 12;
/// Copies are systematic where one of so many packets is one: a flight may pass before its copies
/// come. A network that duplicates a packet now and then says nothing of what is sent again.
const ONE_OF: u32 = 16;

/// Buckets of [`Copies`], a power of two, and packets in each.
const BUCKETS: usize = 1 << 12;
const PLACES: usize = 4;

/// A super-segment is cut into so many at most: those of 64 KiB and of the least SMSS in use.
const MOST_SEGMENTS: u32 = 128;

/// Any odd number that has bits everywhere: here 2^64 by the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The last few thousand packets of a capture, by which those are found that it has twice.
#[derive(Debug)]
pub struct Copies(Box<[Bucket]>);

/// Aligned, so that it is in one line of memory: which one is next is not foreseen.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Bucket([Print; PLACES]);

#[derive(Clone, Copy, Debug, Default)]
struct Print {
    /// Of what the packet says; 0 in an empty place.
    print: u32,
    /// In microseconds; wraps.
    at: u32,
}

impl Default for Copies {
    fn default() -> Self {
        Copies(vec![Bucket::default(); BUCKETS].into_boxed_slice())
    }
}

impl Copies {
    /// The same one, if it was there a moment ago, and how long ago. Else takes note of this one,
    /// in the place of the oldest. `of`: whose it is. Where it is does not depend on that, which is
    /// known later than the packet.
    #[inline]
    fn find(&mut self, print: u64, of: u64, at: Time, within: Span) -> Option<(&mut Print, Span)> {
        let Bucket(bucket) = &mut self.0[(print >> 32) as usize % BUCKETS];
        let print = (print ^ of.wrapping_mul(MIX)) as u32 | 1;
        let at = (at.0 / 1000) as u32;
        // Times may go back.
        let apart = |a: u32, b: u32| a.wrapping_sub(b).min(b.wrapping_sub(a));
        let age = |place: &Print| Span::from_micros(apart(at, place.at).into());
        let same = |place: &Print| place.print == print && age(place) <= within;
        if let Some(i) = bucket.iter().position(same) {
            let age = age(&bucket[i]);
            return Some((&mut bucket[i], age));
        }
        bucket.rotate_right(1);
        bucket[0] = Print { print, at };
        None
    }
}

/// How long after a packet its copy comes, in one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lag {
    /// The longest time after which a copy was certain; zero before there was one.
    longest: Span,
    /// Of the last 32 packets, those that were the same as others.
    same: u32,
    /// Packets so far, and how many were the same as others. Both are halved as they grow.
    packets: u16,
    copies: u16,
}

impl Lag {
    /// The longest time after which a copy was certain.
    pub fn longest(&self) -> Span {
        self.longest
    }

    /// Whether this packet is a copy of one that was there a moment ago; takes note of it. `full`:
    /// bytes in a full segment. `of`: another number for each end of each connection.
    // Each packet goes through this, from one place.
    #[inline(always)]
    pub fn is_copy(&mut self, p: &Packet, full: u32, of: u64, seen: &mut Copies) -> bool {
        let ticks = p.options.timestamps.is_some();
        // ACKs alone may be the same twice.
        if !ticks && !is_identified(p) && self.longest == Span::ZERO && !carries(p) {
            return false;
        }
        let others = p.len <= full || self.are_there(p, full, of, seen);
        let found = seen.find(print(p, 0, 0), of, p.at, within(p)).filter(|_| others);
        self.same = self.same << 1 | u32::from(found.is_some());
        self.packets += 1;
        self.copies += u16::from(found.is_some());
        if self.packets == 1 << 10 {
            (self.packets, self.copies) = (self.packets / 2, self.copies / 2);
        }
        let Some((place, age)) = found else { return false };
        self.looks_like_copy(p, place, age)
    }

    /// Whether all segments of a super-segment but the first were there a moment ago, if that is to
    /// be asked: the capture is known to have copies. Takes note of them. One interface may show it
    /// whole, and the other one what it was cut into: the segments have identifications that follow
    /// each other (Linux's `inet_gso_segment`).
    #[cold]
    fn are_there(&self, p: &Packet, full: u32, of: u64, seen: &mut Copies) -> bool {
        let before = self.copies > 0 || self.longest > Span::ZERO;
        if !before || !is_identified(p) {
            return true;
        }
        let others = 1..p.len.div_ceil(full.max(1)).min(MOST_SEGMENTS);
        others.fold(true, |all, n| {
            let segment = print(p, n, n.wrapping_mul(full));
            seen.find(segment, of, p.at, within(p)).is_some() && all
        })
    }

    /// It is the same as another one, but so may a retransmission be.
    #[cold]
    fn looks_like_copy(&mut self, p: &Packet, place: &mut Print, age: Span) -> bool {
        // A SYN/ACK goes by the server's timer, and when the SYN comes again.
        let opens = p.control.contains(Control::SYN) && !p.control.contains(Control::ACK);
        if is_identified(p) || opens {
            self.longest = self.longest.max(age);
            return true;
        }
        let ticks = p.options.timestamps.is_some();
        let at_once = match (carries(p), ticks) {
            (false, _) => Span::ZERO,
            (true, true) => WITHIN_TICK,
            (true, false) => WITHIN_LEAST,
        };
        if ticks && self.same.count_ones() >= MANY {
            self.longest = self.longest.max(age);
        }
        let systematic = u32::from(self.copies) * ONE_OF >= self.packets.into();
        let reach = if systematic { self.longest.times(GROWS) } else { Span::ZERO };
        let copy = age <= at_once.max(reach);
        if !copy {
            place.at = (p.at.0 / 1000) as u32;
        } else if age > at_once {
            // What comes then is sent again, and has a copy itself.
            *place = Print::default();
        }
        copy
    }
}

/// How much later the second copy of this packet may be.
#[inline]
fn within(p: &Packet) -> Span {
    let both = is_identified(p) && p.options.timestamps.is_some();
    if both && !p.control.contains(Control::SYN) { WITHIN_BOTH } else { WITHIN }
}

fn is_identified(p: &Packet) -> bool {
    matches!(p.ip_id, Some(1..))
}

/// Whether it carries something that is acknowledged.
fn carries(p: &Packet) -> bool {
    p.len > 0 || p.control.contains(Control::SYN) || p.control.contains(Control::FIN)
}

/// Of the segment with this number in a super-segment, that many bytes after its first one.
#[inline]
fn print(p: &Packet, n: u32, bytes: u32) -> u64 {
    let id = p.ip_id.unwrap_or(0).wrapping_add(n as u16);
    // Of what is cut, the last segment alone has these bits, or the first one has (CWR).
    let cut = is_identified(p) && p.len > 0;
    let (len, varying) =
        if cut { (1, Control::PSH.0 | Control::FIN.0 | Control::CWR.0) } else { (p.len, 0) };
    let ts = p.options.timestamps.unwrap_or_default();
    let block = p.options.sack.as_slice().first().map_or(0, |block| block.right.0);
    let words = [
        u64::from((p.seq + bytes).0) << 32 | u64::from(p.ack.0),
        u64::from(len) << 32 | u64::from(id) << 16 | u64::from(p.wnd),
        u64::from(ts.val) << 32 | u64::from(ts.ecr),
        u64::from(p.control.0 & !varying) << 56 ^ u64::from(block),
    ];
    // By a factor for each, so that no product waits for another.
    let factors = [MIX, MIX.wrapping_pow(2), MIX.wrapping_pow(3), MIX.wrapping_pow(4)];
    let products = words.iter().zip(factors).map(|(word, factor)| word.wrapping_mul(factor));
    let sum = products.fold(0, u64::wrapping_add);
    // Its low bits depend on little of the words, and those that depend on all of them are few.
    let mixed = u128::from(sum) * u128::from(MIX);
    (mixed >> 64) as u64 ^ mixed as u64
}

#[cfg(test)]
mod tests;
