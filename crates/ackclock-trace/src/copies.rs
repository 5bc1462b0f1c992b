//! Frames that the capture has twice: by a mirror port that sees a packet come and go, or on
//! several interfaces of one host.

use ackclock_tcp::wire::Control;
use ackclock_tcp::{Seq, Span, Time, Timestamps};

use crate::packet::Packet;

/// How much later the second copy may be. A sender counts IP identifications up, so that this may
/// be longer than a round trip. No SYN is sent again so soon (RFC 6298 section 2.1).
const WITHIN: Span = Span::from_millis(100);
/// The same with an identification and a timestamp: what is sent again after [`WITHIN`] has others.
/// No packet is under way for longer (the maximum segment lifetime of RFC 9293 section 3.4.2). A
/// SYN that goes again may have the same, as those of the simulator have.
const WITHIN_BOTH: Span = Span::from_secs(120);
/// Copies that are so late are those of a host with another clock, or have been in a long queue.
/// There may be more packets in between than are kept.
const FAR: Span = Span::from_secs(1);
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

/// Ethernet takes no longer payload, so that a longer one is a super-segment.
const LONGEST: u32 = 1460;
/// Buckets for super-segments in [`Copies`], a power of two. One has those of so many
/// identifications, and so has a place for each.
const WHOLES: usize = 1 << 10;
const IDS: u16 = 8;
/// A super-segment is cut into so many at most: those of 64 KiB and of the least SMSS in use.
const MOST_SEGMENTS: u16 = 128;

/// Any odd number that has bits everywhere: here 2^64 by the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The last few thousand packets of a capture, by which those are found that it has twice.
#[derive(Debug)]
pub struct Copies {
    packets: Box<[Bucket]>,
    /// What may be several segments; from the first one on.
    wholes: Box<[[Whole; IDS as usize]]>,
}

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

/// A packet that may be a super-segment.
#[derive(Clone, Copy, Debug, Default)]
struct Whole {
    /// Of what all its segments say.
    print: u32,
    /// In microseconds; wraps.
    at: u32,
    seq: Seq,
    /// 0 in an empty place.
    len: u32,
    id: u16,
}

impl Whole {
    /// Whether this packet is of its segments, the first one excepted: their identifications follow
    /// each other (Linux's `inet_gso_segment`), and all but the last have the same length. Which
    /// one that is the SYNs do not say: the path may take less, and options vary.
    fn has(&self, p: &Packet) -> bool {
        let bytes = p.seq.0.wrapping_sub(self.seq.0);
        let segments = u32::from(p.ip_id.unwrap_or(0).wrapping_sub(self.id));
        let within = bytes < self.len && p.len <= self.len - bytes;
        if !within || segments == 0 || !bytes.is_multiple_of(segments) || bytes == 0 {
            return false;
        }
        p.len.is_multiple_of(bytes / segments) || p.len == self.len - bytes
    }
}

impl Default for Copies {
    fn default() -> Self {
        let packets = vec![Bucket::default(); BUCKETS].into_boxed_slice();
        Copies { packets, wholes: Box::default() }
    }
}

impl Copies {
    /// The same one, if it was there a moment ago, and how long ago. Else takes note of this one,
    /// in the place of the oldest. `of`: whose it is. Where it is does not depend on that, which is
    /// known later than the packet.
    #[inline]
    fn find(&mut self, print: u64, of: u64, at: Time, within: Span) -> Option<(&mut Print, Span)> {
        let Bucket(bucket) = &mut self.packets[(print >> 32) as usize % BUCKETS];
        let print = (print ^ of.wrapping_mul(MIX)) as u32 | 1;
        let at = micros(at);
        let same = |place: &Print| place.print == print && apart(at, place.at) <= within;
        if let Some(i) = bucket.iter().position(same) {
            let age = apart(at, bucket[i].at);
            return Some((&mut bucket[i], age));
        }
        bucket.rotate_right(1);
        bucket[0] = Print { print, at };
        None
    }

    /// How long ago the super-segment was there that has this packet. One interface may show it
    /// whole, and the other one what it was cut into.
    #[cold]
    fn find_whole(&self, p: &Packet, of: u64) -> Option<Span> {
        let print = print_of_all(p, of);
        let (at, within, id) = (micros(p.at), within(p), p.ip_id?);
        let same = |whole: &&Whole| {
            whole.print == print as u32 && apart(at, whole.at) <= within && whole.has(p)
        };
        let buckets = (0..=MOST_SEGMENTS / IDS)
            .filter_map(|n| self.wholes.get(whole_bucket(print, id.wrapping_sub(n * IDS))));
        buckets.flatten().find(same).map(|whole| apart(at, whole.at))
    }

