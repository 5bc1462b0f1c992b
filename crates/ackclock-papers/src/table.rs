//! Results as plain text.

use std::fmt::Write;

use ackclock_report::{Align, align};

use crate::format::NumberOrText;
use crate::outcome::Outcome;

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
            for (cell, judgement) in &claim.cells {
                if claim.cells.len() == 1 {
                    let _ = writeln!(text, "    measured: {}", judgement.measured);
                } else {
                    let _ = writeln!(text, "    {cell}: {}: {}", judgement.verdict.words(), judgement.measured);
                }
            }
        }
        text
    }

    /// The heading and all rows of all cells; the column of the cells only if there are several.
    pub(crate) fn table_rows(&self) -> Vec<Vec<String>> {
        let several = self.cells.len() > 1;
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
}
