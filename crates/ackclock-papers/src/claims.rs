//! What became of a claim over all its cells.

use ackclock_run::AxisLabel;
use serde::{Serialize, Serializer};

use crate::format::Claim;
use crate::numbers::signed;
use crate::verdict::{Judgement, Verdict};

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
    /// Whether it is to hold in one cell only.
    pub somewhere: bool,
    /// Number of cells in which it holds.
    pub holds: usize,
    /// Number of cells in which it does not hold.
    pub does_not_hold: usize,
    /// Number of cells in which the runs do not decide.
    pub undecided: usize,
    /// The same for the cells that have a label in common.
    pub parts: Vec<Part>,
    /// The judgement in each cell that it is about.
    pub cells: Vec<CellJudgement>,
}

/// The judgement in a cell. In JSON it is an array of the two.
#[derive(Debug)]
pub struct CellJudgement {
    /// The name of the cell.
    pub cell: String,
    /// The judgement.
    pub judgement: Judgement,
}

impl Serialize for CellJudgement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.cell, &self.judgement).serialize(serializer)
    }
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

/// A claim over all its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overall {
    /// It holds in all of them.
    Holds,
    /// It holds in some.
    InSomeCells,
    /// It holds in none, and in at least one the runs decide that it does not.
    DoesNotHold,
    /// The runs do not decide in any cell.
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
            (1.., _, _) if self.somewhere => Overall::Holds,
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
            somewhere: claim.somewhere,
            holds: 0,
            does_not_hold: 0,
            undecided: 0,
            parts: Vec::new(),
            cells: Vec::new(),
        }
    }

    /// What became of it in one cell, whose axes and labels these are.
    pub(crate) fn add(&mut self, cell: &str, labels: &[AxisLabel], judgement: Judgement) {
        let holds = usize::from(judgement.verdict == Verdict::Holds);
        self.holds += holds;
        self.does_not_hold += usize::from(judgement.verdict == Verdict::DoesNotHold);
        self.undecided += usize::from(judgement.verdict == Verdict::Undecided);
        for AxisLabel { axis, label } in labels {
            let known =
                self.parts.iter_mut().find(|part| part.axis == *axis && part.label == *label);
            if let Some(part) = known {
                part.holds += holds;
                part.cells += 1;
            } else {
                // Behind the other labels of its axis.
                let at = self
                    .parts
                    .iter()
                    .rposition(|part| part.axis == *axis)
                    .map_or(self.parts.len(), |last| last + 1);
                self.parts
                    .insert(at, Part { axis: axis.clone(), label: label.clone(), holds, cells: 1 });
            }
        }
        self.cells.push(CellJudgement { cell: cell.into(), judgement });
    }

    /// Whether the runs decide, in at least one cell, that it does not hold; somewhere: in all.
    pub(crate) fn fails(&self) -> bool {
        self.does_not_hold > 0 && !(self.somewhere && self.holds > 0)
    }

    /// Why, if it fails.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.why.as_deref().filter(|_| self.fails())
    }

    /// What was measured in the only cell, or how many cells it holds in.
    pub(crate) fn measured(&self) -> String {
        match &self.cells[..] {
            [only] => only.judgement.measured.clone(),
            _ => self.verdict(),
        }
    }

    /// In how many cells of each label it holds: `delay: 165ms (2 of 9), 250ms (7 of 9); ...`.
    /// `None` if it holds in all cells or in none.
    pub(crate) fn by_part(&self) -> Option<String> {
        if self.overall() != Overall::InSomeCells {
            return None;
        }
        // An axis with a single label says nothing.
        let several: Vec<&Part> =
            self.parts.iter().filter(|part| part.cells < self.cells.len()).collect();
        let axis = |parts: &[&Part]| {
            let labels = parts
                .iter()
                .map(|part| format!("{} ({} of {})", part.label, part.holds, part.cells));
            format!("{}: {}", parts[0].axis, labels.collect::<Vec<_>>().join(", "))
        };
        Some(several.chunk_by(|a, b| a.axis == b.axis).map(axis).collect::<Vec<_>>().join("; "))
    }

    /// `holds`, or `holds in 14 of 18 cells, undecided in 1`, with the least and the greatest
    /// difference.
    pub fn verdict(&self) -> String {
        let all = self.cells.len();
        let text = match &self.cells[..] {
            [only] => return only.judgement.verdict.words().into(),
            _ if self.holds == all => format!("holds in all {all} cells"),
            _ if self.does_not_hold == all => format!("holds in none of {all} cells"),
            _ if self.undecided == all => format!("undecided in all {all} cells"),
            _ if self.holds == 0 => {
                format!(
                    "does not hold in {} of {all} cells, undecided in {}",
                    self.does_not_hold, self.undecided
                )
            }
            _ if self.undecided > 0 => {
                format!("holds in {} of {all} cells, undecided in {}", self.holds, self.undecided)
            }
            _ => format!("holds in {} of {all} cells", self.holds),
        };
        let differences = self.cells.iter().filter_map(|of_cell| of_cell.judgement.relative);
        let ends = differences.fold(None, |ends: Option<(f64, f64)>, x| {
            Some(ends.map_or((x, x), |(least, most)| (least.min(x), most.max(x))))
        });
        ends.map_or(text.clone(), |(least, most)| {
            format!(
                "{text}, differences {} % to {} %{}",
                signed(least),
                signed(most),
                self.where_it_is(most)
            )
        })
    }

    /// In which cell the difference is this, where one is to be found.
    fn where_it_is(&self, difference: f64) -> String {
        let here = |of_cell: &&CellJudgement| of_cell.judgement.relative == Some(difference);
        let cell = self.cells.iter().filter(|_| self.somewhere).find(here);
        cell.map_or(String::new(), |of_cell| format!(" ({})", of_cell.cell))
    }
}

#[cfg(test)]
mod tests;
