//! What a picture is made of.

use ackclock_tcp::Event;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::findings::Findings;
use crate::flow::FlowSummary;

/// Flows side by side, drawn to one scale.
#[derive(Clone, Debug, Default)]
pub struct Picture<'a> {
    /// The heading.
    pub title: &'a str,
    /// Name and value of what all panels share: the parameters of the scenario.
    pub parameters: &'a [(String, String)],
    /// The flows.
    pub panels: &'a [Panel<'a>],
    /// Times that all panels mark.
    pub marks: &'a [Mark],
    /// What the picture shows at first, from and to, in seconds; everything if left out.
    pub window: Option<(f64, f64)>,
    /// When the run ended, in seconds. Where nothing happened, or all at once, the axis of time
    /// shows the whole run.
    pub until: Option<f64>,
    /// Each panel has axes of its own for sequence and windows, as the two ways of a connection
    /// need. Time is shared all the same.
    pub own_scales: bool,
}

/// A time with a word, such as a label of a paper's figure: a vertical line in each panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// In seconds.
    pub at: f64,
    /// What happens then.
    pub label: String,
}

/// One flow in a [`Picture`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Panel<'a> {
    /// What tells this panel from the others, such as the name of the strategy.
    pub name: &'a str,
    /// SMSS in bytes: the unit of the sequence axis. 0 counts as 1.
    pub mss: u32,
    /// Its events in order of time.
    pub events: &'a [Event],
    /// Its counters, for the table above and the line below its name.
    pub summary: Option<&'a FlowSummary>,
    /// The line below its name where there is no summary.
    pub note: &'a str,
    /// What an analysis says of it.
    pub findings: Findings<'a>,
}
