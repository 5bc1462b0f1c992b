//! The statistics of recovery in the PRR paper: N. Dukkipati, M. Mathis, Y. Cheng, M. Ghobadi,
//! *Proportional Rate Reduction for TCP*, IMC 2011. From events alone, whoever produced them.
//!
//! The paper counts with Linux's counters, whose rules it gives in part. What is inferred says so.

mod distribution;
mod measures;
mod tables;
mod tracker;

pub use distribution::Distribution;
pub use measures::{RECOVERY_TABLES, RecoveryMeasure, RecoveryTable, recovery_measures};
pub use tables::{recovery_table, recovery_table_within};
pub use tracker::RecoveryTracker;

/// What was retransmitted and why: the rows of table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sent during fast recovery, whatever began it and whatever chose the segment (section 2.1).
    /// Of Tahoe this is all until the data outstanding at the fast retransmit is acknowledged.
    Fast,
    /// The retransmission upon a timeout.
    Timeout,
    /// In the slow start after a timeout.
    SlowStart,
    /// A tail loss probe, or a filler (Lin & Kung section 6.5). The paper has none.
    Probe,
}

impl Kind {
    const COUNT: usize = 4;
}

/// Where the sender was when its timer expired (section 3.2): the rows "Timeout in ..." of table 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimedOutIn {
    /// No missing data known.
    Open,
    /// Duplicate ACKs had come, or SACKs of later data, but nothing was retransmitted.
    Disorder,
    /// After a fast retransmit.
    Recovery,
    /// In the slow start after another timeout, whose retransmission has been acknowledged. The
    /// paper has no such row, and Linux a counter of its own.
    Loss,
    /// The same segment timed out again: the timer was backed off.
    Backoff,
}

impl TimedOutIn {
    const COUNT: usize = 5;
}

/// What recovery did, over any number of flows and runs. All sums are of whole numbers, so that it
/// does not matter in which order they are taken; counters stop at their greatest value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryStats {
    /// Flows that sent data: the "connections" of table 10.
    pub flows: u64,
    /// Segments with data that were sent, retransmissions included.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of these bytes, those sent during fast recovery, new or not (table 10, "% Bytes Sent in
    /// FR").
    pub bytes_in_recovery: u64,
    /// Retransmissions by [`Kind`].
    retransmissions: [u64; Kind::COUNT],
    /// Of those upon a timeout, by [`TimedOutIn`].
    timeout_retransmits: [u64; TimedOutIn::COUNT],
    /// Of the retransmissions, those after which nothing was acknowledged or SACKed any more, by
    /// [`Kind`] ("TCP failed to make any forward progress", section 2.1). Of a flow that the
    /// end of a run cuts off, what was on its way counts here too.
    failed: [u64; Kind::COUNT],
    /// As `failed`, of those upon a timeout, by [`TimedOutIn`].
    failed_timeouts: [u64; TimedOutIn::COUNT],
    /// Timeouts by [`TimedOutIn`].
    timeouts: [u64; TimedOutIn::COUNT],
    /// Of these, those of the first segment of a flow.
    pub timeouts_of_first: u64,
    /// Recoveries begun: the "fast recovery events" of table 3.
    pub recoveries: u64,
    /// Of those, begun by early retransmit (section 6).
    pub early_retransmits: u64,
    /// Of those, how many whose first retransmission a D-SACK reported as a duplicate (section
    /// 6.1).
    pub early_spurious: u64,
    /// D-SACKs that arrived (table 3; RFC 2883).
    pub dsacks: u64,
    /// Retransmissions of any kind that the sender judged lost.
    pub lost_retransmits: u64,
    /// Of those, fast retransmits: "Lost (fast) retransmits" of table 3. A sender that cannot find
    /// out has none; it gets timeouts.
    pub lost_fast_retransmits: u64,
    /// Data segments that the network dropped. It and the next four are known only where the
    /// network reports.
    pub dropped: u64,
    /// Of those, fast retransmits.
    pub dropped_fast_retransmits: u64,
    /// Of those, segments sent during fast recovery, new data included.
    pub dropped_in_recovery: u64,
    /// Segments that reached the receiver.
    pub arrived: u64,
    /// Bytes of segments that had been retransmitted, and whose arrival brought the receiver
    /// nothing new.
    pub spurious_bytes: u64,
    /// Responses undone: "undo events" of section 6.1.
    pub undos: u64,
    /// pipe - ssthresh when recovery begins, before anything is sent, in segments (table 5). Of
    /// the pipe a begun segment counts as one, of ssthresh it does not, as in Linux, which
    /// counts segments.
    pub pipe_over_ssthresh: Distribution,
    /// cwnd - ssthresh just before recovery ends, by an ACK or by a timeout (section 3.1 has
    /// both), in whole segments each (table 6). A recovery that is undone does not count.
    pub cwnd_over_ssthresh: Distribution,
    /// cwnd in whole segments when the sender is in Open again after a recovery (table 7), also by
    /// way of a timeout or an undo. Inferred: the paper says "on exiting recovery", and that
    /// fewer timeouts make it larger.
    pub cwnd_after: Distribution,
    /// Microseconds from the beginning of recovery until Open (figure 5): "the interval from when
    /// a connection enters recovery to when it re-enters Open state" (section 5), with the
    /// timeouts between. One that does not end does not count.
    pub recovery_time: Distribution,
    /// cwnd over ssthresh in thousandths, right after an ACK ended recovery.
    pub exit_ratio: Distribution,
    /// Of these ends, those with cwnd below ssthresh: "Slow-start after FR" of table 10.
    pub slow_starts: u64,
    /// The most segments released by one input in each recovery. An input is an ACK or the expiry
    /// of a timer; what a write releases is the application's doing and does not count.
    pub burst_in_recovery: Distribution,
    /// The same over the whole life of all flows.
    pub peak_burst: u64,
    /// Microseconds from the write of a response until the ACK of its last byte (table 9). The
    /// paper begins with the first byte sent, which is the same unless earlier data or the
    /// window holds it back.
    pub latency: Distribution,
    /// Of those, the responses of which a segment was retransmitted: what table 9 shows.
    pub latency_lossy: Distribution,
    /// Of those in turn, the ones longer than a segment: what table 11 shows.
    pub latency_lossy_long: Distribution,
    /// Nanoseconds with written or sent data that is not acknowledged: "network transmit time" of
    /// table 10.
    pub transmit_ns: u64,
    /// Of these, in fast recovery or after a timeout: "network recovery time".
    pub recovery_ns: u64,
}

