//! What came out of an experiment. Its JSON has exactly these keys.

use ackclock_report::{Chart, Estimate, FlowSummary};
use ackclock_tcp::{Event, EventKind};
use serde::Serialize;

use crate::format::{Claim, NumberOrText, Paper};
use crate::measure::Measurements;
use crate::sequence::Step;
use crate::side_by_side::Table;
use crate::verdict::{Judgement, Verdict, signed};

/// The results of an experiment.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// `paper/experiment`.
    pub id: String,
    /// The paper.
    pub paper: Paper,
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
    /// Transfers of a run, where it is many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfers: Option<u32>,
    /// The cells of its grid; one if nothing is varied.
    pub cells: Vec<Cell>,
    /// Its claims.
    pub claims: Vec<ClaimOutcome>,
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
    /// Axes and the labels of their values here, such as `delay 250ms`; empty if nothing is varied.
    pub name: String,
    /// The lines of the table.
    pub rows: Vec<Row>,
    /// Tables with a column for each strategy.
    pub tables: Vec<Table>,
    /// The sequences recorded, by strategy.
    pub sequences: Vec<Sequence>,
    /// All that was measured.
    #[serde(skip)]
    pub(crate) measured: Measurements,
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
    /// The paper's number or word, or a dash.
    pub(crate) fn papers(&self) -> String {
        match &self.paper {
            None => "-".into(),
            Some(NumberOrText::Number(n)) => n.to_string(),
            Some(NumberOrText::Text(text)) => text.clone(),
        }
    }
}

/// The steps of one strategy.
#[derive(Debug, Serialize)]
pub struct Sequence {
    /// The strategy by the paper's name.
    pub strategy: String,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// What became of a claim.
#[derive(Debug, Serialize)]
pub struct ClaimOutcome {
    /// The paper's sentence in short.
    pub says: String,
    /// Where it stands.
    pub place: String,
    /// Why it does not hold, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Number of cells in which it holds.
    pub holds: usize,
    /// Number of cells in which it does not hold.
    pub does_not_hold: usize,
    /// Number of cells in which the runs do not tell.
    pub undecided: usize,
    /// The same for the cells that have a label in common.
    pub parts: Vec<Part>,
    /// The judgement in each cell that it is about, by the cell's name.
    pub cells: Vec<(String, Judgement)>,
}

/// The cells that have a label in common.
#[derive(Debug, Serialize)]
pub struct Part {
    /// The axis.
    pub axis: String,
    /// The label.
    pub label: String,
    /// In how many of them the claim holds.
    pub holds: usize,
    /// Their number.
    pub cells: usize,
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
    /// The folder of the paper.
    pub(crate) fn paper_id(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// How many runs of what: `13 strategies, 3 cells, 10 runs each (seeds 1 to 10)`.
    pub(crate) fn ran(&self) -> String {
        let count = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let mut parts = vec![count(self.strategies.len() as u64, "strategy").replace("ys", "ies")];
        if self.cells.len() > 1 {
            parts.push(count(self.cells.len() as u64, "cell"));
        }
        let (first, last) = self.seeds;
        let seeds = if first == last { format!("seed {first}") } else { format!("seeds {first} to {last}") };
        parts.push(format!("{} each ({seeds})", count(self.runs.into(), "run")));
        parts.extend(self.transfers.map(|n| format!("{} in each run", count(n.into(), "transfer"))));
        parts.join(", ")
    }
}

/// A claim over all its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overall {
    /// It holds in all of them.
    Holds,
    /// It holds in some.
    InSomeCells,
    /// It holds in none, and in one at least the runs tell that it does not.
    DoesNotHold,
    /// The runs do not tell in any cell.
    Undecided,
}

impl Overall {
    pub(crate) const ALL: [Overall; 4] =
        [Overall::Holds, Overall::InSomeCells, Overall::DoesNotHold, Overall::Undecided];
}

impl ClaimOutcome {
    pub(crate) fn overall(&self) -> Overall {
        match (self.holds, self.does_not_hold, self.undecided) {
            (_, 0, 0) => Overall::Holds,
            (0, 0, _) => Overall::Undecided,
            (0, _, _) => Overall::DoesNotHold,
            _ => Overall::InSomeCells,
        }
    }

