//! Results as plain text.

use std::fmt::Write;
use std::iter;

use ackclock_report::{Align, align};

use crate::format::NumberOrText;
use crate::outcome::{Outcome, Overall, Row};

/// With more cells than this, plain text tells only in how many a claim holds, by each label.
const FEW: usize = 8;

impl Outcome {
    /// The table of its rows and a line for each claim.
    pub fn to_table(&self) -> String {
        let runs = if self.runs == 1 { "1 run".into() } else { format!("{} runs", self.runs) };
        let mut text = format!("{}: {} ({}; {runs})\n", self.id, self.title, self.place);
        let rows = self.table_rows();
        if rows.len() > 1 {
            let _ = write!(text, "\n{}", align(&rows, Align::Right));
        }
        for claim in &self.claims {
            let _ = write!(text, "\n{}: {} ({})\n", claim.verdict(), claim.says, claim.place);
            if let [(_, only)] = &claim.cells[..] {
                let _ = writeln!(text, "    measured: {}", only.measured);
            } else if claim.cells.len() <= FEW {
                for (cell, judgement) in &claim.cells {
                    let _ = writeln!(text, "    {cell}: {}: {}", judgement.verdict.words(), judgement.measured);
                }
            } else {
                let _ = writeln!(text, "    {}", claim.by_part());
            }
        }
        text
    }

    /// The heading and all rows of all cells. Where the paper has no number to put beside ours, a line is a cell.
    pub(crate) fn table_rows(&self) -> Vec<Vec<String>> {
        let several = self.cells.len() > 1;
        if several && self.cells.iter().flat_map(|c| &c.rows).all(|row| row.paper.is_none()) {
            return self.line_a_cell();
        }
        let first = |name: &str| if several { vec![name.to_string()] } else { Vec::new() };
        let line = |name: &str, rest: [&str; 5]| [first(name), rest.map(String::from).to_vec()].concat();
        let mut rows = vec![line("cell", ["measured", "place", "paper", "ours", "unit"])];
        for cell in &self.cells {
            rows.extend(cell.rows.iter().map(|row| {
                let paper = match &row.paper {
                    None => "-".into(),
                    Some(NumberOrText::Number(n)) => n.to_string(),
                    Some(NumberOrText::Text(text)) => text.clone(),
                };
                line(&cell.name, [&row.label, &row.place, &paper, &row.shown, &row.unit])
            }));
        }
        rows
    }

    fn line_a_cell(&self) -> Vec<Vec<String>> {
        let Some(first) = self.cells.first().filter(|c| !c.rows.is_empty()) else { return Vec::new() };
        let with_unit =
            |row: &Row| if row.unit.is_empty() { row.label.clone() } else { format!("{} ({})", row.label, row.unit) };
        let mut lines = vec![iter::once("cell".into()).chain(first.rows.iter().map(with_unit)).collect()];
        lines.extend(
            self.cells.iter().map(|c| iter::once(&c.name).chain(c.rows.iter().map(|r| &r.shown)).cloned().collect()),
        );
        lines
    }
}

/// How many of all claims hold.
pub fn summary(outcomes: &[Outcome]) -> String {
    let claims = || outcomes.iter().flat_map(|o| &o.claims);
    let count = |holds| claims().filter(|c| c.overall() == holds).count();
    format!(
        "{} claims: {} hold, {} hold in some cells, {} do not hold, {} are undecided",
        claims().count(),
        count(Overall::Holds),
        count(Overall::InSomeCells),
        count(Overall::DoesNotHold),
        count(Overall::Undecided)
    )
}
