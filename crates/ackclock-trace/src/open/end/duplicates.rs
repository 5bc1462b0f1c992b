//! Frames that the capture has twice: by a mirror port of both directions, or on several interfaces
//! of one host.

use std::hash::Hasher;

use ackclock_tcp::Span;
use ackclock_tcp::wire::Control;
use rustc_hash::FxHasher;

use crate::packet::Packet;

/// How much later the second copy may be. A sender counts IP identifications up, so that this may
/// be longer than a round trip.
const WITHIN: Span = Span::from_millis(100);
/// The same where copies and retransmissions have no identification to differ by (IPv6), only a
/// timestamp, which may be of the same tick.
const WITHIN_TICK: Span = Span::from_micros(500);
/// The same where they have no timestamp either: but in a datacenter no loss is repaired so soon.
const WITHIN_LEAST: Span = Span::from_micros(100);
/// How many packets back the first copy is looked for.
const REACH: usize = 8;

/// The last few packets of one end, by which frames are found that a capture has twice.
#[derive(Debug, Default)]
pub struct Recent {
    prints: [u32; REACH],
    /// In microseconds.
    times: [u32; REACH],
    next: u8,
    duplicates: u32,
}

impl Recent {
    /// Packets that were there a moment ago.
    pub fn duplicates(&self) -> u64 {
        u64::from(self.duplicates)
    }

    /// Whether this packet was there a moment ago; takes note of it.
    #[inline]
    pub fn contains(&mut self, p: &Packet) -> bool {
        let within = match p.ip_id {
            Some(1..) => WITHIN,
            _ if !carries(p) => return false,
            _ if p.options.timestamps.is_some() => WITHIN_TICK,
            _ => WITHIN_LEAST,
        };
        let print = print(p);
        let now = (p.at.0 / 1000) as u32;
        let within = (within.0 / 1000) as u32;
        let seen = self.prints.iter().position(|&x| x == print);
        if seen.is_some_and(|i| now.abs_diff(self.times[i]) <= within) {
            self.duplicates = self.duplicates.saturating_add(1);
            return true;
        }
        let i = usize::from(self.next) % REACH;
        (self.prints[i], self.times[i]) = (print, now);
        self.next = self.next.wrapping_add(1);
        false
    }
}

/// Whether it carries something that is acknowledged. ACKs alone may be the same twice.
fn carries(p: &Packet) -> bool {
    p.len > 0 || p.control.contains(Control::SYN) || p.control.contains(Control::FIN)
}

#[inline]
fn print(p: &Packet) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(u64::from(p.seq.0) << 32 | u64::from(p.ack.0));
    let bits = u64::from(p.len) << 32 | u64::from(p.ip_id.unwrap_or(0)) << 16 | u64::from(p.wnd);
    hasher.write_u64(bits);
    let ts = p.options.timestamps.unwrap_or_default();
    hasher.write_u64(u64::from(ts.val) << 32 | u64::from(ts.ecr));
    hasher.write_u64(
        u64::from(p.control.0) << 56
            ^ u64::from(p.options.sack.as_slice().first().map_or(0, |b| b.right.0)),
    );
    // The low bits are those that depend on all of what was written. 0 is an empty place.
    hasher.finish() as u32 | 1
}
