//! How much memory a command that serves may take, and what it takes.

use std::fs;

use super::mail::ROOM;
use crate::proc::bytes_of;

/// What is kept for a connection beside what its buffers have grown to: itself, the least of each
/// buffer, a request that is not complete.
pub(super) const CONNECTION: usize = 40 * 1024;

/// The same of one that is not the service's yet: it has no request.
const HANDSHAKE: usize = 24 * 1024;

/// What a connection holds of its buffers, and counts with them: the least of one.
const HELD: usize = 8 * 1024;

/// What the process takes without connections: its code, its stack, buffers of its own.
const PROCESS: usize = 16 << 20;

/// What each further queue takes: a chunk, a packet, and those that it is handed over.
const QUEUE: usize = (1 << 20) + ROOM * (64 << 10);

/// The least that so many queues take: with room for a hundred connections.
pub(super) fn least(queues: usize) -> usize {
    2 * PROCESS + (queues - 1) * QUEUE
}

/// Connections, at most, that are not the service's yet: half open, and not accepted.
const WAITING: usize = 2048;

/// The parts of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Budget {
    /// All of it, in bytes.
    pub all: usize,
    /// What the connections of a queue share with their buffers.
    pub queue: usize,
    /// What of that no buffer takes, so that others can come.
    pub kept: usize,
    /// Connections at the same time, at most.
    pub connections: usize,
    /// Connections of a queue that are half open, and that wait to be accepted; each at most.
    pub waiting: usize,
}

impl Budget {
    /// A quarter of it at most goes to what is not the service's yet. Of the rest half at most is
    /// kept for connections that may come.
    pub fn new(all: usize, most_connections: usize, queues: usize) -> Budget {
        let rest = all.saturating_sub(least(queues) - PROCESS);
        let waiting = (rest / 4 / CONNECTION).min(WAITING);
        let queue = (rest - waiting * HANDSHAKE) / queues;
        let room = queues * (queue / (CONNECTION + HELD));
        let connections = most_connections.min(room).max(1);
        let kept = (queue / 2).min(connections.div_ceil(queues) * CONNECTION);
        Budget { all, queue, kept, connections, waiting: (waiting / 2 / queues).max(1) }
    }

    /// Whether a queue with so many connections, which hold so much, has room for so many more. The
    /// first one is always taken.
    pub fn has_room(&self, connections: usize, held: usize, more: usize) -> bool {
        connections == 0 || held + (connections + more) * CONNECTION <= self.queue
    }

    /// What so many connections of a queue may take for their buffers, beyond what is kept for each
    /// of them, and for others.
    pub fn buffers(&self, connections: usize) -> usize {
        self.queue.saturating_sub(self.kept.max(connections * CONNECTION))
    }
}

/// The default: a quarter of what the machine has, or the control group of this process.
pub(super) fn default_budget() -> usize {
    let read = |path: String| fs::read_to_string(path).ok();
    let machine = bytes_of("/proc/meminfo", "MemTotal:").map(|bytes| bytes as usize);
    // cgroup v2: `0::/path`; the limit is `max` where there is none.
    let group = read("/proc/self/cgroup".into()).and_then(|text| {
        let path = text.lines().find_map(|line| line.strip_prefix("0::"))?.to_string();
        read(format!("/sys/fs/cgroup{path}/memory.max"))?.trim().parse().ok()
    });
    machine.into_iter().chain(group).min().unwrap_or(1 << 30) / 4
}

#[cfg(test)]
mod tests;
