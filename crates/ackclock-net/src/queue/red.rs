//! Random early detection (Floyd & Jacobson 1993), with the details of ns-2.35.
//!
//! With ECN a packet that would be dropped early is marked, also above the upper threshold, as
//! Linux's `red_enqueue` does without `harddrop`.

use super::Red;
use crate::rng::Rng;

/// What the queue looks like to an arriving packet; the packet in transmission does not count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// Packets that wait.
    pub(crate) packets: u32,
    /// For how many seconds the transmitter has been idle, if it is.
    pub(crate) idle_for: Option<f64>,
}

impl Waiting {
    /// Nothing, and the transmitter has been idle for so many nanoseconds.
    pub(crate) fn none(idle: u64) -> Waiting {
        // A signed number takes fewer instructions, and there are 292 years to it.
        Waiting { packets: 0, idle_for: Some(idle as i64 as f64 * 1e-9) }
    }
}

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It joins the queue.
    Enqueue,
    /// It joins the queue with a mark, in place of an early drop.
    Mark,
    /// It is dropped early.
    Early,
    /// It is dropped since the queue is full.
    Full,
}

impl Verdict {
    /// Whether there is room decides alone.
    pub(crate) fn full_if(full: bool) -> Verdict {
        if full { Verdict::Full } else { Verdict::Enqueue }
    }

    /// An early drop, or the mark in its place.
    pub(super) fn early(marks: bool) -> Verdict {
        if marks { Verdict::Mark } else { Verdict::Early }
    }
}

/// A RED queue's state. The field names are the paper's: `avg`, `count`.
#[derive(Debug)]
pub(crate) struct RedState {
    config: Red,
    /// Limit and thresholds in the unit in which the queue is measured.
    limit: f64,
    min_th: f64,
    max_th: f64,
    avg: Average,
    /// Packets, and their bytes, since the last early drop or since the average crossed `min_th`.
    /// Below it they say nothing.
    count: u64,
    count_bytes: u64,
    /// The average was above `min_th` at the last arrival.
    above: bool,
    pub(crate) dropped_early: u64,
    pub(crate) marked: u64,
    rng: Rng,
}

impl RedState {
    pub(crate) fn new(config: Red, rate: u64, rng: Rng) -> Self {
        let mean = f64::from(config.mean_packet_size);
        let unit = if config.queue_in_bytes { mean } else { 1.0 };
        RedState {
            limit: f64::from(config.limit) * unit,
            min_th: config.min_th * unit,
            max_th: config.max_th * unit,
            avg: Average::new(config.w_q, rate, config.mean_packet_size),
            config,
            count: 0,
            count_bytes: 0,
            above: false,
            dropped_early: 0,
            marked: 0,
            rng,
        }
    }

    /// Whether it marks packets that are ECN-capable.
    pub(crate) fn marks(&self) -> bool {
        self.config.ecn
    }

    /// A packet of `size` bytes arrives, ECN-capable or not; `bytes` returns how many wait.
    #[inline(always)]
    pub(crate) fn arrive(
        &mut self,
        waiting: Waiting,
        (size, capable): (u32, bool),
        bytes: impl FnOnce() -> u64,
    ) -> Verdict {
        let queue =
            if self.config.queue_in_bytes { bytes() as f64 } else { f64::from(waiting.packets) };
        self.avg.update(queue, waiting.idle_for);

        let mut verdict = Verdict::Enqueue;
        if self.avg.value >= self.min_th && queue > 1.0 {
            if !self.above {
                self.above = true;
                self.count = 1;
                self.count_bytes = u64::from(size);
            } else {
                self.count += 1;
                self.count_bytes += u64::from(size);
                if !self.is_soon() {
                    let p = self.probability(size);
                    if p > 0.0 && self.rng.chance(p) {
                        verdict = Verdict::early(self.config.ecn && capable);
                    }
                }
            }
        } else {
            self.above = false;
        }
        if queue >= self.limit {
            verdict = Verdict::Full;
        }
        self.dropped_early += u64::from(verdict == Verdict::Early);
        self.marked += u64::from(verdict == Verdict::Mark);
        if verdict != Verdict::Enqueue {
            self.count = 0;
            self.count_bytes = 0;
        }
        verdict
    }

