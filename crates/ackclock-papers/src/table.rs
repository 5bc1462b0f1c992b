//! Results as plain text.

use std::fmt::Write;
use std::iter;

use ackclock_report::{Align, align, align_within};
use ackclock_run::bracketed;

use crate::claims::{CellJudgement, Overall};
use crate::measures::with_unit;
use crate::outcome::{Outcome, Row, Table, joined};

/// With more cells than this, plain text only says in how many a claim holds, by each label.
const FEW: usize = 8;

/// With more columns than this, a line is not a cell but a strategy in it.
const WIDE: usize = 24;

impl Outcome {
    /// The table of its rows, for a terminal of so many columns, and a line for each claim.
    pub fn to_table(&self, width: Option<usize>) -> String {
        let mut runs = if self.runs == 1 { "1 run".into() } else { format!("{} runs", self.runs) };
        if !self.complete {
            let done = || self.cells.iter().map(|cell| cell.runs);
            let (least, most) = (done().min().unwrap_or(0), done().max().unwrap_or(0));
            let each = if self.cells.len() > 1 { " in each cell" } else { "" };
            let done = if least == most { most.to_string() } else { format!("{least} to {most}") };
            runs = format!("interrupted: {done} of {} runs{each}", self.runs);
        }
        let mut text =
            format!("{}: {} ({})\n", self.id, self.title, joined(&[&self.place, &runs], "; "));
        for (title, rows) in self.side_by_side() {
            let _ = write!(text, "\n{title}\n{}", align_within(&rows, Align::Right, width));
        }
        let rows = self.table_rows();
        if rows.len() > 1 {
            let _ = write!(text, "\n{}", align_within(&rows, Align::Right, width));
        }
        for claim in &self.claims {
            let _ =
                write!(text, "\n{}: {}{}\n", claim.verdict(), claim.says, bracketed(&claim.place));
            if let [only] = &claim.cells[..] {
                let _ = writeln!(text, "    measured: {}", only.judgement.measured);
            } else if claim.cells.len() <= FEW {
                for CellJudgement { cell, judgement } in &claim.cells {
                    let _ = writeln!(
                        text,
                        "    {cell}: {}: {}",
                        judgement.verdict.words(),
                        judgement.measured
                    );
                }
            } else if let Some(by_part) = claim.by_part() {
                let _ = writeln!(text, "    {by_part}");
            }
            if let Some(why) = claim.reason() {
                let _ = writeln!(text, "    why: {why}");
            }
        }
        text
    }

    /// The tables with a column for each strategy of all cells, each with its title.
    pub(crate) fn side_by_side(&self) -> impl Iterator<Item = (String, Vec<Vec<String>>)> {
        self.cells.iter().flat_map(|cell| cell.tables.iter().map(move |table| (cell, table))).map(
            |(cell, table)| {
                let of_cell =
                    if cell.name.is_empty() { String::new() } else { format!(" ({})", cell.name) };
                (table.title.clone() + &of_cell, table.cells(&self.strategies))
            },
        )
    }

    /// The heading and all rows of all cells. Where the paper has no number to put beside ours, a
    /// line is a cell.
    pub(crate) fn table_rows(&self) -> Vec<Vec<String>> {
        let several = self.cells.len() > 1;
        if several && self.cells.iter().flat_map(|c| &c.rows).all(|row| row.paper.is_none()) {
            let wide = self
                .cells
                .first()
                .is_some_and(|c| c.rows.len() > WIDE && c.rows.iter().all(Row::is_shown));
            return if wide { self.line_a_strategy() } else { self.line_a_cell() };
        }
        let first = |name: &str| if several { vec![name.to_string()] } else { Vec::new() };
        // An experiment of one's own has neither places nor numbers of a paper.
        let all = || self.cells.iter().flat_map(|cell| &cell.rows);
        let places = all().any(|row| !row.place.is_empty());
        let papers = all().any(|row| row.paper.is_some());
        let line = |name: &str, [label, place, paper, ours, unit]: [&str; 5]| {
            let rest =
                [(label, true), (place, places), (paper, papers), (ours, true), (unit, true)];
            let rest = rest.into_iter().filter(|(_, shown)| *shown);
            first(name).into_iter().chain(rest.map(|(text, _)| text.to_string())).collect()
        };
        let mut rows: Vec<Vec<String>> =
            vec![line("cell", ["measured", "place", "paper", "ours", "unit"])];
        for cell in &self.cells {
            rows.extend(cell.rows.iter().map(|row| {
                line(&cell.name, [&row.label, &row.place, &row.papers(), &row.shown, &row.unit])
            }));
        }
        rows
    }

    fn line_a_cell(&self) -> Vec<Vec<String>> {
        let Some(first) = self.cells.first().filter(|c| !c.rows.is_empty()) else {
            return Vec::new();
        };
        let heading = |row: &Row| with_unit(&row.label, &row.unit);
        let mut lines =
            vec![iter::once("cell".into()).chain(first.rows.iter().map(heading)).collect()];
        lines.extend(self.cells.iter().map(|c| {
            iter::once(&c.name).chain(c.rows.iter().map(|r| &r.shown)).cloned().collect()
        }));
        lines
    }

