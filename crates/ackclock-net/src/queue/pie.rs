//! Proportional integral controller enhanced (PIE, RFC 8033 sections 4, 5.4 and 5.5; the
//! pseudocode of its appendix A).
//!
//! Every `t_update` a drop probability follows from the queueing delay and its change. Packets that
//! arrive are dropped with it.
//!
//! - The delay is the time that the last packet spent in the queue, and 0 once that is empty, as in
//!   Linux's `pie_process_dequeue`. So it does not stay high while nothing comes.
//! - Updates that are due are made up for when the next packet comes or leaves, since only then
//!   does the delay change. They need no events.
//! - A queue has a limit in packets, as in Linux's `pie_qdisc_enqueue`.

use super::Pie;
use super::red::Verdict;
use crate::rng::Rng;

/// At a higher probability ECN-capable packets are dropped as others are (section 5.1).
const MARK_ECNTH: f64 = 0.1;

/// With a cap, from which probability on it grows by how much at most (section 5.5).
const CAPPED_ABOVE: f64 = 0.1;
const MOST_STEP: f64 = 0.02;

/// A PIE queue's state. The field names are the RFC's; delays are in seconds.
#[derive(Debug)]
pub(crate) struct PieState {
    config: Pie,
    drop_prob: f64,
    burst_allowance: u64,
    qdelay_old: f64,
    current_qdelay: f64,
    accu_prob: f64,
    next_update: u64,
    pub(crate) dropped_early: u64,
    pub(crate) marked: u64,
    rng: Rng,
}

impl PieState {
    pub(crate) fn new(config: Pie, rng: Rng) -> Self {
        PieState {
            drop_prob: 0.0,
            burst_allowance: 0,
            qdelay_old: 0.0,
            current_qdelay: 0.0,
            accu_prob: 0.0,
            next_update: config.t_update.0,
            config,
            dropped_early: 0,
            marked: 0,
            rng,
        }
    }

    /// A packet arrives, ECN-capable or not, and so many packets and bytes wait.
    pub(crate) fn arrive(
        &mut self,
        now: u64,
        packets: usize,
        bytes: u64,
        capable: bool,
    ) -> Verdict {
        self.update_until(now);
        if self.is_calm() {
            self.burst_allowance = self.config.max_burst.0;
        }
        let verdict = if packets >= self.config.limit as usize {
            Verdict::Full
        } else if self.burst_allowance == 0 && self.drop_early(bytes) {
            if self.config.ecn && capable && self.drop_prob <= MARK_ECNTH {
                self.marked += 1;
                return Verdict::Mark;
            }
            self.dropped_early += 1;
            Verdict::Early
        } else {
            return Verdict::Enqueue;
        };
        self.accu_prob = 0.0;
        verdict
    }

    /// A packet leaves that joined the queue at `since`, and leaves it empty or not.
    pub(crate) fn leave(&mut self, now: u64, since: u64, empty: bool) {
        self.update_until(now);
        self.current_qdelay = if empty { 0.0 } else { (now - since) as f64 * 1e-9 };
    }

    fn half_ref(&self) -> f64 {
        self.config.target.secs_f64() / 2.0
    }

    /// Nothing is dropped, and delays are short.
    fn is_calm(&self) -> bool {
        self.drop_prob == 0.0
            && self.current_qdelay < self.half_ref()
            && self.qdelay_old < self.half_ref()
    }

    /// The one place where it drops a packet before the queue is full.
    fn drop_early(&mut self, bytes: u64) -> bool {
        if self.qdelay_old < self.half_ref() && self.drop_prob < 0.2
            || bytes <= 2 * u64::from(self.config.mean_packet_size)
        {
            return false;
        }
        if self.config.derandomize {
            if self.drop_prob == 0.0 {
                self.accu_prob = 0.0;
            }
            self.accu_prob += self.drop_prob;
            if self.accu_prob < 0.85 {
                return false;
            }
            if self.accu_prob >= 8.5 {
                return true;
            }
        }
        self.rng.chance(self.drop_prob)
    }

    /// Makes up for the updates until `now`.
    fn update_until(&mut self, now: u64) {
        while self.next_update <= now {
            let before = (self.drop_prob, self.qdelay_old, self.burst_allowance);
            self.calculate_drop_prob();
            let every = self.config.t_update.0;
            self.next_update += every;
            if before == (self.drop_prob, self.qdelay_old, self.burst_allowance) {
                // So all others that are due change nothing either.
                self.next_update += (now + every).saturating_sub(self.next_update) / every * every;
            }
        }
    }

    fn calculate_drop_prob(&mut self) {
        let Pie { target, t_update, alpha, beta, .. } = self.config;
        let delay = self.current_qdelay;
        let p = alpha * (delay - target.secs_f64()) + beta * (delay - self.qdelay_old);
        let step = p / auto_tuning(self.drop_prob);
        let capped = self.config.cap && self.drop_prob >= CAPPED_ABOVE;
        self.drop_prob += if capped { step.min(MOST_STEP) } else { step };
        if delay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = delay;
        self.burst_allowance = self.burst_allowance.saturating_sub(t_update.0);
    }
}

/// By what a change is divided: small probabilities take small steps.
fn auto_tuning(drop_prob: f64) -> f64 {
    match drop_prob {
        p if p < 0.000_001 => 2048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests;
