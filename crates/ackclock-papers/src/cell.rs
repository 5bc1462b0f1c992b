//! A cell of an experiment's grid, and which of its flows are measured together.

use std::collections::BTreeMap;
use std::ops::Range;

use ackclock_net::Trace;
use ackclock_net::scenario::{BuiltFlow, Scenario};
use ackclock_run::GridCell;

/// A cell that is ready to run.
#[derive(Debug)]
pub(crate) struct PlannedCell {
    pub cell: GridCell,
    /// Empty if the runs are populations.
    pub groups: Vec<FlowGroup>,
    /// What the paths of its transfers are drawn from, if the runs are populations.
    pub traces: Traces,
}

/// Traces of links, by the names of their files.
pub(crate) type Traces = BTreeMap<String, Trace>;

/// Flows of a scenario that measurements take together.
#[derive(Debug)]
pub(crate) struct FlowGroup {
    /// The name of the flow. Copies that arrive have the name in the scenario without `{}`.
    pub name: String,
    /// The numbers of the flows: of copies that arrive, or of a single flow.
    pub flows: Range<usize>,
}

impl PlannedCell {
    /// Whether it has these labels, by axis.
    pub fn is_in(&self, labels: &BTreeMap<String, String>) -> bool {
        labels.iter().all(|(axis, label)| self.cell.label(axis) == Some(label))
    }
}

/// The groups of a scenario whose flows were built as `built`.
pub(crate) fn groups(scenario: &Scenario, built: &[BuiltFlow]) -> Vec<FlowGroup> {
    let mut groups = Vec::new();
    let mut first = 0;
    for flow in &scenario.flows {
        let copies = first..first + flow.count as usize;
        first = copies.end;
        match (flow.arrivals, &flow.name) {
            (Some(_), Some(name)) => {
                groups.push(FlowGroup { name: name.replace("{}", ""), flows: copies })
            }
            _ => groups
                .extend(copies.map(|i| FlowGroup { name: built[i].name.clone(), flows: i..i + 1 })),
        }
    }
    groups
}
