//! From the runs of a strategy to the samples of every measure.

use std::iter;

use ackclock_report::{FlowSummary, RecoveryStats};

use crate::cell::FlowGroup;
use crate::measurement::{Measurement, Measurements};
use crate::measures::{Value, flow_measures, measures};
use crate::timeouts::Tally;

/// What a run leaves to measure.
pub(crate) struct RunData {
    /// The measures of flows: over all flows, then over each group.
    flows: Vec<Vec<f64>>,
    /// Where the experiment asks for it.
    recovery: Option<RecoveryStats>,
    /// Of populations.
    pub timeouts: Option<Tally>,
    /// Of populations, where the experiment asks for it: as captures show them.
    pub captured: Option<Tally>,
}

impl RunData {
    /// Of a run with these flows.
    pub fn new(
        flows: &[FlowSummary],
        groups: &[FlowGroup],
        recovery: Option<RecoveryStats>,
        timeouts: Option<Tally>,
        captured: Option<Tally>,
    ) -> Self {
        let groups = groups.iter().filter_map(|group| flows.get(group.flows.clone()));
        let values = |flows: &[FlowSummary]| flow_measures().map(|(_, v)| v.over(flows)).collect();
        let flows = iter::once(flows).chain(groups).map(values).collect();
        RunData { flows, recovery, timeouts, captured }
    }
}

/// Adds `MEASURE/STRATEGY` over all flows and `MEASURE/STRATEGY/FLOW` for each group.
pub(crate) fn add(
    strategy: &str,
    groups: &[FlowGroup],
    runs: &[&RunData],
    into: &mut Measurements,
) {
    let names = iter::once(strategy.to_string())
        .chain(groups.iter().map(|group| format!("{strategy}/{}", group.name)));
    for (i, name) in names.enumerate() {
        for (m, (measure, _)) in flow_measures().enumerate() {
            let values = runs.iter().filter_map(|run| run.flows.get(i)).map(|values| values[m]);
            into.insert(format!("{measure}/{name}"), Measurement::Samples(values.collect()));
        }
    }
    for measure in measures() {
        let of_run = |run: &&RunData| match measure.value {
            Value::Flows(_) | Value::OverOracle(_) => None,
            Value::Recovery(value) => run.recovery.as_ref().map(value),
            Value::Timeouts(value) => run.timeouts.as_ref().map(value),
            Value::Captured(value) => run.captured.as_ref().map(value),
        };
        if let Some(values) = runs.iter().map(of_run).collect() {
            into.insert(format!("{}/{strategy}", measure.name), Measurement::Samples(values));
        }
    }
}
