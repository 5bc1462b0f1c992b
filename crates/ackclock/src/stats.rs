//! What a run cost: CPU time of its thread, peak memory of the process.

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// One `[[link]]` of the scenario, one direction, all copies and all runs of one strategy together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LinkStats {
    /// Name of the node where packets enter, `{}` standing for the copies.
    pub from: String,
    /// Name of the node where they leave.
    pub to: String,
    /// Packets that came.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets whose transmission ended.
    pub departed: u64,
    /// Dropped since the queue was full.
    pub dropped_queue: u64,
    /// Dropped early (RED).
    pub dropped_early: u64,
    /// Dropped by a loss model.
    pub dropped_loss: u64,
    /// The most packets in a queue at the same time.
    pub max_queue: u64,
}

impl LinkStats {
    /// Adds another copy or another run of the same link.
    pub fn add(&mut self, other: &LinkStats) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.departed += other.departed;
        self.dropped_queue += other.dropped_queue;
        self.dropped_early += other.dropped_early;
        self.dropped_loss += other.dropped_loss;
        self.max_queue = self.max_queue.max(other.max_queue);
    }
}

/// Seconds of CPU that the calling thread has used.
pub(crate) fn thread_cpu_s() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}

/// The most memory that the process has held, in bytes; `None` where the system does not tell.
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
