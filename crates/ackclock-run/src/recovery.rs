//! The statistics of recovery of a run.

use ackclock_net::scenario::BuiltFlow;
use ackclock_net::{FlowId, Recorder};
use ackclock_report::{RecoveryStats, RecoveryTracker};
use ackclock_tcp::{Event, Time};

/// Follows all connections of a run. Their senders have to record events.
pub struct RecoveryRecorder {
    trackers: Vec<RecoveryTracker>,
    stats: RecoveryStats,
    until: Time,
}

impl RecoveryRecorder {
    /// For a run of these flows that lasts until then, or until the last event if that is later.
    pub fn new(flows: &[BuiltFlow], until: Time) -> Self {
        let trackers = flows.iter().map(|flow| RecoveryTracker::new(flow.mss)).collect();
        RecoveryRecorder { trackers, stats: RecoveryStats::default(), until }
    }

    /// The statistics, once the run is over.
    pub fn finish(mut self) -> RecoveryStats {
        self.trackers.into_iter().for_each(|tracker| tracker.finish(self.until, &mut self.stats));
        self.stats
    }
}

impl Recorder for RecoveryRecorder {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        // Streams without TCP come after the flows.
        if let Some(tracker) = self.trackers.get_mut(flow.0 as usize) {
            tracker.event(event, &mut self.stats);
        }
    }
}
