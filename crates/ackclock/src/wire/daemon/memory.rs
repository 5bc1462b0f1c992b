//! How much memory a command that serves may take, and what it takes.

use std::fs;

use super::mail::ROOM;
use crate::proc::bytes_of;

/// What a connection takes beside its buffers: itself, the least of each buffer, a request that is
/// not complete.
const CONNECTION: usize = 40 * 1024;

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
    /// For buffers, beyond what each has in any case.
    pub buffers: usize,
    /// Connections at the same time.
    pub connections: usize,
    /// Connections that are half open, and that wait to be accepted; each at most.
    pub waiting: usize,
}

impl Budget {
    /// At most half of it goes to what connections have in any case, so that buffers can grow.
    pub fn new(all: usize, most_connections: usize, queues: usize) -> Budget {
        let rest = all.saturating_sub(least(queues) - PROCESS);
        let connections = most_connections.min(rest / 4 / CONNECTION).max(1);
        let waiting = (rest / 4 / CONNECTION).min(WAITING);
        let fixed = (connections + waiting) * CONNECTION;
        let buffers = rest.saturating_sub(fixed);
        Budget { all, buffers, connections, waiting: (waiting / 2).max(1) }
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
