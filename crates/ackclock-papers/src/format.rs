//! The shape of the files below `papers/`. Field names are the keys.

use std::collections::BTreeMap;

use ackclock_net::scenario::Scenario;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::grid::Axis;
use crate::population::Population;
use crate::side_by_side::TableSpec;

/// `paper.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Its title.
    pub title: String,
    /// Who wrote it.
    pub authors: Vec<String>,
    /// Where and when it was published.
    pub published: String,
}

/// An experiment.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it shows.
    pub title: String,
    /// Where it stands in the paper.
    pub place: String,
    /// What the reader has to know: what the paper leaves open, what was assumed.
    #[serde(default)]
    pub notes: String,
    /// Why claims without a reason of their own do not hold, where that is known.
    pub(crate) why: Option<String>,
    /// How many runs of each strategy in each cell; seeds count up from the scenario's.
    #[serde(default = "one")]
    pub(crate) runs: u32,
    /// The same with `--quick`.
    pub(crate) quick_runs: Option<u32>,
    /// Record the first flow of the first run of each strategy: steps, and the time-sequence picture.
    #[serde(default)]
    pub(crate) sequence: bool,
    /// Measures of which the table shows each strategy, beside `row`.
    #[serde(default)]
    pub(crate) show: Vec<String>,
    #[serde(default, rename = "chart")]
    pub(crate) charts: Vec<ChartSpec>,
    #[serde(rename = "strategy")]
    pub(crate) strategies: Vec<Strategy>,
    #[serde(default)]
    pub(crate) vary: Vec<Axis>,
    /// Each run is many transfers, each over a path drawn from this.
    pub(crate) population: Option<Population>,
    #[serde(default, rename = "step")]
    pub(crate) steps: Vec<StepName>,
    #[serde(default, rename = "row")]
    pub(crate) rows: Vec<RowSpec>,
    #[serde(default, rename = "table")]
    pub(crate) tables: Vec<TableSpec>,
    #[serde(default, rename = "claim")]
    pub(crate) claims: Vec<Claim>,
    pub(crate) scenario: Option<Scenario>,
    /// A scenario that experiments of the paper share, instead of `scenario`.
    pub(crate) scenario_file: Option<String>,
    /// Keys of the scenario and their values here.
    #[serde(default)]
    pub(crate) set: BTreeMap<String, toml::Value>,
}

/// A strategy under the name that the paper has for it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Strategy {
    /// The paper's name.
    pub name: String,
    /// What it is here; the name if left out.
    pub composition: Option<String>,
    /// Each flow has the strategy that the scenario gives it.
    #[serde(default)]
    pub of_flows: bool,
}

impl Strategy {
    /// That of all flows, or `None` if each has its own.
    pub fn composition(&self) -> Option<&str> {
        (!self.of_flows).then(|| self.composition.as_deref().unwrap_or(&self.name))
    }
}

/// A name for one step of a sequence.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepName {
    pub name: String,
    pub when: When,
    /// The how-manieth such step, from 1.
    #[serde(default = "one")]
    pub nth: u32,
    /// Its `time` counts from the step of this name; from the beginning of the run if left out.
    pub since: Option<String>,
}

/// What happens in a step. Segments count from 0, as in drop lists.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum When {
    /// The ACK with which the duplicates of segment `of` count `count`.
    Dupack { of: u64, count: u32 },
    /// The ACK that covers this segment.
    Acked(u64),
    /// A transmission of a segment, 1 being the first.
    Sent { segment: u64, transmission: u32 },
    /// The retransmission timer expires.
    Timeout,
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowSpec {
    pub measurement: String,
    /// The measurement's name if left out.
    pub label: Option<String>,
    pub paper: Option<NumberOrText>,
    /// Ours is multiplied by this: 10 for a total over ten runs.
    #[serde(default = "unit")]
    pub scale: f64,
    #[serde(default)]
    pub unit: Option<String>,
    #[serde(default)]
    pub place: String,
}

/// A figure of the rows of one measure, or of the distribution behind measures that are quantiles.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChartSpec {
    pub title: String,
    #[serde(default)]
    pub measure: String,
    /// The distribution of which the measures `QUANTILES-pNN` are the quantiles of NN %, instead of `measure`.
    pub quantiles: Option<String>,
    /// The axis of the grid that goes to the right, whose labels begin with numbers; bars if left out.
    pub axis: Option<String>,
    #[serde(default)]
    pub log_x: bool,
    /// What the x axis shows; the axis' name if left out.
    #[serde(default)]
    pub x: String,
    /// The cells that it draws, as axis and label; all if left out.
    #[serde(default, rename = "where")]
    pub cells: BTreeMap<String, String>,
    /// The strategies that it draws; all if left out.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// What bars call the flows; by their names in the scenario if left out.
    #[serde(default)]
    pub flows: BTreeMap<String, String>,
}

/// What the paper says, and how it is judged: exactly one of the relations.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// The paper's sentence in short.
    pub says: String,
    pub place: String,
    pub measurement: String,
    pub equals: Option<NumberOrText>,
    pub above: Option<NumberOrText>,
    pub below: Option<NumberOrText>,
    pub at_least: Option<NumberOrText>,
    pub at_most: Option<NumberOrText>,
    pub near: Option<NumberOrText>,
    /// How far above or below: a number, or a share of the other (`10%`).
    pub by: Option<Margin>,
    /// How far off `near` may be.
    pub tolerance: Option<Margin>,
    /// The cells that it is about, as axis and label; all if left out.
    #[serde(default, rename = "where")]
    pub cells: BTreeMap<String, String>,
    /// Why it does not hold, where that is known.
    pub why: Option<String>,
}

/// A number, or a text or the name of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum NumberOrText {
    Number(f64),
    Text(String),
}

impl<'de> Deserialize<'de> for NumberOrText {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match toml::Value::deserialize(d)? {
            toml::Value::Integer(n) => Ok(NumberOrText::Number(n as f64)),
            toml::Value::Float(x) => Ok(NumberOrText::Number(x)),
            toml::Value::String(text) => Ok(NumberOrText::Text(text)),
            other => Err(de::Error::custom(format!("`{other}` is neither a number nor a text"))),
        }
    }
}

/// A margin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Margin {
    /// In the measurement's unit.
    Absolute(f64),
    /// A share of what is compared with.
    Share(f64),
}

impl<'de> Deserialize<'de> for Margin {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let bad = |shown: String| de::Error::custom(format!("`{shown}` is no margin; for example 0.1 or \"10%\""));
        match NumberOrText::deserialize(d)? {
            NumberOrText::Number(n) => Ok(Margin::Absolute(n)),
            NumberOrText::Text(text) => match text.strip_suffix('%').map(|n| n.trim().parse::<f64>()) {
                Some(Ok(percent)) if percent.is_finite() => Ok(Margin::Share(percent / 100.0)),
                _ => Err(bad(text)),
            },
        }
    }
}

fn one() -> u32 {
    1
}

fn unit() -> f64 {
    1.0
}
