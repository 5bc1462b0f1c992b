//! What came out of a lab: for each cell and row the numbers, and for each aim whether it is reached.

use std::collections::BTreeMap;

use ackclock_report::{Estimate, FlowSummary};
use serde::Serialize;

use crate::format::{Aim, Bound, Lab, Measure, PlannedCell, Row};
use crate::run::Measured;

/// The wire agrees with the simulation if they differ by no more than this, in percent.
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
    /// Pairs of rows whose goodput differs by more than the tolerance in simulation.
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

impl RowOutcome {
    /// The median of a measure.
    pub(crate) fn get(&self, measure: Measure) -> Option<f64> {
        self.measures.get(&measure).copied()
    }

    /// The simulated goodput in kb/s.
    pub(crate) fn simulation(&self) -> Option<Estimate> {
        Estimate::of(&self.simulated.iter().map(|s| s.goodput_bps / 1e3).collect::<Vec<_>>())
    }
}

impl Outcome {
    /// `measured` is in the order of `places`, `simulated` by cell and row.
    pub(crate) fn new(
        (name, lab): (&str, &Lab),
        quick: bool,
        cells: &[PlannedCell],
        rows: &[&Row],
        places: &[(usize, usize, u64)],
        measured: &[Measured],
        simulated: &[Vec<Vec<FlowSummary>>],
    ) -> Outcome {
        let runs = |c: usize, r: usize| -> Vec<Measured> {
            let here = places.iter().zip(measured).filter(|((cell, row, _), _)| (*cell, *row) == (c, r));
            here.map(|(_, m)| m.clone()).collect()
        };
        let planned = cells;
        let cells = planned.iter().enumerate().map(|(c, cell)| {
            let row = |(r, row): (usize, &&Row)| {
                let other = row.against.as_ref().and_then(|name| rows.iter().position(|o| o.name == *name));
                let (own, other) = (runs(c, r), other.map(|o| runs(c, o)).unwrap_or_default());
                let simulated = simulated.get(c).and_then(|rows| rows.get(r)).cloned().unwrap_or_default();
                RowOutcome {
                    name: row.name.clone(),
                    strategy: row.strategy.clone(),
                    against: row.against.clone(),
                    paper: row.paper,
                    measures: measures(&own, &other, &simulated),
                    runs: own,
                    simulated,
                }
            };
            let rows: Vec<RowOutcome> = rows.iter().enumerate().map(row).collect();
            Cell { name: cell.name(), agreement: agreement(&rows), rows }
        });
        let cells: Vec<Cell> = cells.collect();
        Outcome {
            lab: name.into(),
            title: lab.title.clone(),
            place: lab.place.clone(),
            notes: lab.notes.trim().into(),
            why: lab.why.trim().into(),
            quick,
            seconds: planned.first().map_or(0.0, |cell| cell.scenario.duration.0.secs_f64()),
            aims: lab.aims.iter().filter_map(|aim| judge(aim, planned, &cells)).collect(),
            cells,
            chart: lab.chart,
        }
    }
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|v| v.is_finite());
    values.sort_by(f64::total_cmp);
    let n = values.len();
    Some((values.get(n.checked_sub(1)? / 2)? + values.get(n / 2)?) / 2.0)
}

