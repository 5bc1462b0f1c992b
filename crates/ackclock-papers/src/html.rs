//! Results as HTML: an index and a page for each experiment. Each page is one file that needs no network.

use std::fmt::Write;

use ackclock_report::{Panel, Picture, escape, page};

use crate::outcome::{ClaimOutcome, Outcome, Overall, Sequence};
use crate::sequence::HEADING;
use crate::table::counts;
use crate::verdict::Verdict;

/// A table with more lines is folded up, so that the figure below it is in sight.
const MANY: usize = 30;

/// File names and their text: `index.html`, and a page for each experiment.
pub fn pages(outcomes: &[Outcome]) -> Vec<(String, String)> {
    let mut files = vec![("index.html".to_string(), index(outcomes))];
    files.extend(outcomes.iter().map(|o| (file_name(o), experiment(o))));
    files
}

fn file_name(outcome: &Outcome) -> String {
    format!("{}.html", outcome.id.replace('/', "-"))
}

fn index(outcomes: &[Outcome]) -> String {
    let mut body = String::from("<h1>Papers and their claims</h1>\n");
    table(&mut body, &counts(outcomes));
    let mut paper = "";
    for outcome in outcomes {
        if outcome.paper.title != paper {
            paper = &outcome.paper.title;
            let (authors, published) = (outcome.paper.authors.join(", "), &outcome.paper.published);
            let _ = write!(body, "<h2>{}</h2>\n<p>{}</p>\n", escape(paper), escape(&format!("{authors}; {published}")));
        }
        let _ = write!(
            body,
            "<section><h3><a href=\"{}\">{}</a></h3>\n<p>{}</p>\n<ul>",
            escape(&file_name(outcome)),
            escape(&outcome.title),
            escape(&outcome.place)
        );
        for claim in &outcome.claims {
            let _ = write!(body, "<li>{}</li>", line(claim));
        }
        body.push_str("</ul></section>\n");
    }
    page("Papers and their claims", &body)
}

fn experiment(outcome: &Outcome) -> String {
    let mut intro = String::new();
    let from = format!("{} ({}), {}", outcome.paper.title, outcome.paper.published, outcome.place);
    let _ = writeln!(intro, "<p><a href=\"index.html\">All experiments</a> · {}</p>", escape(&from));
    for chart in &outcome.charts {
        let _ = writeln!(intro, "<div class=\"wide\">{}</div>", chart.to_svg());
    }
    claims(&mut intro, outcome);
    if !outcome.notes.is_empty() {
        let _ = writeln!(intro, "<p>{}</p>", escape(&outcome.notes));
    }
    for (title, rows) in outcome.side_by_side() {
        let _ = writeln!(intro, "<h3>{}</h3>", escape(&title));
        table(&mut intro, &rows);
    }
    let rows = outcome.table_rows();
    if rows.len() > 1 {
        let _ = writeln!(intro, "<p>Runs of each strategy: {}; ± is a 95 % confidence interval.</p>", outcome.runs);
        if rows.len() > MANY {
            let _ = writeln!(intro, "<details><summary>Table of {} lines</summary>", rows.len() - 1);
        }
        table(&mut intro, &rows);
        if rows.len() > MANY {
            intro.push_str("</details>\n");
        }
    }
    for (cell, sequence) in outcome.cells.iter().flat_map(|c| c.sequences.iter().map(move |s| (c, s))) {
        steps(&mut intro, &cell.name, sequence);
    }
    if outcome.traces.is_empty() {
        return page(&outcome.title, &format!("<h1>{}</h1>\n{intro}", escape(&outcome.title)));
    }
    let panels: Vec<Panel<'_>> = outcome
        .traces
        .iter()
        .map(|t| Panel { name: &t.name, mss: t.mss, events: &t.events, summary: t.summary.as_ref() })
        .collect();
    Picture { title: &outcome.title, parameters: &[], panels: &panels }.to_html_with(&intro)
}

fn sign(claim: &ClaimOutcome) -> &'static str {
    match claim.overall() {
        Overall::Holds => "✓",
        Overall::DoesNotHold => "✗",
        Overall::InSomeCells => "◐",
        Overall::Undecided => "?",
    }
}

/// A claim in a line.
fn line(claim: &ClaimOutcome) -> String {
    let (verdict, says, place) = (escape(&claim.verdict()), escape(&claim.says), escape(&claim.place));
    format!("{} <b>{verdict}</b>: {says} <small>({place})</small>", sign(claim))
}

fn claims(html: &mut String, outcome: &Outcome) {
    html.push_str("<ul>\n");
    for claim in &outcome.claims {
        let _ = write!(html, "<li>{}", line(claim));
        if let [(_, judgement)] = &claim.cells[..] {
            let _ = writeln!(html, "<br><small>measured: {}</small></li>", escape(&judgement.measured));
            continue;
        }
        let mut rows = vec![["cell", "verdict", "measured"].map(String::from).to_vec()];
        let words = |verdict: Verdict| verdict.words().to_string();
        rows.extend(claim.cells.iter().map(|(cell, j)| vec![cell.clone(), words(j.verdict), j.measured.clone()]));
        if let Some(by_part) = claim.by_part() {
            let _ = write!(html, "<br><small>{}</small>", escape(&by_part));
        }
        html.push_str("<details><summary>every cell</summary>\n");
        table(html, &rows);
        html.push_str("</details></li>\n");
    }
    html.push_str("</ul>\n");
}

fn steps(html: &mut String, cell: &str, sequence: &Sequence) {
    let title = if cell.is_empty() { sequence.strategy.clone() } else { format!("{}, {cell}", sequence.strategy) };
    let _ = writeln!(html, "<details><summary>Every step: {}</summary>", escape(&title));
    let mut rows = vec![HEADING.map(String::from).to_vec()];
    rows.extend(sequence.steps.iter().map(|s| s.cells()));
    table(html, &rows);
    html.push_str("</details>\n");
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
