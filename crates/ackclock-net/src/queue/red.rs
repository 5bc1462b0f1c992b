//! Random early detection (Floyd & Jacobson 1993), with the details of ns-2.35.

use super::Red;
use crate::rng::Rng;

/// What the queue looks like to an arriving packet; the packet in transmission does not count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    /// Packets that wait.
    pub(crate) packets: u32,
    /// Their bytes.
    pub(crate) bytes: u64,
    /// For how many seconds the transmitter has been idle, if it is.
    pub(crate) idle_for: Option<f64>,
}

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It joins the queue.
    Enqueue,
    /// It is dropped early.
    Early,
    /// It is dropped since the queue is full.
    Full,
}

/// A RED queue's state. The field names are the paper's: `avg`, `count`.
#[derive(Debug)]
pub(crate) struct RedState {
    config: Red,
    /// Limit and thresholds in the unit in which the queue is measured.
    limit: f64,
    min_th: f64,
    max_th: f64,
    /// Packets of mean size that the link carries in a second.
    packets_per_second: f64,
    avg: f64,
    /// Packets, and their bytes, since the last early drop or since the average crossed `min_th`.
    count: u64,
    count_bytes: u64,
    /// The average was above `min_th` at the last arrival.
    above: bool,
    pub(crate) dropped_early: u64,
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
            packets_per_second: rate as f64 / (8.0 * mean),
            config,
            avg: 0.0,
            count: 0,
            count_bytes: 0,
            above: false,
            dropped_early: 0,
            rng,
        }
    }

    /// A packet of `size` bytes arrives.
    pub(crate) fn arrive(&mut self, waiting: Waiting, size: u32) -> Verdict {
        let queue = if self.config.queue_in_bytes { waiting.bytes as f64 } else { f64::from(waiting.packets) };
        self.update_average(queue, waiting.idle_for);
        self.count += 1;
        self.count_bytes += u64::from(size);

        let mut verdict = Verdict::Enqueue;
        if self.avg >= self.min_th && queue > 1.0 {
            if !self.above {
                self.above = true;
                self.count = 1;
                self.count_bytes = u64::from(size);
            } else {
                let p = self.probability(size);
                if p > 0.0 && self.rng.chance(p) {
                    verdict = Verdict::Early;
                }
            }
        } else {
            self.above = false;
        }
        if queue >= self.limit {
            verdict = Verdict::Full;
        }
        self.dropped_early += u64::from(verdict == Verdict::Early);
        if verdict != Verdict::Enqueue {
            self.count = 0;
            self.count_bytes = 0;
        }
        verdict
    }

    /// The exponentially weighted average. While the transmitter was idle, as many packets of mean size as it could have
    /// sent are taken to have found the queue empty (section 4).
    fn update_average(&mut self, queue: f64, idle_for: Option<f64>) {
        let keep = 1.0 - self.config.w_q;
        if let Some(seconds) = idle_for {
            self.avg *= power(keep, (self.packets_per_second * seconds) as u64);
        }
        self.avg = self.avg * keep + self.config.w_q * queue;
    }

    /// The drop probability by the average alone, p_b in the paper.
    fn base_probability(&self) -> f64 {
        let max_p = self.config.max_p;
        let p = if self.avg < self.max_th {
            max_p * (self.avg - self.min_th) / (self.max_th - self.min_th)
        } else if self.config.gentle {
            max_p + (1.0 - max_p) * (self.avg - self.max_th) / self.max_th
        } else {
            1.0
        };
        p.min(1.0)
    }

    /// The drop probability of this packet, p_a in the paper: it makes the distance between drops uniform.
    fn probability(&self, size: u32) -> f64 {
        let p = self.base_probability();
        let mean = self.config.mean_packet_size;
        let count = if self.config.byte_mode { self.count_bytes / u64::from(mean.max(1)) } else { self.count } as f64;
        let p = match (self.config.wait, count * p) {
            (false, x) if x < 1.0 => p / (1.0 - x),
            (true, x) if x < 1.0 => 0.0,
            (true, x) if x < 2.0 => p / (2.0 - x),
            _ => 1.0,
        };
        if self.config.byte_mode && p < 1.0 { (p * f64::from(size) / f64::from(mean)).min(1.0) } else { p.min(1.0) }
    }
}

/// `x` to the `n`-th by squaring: unlike the platform's, the same to the last bit everywhere.
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
#[path = "tests.rs"]
mod tests;
