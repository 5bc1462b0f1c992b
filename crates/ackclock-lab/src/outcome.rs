//! What came out of a lab: for each cell and row the numbers, and for each aim whether it is
//! reached.

use std::collections::BTreeMap;

use ackclock_report::{Estimate, FlowSummary};
use serde::Serialize;

use crate::measure::Measure;
use crate::measured::Measured;

/// The wire agrees with the simulation if they differ by no more than this, in percent, or if the
/// runs are too few to say so: if the interval reaches it.
pub(crate) const AGREEMENT: f64 = 3.0;

/// A lab that has been run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Its name.
    pub lab: String,
    /// What it shows.
    pub title: String,
    /// Where it stands in a paper.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// What the reader has to know.
    pub notes: String,
    /// Why aims are missed, where that is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Whether it was run in short.
    pub quick: bool,
    /// How long each run lasts, in seconds.
    pub seconds: f64,
    /// The cells of the grid.
    pub cells: Vec<Cell>,
    /// What is to be reached.
    pub aims: Vec<AimOutcome>,
    #[serde(skip)]
    pub(crate) chart: Measure,
}

/// A cell of the grid.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// Axis and label; empty if it is the only one.
    pub name: String,
    /// Its rows.
    pub rows: Vec<RowOutcome>,
    /// Whether wire and simulation agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
}

/// A sender in a cell.
#[derive(Clone, Debug, Serialize)]
pub struct RowOutcome {
    /// Its name.
    pub name: String,
    /// Our strategy; `null` for the kernel.
    pub strategy: Option<String>,
    /// The row that it is held against.
    pub against: Option<String>,
    /// The paper's number.
    pub paper: Option<f64>,
    /// Every measure that it has, the median over the runs.
    pub measures: BTreeMap<Measure, f64>,
    /// The runs on the wire.
    pub runs: Vec<Measured>,
    /// The runs in simulation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub simulated: Vec<FlowSummary>,
}

/// How wire and simulation of a cell agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Agreement {
    /// Rows that were simulated.
    pub rows: usize,
    /// Of those, the ones whose goodput agrees.
    pub agree: usize,
    /// Pairs of rows whose goodput differs by more than the tolerance in simulation, for certain.
    pub pairs: usize,
    /// Of those, the ones in the same order on the wire.
    pub same_order: usize,
}

/// What became of an aim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AimOutcome {
    /// In words.
    pub says: String,
    /// Whether it is reached everywhere.
    pub reached: bool,
    /// In how many rows and cells it is.
    pub reached_in: usize,
    /// Out of so many.
    pub of: usize,
    /// Where it is not, and by what numbers.
    pub missed: Vec<String>,
}

/// Whether a difference in percent is larger than what is called agreement, for certain.
pub(crate) fn apart(difference: Estimate) -> bool {
    difference.mean.abs() - difference.half_width.unwrap_or(0.0) > AGREEMENT
}

impl Agreement {
    /// Whether they agree in all rows and pairs.
    pub fn holds(&self) -> bool {
        self.agree == self.rows && self.same_order == self.pairs
    }
}

impl Outcome {
    /// The cells in which wire and simulation do not agree, out of those that were simulated.
    pub fn disagreements(&self) -> (usize, usize) {
        let agreements = self.cells.iter().filter_map(|cell| cell.agreement.as_ref());
        agreements.fold((0, 0), |(apart, of), a| (apart + usize::from(!a.holds()), of + 1))
    }
}

impl RowOutcome {
    /// The median of a measure.
    pub(crate) fn get(&self, measure: Measure) -> Option<f64> {
        self.measures.get(&measure).copied()
    }

    /// Whether wire and simulation agree; `None` if it was not simulated.
    pub(crate) fn agrees(&self) -> Option<bool> {
        let half_width = self.get(Measure::DifferenceInterval);
        self.get(Measure::Difference).map(|mean| !apart(Estimate { mean, half_width }))
    }

    /// The simulated goodput in kbit/s.
    pub(crate) fn simulation(&self) -> Option<Estimate> {
        let all = self.simulated.iter().filter_map(|s| Some(s.goodput_bps? / 1e3));
        Estimate::of(&all.collect::<Vec<_>>())
    }
}
