//! Controlled delay (RFC 8289 section 5: the pseudocode).
//!
//! A packet is judged when it leaves the queue, by how long it was there, its sojourn time. If that
//! stays at `target` or above for an `interval`, packets are dropped, at times that move closer to
//! each other with the square root of their number, until one has waited for less.
//!
//! - With ECN a packet is marked where it would be dropped, and leaves; that counts as a drop, and
//!   one event marks at most one packet (Linux's `codel_dequeue`).
//! - Times are whole nanoseconds; the control law rounds down.
//! - MAXPACKET is a setting, `mtu`, since a link here has none.
//! - A queue has a limit in packets, as Linux's `codel_qdisc_enqueue` has; the RFC's has none.

use super::Codel;
use super::line::Queued;

/// A CoDel queue's state. The field names are the RFC's.
#[derive(Clone, Debug)]
pub(crate) struct CodelState {
    pub(crate) limit: usize,
    target: u64,
    interval: u64,
    maxpacket: u64,
    /// When the sojourn time will have been at the target or above for an interval, if it is.
    first_above_time: Option<u64>,
    drop_next: u64,
    pub(super) count: u32,
    lastcount: u32,
    dropping: bool,
    ecn: bool,
    pub(crate) dropped_early: u64,
    pub(crate) marked: u64,
}

impl CodelState {
    pub(crate) fn new(config: &Codel) -> Self {
        CodelState {
            limit: config.limit as usize,
            target: config.target.0,
            interval: config.interval.0,
            maxpacket: config.mtu.into(),
            first_above_time: None,
            drop_next: 0,
            count: 0,
            lastcount: 0,
            dropping: false,
            ecn: config.ecn,
            dropped_early: 0,
            marked: 0,
        }
    }

    /// The next packet to be sent. `pop` takes the first one and returns it with the bytes behind
    /// it. Those that are dropped go to `dropped`.
    pub(crate) fn dequeue(
        &mut self,
        now: u64,
        mut pop: impl FnMut() -> Option<(Queued, u64)>,
        mut dropped: impl FnMut(Queued),
    ) -> Option<Queued> {
        let (mut first, mut ok_to_drop) = self.dodequeue(now, &mut pop);
        if self.dropping {
            self.dropping = ok_to_drop;
            // A large backlog may need several drops at once.
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if self.mark(&mut first) {
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                self.drop(first, &mut dropped);
                (first, ok_to_drop) = self.dodequeue(now, &mut pop);
                self.dropping = ok_to_drop;
                if self.dropping {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok_to_drop {
            if !self.mark(&mut first) {
                self.drop(first, &mut dropped);
                (first, _) = self.dodequeue(now, &mut pop);
            }
            self.dropping = true;
            // Soon after the last time, the rate of drops that controlled the queue then is where
            // to begin.
            let delta = self.count - self.lastcount;
            let soon = now < self.drop_next.saturating_add(self.interval.saturating_mul(16));
            self.count = if delta > 1 && soon { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        first
    }

    /// As fq_codel_drop in Linux has it: packets that were dropped for want of room are a signal
    /// that was sent too.
    pub(super) fn dropped_for_room(&mut self, packets: u32) {
        self.count = self.count.saturating_add(packets);
    }

    /// Marks a packet instead of dropping it, if that can be.
    fn mark(&mut self, packet: &mut Option<Queued>) -> bool {
        let marked = packet.as_mut().is_some_and(|queued| self.ecn && queued.mark());
        self.marked += u64::from(marked);
        marked
    }

    /// The one place where it drops a packet.
    fn drop(&mut self, packet: Option<Queued>, dropped: &mut impl FnMut(Queued)) {
        self.dropped_early += 1;
        packet.into_iter().for_each(dropped);
    }

    /// Takes the first packet, and says whether it may be dropped.
    fn dodequeue(
        &mut self,
        now: u64,
        pop: &mut impl FnMut() -> Option<(Queued, u64)>,
    ) -> (Option<Queued>, bool) {
        let Some((packet, bytes)) = pop() else {
            self.first_above_time = None;
            return (None, false);
        };
        let mut ok_to_drop = false;
        if now - packet.since < self.target || bytes <= self.maxpacket {
            self.first_above_time = None;
        } else if let Some(time) = self.first_above_time {
            ok_to_drop = now >= time;
        } else {
            self.first_above_time = Some(now.saturating_add(self.interval));
        }
        (Some(packet), ok_to_drop)
    }

    fn control_law(&self, time: u64) -> u64 {
        time.saturating_add((self.interval as f64 / f64::from(self.count).sqrt()) as u64)
    }
}

#[cfg(test)]
mod tests;
