//! The shape of the files in `labs/`. Field names are the keys.

use std::collections::BTreeMap;

use ackclock_net::scenario::units::Size;
use ackclock_net::scenario::{Scenario, check_strategy};
use ackclock_papers::{Axis, Error, Point, format_error, grid, parse, read, set};
use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../labs");

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
    /// So many runs of the same scenario in simulation beside each row of ours, at least as many as on the wire; none if left
    /// out.
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

/// A number of a row in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Payload that the receiving application got, in kb/s.
    Goodput,
    /// The same as simulated.
    Simulation,
    /// How far the wire is above the simulation, in percent.
    Difference,
    /// Goodput over that of the row it is held against, seed by seed.
    GoodputRatio,
    /// Retransmissions over packets that the gateway dropped on the way there.
    PerDrop,
    /// Timeouts of data.
    Timeouts,
    /// The same as simulated, in the mean of the runs.
    SimulatedTimeouts,
    /// Packets dropped over packets sent, in percent.
    LossRate,
    /// Retransmissions over the segments that there are to send, in percent.
    Retransmitted,
    /// The same over that of the row it is held against.
    RetransmittedRatio,
    /// Median of the completion times, from the end of the handshake to the last byte, in ms.
    P50,
    /// Quantile of 90 %.
    P90,
    /// Quantile of 99 %.
    P99,
    /// Quantile of 99.9 %.
    P999,
    /// P99 over that of the row it is held against.
    P99Ratio,
    /// P99 from the call to connect on, in ms.
    P99Handshake,
    /// How late the gateway was with a packet, quantile of 99 %, in microseconds.
    Late,
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

/// A cell of a lab that is ready to run.
#[derive(Clone, Debug)]
pub(crate) struct PlannedCell {
    pub labels: Vec<(String, String)>,
    pub scenario: Scenario,
}

impl Lab {
    /// The labs of this project, each with its name.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is wrong.
    pub fn all() -> Result<Vec<(String, Lab)>, Error> {
        let mut labs = Vec::new();
        for file in FILES.files() {
            let (Some(path), Some(text)) = (file.path().to_str(), file.contents_utf8()) else { continue };
            if let Some(name) = path.strip_suffix(".toml") {
                labs.push((name.to_string(), Lab::from_toml(&format!("labs/{path}"), text)?));
            }
        }
        labs.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(labs)
    }

    /// Reads and checks a lab; `file` is what errors name.
    ///
    /// # Errors
    /// [`Error::Format`].
    pub fn from_toml(file: &str, text: &str) -> Result<Lab, Error> {
        let lab: Lab = parse(file, text)?;
        let wrong = |key: String, message: &str| Err(format_error(file, &key, message.into()));
        let [_] = &lab.scenario.flows[..] else {
            return wrong("scenario.flow".into(), "exactly one flow is expected");
        };
        for (i, row) in lab.rows.iter().enumerate() {
            if row.strategy.is_some() == row.kernel.is_some() {
                return wrong(format!("row[{i}]"), "exactly one of `strategy` and `kernel` is expected");
            }
            if let Some(Err(message)) = row.strategy.as_deref().map(check_strategy) {
                return wrong(format!("row[{i}].strategy"), &message);
            }
            let is_other = |name: &String| lab.rows.iter().any(|r| r.name == *name && r.kernel.is_some());
            if !row.against.as_ref().is_none_or(is_other) {
                return wrong(format!("row[{i}].against"), "the name of a row of the kernel's is expected");
            }
            if lab.rows[..i].iter().any(|r| r.name == row.name) {
                return wrong(format!("row[{i}].name"), "another row has this name");
            }
        }
        for (i, aim) in lab.aims.iter().enumerate() {
            let known = |(axis, labels): (&String, &Vec<String>)| {
                let axis = lab.vary.iter().find(|a| a.name == *axis);
                axis.is_some_and(|a| labels.iter().all(|l| a.all().any(|(known, _)| known == *l)))
            };
            if !aim.cells.iter().all(known) {
                return wrong(format!("aim[{i}].where"), "axes and their labels are expected");
            }
        }
        lab.cells(file, false, None)?;
        Ok(lab)
    }

    /// The cells of the grid.
    pub(crate) fn cells(&self, file: &str, quick: bool, seconds: Option<u32>) -> Result<Vec<PlannedCell>, Error> {
        let written = |error: ackclock_net::scenario::ScenarioError| Error::Format { file: file.into(), error };
        let text = self.scenario.to_toml().map_err(written)?;
        let mut base: Table = parse(file, &text)?;
        let mut apply = |key: &str, value: &Value| {
            set(&mut base, key, value.clone()).map_err(|message| format_error(file, "quick", message))
        };
        if quick {
            self.quick.iter().try_for_each(|(key, value)| apply(key, value))?;
        }
        if let Some(seconds) = seconds {
            apply("duration", &Value::String(format!("{seconds}s")))?;
        }
        let cell = |(labels, table): Point| {
            let scenario = read(&table).map_err(|error| Error::Format { file: file.into(), error })?;
            Ok(PlannedCell { labels, scenario })
        };
        grid(file, base, &self.vary, quick)?.into_iter().map(cell).collect()
    }
}

impl PlannedCell {
    /// Its labels in one line; empty if it is the only one.
    pub fn name(&self) -> String {
        self.labels.iter().map(|(axis, label)| format!("{axis} {label}")).collect::<Vec<_>>().join(", ")
    }

    /// Whether its labels are among these.
    pub fn is_in(&self, cells: &BTreeMap<String, Vec<String>>) -> bool {
        self.labels.iter().all(|(axis, label)| cells.get(axis).is_none_or(|labels| labels.contains(label)))
    }
}
