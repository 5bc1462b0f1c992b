//! Flow queue CoDel (RFC 8290 section 4; where it leaves a choice, Linux's `fq_codel_enqueue`,
//! `fq_codel_dequeue` and `fq_codel_drop`).
//!
//! Flows are hashed to queues, each with a CoDel state of its own. Deficit round robin serves them:
//! those of the list `new_flows` first, which a queue joins as it gets a packet and leaves with its
//! first quantum, then those of `old_flows`.
//!
//! - Where there are too many packets or bytes, the queue with most bytes loses packets from its
//!   head: half of its bytes, at most 64 packets. They raise its CoDel's `count`, as in Linux.
//! - CoDel lets the last packets of all queues pass, not of each, as in Linux.
//! - The memory limit counts bytes of packets; Linux counts those of its buffers.
//! - The hash is of the flow's number and a number that the seed draws.

use std::collections::VecDeque;

use super::FqCodel;
use super::codel::CodelState;
use super::line::{Line, Queued};
use crate::rng::Rng;

/// As many packets go at once where there are too many (`drop_batch_size`).
const DROP_BATCH: u32 = 64;

/// A queue of those flows that share a hash.
#[derive(Debug)]
struct Flow {
    line: Line,
    codel: CodelState,
    deficit: i64,
    /// It is in one of the lists.
    active: bool,
}

/// The state of all queues. The field names are the kernel's.
#[derive(Debug)]
pub(crate) struct FqCodelState {
    limit: usize,
    memory_limit: u64,
    quantum: i64,
    perturbation: u64,
    flows: Vec<Flow>,
    new_flows: VecDeque<usize>,
    old_flows: VecDeque<usize>,
    /// Packets of all queues.
    packets: usize,
    /// Their bytes.
    backlog: u64,
}

impl FqCodelState {
    pub(crate) fn new(config: &FqCodel, mut rng: Rng) -> Self {
        let flow = || Flow {
            line: Line::default(),
            codel: CodelState::new(&config.codel),
            deficit: 0,
            active: false,
        };
        FqCodelState {
            limit: config.codel.limit as usize,
            memory_limit: config.memory,
            quantum: config.quantum.into(),
            perturbation: (rng.unit() * (1u64 << 53) as f64) as u64,
            flows: std::iter::repeat_with(flow).take(config.flows as usize).collect(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            packets: 0,
            backlog: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.packets
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.backlog
    }

    /// The packets of all queues, one queue after the other.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Queued> {
        self.flows.iter().flat_map(|flow| flow.line.iter())
    }

    /// Packets that CoDel dropped.
    pub(crate) fn dropped_early(&self) -> u64 {
        self.flows.iter().map(|flow| flow.codel.dropped_early).sum()
    }

    /// Packets that CoDel marked.
    pub(crate) fn marked(&self) -> u64 {
        self.flows.iter().map(|flow| flow.codel.marked).sum()
    }

    /// A packet joins its queue. Those for which there is no room then go to `dropped`.
    pub(crate) fn enqueue(&mut self, packet: Queued, dropped: impl FnMut(Queued)) {
        let index = self.queue_of(packet.packet.flow);
        self.packets += 1;
        self.backlog += u64::from(packet.packet.size);
        let flow = &mut self.flows[index];
        flow.line.push(packet);
        if !flow.active {
            flow.active = true;
            flow.deficit = self.quantum;
            self.new_flows.push_back(index);
        }
        if self.packets > self.limit || self.backlog > self.memory_limit {
            self.make_room(dropped);
        }
    }

    /// The next packet to be sent. Those that CoDel drops go to `dropped`.
    pub(crate) fn dequeue(&mut self, now: u64, mut dropped: impl FnMut(Queued)) -> Option<Queued> {
        loop {
            let is_new = !self.new_flows.is_empty();
            let list = if is_new { &mut self.new_flows } else { &mut self.old_flows };
            let index = list.pop_front()?;
            let Flow { line, codel, deficit, active } = &mut self.flows[index];
            if *deficit <= 0 {
                *deficit += self.quantum;
                self.old_flows.push_back(index);
                continue;
            }
            let (packets, backlog) = (&mut self.packets, &mut self.backlog);
            let pop = || {
                let packet = line.pop()?;
                *packets -= 1;
                *backlog -= u64::from(packet.packet.size);
                Some((packet, *backlog))
            };
            if let Some(packet) = codel.dequeue(now, pop, &mut dropped) {
                *deficit -= i64::from(packet.packet.size);
                list.push_front(index);
                return Some(packet);
            }
            // Through the other list first, so that new queues can not starve old ones.
            *active = is_new;
            if is_new {
                self.old_flows.push_back(index);
            }
        }
    }

    /// Takes the next packet, in whatever order: all of them go.
    pub(crate) fn pop_any(&mut self) -> Option<Queued> {
        let flow = self.flows.iter_mut().find(|flow| flow.line.len() > 0)?;
        let packet = flow.line.pop()?;
        self.packets -= 1;
        self.backlog -= u64::from(packet.packet.size);
        Some(packet)
    }

    fn make_room(&mut self, mut dropped: impl FnMut(Queued)) {
        let Some(most) = self.flows.iter().map(|flow| flow.line.bytes).max() else { return };
        let Some(flow) = self.flows.iter_mut().find(|flow| flow.line.bytes == most) else { return };
        let (mut packets, mut bytes) = (0, 0);
        while packets < DROP_BATCH
            && (packets == 0 || bytes < most / 2)
            && let Some(packet) = flow.line.pop()
        {
            packets += 1;
            bytes += u64::from(packet.packet.size);
            dropped(packet);
        }
        flow.codel.dropped_for_room(packets);
        self.packets -= packets as usize;
        self.backlog -= bytes;
    }

    /// Which queue a flow's packets join. The mixer is that of SplitMix64.
    fn queue_of(&self, flow: u32) -> usize {
        let mut hash = self.perturbation.wrapping_add(u64::from(flow) + 1);
        hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^= hash >> 31;
        ((u128::from(hash) * self.flows.len() as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests;
