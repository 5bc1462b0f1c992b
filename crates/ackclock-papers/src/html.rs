//! Results as HTML: an index and a page for each experiment. Each page is one file that needs no network.

use std::fmt::Write;
use std::iter;

use ackclock_report::{Panel, Picture, escape, page};

use crate::index::index;
use crate::outcome::{ClaimOutcome, Outcome, Overall, Sequence, Trace};
use crate::sequence::{HEADING, Step};
use crate::verdict::Verdict;

/// The style of these pages.
pub const CSS: &str = include_str!("../assets/report.css");

/// A table with more lines is folded up, so that the figure below it is in sight.
const MANY: usize = 30;

/// File names and their text: `index.html`, and a page for each experiment.
pub fn pages(outcomes: &[Outcome]) -> Vec<(String, String)> {
    let mut files = vec![("index.html".to_string(), index(outcomes))];
    files.extend(outcomes.iter().map(|o| (file_name(o), experiment(o))));
    files
}

pub(crate) fn file_name(outcome: &Outcome) -> String {
    format!("{}.html", outcome.id.replace('/', "-"))
}

fn experiment(outcome: &Outcome) -> String {
    let mut intro = String::new();
    let from = format!("{} ({}), {}", outcome.paper.title, outcome.paper.published, outcome.place);
    let _ = writeln!(intro, "<p><a href=\"index.html\">All experiments</a> · {}</p>", escape(&from));
    let _ = writeln!(
        intro,
        "<p class=\"ran\">{}; run by ackclock {}{}.{}</p>",
        escape(&outcome.ran()),
        env!("CARGO_PKG_VERSION"),
        if outcome.quick { " in short (--quick)" } else { "" },
        if outcome.runs > 1 { " ± is a 95 % confidence interval." } else { "" }
    );
    for chart in &outcome.charts {
        let _ = writeln!(intro, "<div class=\"wide\">{}</div>", chart.to_svg());
    }
    claims(&mut intro, outcome);
    for paragraph in outcome.notes.split("\n\n").filter(|text| !text.is_empty()) {
        let _ = writeln!(intro, "<p>{}</p>", escape(paragraph));
    }
    for (title, rows) in outcome.side_by_side() {
        let _ = writeln!(intro, "<h3>{}</h3>", escape(&title));
        table(&mut intro, &rows);
    }
    every_cell(&mut intro, outcome);
    let rows = outcome.table_rows();
    if rows.len() > 1 {
        match rows.len() - 1 {
            few if few <= MANY => table(&mut intro, &rows),
            many => folded(&mut intro, many, "number", |html| table(html, &rows)),
        }
    }
    let sequences = outcome.cells.iter().flat_map(|c| &c.sequences);
    folded(&mut intro, outcome.traces.len(), "step of every connection", |html| {
        sequences.zip(&outcome.traces).for_each(|(sequence, trace)| steps(html, trace, sequence));
    });
    if outcome.traces.is_empty() {
        let body = format!("<div class=\"report\">\n<h1>{}</h1>\n{intro}</div>\n", escape(&outcome.title));
        return page(&outcome.title, CSS, &body);
    }
    let panels = panels(&outcome.traces);
    Picture { title: &outcome.title, panels: &panels, ..Picture::default() }.to_html_with(CSS, &intro, "")
}

pub(crate) fn panels(traces: &[Trace]) -> Vec<Panel<'_>> {
    let panel = |t| {
        let Trace { name, mss, summary, .. }: &Trace = t;
        Panel { name, mss: *mss, events: t.eventful(), summary: summary.as_ref(), ..Panel::default() }
    };
    traces.iter().map(panel).collect()
}

/// The class, the symbol and the words of its verdict; none of them stands alone.
pub(crate) fn sign(claim: &ClaimOutcome) -> (&'static str, &'static str, &'static str) {
    match claim.overall() {
        Overall::Holds => ("holds", "✓", "holds"),
        Overall::InSomeCells => ("part", "◐", "in some cells"),
        Overall::DoesNotHold => ("fails", "✗", "does not hold"),
        Overall::Undecided => ("undecided", "?", "undecided"),
    }
}

/// The table of all claims.
pub(crate) fn claims(html: &mut String, outcome: &Outcome) {
    html.push_str("<table class=\"claims\">\n<tr><th>verdict</th><th>claim</th><th>measured</th></tr>\n");
    let mut told = None;
    for claim in &outcome.claims {
        let (class, symbol, words) = sign(claim);
        let (says, place, measured) = (escape(&claim.says), escape(&claim.place), escape(&claim.measured()));
        let _ = write!(
            html,
            "<tr><td class=\"{class}\">{symbol} {words}</td><td>{says} <small>({place})</small></td>\
             <td class=\"measured\">{measured}"
        );
        if let Some(by_part) = claim.by_part() {
            let _ = write!(html, "<br><small>{}</small>", escape(&by_part));
        }
        // A reason that many share is told once.
        if let Some(why) = claim.reason().filter(|why| told.replace(*why) != Some(*why)) {
            let _ = write!(html, "<br><small>Why: {}</small>", escape(why));
        }
        html.push_str("</td></tr>\n");
    }
    html.push_str("</table>\n");
}

/// What came out in every cell.
fn every_cell(html: &mut String, outcome: &Outcome) {
    let several: Vec<&ClaimOutcome> = outcome.claims.iter().filter(|c| c.cells.len() > 1).collect();
    folded(html, several.len(), "claim in every cell", |html| {
        for claim in several {
            let _ = writeln!(html, "<h3>{}</h3>", escape(&claim.says));
            let mut rows = vec![["cell", "verdict", "measured"].map(String::from).to_vec()];
            let words = |verdict: Verdict| verdict.words().to_string();
            rows.extend(claim.cells.iter().map(|(cell, j)| vec![cell.clone(), words(j.verdict), j.measured.clone()]));
            table(html, &rows);
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
    let rows: Vec<_> = iter::once(HEADING.map(String::from).to_vec()).chain(shown.map(Step::cells)).collect();
    let left_out = match 1 + sequence.steps.len() - rows.len() {
        0 => String::new(),
        n => format!(" after the first {n}, in which nothing was lost"),
    };
    let _ = writeln!(html, "<h3>{}{left_out}</h3>", escape(&trace.name));
    table(html, &rows);
}

/// A table whose first row is its heading.
fn table(html: &mut String, rows: &[Vec<String>]) {
    html.push_str("<div class=\"wide\"><table>\n");
    for (i, row) in rows.iter().enumerate() {
        let tag = if i == 0 { "th" } else { "td" };
        html.push_str("<tr>");
        for cell in row {
            let _ = write!(html, "<{tag}>{}</{tag}>", escape(cell));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div>\n");
}
