//! Counters of links, and the time that a processor took.

use ackclock_net::LinkReport;
use serde::Serialize;

/// One `[[link]]` of the scenario, one direction, all copies and all runs of one strategy together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkStats {
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
    /// Dropped early (RED, FRED, CoDel, FQ-CoDel, PIE).
    pub dropped_early: u64,
    /// Marked with CE in place of that.
    pub marked: u64,
    /// Dropped by a loss model or an outage.
    pub dropped_loss: u64,
    /// Of which the wire flipped a bit.
    pub corrupted: u64,
    /// The most packets in a queue at the same time.
    pub max_queue: u64,
}

impl LinkStats {
    /// What is reported of a link between these nodes.
    pub fn of(from: &str, to: &str, report: &LinkReport) -> LinkStats {
        LinkStats {
            from: from.into(),
            to: to.into(),
            packets: report.packets,
            bytes: report.bytes,
            departed: report.departed,
            dropped_queue: report.dropped_queue,
            dropped_early: report.dropped_early,
            marked: report.marked,
            dropped_loss: report.dropped_loss,
            corrupted: report.corrupted,
            max_queue: report.max_queue,
        }
    }

    /// Adds another copy or another run of the same link.
    pub fn add(&mut self, other: &LinkStats) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.departed += other.departed;
        self.dropped_queue += other.dropped_queue;
        self.dropped_early += other.dropped_early;
        self.marked += other.marked;
        self.dropped_loss += other.dropped_loss;
        self.corrupted += other.corrupted;
        self.max_queue = self.max_queue.max(other.max_queue);
    }
}

/// Seconds of CPU that the calling thread has used; 0 in a browser, which does not say.
pub fn thread_cpu_s() -> f64 {
    #[cfg(target_family = "wasm")]
    return 0.0;
    #[cfg(not(target_family = "wasm"))]
    cpu_s()
}

#[cfg(not(target_family = "wasm"))]
fn cpu_s() -> f64 {
    use rustix::time::{ClockId, clock_gettime};

    let t = clock_gettime(ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 / 1e9
}