    /// Takes note of what may be a super-segment.
    #[cold]
    fn note_whole(&mut self, p: &Packet, of: u64) {
        if self.wholes.is_empty() {
            self.wholes = vec![Default::default(); WHOLES].into_boxed_slice();
        }
        let (print, id) = (print_of_all(p, of), p.ip_id.unwrap_or(0));
        let places = &mut self.wholes[whole_bucket(print, id)];
        places.rotate_right(1);
        let (at, seq, len) = (micros(p.at), p.seq, p.len);
        places[0] = Whole { print: print as u32, at, seq, len, id };
    }
}

fn whole_bucket(print: u64, id: u16) -> usize {
    let mixed = (print ^ u64::from(id / IDS)).wrapping_mul(MIX);
    (mixed >> 32) as usize % WHOLES
}

/// As times are kept here: they wrap.
#[inline]
fn micros(at: Time) -> u32 {
    (at.0 / 1000) as u32
}

/// Times may go back.
#[inline]
fn apart(a: u32, b: u32) -> Span {
    Span::from_micros(a.wrapping_sub(b).min(b.wrapping_sub(a)).into())
}

/// How long after a packet its copy comes, in one connection.
#[derive(Clone, Debug, Default)]
pub struct Lag {
    /// From the first copy on that was certain.
    certain: Option<Box<Certain>>,
    /// Of the last 32 packets, those that were the same as others.
    same: u32,
    /// Packets so far, and how many were the same as others. Both are halved as they grow.
    packets: u16,
    copies: u16,
}

/// Whose a packet is.
#[derive(Clone, Copy, Debug)]
pub struct Of {
    /// Another number for each end of each connection: even for one, odd for the other.
    pub number: u64,
    /// The newest timestamp of that end, if it is known.
    pub newest: Option<u32>,
}

/// What copies have told that were certain.
#[derive(Clone, Copy, Debug, Default)]
struct Certain {
    /// The longest time after which a copy was certain.
    longest: Span,
    /// From the first copy on that was [`FAR`] off: the newest timestamp of each end and when it
    /// came, and by how much those of copies were older, at the most. What is sent again has the
    /// timestamp of now.
    newest: [Option<(u32, Time)>; 2],
    ticks: u32,
}

impl Certain {
    /// By how much this packet of that end is older than the newest one, in ticks, and how long
    /// after that it comes.
    fn older(&mut self, p: &Packet, of: Of) -> Option<(u32, Span)> {
        let val = p.options.timestamps?.val;
        let newest =
            self.newest[(of.number & 1) as usize].get_or_insert((of.newest.unwrap_or(val), p.at));
        if Timestamps::is_older(newest.0, val) {
            *newest = (val, p.at);
        }
        Some((Timestamps::ticks_since(val, newest.0), p.at.since(newest.1)))
    }
}

impl Lag {
    /// The longest time after which a copy was certain; zero before there was one.
    pub fn longest(&self) -> Span {
        self.certain.as_ref().map_or(Span::ZERO, |certain| certain.longest)
    }

    /// Whether this packet is a copy of one that was there a moment ago; takes note of it.
    // Each packet goes through this, from one place.
    #[inline(always)]
    pub fn is_copy(&mut self, p: &Packet, of: Of, seen: &mut Copies) -> bool {
        let ticks = p.options.timestamps.is_some();
        // ACKs alone may be the same twice.
        if !ticks && !is_identified(p) && self.certain.is_none() && !carries(p) {
            return false;
        }
        let found = seen.find(print(p), of.number, p.at, within(p));
        self.same = self.same << 1 | u32::from(found.is_some());
        self.packets += 1;
        self.copies += u16::from(found.is_some());
        if self.packets == 1 << 10 {
            (self.packets, self.copies) = (self.packets / 2, self.copies / 2);
        }
        if let Some((place, age)) = found {
            return self.looks_like_copy(p, of, place, age);
        }
        let far = self.certain.as_ref().is_some_and(|certain| certain.longest >= FAR);
        if far && self.is_behind(p, of) {
            return true;
        }
        let before = self.copies > 0 || self.certain.is_some();
        (before || p.len > LONGEST) && is_cut(p) && self.is_part(p, of, before, seen)
    }