    /// Before any cell is judged; `why` is the reason of the experiment.
    pub(crate) fn new(claim: &Claim, why: Option<&String>) -> Self {
        ClaimOutcome {
            says: claim.says.clone(),
            place: claim.place.clone(),
            why: claim.why.as_ref().or(why).map(|why| why.trim().into()),
            holds: 0,
            does_not_hold: 0,
            undecided: 0,
            parts: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// What became of it in one cell, whose axes and labels these are.
    pub(crate) fn add(&mut self, cell: &str, labels: &[(String, String)], judgement: Judgement) {
        let holds = usize::from(judgement.verdict == Verdict::Holds);
        self.holds += holds;
        self.does_not_hold += usize::from(judgement.verdict == Verdict::DoesNotHold);
        self.undecided += usize::from(judgement.verdict == Verdict::Undecided);
        for (axis, label) in labels {
            let known = self.parts.iter_mut().find(|part| part.axis == *axis && part.label == *label);
            if let Some(part) = known {
                part.holds += holds;
                part.cells += 1;
            } else {
                // Behind the other labels of its axis.
                let at =
                    self.parts.iter().rposition(|part| part.axis == *axis).map_or(self.parts.len(), |last| last + 1);
                self.parts.insert(at, Part { axis: axis.clone(), label: label.clone(), holds, cells: 1 });
            }
        }
        self.cells.push((cell.into(), judgement));
    }

    /// Whether the runs tell, in one cell at least, that it does not hold.
    pub(crate) fn fails(&self) -> bool {
        self.does_not_hold > 0
    }

    /// Why, if it fails.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.why.as_deref().filter(|_| self.fails())
    }

    /// What was measured in the only cell, or how many cells it holds in.
    pub(crate) fn measured(&self) -> String {
        match &self.cells[..] {
            [(_, only)] => only.measured.clone(),
            _ => self.verdict(),
        }
    }

    /// In how many cells it holds for each label of each axis: `delay: 165ms (2 of 9), 250ms (7 of 9); ...`; `None` if it holds in
    /// all or none.
    pub(crate) fn by_part(&self) -> Option<String> {
        if self.overall() != Overall::InSomeCells {
            return None;
        }
        // An axis with a single label says nothing.
        let several: Vec<&Part> = self.parts.iter().filter(|part| part.cells < self.cells.len()).collect();
        let axis = |parts: &[&Part]| {
            let labels = parts.iter().map(|part| format!("{} ({} of {})", part.label, part.holds, part.cells));
            format!("{}: {}", parts[0].axis, labels.collect::<Vec<_>>().join(", "))
        };
        Some(several.chunk_by(|a, b| a.axis == b.axis).map(axis).collect::<Vec<_>>().join("; "))
    }

    /// `holds`, or `holds in 14 of 18 cells, undecided in 1`, and how far the differences reach from cell to cell.
    pub fn verdict(&self) -> String {
        let all = self.cells.len();
        let text = match &self.cells[..] {
            [(_, only)] => return only.verdict.words().into(),
            _ if self.holds == all => format!("holds in all {all} cells"),
            _ if self.does_not_hold == all => format!("holds in none of {all} cells"),
            _ if self.undecided == all => format!("undecided in all {all} cells"),
            _ if self.holds == 0 => {
                format!("does not hold in {} of {all} cells, undecided in {}", self.does_not_hold, self.undecided)
            }
            _ if self.undecided > 0 => {
                format!("holds in {} of {all} cells, undecided in {}", self.holds, self.undecided)
            }
            _ => format!("holds in {} of {all} cells", self.holds),
        };
        let differences = self.cells.iter().filter_map(|(_, judgement)| judgement.relative);
        let ends = differences.fold(None, |ends: Option<(f64, f64)>, x| {
            Some(ends.map_or((x, x), |(least, most)| (least.min(x), most.max(x))))
        });
        ends.map_or(text.clone(), |(least, most)| {
            format!("{text}, differences {} % to {} %", signed(least), signed(most))
        })
    }
}
