//! The keys of the files in `labs/`.

use std::collections::BTreeMap;

use ackclock_net::scenario::Scenario;
use ackclock_net::scenario::units::Size;
use ackclock_run::Axis;
use serde::Deserialize;
use toml::Value;

use crate::measure::Measure;

/// An experiment on the wire: a scenario, senders, and what they send.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lab {
    /// What it shows.
    pub title: String,
    /// Where it stands in a paper.
    #[serde(default)]
    pub place: String,
    /// What the reader has to know.
    #[serde(default)]
    pub notes: String,
    /// Why aims are missed, where that is known.
    #[serde(default)]
    pub why: String,
    /// How many runs of each row in each cell; seeds count up from the scenario's.
    #[serde(default = "one")]
    pub(crate) runs: u32,
    /// The same with `--quick`.
    pub(crate) quick_runs: Option<u32>,
    /// How many runs at the same time, each in namespaces of its own.
    #[serde(default = "one_u16")]
    pub(crate) jobs: u16,
    /// Keys of the scenario and their values with `--quick`.
    #[serde(default)]
    pub(crate) quick: BTreeMap<String, Value>,
    /// Many short transfers, in place of one without end.
    pub(crate) transfers: Option<Transfers>,
    /// So many runs of the same scenario in simulation beside each row of ours, at least as many
    /// as on the wire; none if left out.
    #[serde(default)]
    pub(crate) simulations: u32,
    /// sysctls of the sender's kernel, by their path below `/proc/sys`.
    #[serde(default)]
    pub(crate) sender_sysctl: BTreeMap<String, String>,
    /// sysctls of the receiver's kernel.
    #[serde(default)]
    pub(crate) receiver_sysctl: BTreeMap<String, String>,
    #[serde(rename = "row")]
    pub(crate) rows: Vec<Row>,
    #[serde(default)]
    pub(crate) vary: Vec<Axis>,
    #[serde(default, rename = "aim")]
    pub(crate) aims: Vec<Aim>,
    /// The measure that the chart shows.
    pub(crate) chart: Measure,
    pub(crate) scenario: Scenario,
}

/// Short transfers, one after the other in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transfers {
    /// How many in all.
    pub count: u32,
    /// How many with `--quick`.
    pub quick_count: u32,
    /// The least bytes of one; sizes are drawn uniformly.
    pub least: Size,
    /// The most.
    pub most: Size,
    /// How many at the same time.
    pub lanes: u16,
}

/// A sender.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// Its name in the tables.
    pub name: String,
    /// Ours, with this strategy.
    pub strategy: Option<String>,
    /// The kernel's, with this congestion control.
    pub kernel: Option<String>,
    /// Whether it negotiates SACK; the kernel does if left out, ours if its strategy uses it.
    pub sack: Option<bool>,
    /// The row of the kernel's that it is held against.
    pub against: Option<String>,
    /// The paper's number, in the unit of the chart's measure.
    pub paper: Option<f64>,
}

/// What is to be reached.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Aim {
    /// In words.
    pub says: String,
    /// All of these.
    pub bounds: Vec<Bound>,
    /// The cells that it is about, as axis and labels; all if left out.
    #[serde(default, rename = "where")]
    pub cells: BTreeMap<String, Vec<String>>,
    /// Reached if a single row reaches it in each cell; otherwise all rows of ours have to.
    #[serde(default)]
    pub any: bool,
}

/// A bound on a measure.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bound {
    pub measure: Measure,
    pub at_least: Option<f64>,
    pub at_most: Option<f64>,
}

fn one() -> u32 {
    1
}

fn one_u16() -> u16 {
    1
}