    /// The drop probability by the average alone, p_b in the paper.
    fn base_probability(&self) -> f64 {
        let (avg, max_p) = (self.avg.value, self.config.max_p);
        let p = if avg < self.max_th {
            between_thresholds(avg, self.min_th, self.max_th, max_p)
        } else if self.config.gentle {
            max_p + (1.0 - max_p) * (avg - self.max_th) / self.max_th
        } else {
            1.0
        };
        p.min(1.0)
    }

    /// Packets since the last drop, of mean size in byte mode: `count` in the paper.
    #[inline(always)]
    fn distance(&self) -> f64 {
        let count = if self.config.byte_mode {
            self.count_bytes / u64::from(self.config.mean_packet_size.max(1))
        } else {
            self.count
        };
        count as f64
    }

    /// Whether the packet surely comes too soon after a drop for another one (`wait`). This needs
    /// no division, and leaves the exact comparison to [`RedState::probability`].
    #[inline(always)]
    fn is_soon(&self) -> bool {
        let above = self.avg.value - self.min_th;
        self.config.wait
            && self.avg.value < self.max_th
            && self.distance() * self.config.max_p * above < 0.999 * (self.max_th - self.min_th)
    }

    /// The drop probability of this packet, p_a in the paper: it makes the distance between drops
    /// uniform.
    fn probability(&self, size: u32) -> f64 {
        let p = self.base_probability();
        let mean = self.config.mean_packet_size;
        let count = self.distance();
        let p = match (self.config.wait, count * p) {
            (false, _) => spread(p, count),
            (true, x) if x < 1.0 => 0.0,
            (true, x) if x < 2.0 => p / (2.0 - x),
            _ => 1.0,
        };
        if self.config.byte_mode && p < 1.0 {
            (p * f64::from(size) / f64::from(mean)).min(1.0)
        } else {
            p.min(1.0)
        }
    }
}

/// The exponentially weighted average of the queue (section 4).
#[derive(Debug)]
pub(super) struct Average {
    pub(super) value: f64,
    w_q: f64,
    /// 1 - `w_q`.
    keep: f64,
    /// Packets of mean size that the link carries in a second.
    packets_per_second: f64,
    /// The first powers of `keep`: almost all idle times are short.
    powers: [f64; 8],
}

impl Average {
    pub(super) fn new(w_q: f64, rate: u64, mean_packet_size: u32) -> Self {
        Average {
            value: 0.0,
            w_q,
            keep: 1.0 - w_q,
            packets_per_second: rate as f64 / (8.0 * f64::from(mean_packet_size)),
            powers: core::array::from_fn(|n| power(1.0 - w_q, n as u64)),
        }
    }

    /// Averages in a queue that was seen. For an idle time it also counts the packets of mean size
    /// that could have been sent in it: each of them is taken to have found the queue empty.
    #[inline(always)]
    pub(super) fn update(&mut self, queue: f64, idle_for: Option<f64>) {
        if let Some(seconds) = idle_for
            && self.value > 0.0
        {
            let packets = (self.packets_per_second * seconds) as i64 as u64;
            let short = usize::try_from(packets).ok().and_then(|n| self.powers.get(n));
            self.value *= short.copied().unwrap_or_else(|| power(self.keep, packets));
        }
        self.value = self.value * self.keep + self.w_q * queue;
    }
}

/// The drop probability by an average between the thresholds, p_b in the paper.
pub(super) fn between_thresholds(avg: f64, min_th: f64, max_th: f64, max_p: f64) -> f64 {
    max_p * (avg - min_th) / (max_th - min_th)
}

/// p_a in the paper, which makes the distance between drops uniform. `count` is the distance from
/// the last drop.
pub(super) fn spread(p_b: f64, count: f64) -> f64 {
    if count * p_b < 1.0 { p_b / (1.0 - count * p_b) } else { 1.0 }
}

/// `x` to the `n`-th by squaring: unlike the platform's, the same to the last bit everywhere.
#[inline(never)]
fn power(mut x: f64, mut n: u64) -> f64 {
    let mut result = 1.0;
    while n > 0 && result != 0.0 {
        if n & 1 == 1 {
            result *= x;
        }
        x *= x;
        n >>= 1;
    }
    result
}

#[cfg(test)]
mod tests;
