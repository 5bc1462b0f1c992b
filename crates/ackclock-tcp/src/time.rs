//! Time as the engine sees it: whoever drives it says what time it is.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

/// A point in time, in nanoseconds since an origin that the driver chooses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub u64);

impl Time {
    /// The origin.
    pub const ZERO: Time = Time(0);
    /// Later than every deadline.
    pub const NEVER: Time = Time(u64::MAX);

    /// Nanoseconds since the origin.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Whole microseconds since the origin.
    pub(crate) const fn micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds since the origin.
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The timestamp clock: milliseconds, which wrap (RFC 7323 section 5.4 allows 1 ms to 1 s a
    /// tick).
    pub const fn timestamp(self) -> u32 {
        (self.0 / 1_000_000) as u32
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// How many ticks of a coarse timer have come, one at this time included. It ticks at each
    /// `interval` (not zero), also at `phase`.
    pub(crate) const fn ticks(self, interval: Span, phase: Span) -> u64 {
        self.0.saturating_add(interval.0 - phase.0 % interval.0) / interval.0
    }

    /// The first tick after this time, and not at it, of a coarse timer that ticks at `phase` and
    /// then at each `interval` (not zero).
    pub(crate) const fn next_tick(self, interval: Span, phase: Span) -> Time {
        let since_tick = (self.0 % interval.0 + interval.0 - phase.0 % interval.0) % interval.0;
        Time(self.0.saturating_add(interval.0 - since_tick))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// From whole seconds.
    pub const fn from_secs(s: u64) -> Span {
        Span(s.saturating_mul(1_000_000_000))
    }

    /// From whole milliseconds.
    pub const fn from_millis(ms: u64) -> Span {
        Span(ms.saturating_mul(1_000_000))
    }

    /// From whole microseconds.
    pub const fn from_micros(us: u64) -> Span {
        Span(us.saturating_mul(1_000))
    }

    /// From seconds, to the nearest nanosecond; negative values and NaN give zero, and what is too
    /// large, infinity too, the largest span.
    pub fn from_secs_f64(s: f64) -> Span {
        Span((s * 1e9 + 0.5) as u64)
    }

    /// In nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// In whole microseconds.
    pub(crate) const fn micros(self) -> u64 {
        self.0 / 1_000
    }

    /// In seconds.
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This span `k` times over, saturating.
    pub const fn times(self, k: u64) -> Span {
        Span(self.0.saturating_mul(k))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, d: Span) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, d: Span) {
        *self = *self + d;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, d: Span) -> Span {
        Span(self.0.saturating_add(d.0))
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, d: Span) -> Span {
        Span(self.0.saturating_sub(d.0))
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER { f.write_str("never") } else { write!(f, "{}s", self.secs_f64()) }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}s", self.secs_f64())
    }
}

#[cfg(test)]
mod tests;