impl RecoveryStats {
    /// Adds what another recorded, of other flows or runs.
    pub fn add(&mut self, other: &RecoveryStats) {
        let RecoveryStats {
            flows,
            segments,
            bytes,
            bytes_in_recovery,
            retransmissions,
            timeout_retransmits,
            failed,
            failed_timeouts,
            timeouts,
            recoveries,
            early_retransmits,
            early_spurious,
            timeouts_of_first,
            dsacks,
            lost_retransmits,
            lost_fast_retransmits,
            dropped,
            dropped_fast_retransmits,
            dropped_in_recovery,
            arrived,
            spurious_bytes,
            undos,
            pipe_over_ssthresh,
            cwnd_over_ssthresh,
            cwnd_after,
            recovery_time,
            exit_ratio,
            slow_starts,
            burst_in_recovery,
            peak_burst,
            latency,
            latency_lossy,
            latency_lossy_long,
            transmit_ns,
            recovery_ns,
        } = other;
        for (sum, n) in [
            (&mut self.flows, flows),
            (&mut self.segments, segments),
            (&mut self.bytes, bytes),
            (&mut self.bytes_in_recovery, bytes_in_recovery),
            (&mut self.recoveries, recoveries),
            (&mut self.early_retransmits, early_retransmits),
            (&mut self.early_spurious, early_spurious),
            (&mut self.timeouts_of_first, timeouts_of_first),
            (&mut self.dsacks, dsacks),
            (&mut self.lost_retransmits, lost_retransmits),
            (&mut self.lost_fast_retransmits, lost_fast_retransmits),
            (&mut self.dropped, dropped),
            (&mut self.dropped_fast_retransmits, dropped_fast_retransmits),
            (&mut self.dropped_in_recovery, dropped_in_recovery),
            (&mut self.arrived, arrived),
            (&mut self.spurious_bytes, spurious_bytes),
            (&mut self.undos, undos),
            (&mut self.slow_starts, slow_starts),
            (&mut self.transmit_ns, transmit_ns),
            (&mut self.recovery_ns, recovery_ns),
        ] {
            *sum = sum.saturating_add(*n);
        }
        add_each(&mut self.retransmissions, retransmissions);
        add_each(&mut self.timeout_retransmits, timeout_retransmits);
        add_each(&mut self.failed, failed);
        add_each(&mut self.failed_timeouts, failed_timeouts);
        add_each(&mut self.timeouts, timeouts);
        for (sum, d) in [
            (&mut self.pipe_over_ssthresh, pipe_over_ssthresh),
            (&mut self.cwnd_over_ssthresh, cwnd_over_ssthresh),
            (&mut self.cwnd_after, cwnd_after),
            (&mut self.recovery_time, recovery_time),
            (&mut self.exit_ratio, exit_ratio),
            (&mut self.burst_in_recovery, burst_in_recovery),
            (&mut self.latency, latency),
            (&mut self.latency_lossy, latency_lossy),
            (&mut self.latency_lossy_long, latency_lossy_long),
        ] {
            sum.add(d);
        }
        self.peak_burst = self.peak_burst.max(*peak_burst);
    }

    /// Retransmissions of a kind, those that failed included.
    pub fn retransmissions_of(&self, kind: Kind) -> u64 {
        self.retransmissions[kind as usize]
    }

    /// All retransmissions.
    pub fn retransmissions(&self) -> u64 {
        self.retransmissions.iter().sum()
    }

    /// Retransmissions after which nothing was acknowledged any more.
    pub fn failed(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Timeouts in a state.
    pub fn timeouts_in(&self, state: TimedOutIn) -> u64 {
        self.timeouts[state as usize]
    }

    /// All timeouts.
    pub fn timeouts(&self) -> u64 {
        self.timeouts.iter().sum()
    }

    /// Of the retransmissions, those of a kind that did not fail: the rows of table 2 add up to
    /// all.
    fn repaired(&self, kind: Kind) -> u64 {
        self.retransmissions[kind as usize].saturating_sub(self.failed[kind as usize])
    }

    /// The same of those upon a timeout in a state.
    fn repaired_timeouts(&self, state: TimedOutIn) -> u64 {
        self.timeout_retransmits[state as usize]
            .saturating_sub(self.failed_timeouts[state as usize])
    }

    /// Whether the network reported: what it dropped is known, and not only what the sender judged.
    fn sees_network(&self) -> bool {
        self.arrived > 0 || self.dropped > 0
    }
}

fn add_each<const N: usize>(sums: &mut [u64; N], more: &[u64; N]) {
    sums.iter_mut().zip(more).for_each(|(sum, n)| *sum = sum.saturating_add(*n));
}
