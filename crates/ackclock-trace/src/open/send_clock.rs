//! When a segment left a sender that the capture was not taken at: its timestamp says it.
//!
//! What a queue before the capture adds to the way of a segment is what passes between its
//! timestamp and its arrival, beyond the least such time of the connection. Linux, Windows, macOS
//! and FreeBSD count milliseconds (RFC 7323 section 5.4 admits 1 ms to 1 s). A clock that does not
//! fit says nothing.

use ackclock_tcp::{Span, Time};

use crate::sender::TICK;

/// In percent of the time that has passed at the capture: with fewer ticks the clock is a slower
/// one, or the queue too long for so short a connection; with more it is a faster one.
const TICKS: [u64; 2] = [60, 105];
/// Clocks run apart by less than one part of so many. So much a queue that never empties is
/// underestimated.
const DRIFT: i64 = 10_000;

/// The clock of one sender beside that of the capture.
#[derive(Default)]
pub(super) struct SendClock {
    /// The first timestamp, and when it was seen.
    first: Option<(u32, Time)>,
    /// The least time, in ns, by which data came later than its timestamp, beyond that of the
    /// first, and how long after that one this was, in ns. A small packet has no part in it: it
    /// takes less time on its way.
    least: Option<[i64; 2]>,
    /// The last segment waited for so long in queues.
    queued: Span,
}

impl SendClock {
    /// A SYN with this timestamp was seen. The first one counts.
    pub fn begin(&mut self, tsval: u32, at: Time) {
        self.first.get_or_insert((tsval, at));
    }

    /// Data with this timestamp passes the capture. Returns when it was sent, plus the shortest way
    /// from the sender to the capture.
    #[inline]
    pub fn sent(&mut self, tsval: u32, at: Time) -> Time {
        let (first, since) = *self.first.get_or_insert((tsval, at));
        let counted = TICK.times(u64::from(tsval.wrapping_sub(first)));
        let passed = at.since(since);
        let [few, many] = TICKS.map(|part| (passed.0 / 100).saturating_mul(part));
        self.queued = Span::ZERO;
        if (few..=many.saturating_add(TICK.0)).contains(&counted.0) {
            let late = passed.0 as i64 - counted.0 as i64;
            let now = passed.0 as i64;
            let drifted = |[least, then]: [i64; 2]| least + (now - then) / DRIFT;
            let least = self.least.map_or(late, |least| drifted(least).min(late));
            self.least = Some([least, now]);
            self.queued = Span((late - least) as u64) - TICK;
        }
        Time(at.0 - self.queued.0)
    }

    /// The last segment was sent earlier than by the shortest way.
    #[inline]
    pub fn is_queued(&self) -> bool {
        self.queued > Span::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Timestamps and arrivals in milliseconds; when each segment was sent, to 0.01 ms, as what
    /// clocks may run apart is less.
    fn sent(first: Option<(u32, f64)>, segments: &[(u32, f64)]) -> Vec<f64> {
        let at = |ms: f64| Time((ms * 1e6).round() as u64);
        // Both wrap or begin somewhere.
        [0, u32::MAX - 20]
            .map(|base| {
                let mut clock = SendClock::default();
                if let Some((tsval, ms)) = first {
                    clock.begin(base.wrapping_add(tsval), at(ms));
                }
                let sent = segments
                    .iter()
                    .map(|&(tsval, ms)| clock.sent(base.wrapping_add(tsval), at(ms)));
                sent.map(|at| (at.0 as f64 / 1e4).round() / 100.0).collect::<Vec<_>>()
            })
            .into_iter()
            .reduce(|a, b| {
                assert_eq!(a, b);
                a
            })
            .unwrap()
    }

    /// A round trip of 50 ms. Three segments leave together, and the bottleneck takes 4 ms for
    /// each: the second and the third were sent at the end of the tick at the latest.
    #[test]
    fn a_burst_that_waits() {
        let burst = [(50, 154.0), (50, 158.0), (50, 162.0)];
        assert_eq!(sent(Some((0, 100.0)), &burst), [154.0, 155.0, 155.0]);
    }

    /// The SYN is shorter than data and takes less time on its way: that is no queue.
    #[test]
    fn the_first_data_has_waited_for_nothing() {
        assert_eq!(sent(Some((0, 100.0)), &[(50, 174.0), (100, 224.0)]), [174.0, 224.0]);
    }

    /// A segment that comes sooner than all before it shows that these had waited.
    #[test]
    fn the_least_counts() {
        let segments = [(100, 210.0), (110, 215.0), (120, 230.0)];
        assert_eq!(sent(Some((0, 100.0)), &segments), [210.0, 215.0, 226.0]);
    }

    /// The sender's clock loses 50 microseconds in a second: after ten minutes that is no queue of
    /// 30 ms. One that builds up within a second is.
    #[test]
    fn clocks_run_apart() {
        let at = |ms: u32| 100.0 + f64::from(ms) * 1.00005;
        let mut segments: Vec<_> = (1..6000).map(|n| (n * 100, at(n * 100))).collect();
        segments.push((600_000, at(600_000) + 20.0));
        let found = sent(Some((0, 100.0)), &segments);
        let waited: Vec<f64> =
            segments.iter().zip(found).map(|((_, at), sent)| at - sent).collect();
        let (last, others) = waited.split_last().unwrap();
        assert!(others.iter().all(|waited| waited.abs() < 0.01));
        assert!((18.9..19.1).contains(last), "{last}");
    }

    #[test]
    fn any_time_is_taken() {
        let mut clock = SendClock::default();
        clock.begin(7, Time::ZERO);
        assert_eq!(clock.sent(8, Time(u64::MAX - 1)), Time(u64::MAX - 1));
    }

    /// Ticks of 10 ms, of 4 ms and of a microsecond say nothing, nor does a queue that is longer
    /// than most of the connection so far.
    #[test]
    fn another_clock() {
        for (ticks, step) in [(10, 100.0), (25, 100.0), (100_000, 100.0), (0, 100.0)] {
            let segments: Vec<_> =
                (1..9).map(|n| (n * ticks, 100.0 + f64::from(n) * step)).collect();
            let arrived: Vec<f64> = segments.iter().map(|(_, at)| *at).collect();
            assert_eq!(sent(Some((0, 100.0)), &segments), arrived, "{ticks}");
        }
    }
}
