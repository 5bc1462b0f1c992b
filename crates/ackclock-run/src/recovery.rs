//! The statistics of recovery of a run.

use ackclock_net::scenario::Simulation;
use ackclock_net::{FlowId, Recorder};
use ackclock_report::{RecoveryStats, RecoveryTracker};
use ackclock_tcp::{Event, Time};

/// Follows all connections of a run. The simulation has to be built with events.
pub struct RecoveryRecorder {
    trackers: Vec<RecoveryTracker>,
    stats: RecoveryStats,
    until: Time,
}

impl RecoveryRecorder {
    /// For a run of this simulation.
    pub fn new(simulation: &Simulation) -> Self {
        let trackers = simulation.flows.iter().map(|flow| RecoveryTracker::new(flow.mss)).collect();
        RecoveryRecorder { trackers, stats: RecoveryStats::default(), until: simulation.until }
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