/// The smallest value that so large a share is not above; `sorted` ascends.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// All numbers of a row, those with nothing to compare with left out.
fn measures(own: &[Measured], other: &[Measured], simulated: &[FlowSummary]) -> BTreeMap<Measure, f64> {
    let share = |part: u64, whole: u64| if whole == 0 { f64::NAN } else { part as f64 / whole as f64 };
    let p99 = |m: &Measured| 1e3 * quantile(&m.completions_s, 0.99);
    let retransmitted = |m: &Measured| 100.0 * share(m.retransmissions, m.segments);
    let each = |value: &dyn Fn(&Measured) -> f64| median(own.iter().map(value).collect());
    let paired = |value: &dyn Fn(&Measured) -> f64| {
        let with = |m: &Measured| other.iter().find(|o| o.seed == m.seed).map_or(f64::NAN, |o| value(m) / value(o));
        median(own.iter().map(with).collect())
    };
    let of_simulated = |value: &dyn Fn(&FlowSummary) -> f64| {
        Estimate::of(&simulated.iter().map(value).collect::<Vec<_>>()).map(|estimate| estimate.mean)
    };
    let short = own.iter().any(|m| !m.completions_s.is_empty());
    let goodput = each(&|m| m.goodput_bps / 1e3).filter(|_| !short);
    let simulation = of_simulated(&|s| s.goodput_bps / 1e3);
    let all = [
        (Measure::Goodput, goodput),
        (Measure::Simulation, simulation),
        (Measure::Difference, goodput.zip(simulation).map(|(wire, simulated)| 100.0 * (wire / simulated - 1.0))),
        (Measure::GoodputRatio, paired(&|m| m.goodput_bps).filter(|_| !short)),
        (Measure::P50, each(&|m| 1e3 * quantile(&m.completions_s, 0.5))),
        (Measure::P90, each(&|m| 1e3 * quantile(&m.completions_s, 0.9))),
        (Measure::P99, each(&p99)),
        (Measure::P999, each(&|m| 1e3 * quantile(&m.completions_s, 0.999))),
        (Measure::P99Ratio, paired(&p99)),
        (Measure::P99Handshake, each(&|m| 1e3 * quantile(&m.completions_with_handshake_s, 0.99))),
        (Measure::PerDrop, each(&|m| share(m.retransmissions, m.drops())).filter(|_| !short)),
        (Measure::Retransmitted, each(&retransmitted)),
        (Measure::RetransmittedRatio, paired(&retransmitted)),
        (Measure::Timeouts, each(&|m| m.timeouts as f64)),
        (Measure::SimulatedTimeouts, of_simulated(&|s| s.timeouts as f64)),
        (Measure::LossRate, each(&|m| 100.0 * share(m.drops(), m.packets))),
        (Measure::Late, each(&|m| m.late_p99_us)),
    ];
    all.into_iter().filter_map(|(measure, value)| Some((measure, value?))).collect()
}

fn agreement(rows: &[RowOutcome]) -> Option<Agreement> {
    let both: Vec<(f64, f64)> =
        rows.iter().filter_map(|row| row.get(Measure::Goodput).zip(row.get(Measure::Simulation))).collect();
    let apart = |a: f64, b: f64| (a / b).max(b / a) > 1.0 + AGREEMENT / 100.0;
    let pairs = || both.iter().enumerate().flat_map(|(i, a)| both[..i].iter().map(move |b| (*a, *b)));
    let told = || pairs().filter(|((_, a), (_, b))| apart(*a, *b));
    let agree = |(wire, simulated): &&(f64, f64)| (100.0 * (wire / simulated - 1.0)).abs() <= AGREEMENT;
    (!both.is_empty()).then(|| Agreement {
        rows: both.len(),
        agree: both.iter().filter(agree).count(),
        pairs: told().count(),
        same_order: told().filter(|((w, s), (wire, simulated))| (w > wire) == (s > simulated)).count(),
    })
}

impl Bound {
    fn holds(&self, value: f64) -> bool {
        self.at_least.is_none_or(|least| value >= least) && self.at_most.is_none_or(|most| value <= most)
    }
}

/// `None` if no row has what it is about.
fn judge(aim: &Aim, planned: &[PlannedCell], cells: &[Cell]) -> Option<AimOutcome> {
    let (mut reached_in, mut of, mut missed) = (0, 0, Vec::new());
    for (_, cell) in planned.iter().zip(cells).filter(|(planned, _)| planned.is_in(&aim.cells)) {
        let place =
            |row: &str| [cell.name.as_str(), row].into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(", ");
        let mut results = Vec::new();
        for row in cell.rows.iter().filter(|row| row.strategy.is_some()) {
            let values: Option<Vec<f64>> = aim.bounds.iter().map(|bound| row.get(bound.measure)).collect();
            let Some(values) = values else { continue };
            let reached = aim.bounds.iter().zip(&values).all(|(bound, value)| bound.holds(*value));
            let shown = values.iter().map(|value| format!("{value:.3}")).collect::<Vec<_>>().join(" and ");
            results.push((reached, format!("{}: {shown}", place(&row.name))));
        }
        if aim.any && !results.is_empty() {
            of += 1;
            let reached = results.iter().any(|(reached, _)| *reached);
            reached_in += usize::from(reached);
            missed.extend(results.into_iter().filter(|_| !reached).map(|(_, shown)| shown));
        } else {
            of += results.len();
            reached_in += results.iter().filter(|(reached, _)| *reached).count();
            missed.extend(results.into_iter().filter(|(reached, _)| !reached).map(|(_, shown)| shown));
        }
    }
    (of > 0).then(|| AimOutcome { says: aim.says.clone(), reached: missed.is_empty(), reached_in, of, missed })
}

#[cfg(test)]
#[path = "outcome_tests.rs"]
mod tests;
