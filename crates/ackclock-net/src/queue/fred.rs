//! Flow random early drop (D. Lin, R. Morris, "Dynamics of Random Early Detection", SIGCOMM 1997:
//! the pseudo-code, and the extension by which a gateway with two packets' room for each flow
//! supports many of them).
//!
//! RED with an account for each *active* flow, that is, one with packets in the queue. The account
//! holds `qlen`, the number of its packets there, and `strike`, how often it did not respond to
//! drops. Up to `minq` packets of a flow are safe from random drops. So a fragile flow, with a
//! packet or two at a time, does not pay for the robust ones. No flow holds more than `maxq`. A
//! flow that ran into that limit more than once may hold no more than the average flow, `avgcq`,
//! until its packets are gone.
//!
//! The paper's text was not at hand. This is inferred from its abstract, from what later papers say
//! of it (Stoica, Shenker & Zhang, SIGCOMM 1998: "FRED-2 ... guarantees to each flow a minimum
//! number of buffers") and from implementations that cite its pseudo-code:
//! - The order of the tests below. Lines A, B and C are marked in the pseudo-code: without
//!   `many_flows` B and C are in force, with it A is (B could then never apply, and C would undo
//!   A).
//! - The average sees what an arrival found, if it is let in, and what a departure left. A dropped
//!   packet moves it only if the queue is empty; idle time counts once.
//! - `avgcq` is that of the moment of the decision, at least one packet.
//! - A packet leaves the queue when its transmission begins, and thresholds count packets: as for
//!   RED here.
//! - A full buffer neither strikes nor resets `count`.

use std::collections::VecDeque;

use super::Fred;
use super::red::{Average, Verdict, Waiting, between_thresholds, spread};
use crate::rng::Rng;

/// The account of a flow; all zero while it has no packet in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Account {
    qlen: u32,
    strike: u32,
}

/// A FRED queue's state. The field names are the paper's.
#[derive(Debug)]
pub(crate) struct FredState {
    config: Fred,
    avg: Average,
    /// Packets since the last random drop; -1 before the first one between the thresholds.
    count: i64,
    /// Flows with packets in the queue.
    nactive: u32,
    /// By the number of the flow.
    accounts: Vec<Account>,
    /// The flows of the packets in the queue as of the last arrival.
    queue: VecDeque<u32>,
    /// How much of the present idle time the average has seen, in seconds.
    idle_seen: f64,
    pub(crate) dropped_early: u64,
    rng: Rng,
}

impl FredState {
    pub(crate) fn new(config: Fred, rate: u64, rng: Rng) -> Self {
        FredState {
            avg: Average::new(config.w_q, rate, config.mean_packet_size),
            count: -1,
            nactive: 0,
            accounts: Vec::new(),
            queue: VecDeque::new(),
            idle_seen: 0.0,
            dropped_early: 0,
            config,
            rng,
        }
    }

    /// A packet of `flow` arrives.
    pub(crate) fn arrive(&mut self, waiting: Waiting, flow: u32) -> Verdict {
        self.depart_until(waiting.packets);
        let empty = waiting.packets == 0;
        if empty {
            let idle_for = waiting
                .idle_for
                .map(|seconds| seconds - std::mem::replace(&mut self.idle_seen, seconds));
            self.avg.update(0.0, idle_for);
        }
        let at = flow as usize;
        if at >= self.accounts.len() {
            self.accounts.resize(at + 1, Account::default());
        }
        let verdict = self.judge(waiting.packets, at);
        if verdict == Verdict::Enqueue {
            if !empty {
                self.avg.update(f64::from(waiting.packets), None);
            }
            self.idle_seen = 0.0;
            self.nactive += u32::from(self.accounts[at].qlen == 0);
            self.accounts[at].qlen += 1;
            self.queue.push_back(flow);
        }
        self.dropped_early += u64::from(verdict == Verdict::Early);
        verdict
    }

    /// Makes up for the departures since the last arrival.
    fn depart_until(&mut self, waiting: u32) {
        while self.queue.len() > waiting as usize
            && let Some(flow) = self.queue.pop_front()
        {
            self.avg.update(self.queue.len() as f64, None);
            let account = &mut self.accounts[flow as usize];
            account.qlen -= 1;
            if account.qlen == 0 {
                *account = Account::default();
                self.nactive -= 1;
            }
        }
    }

    fn judge(&mut self, waiting: u32, at: usize) -> Verdict {
        let Fred { limit, min_th, max_th, max_p, minq, many_flows, .. } = self.config;
        let avg = self.avg.value;
        let avgcq = (avg / f64::from(self.nactive.max(1))).max(1.0);
        let account = &mut self.accounts[at];
        let qlen = f64::from(account.qlen);
        let crowded = avg >= max_th;

        // Line A.
        let maxq = if crowded && many_flows { 2.0 } else { min_th };
        // Flows that do not adapt; line B is the second condition.
        if qlen >= maxq || (crowded && qlen > 2.0 * avgcq) || (qlen >= avgcq && account.strike > 1)
        {
            account.strike = account.strike.saturating_add(1);
            return Verdict::Early;
        }
        if avg < min_th {
            self.count = -1;
        } else if !crowded {
            self.count += 1;
            let p = || spread(between_thresholds(avg, min_th, max_th, max_p), self.count as f64);
            if qlen >= avgcq.max(f64::from(minq)) && self.rng.chance(p()) {
                self.count = 0;
                return Verdict::Early;
            }
        } else {
            self.count = 0;
            if !many_flows {
                // Line C.
                return Verdict::Early;
            }
        }
        if waiting >= limit { Verdict::Full } else { Verdict::Enqueue }
    }
}

#[cfg(test)]
mod tests;
