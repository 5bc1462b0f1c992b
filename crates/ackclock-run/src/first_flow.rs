//! The events of one flow.

use ackclock_net::{FlowId, Recorder};
use ackclock_tcp::Event;

/// Records the events of the first flow of a run. Its sender has to record them.
#[derive(Default)]
pub struct FirstFlowEvents(pub Vec<Event>);

impl Recorder for FirstFlowEvents {
    fn wants_packets(&self) -> bool {
        false
    }

    fn event(&mut self, flow: FlowId, event: &Event) {
        if flow.0 == 0 {
            self.0.push(*event);
        }
    }
}
