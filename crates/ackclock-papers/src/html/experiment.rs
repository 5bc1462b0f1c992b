//! The page of an experiment.

use std::fmt::Write;
use std::iter;

use ackclock_report::{Picture, escape, html_table, page as html_page, prose};
use ackclock_run::bracketed;

use super::parts::{claims, panels, picture};
use crate::claims::{CellJudgement, ClaimOutcome};
use crate::outcome::{Outcome, Sequence, Trace, joined};
use crate::sequence::{HEADING, Step};
use crate::verdict::Verdict;

/// A table with more lines is folded up, so that the figure below it is in sight.
const MANY: usize = 30;

pub(super) fn page(outcome: &Outcome) -> String {
    let mut intro = String::new();
    let published = outcome.paper.as_ref().map_or("", |paper| &paper.published);
    let source = outcome.source().to_string() + &bracketed(published);
    let from = joined(&[&source, &outcome.place], ", ");
    let _ =
        writeln!(intro, "<p><a href=\"index.html\">All experiments</a> · {}</p>", escape(&from));
    let _ = writeln!(
        intro,
        "<p class=\"ran\">{}; run by ackclock {}{}.{}</p>",
        escape(&outcome.ran()),
        env!("CARGO_PKG_VERSION"),
        if outcome.quick { " in short (--quick)" } else { "" },
        if outcome.runs > 1 { " ± is a 95 % confidence interval." } else { "" }
    );
    for chart in &outcome.charts {
        intro.push_str(&chart.to_html());
    }
    claims(&mut intro, outcome);
    for paragraph in outcome.notes.split("\n\n").filter(|text| !text.is_empty()) {
        let _ = writeln!(intro, "<p>{}</p>", prose(paragraph));
    }
    for (title, rows) in outcome.side_by_side() {
        let _ = writeln!(intro, "<h3>{}</h3>", escape(&title));
        html_table(&mut intro, &rows);
    }
    every_cell(&mut intro, outcome);
    let rows = outcome.table_rows();
    if rows.len() > 1 {
        match rows.len() - 1 {
            few if few <= MANY => html_table(&mut intro, &rows),
            many => folded(&mut intro, many, "number", |html| html_table(html, &rows)),
        }
    }
    let sequences = outcome.cells.iter().flat_map(|c| &c.sequences);
    folded(&mut intro, outcome.traces.len(), "step of every connection", |html| {
        sequences.zip(&outcome.traces).for_each(|(sequence, trace)| steps(html, trace, sequence));
    });
    if outcome.traces.is_empty() {
        let body = format!(
            "<main class=\"report\">\n<h1>{}</h1>\n{intro}</main>\n",
            escape(&outcome.title)
        );
        return html_page(&outcome.title, &body);
    }
    let panels = panels(&outcome.traces);
    Picture { title: &outcome.title, ..picture(outcome, &panels) }.to_html_with(&intro, "")
}

/// What came out in every cell.
fn every_cell(html: &mut String, outcome: &Outcome) {
    let several: Vec<&ClaimOutcome> = outcome.claims.iter().filter(|c| c.cells.len() > 1).collect();
    folded(html, several.len(), "claim in every cell", |html| {
        for claim in several {
            let _ = writeln!(html, "<h3>{}</h3>", prose(&claim.says));
            let mut rows = vec![["cell", "verdict", "measured"].map(String::from).to_vec()];
            let words = |verdict: Verdict| verdict.words().to_string();
            rows.extend(claim.cells.iter().map(|CellJudgement { cell, judgement: j }| {
                vec![cell.clone(), words(j.verdict), j.measured.clone()]
            }));
            html_table(html, &rows);
        }
    });
}

/// Details of so many things, unless there are none.
fn folded(html: &mut String, count: usize, what: &str, write: impl FnOnce(&mut String)) {
    if count > 0 {
        let _ = writeln!(html, "<details><summary>Every {what} ({count})</summary>");
        write(html);
        html.push_str("</details>\n");
    }
}

fn steps(html: &mut String, trace: &Trace, sequence: &Sequence) {
    let from = trace.eventful().first().map_or(0.0, |event| event.at.secs_f64());
    let shown = sequence.steps.iter().skip_while(|step| step.time < from);
    let rows: Vec<_> =
        iter::once(HEADING.map(String::from).to_vec()).chain(shown.map(Step::cells)).collect();
    let left_out = match 1 + sequence.steps.len() - rows.len() {
        0 => String::new(),
        n => format!(" after the first {n}, in which nothing was lost"),
    };
    let _ = writeln!(html, "<h3>{}{left_out}</h3>", escape(&trace.name));
    html_table(html, &rows);
}
