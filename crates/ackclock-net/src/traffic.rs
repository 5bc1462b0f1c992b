//! Sources: what applications write, and when.

mod web;

use ackclock_tcp::{Segment, Span};

use crate::config::{CbrConfig, Dwell, OnOff, Source, TimedWrite};
use crate::packet::{Kind, Options, Packet};
use crate::rng::Rng;
use crate::transmission::transmission_time;
use web::Responses;

/// The bytes of a source without end. No run gets near that many.
const ENDLESS: u64 = 1 << 62;

/// An application at work.
#[derive(Debug)]
pub(crate) enum Writer {
    Endless,
    /// So many bytes at once, and no more.
    Once(u64),
    OnOff(Box<Bursts>),
    Stalls(Box<Stalls>),
    Web(Box<Responses>),
}

/// An application that stalls, at work.
#[derive(Debug)]
pub(crate) struct Stalls {
    start: u64,
    writes: Vec<TimedWrite>,
    next: usize,
    /// Bytes of all writes.
    total: u64,
}

/// One write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) bytes: u64,
    /// Nothing follows.
    pub(crate) last: bool,
    /// When the next one is due; `u64::MAX` for never.
    pub(crate) next: u64,
}

/// An on-off source at work.
#[derive(Debug)]
pub(crate) struct Bursts {
    config: OnOff,
    /// Writes left in this burst.
    left: u64,
    rng: Rng,
}

impl Writer {
    pub(crate) fn new(source: Source, start: u64, rng: impl FnOnce() -> Rng) -> Self {
        match source {
            Source::Bulk => Writer::Endless,
            Source::Fixed(bytes) => Writer::Once(bytes),
            Source::OnOff(config) => {
                Writer::OnOff(Box::new(Bursts { config, left: 0, rng: rng() }))
            }
            Source::Stalls(writes) => {
                let total =
                    writes.iter().fold(0, |sum: u64, write| sum.saturating_add(write.bytes));
                Writer::Stalls(Box::new(Stalls { start, writes, next: 0, total }))
            }
            Source::Web(config) => Writer::Web(Box::new(Responses::new(config, rng()))),
        }
    }

    /// The first write.
    pub(crate) fn first(&self, start: u64) -> u64 {
        match self {
            Writer::Stalls(stalls) => {
                stalls.writes.first().map_or(start, |write| start.saturating_add(write.after.0))
            }
            _ => start,
        }
    }

    /// The bytes that it writes before it waits for their acknowledgment, or ends. `u64::MAX` if
    /// there is no end.
    pub(crate) fn total(&self) -> u64 {
        match self {
            Writer::Once(bytes) => *bytes,
            Writer::Stalls(stalls) => stalls.total,
            Writer::Web(responses) => responses.written,
            _ => u64::MAX,
        }
    }

    /// All that it wrote is acknowledged. Returns when the next write is due; `None` if nothing
    /// follows.
    pub(crate) fn acknowledged(&mut self, now: u64) -> Option<u64> {
        if let Writer::Web(responses) = self { responses.acknowledged(now) } else { None }
    }

    /// The write that is due now.
    pub(crate) fn write(&mut self, now: u64) -> Write {
        match self {
            Writer::Endless => Write { bytes: ENDLESS, last: false, next: u64::MAX },
            Writer::Once(bytes) => Write { bytes: *bytes, last: true, next: u64::MAX },
            Writer::OnOff(bursts) => bursts.write(now),
            Writer::Stalls(stalls) => stalls.write(now),
            Writer::Web(responses) => responses.write(),
        }
    }
}

impl Stalls {
    fn write(&mut self, now: u64) -> Write {
        let bytes = self.writes.get(self.next).map_or(0, |write| write.bytes);
        self.next += 1;
        let following = self
            .writes
            .get(self.next)
            .map(|write| self.start.saturating_add(write.after.0).max(now));
        Write { bytes, last: following.is_none(), next: following.unwrap_or(u64::MAX) }
    }
}

impl Bursts {
    fn write(&mut self, now: u64) -> Write {
        let interval = transmission_nanos(self.config.write, self.config.rate);
        let mut next = now.saturating_add(interval);
        if self.left == 0 {
            let on = self.draw(self.config.on).0;
            self.left = (on.saturating_add(interval / 2) / interval).max(1);
        }
        self.left -= 1;
        if self.left == 0 {
            next = next.saturating_add(self.draw(self.config.off).0);
        }
        Write { bytes: u64::from(self.config.write), last: false, next }
    }

    fn draw(&mut self, dwell: Dwell) -> Span {
        match dwell {
            Dwell::Constant(span) => span,
            Dwell::Exponential(mean) => self.rng.exponential(mean),
        }
    }
}

/// A CBR stream at work.
#[derive(Debug)]
pub(crate) struct Cbr {
    pub(crate) packet_size: u32,
    interval: u64,
    dither: Option<(f64, Rng)>,
    /// Packets sent.
    pub(crate) sent: u64,
    /// Bytes that arrived.
    pub(crate) bytes_arrived: u64,
}

impl Cbr {
    pub(crate) fn new(config: &CbrConfig, rng: impl FnOnce() -> Rng) -> Self {
        Cbr {
            packet_size: config.packet_size,
            interval: transmission_nanos(config.packet_size, config.rate),
            dither: (config.dither > 0.0).then(|| (config.dither, rng())),
            sent: 0,
            bytes_arrived: 0,
        }
    }

    /// The next packet.
    pub(crate) fn datagram(&mut self, flow: u32, hop: u32, options: &mut Options) -> Packet {
        let position = self.sent * u64::from(self.packet_size);
        self.sent += 1;
        let segment = Segment { len: self.packet_size, ..Segment::default() };
        Packet { position, flow, hop, ..Packet::new(Kind::Datagram, &segment, options) }
    }

    /// When the packet after the one sent now is due.
    pub(crate) fn next(&mut self, now: u64) -> u64 {
        let interval = match &mut self.dither {
            None => self.interval,
            Some((dither, rng)) => {
                (self.interval as f64 * (1.0 + *dither * (rng.unit() - 0.5))) as u64
            }
        };
        now.saturating_add(interval.max(1))
    }
}

/// How long `bytes` take at `rate` bits per second, to the nearest nanosecond, at least 1.
fn transmission_nanos(bytes: u32, rate: u64) -> u64 {
    transmission_time(bytes, rate.max(1)).max(1)
}

#[cfg(test)]
mod tests;