    /// Whether it is a segment of a super-segment that was there a moment ago, which is only asked
    /// where copies were there `before`; else takes note of it, which may be another.
    #[cold]
    fn is_part(&mut self, p: &Packet, of: Of, before: bool, seen: &mut Copies) -> bool {
        let found = if before { seen.find_whole(p, of.number) } else { None };
        let Some(age) = found else {
            seen.note_whole(p, of.number);
            return false;
        };
        self.is_certain(p, of, age);
        true
    }

    /// This packet is a copy of one that was there so long ago.
    fn is_certain(&mut self, p: &Packet, of: Of, age: Span) {
        let certain = self.certain.get_or_insert_default();
        certain.longest = certain.longest.max(age);
        if age >= FAR {
            let older = certain.older(p, of);
            certain.ticks = certain.ticks.max(older.map_or(0, |(ticks, _)| ticks));
        }
    }

    /// Copies are far off, and this packet is nearer to one than to what the network exchanges: by
    /// how much older its timestamp is than the newest, and how long after that it comes, which
    /// together are the whole of a copy's lag and nothing of what is new.
    #[cold]
    fn is_behind(&mut self, p: &Packet, of: Of) -> bool {
        let Some(certain) = &mut self.certain else { return false };
        let Some((ticks, late)) = certain.older(p, of) else { return false };
        if certain.ticks == 0 {
            return false;
        }
        let older = f64::from(ticks) / f64::from(certain.ticks);
        older + late.secs_f64() / certain.longest.secs_f64() > 0.5
    }

    /// It is the same as another one, but so may a retransmission be.
    #[cold]
    fn looks_like_copy(&mut self, p: &Packet, of: Of, place: &mut Print, age: Span) -> bool {
        // A SYN/ACK goes by the server's timer, and when the SYN comes again.
        let opens = p.control.contains(Control::SYN) && !p.control.contains(Control::ACK);
        if is_identified(p) || opens {
            self.is_certain(p, of, age);
            return true;
        }
        let ticks = p.options.timestamps.is_some();
        let at_once = match (carries(p), ticks) {
            (false, _) => Span::ZERO,
            (true, true) => WITHIN_TICK,
            (true, false) => WITHIN_LEAST,
        };
        if ticks && self.same.count_ones() >= MANY {
            self.is_certain(p, of, age);
        }
        let systematic = u32::from(self.copies) * ONE_OF >= self.packets.into();
        let reach = if systematic { self.longest().times(GROWS) } else { Span::ZERO };
        let copy = age <= at_once.max(reach);
        if !copy {
            place.at = micros(p.at);
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

/// Of what a packet says. That of a super-segment is that of its first segment.
#[inline]
fn print(p: &Packet) -> u64 {
    let id = p.ip_id.unwrap_or(0);
    let len = if is_cut(p) { 1 } else { p.len };
    let words = [
        u64::from(p.seq.0) << 32 | u64::from(p.ack.0),
        u64::from(len) << 32 | u64::from(id) << 16 | u64::from(p.wnd),
        stamps(p),
        control_and_block(p),
    ];
    mixed(words)
}

/// Of what all segments of a super-segment say.
fn print_of_all(p: &Packet, of: u64) -> u64 {
    mixed([u64::from(p.ack.0) << 16 | u64::from(p.wnd), of, stamps(p), control_and_block(p)])
}

/// What is sent as one packet may come as several.
#[inline]
fn is_cut(p: &Packet) -> bool {
    is_identified(p) && p.len > 0
}

#[inline]
fn stamps(p: &Packet) -> u64 {
    let ts = p.options.timestamps.unwrap_or_default();
    u64::from(ts.val) << 32 | u64::from(ts.ecr)
}

/// Of what is cut, the last segment alone has some bits, or the first one has (CWR).
#[inline]
fn control_and_block(p: &Packet) -> u64 {
    let varying = if is_cut(p) { Control::PSH.0 | Control::FIN.0 | Control::CWR.0 } else { 0 };
    // A D-SACK may differ from the ACK before it in nothing but that the first block stands there
    // twice (RFC 2883 section 4).
    let blocks = match p.options.sack.as_slice() {
        [] => 0,
        [first] => u64::from(first.right.0),
        [first, second, ..] => {
            u64::from(first.right.0) ^ u64::from(!second.right.0).rotate_left(16)
        }
    };
    u64::from(p.control.0 & !varying) << 56 ^ blocks
}

#[inline]
fn mixed(words: [u64; 4]) -> u64 {
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
