//! What came out of an experiment. Its JSON has exactly these keys.

use ackclock_report::{Chart, Estimate, FlowSummary, Mark};
use ackclock_run::{AxisLabel, bracketed};
use ackclock_tcp::{Event, EventKind};
use serde::Serialize;

use crate::claims::ClaimOutcome;
use crate::format::{NumberOrText, Paper};
use crate::measurement::Measurements;
use crate::sequence::Step;

/// The parts that are not empty, with this between them.
pub(crate) fn joined(parts: &[&str], between: &str) -> String {
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between)
}

/// The results of an experiment.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// `paper/experiment`.
    pub id: String,
    /// The paper; `null` for an experiment of your own.
    pub paper: Option<Paper>,
    /// What it shows.
    pub title: String,
    /// Where it stands in the paper.
    pub place: String,
    /// What the reader has to know.
    pub notes: String,
    /// Whether it was run in short, with fewer runs and cells.
    pub quick: bool,
    /// The strategies by the paper's names.
    pub strategies: Vec<String>,
    /// Runs of each strategy in each cell.
    pub runs: u32,
    /// The seeds of the first and of the last run.
    pub seeds: (u64, u64),
    /// Whether every cell has so many; `false` if the experiment was cancelled before its end.
    pub complete: bool,
    /// Transfers of a run, where it is many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfers: Option<u32>,
    /// The cells of its grid; one if nothing is varied.
    pub cells: Vec<Cell>,
    /// Its claims.
    pub claims: Vec<ClaimOutcome>,
    /// Whether its claims are counted apart, since it varies what another experiment assumed.
    pub sensitivity: bool,
    /// Times that the paper names, for its pictures.
    #[serde(skip)]
    pub(crate) marks: Vec<Mark>,
    /// What its pictures show at first, in seconds.
    #[serde(skip)]
    pub(crate) window: Option<(f64, f64)>,
    /// Its figures other than sequences.
    #[serde(skip)]
    pub(crate) charts: Vec<Chart>,
    /// What the time-sequence picture shows.
    #[serde(skip)]
    pub(crate) traces: Vec<Trace>,
}

/// One point of the grid.
#[derive(Debug, Serialize)]
pub struct Cell {
    /// Axes and the labels of their values here, such as `delay 250ms`; empty if nothing is
    /// varied.
    pub name: String,
    /// The axes and their labels.
    #[serde(skip)]
    pub(crate) labels: Vec<AxisLabel>,
    /// The seed of the first run.
    #[serde(skip)]
    pub(crate) seed: u64,
    /// Runs of each strategy; fewer than asked for if the experiment was cancelled.
    pub runs: u32,
    /// The lines of the table.
    pub rows: Vec<Row>,
    /// Tables with a column for each strategy.
    pub tables: Vec<Table>,
    /// The sequences recorded, by strategy.
    pub sequences: Vec<Sequence>,
    /// All that was measured.
    #[serde(skip)]
    pub(crate) measured: Measurements,
    /// The fates and the entries of drop lists that no packet met, a sentence each.
    #[serde(skip)]
    pub(crate) unmet: Vec<String>,
}

impl Cell {
    /// Whether there is a run of every strategy.
    pub(crate) fn is_measured(&self) -> bool {
        self.runs > 0
    }
}

/// A line of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The name of the measurement.
    pub measurement: String,
    /// What it is.
    pub label: String,
    /// Where the paper has it.
    pub place: String,
    /// The unit of both numbers.
    pub unit: String,
    /// The paper's number or word.
    pub(crate) paper: Option<NumberOrText>,
    /// Ours; `null` if it is no number or missing in a run.
    pub ours: Option<Estimate>,
    /// Ours in words.
    pub shown: String,
}

impl Row {
    /// A part of the name of its measurement: 0 the measure, 1 the strategy, 2 the flow.
    pub(crate) fn part(&self, index: usize) -> &str {
        self.measurement.splitn(3, '/').nth(index).unwrap_or_default()
    }

    /// The paper's number or word, or a dash.
    pub(crate) fn papers(&self) -> String {
        match &self.paper {
            None => "-".into(),
            Some(NumberOrText::Number(n)) => n.to_string(),
            Some(NumberOrText::Text(text)) => text.clone(),
        }
    }
}

/// A table with a column for each strategy.
#[derive(Debug, Serialize)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// Of each line, the rows of the strategies in their order.
    pub lines: Vec<Vec<Row>>,
}

/// The steps of one strategy.
#[derive(Debug, Serialize)]
pub struct Sequence {
    /// The strategy by the paper's name.
    pub strategy: String,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// A connection to draw.
#[derive(Debug)]
pub(crate) struct Trace {
    pub name: String,
    pub mss: u32,
    pub events: Vec<Event>,
    pub summary: Option<FlowSummary>,
}

/// So many events before the first trouble are shown.
const QUIET: usize = 300;

impl Trace {
    /// Its events without the long beginning in which data and ACKs came and went in order.
    pub(crate) fn eventful(&self) -> &[Event] {
        let quiet = |event: &&Event| match event.kind {
            EventKind::Written { .. } | EventKind::Sent { .. } | EventKind::Arrived { .. } => true,
            EventKind::Acked { dupacks, .. } => dupacks == 0,
            _ => false,
        };
        let trouble = self.events.iter().take_while(quiet).count();
        let from = if trouble < self.events.len() { trouble.saturating_sub(QUIET) } else { 0 };
        &self.events[from..]
    }
}

impl Outcome {
    /// The folder, which is that of its paper if it has one.
    pub(crate) fn folder(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// The title of its paper, or else its folder.
    pub(crate) fn source(&self) -> &str {
        self.paper.as_ref().map_or(self.folder(), |paper| &paper.title)
    }

    /// The fates and the entries of drop lists that no packet met, a sentence each with its cell.
    /// Those of papers are left out: they say what happens where a strategy does not retransmit.
    pub fn unmet(&self) -> impl Iterator<Item = String> {
        let cells = self.cells.iter().filter(|_| self.paper.is_none());
        cells.flat_map(|cell| {
            cell.unmet.iter().map(|told| format!("{told}{}", bracketed(&cell.name)))
        })
    }

    /// How many runs of what: `13 strategies, 3 cells, 10 runs each (seeds 1 to 10)`.
    pub(crate) fn ran(&self) -> String {
        let count = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let mut parts = vec![count(self.strategies.len() as u64, "strategy").replace("ys", "ies")];
        if self.cells.len() > 1 {
            parts.push(count(self.cells.len() as u64, "cell"));
        }
        let (first, last) = self.seeds;
        let seeds = if first == last {
            format!("seed {first}")
        } else {
            format!("seeds {first} to {last}")
        };
        parts.push(format!("{} each ({seeds})", count(self.runs.into(), "run")));
        if !self.complete {
            parts.push("interrupted before all of them were done".into());
        }
        parts
            .extend(self.transfers.map(|n| format!("{} in each run", count(n.into(), "transfer"))));
        parts.join(", ")
    }
}