    fn line_a_strategy(&self) -> Vec<Vec<String>> {
        let mut measures: Vec<&str> = Vec::new();
        let mut heading = vec!["cell".to_string(), "strategy".to_string()];
        for row in self.cells.iter().flat_map(|c| &c.rows) {
            if !measures.contains(&row.part(0)) {
                measures.push(row.part(0));
                heading.push(with_unit(row.part(0), &row.unit));
            }
        }
        let mut lines = vec![heading];
        for (cell, strategy) in
            self.cells.iter().flat_map(|c| self.strategies.iter().map(move |s| (c, s)))
        {
            let of = |measure: &str| {
                cell.rows.iter().find(|r| r.part(0) == measure && r.part(1) == strategy)
            };
            let shown =
                measures.iter().map(|measure| of(measure).map_or("", |row| &row.shown).to_string());
            lines.push([cell.name.clone(), strategy.clone()].into_iter().chain(shown).collect());
        }
        lines
    }
}

impl Table {
    /// The heading and all lines. The paper's numbers stand before ours, where it has any for a
    /// strategy.
    fn cells(&self, strategies: &[String]) -> Vec<Vec<String>> {
        let has_paper = |i: usize| {
            self.lines.iter().filter_map(|line| line.get(i)).any(|row| row.paper.is_some())
        };
        let of = |i: usize, paper: String, ours: String| {
            has_paper(i).then_some(paper).into_iter().chain([ours])
        };
        let columns = strategies
            .iter()
            .enumerate()
            .flat_map(|(i, s)| of(i, format!("{s} (paper)"), s.clone()));
        let heading = ["measured", "unit"].map(String::from).into_iter().chain(columns).collect();
        let lines = self.lines.iter().map(|line| {
            let first = line.iter().take(1).flat_map(|row| [row.label.clone(), row.unit.clone()]);
            let columns =
                line.iter().enumerate().flat_map(|(i, row)| of(i, row.papers(), row.shown.clone()));
            first.chain(columns).collect()
        });
        iter::once(heading).chain(lines).collect()
    }
}

impl Row {
    /// Whether it is one of `show`: of all flows, under its own name.
    fn is_shown(&self) -> bool {
        self.part(2).is_empty() && self.label == self.measurement
    }
}

/// What [`counts`] counts.
pub(crate) const COUNTS: [&str; 5] =
    ["claims", "hold", "in some cells", "do not hold", "undecided"];

/// How many claims these outcomes have, and how many of them hold.
pub(crate) fn counts<'a>(outcomes: impl Iterator<Item = &'a Outcome> + Clone) -> [usize; 5] {
    let claims = || outcomes.clone().flat_map(|o| &o.claims);
    let count = |overall| claims().filter(|c| c.overall() == overall).count();
    let [holds, in_some, does_not, undecided] = Overall::ALL.map(count);
    [claims().count(), holds, in_some, does_not, undecided]
}

/// Outcomes by paper, or by folder.
pub(crate) fn by_folder(outcomes: &[Outcome]) -> impl Iterator<Item = &[Outcome]> {
    outcomes.chunk_by(|a, b| a.folder() == b.folder())
}

/// Those that are not about sensitivity.
pub(crate) fn headline(outcomes: &[Outcome]) -> impl Iterator<Item = &Outcome> + Clone {
    outcomes.iter().filter(|o| !o.sensitivity)
}

/// How many of the claims hold, as plain text: a line for each experiment, then one for each paper
/// and one for all. Sensitivity counts apart. Nothing if there are no claims.
pub fn summary(outcomes: &[Outcome]) -> String {
    if outcomes.iter().all(|outcome| outcome.claims.is_empty()) {
        return String::new();
    }
    let line = |name: &str, counts: [usize; 5]| -> Vec<String> {
        iter::once(name.to_string()).chain(counts.map(|n| n.to_string())).collect()
    };
    let heading = |name: &str| iter::once(name).chain(COUNTS).map(String::from).collect();
    let mut lines = vec![heading("experiment")];
    lines.extend(outcomes.iter().map(|o| line(&o.id, counts(iter::once(o)))));
    if outcomes.iter().all(|outcome| outcome.paper.is_none()) {
        return align(&lines, Align::Right);
    }
    lines.extend([Vec::new(), heading("paper")]);
    lines.extend(by_folder(outcomes).map(|of| line(of[0].folder(), counts(headline(of)))));
    lines.push(line("all", counts(headline(outcomes))));
    let mut sensitivity = outcomes.iter().filter(|o| o.sensitivity).peekable();
    if sensitivity.peek().is_some() {
        lines.push(line("sensitivity, apart", counts(sensitivity)));
    }
    align(&lines, Align::Right)
}
