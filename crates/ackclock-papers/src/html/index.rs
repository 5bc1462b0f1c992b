//! The index of the pages, which reads like the report of a laboratory: what was run, what came
//! out, and what could not be reproduced.

use std::fmt::Write;
use std::iter;

use ackclock_report::{escape, page as html_page, prose};
use ackclock_run::bracketed;

use super::parts::{claims, file_name, panels, picture, sign};
use crate::claims::ClaimOutcome;
use crate::format::Paper;
use crate::outcome::{Outcome, joined};
use crate::table::{COUNTS, by_folder, counts, headline};

/// The title of a report on papers, and of one on experiments in files.
const TITLES: [&str; 2] = ["Papers on TCP loss recovery, run again", "Experiments"];
/// The title of the section on claims that do not hold, likewise.
const NOT_REPRODUCED: [&str; 2] =
    ["What could not be reproduced, and why", "What does not hold, and why"];

/// A figure shows no more connections than this; the page that it leads to shows all.
const PANELS: usize = 4;

pub(super) fn page(outcomes: &[Outcome]) -> String {
    let title = TITLES[usize::from(!of_papers(outcomes))];
    let mut html = format!("<main class=\"report\">\n<h1>{title}</h1>\n");
    made(&mut html, outcomes);
    sentences(&mut html, outcomes);
    summary(&mut html, outcomes);
    for of in by_folder(outcomes) {
        paper(&mut html, of);
    }
    not_reproduced(&mut html, outcomes);
    html.push_str("</main>\n");
    html_page(title, &html)
}

/// Whether there is a paper behind any of them.
fn of_papers(outcomes: &[Outcome]) -> bool {
    outcomes.iter().any(|outcome| outcome.paper.is_some())
}

/// How the runs were made, and how claims are judged.
fn made(html: &mut String, outcomes: &[Outcome]) {
    let how = match outcomes.iter().any(|o| o.quick) {
        true => {
            "in short (<code>--quick</code>): fewer seeds and cells than the full run, and wider \
             intervals"
        }
        false => "in full",
    };
    let _ = writeln!(
        html,
        "<p>Run by ackclock {}, {how}. The seeds stand with each experiment; the same version and \
         seeds give the same numbers on any machine.</p>\n<p>A claim is a sentence of {}. \
         Of a single run it is judged exactly; of several, it holds if the 95 % confidence \
         interval lies on its side, does not hold if it lies on the other, and is undecided if it \
         covers the boundary. Where parameters are varied it is judged in each cell of the \
         grid.</p>",
        env!("CARGO_PKG_VERSION"),
        if of_papers(outcomes) {
            "the paper, or, beyond the papers, of an RFC"
        } else {
            "the file"
        }
    );
}

/// What came out of each paper, in a sentence. It is the paper's own, whatever was run.
fn sentences(html: &mut String, outcomes: &[Outcome]) {
    if !of_papers(outcomes) {
        return;
    }
    html.push_str(
        "<h2>What came out</h2>\n<p>Of all experiments of each paper, run in full; what came out \
         of those of this page stands below.</p>\n<ul id=\"outcomes\">\n",
    );
    for Paper { title, outcome, .. } in by_folder(outcomes).filter_map(|of| of[0].paper.as_ref()) {
        let _ = writeln!(html, "<li><b>{}</b>: {}</li>", escape(title), prose(outcome));
    }
    html.push_str("</ul>\n");
}

fn summary(html: &mut String, outcomes: &[Outcome]) {
    let of = if of_papers(outcomes) { "paper" } else { "folder" };
    let _ = write!(
        html,
        "<h2>Summary</h2>\n<div class=\"wide\" tabindex=\"0\"><table id=\"summary\">\n<tr><th>{of}</th>"
    );
    for name in COUNTS {
        let _ = write!(html, "<th>{name}</th>");
    }
    html.push_str("</tr>\n");
    let mut line = |name: &str, counts: [usize; 5]| {
        let cells: String = counts.iter().map(|n| format!("<td>{n}</td>")).collect();
        let _ = writeln!(html, "<tr><td>{name}</td>{cells}</tr>");
    };
    for of in by_folder(outcomes) {
        let (id, title) = (escape(of[0].folder()), escape(of[0].source()));
        line(&format!("<a href=\"#{id}\">{title}</a>"), counts(headline(of)));
    }
    line("all", counts(headline(outcomes)));
    html.push_str("</table></div>\n");
    if outcomes.iter().any(falls_short) {
        let title = NOT_REPRODUCED[usize::from(!of_papers(outcomes))];
        let _ = writeln!(html, "<p><a href=\"#not-reproduced\">{title}</a></p>");
    }
}

/// A section with all experiments of a paper.
fn paper(html: &mut String, outcomes: &[Outcome]) {
    let _ = writeln!(
        html,
        "<section class=\"paper\" id=\"{}\">\n<h2>{}</h2>",
        escape(outcomes[0].folder()),
        escape(outcomes[0].source())
    );
    if let Some(Paper { authors, published, .. }) = &outcomes[0].paper {
        let (authors, published) = (escape(&authors.join(", ")), escape(published));
        let _ = writeln!(html, "<p>{authors}; {published}</p>");
    }
    for outcome in headline(outcomes) {
        let _ = writeln!(
            html,
            "<h3>{}</h3>\n<p class=\"ran\">{}{}.</p>",
            link(outcome),
            escape(&sentence(&outcome.place)),
            escape(&outcome.ran())
        );
        figures(html, outcome);
        claims(html, outcome);
    }
    for outcome in outcomes.iter().filter(|o| o.sensitivity) {
        let [claims, hold, in_some, ..] = counts(iter::once(outcome));
        let _ = writeln!(
            html,
            "<p>What depends on the assumptions: {} ({}). Of {claims} claims {hold} hold in all \
             cells, {in_some} in some.</p>",
            link(outcome),
            escape(&outcome.ran())
        );
    }
    html.push_str("</section>\n");
}

fn link(outcome: &Outcome) -> String {
    format!("<a href=\"{}\">{}</a>", escape(&file_name(outcome)), escape(&outcome.title))
}

/// As a sentence before another; nothing of nothing.
fn sentence(text: &str) -> String {
    let mut rest = text.chars();
    let sentence = rest.next().map(|first| first.to_uppercase().chain(rest).chain(". ".chars()));
    sentence.map(Iterator::collect).unwrap_or_default()
}

/// Its charts, and the time-sequence graphs of its first cell, small.
fn figures(html: &mut String, outcome: &Outcome) {
    let page = escape(&file_name(outcome));
    html.push_str("<div class=\"figures\">\n");
    for chart in &outcome.charts {
        let _ = writeln!(html, "<a href=\"{page}\">{}</a>", chart.to_svg());
    }
    let first = outcome.strategies.len().min(PANELS).min(outcome.traces.len());
    for panel in panels(&outcome.traces[..first]) {
        let svg = picture(outcome, &[panel]).to_svg();
        // An image of its own, since its clipping paths have ids.
        let source = escape(&svg.replace('%', "%25").replace('#', "%23"));
        let name = escape(panel.name);
        let _ = writeln!(
            html,
            "<a href=\"{page}\"><img alt=\"{name}\" src=\"data:image/svg+xml,{source}\"></a>"
        );
    }
    html.push_str("</div>\n");
    let rest = outcome.traces.len() - first;
    if rest > 0 {
        let _ = writeln!(html, "<p class=\"ran\">The page has {rest} connections more.</p>");
    }
}

/// Whether one of its own claims does not hold somewhere.
fn falls_short(outcome: &Outcome) -> bool {
    !outcome.sensitivity && outcome.claims.iter().any(ClaimOutcome::fails)
}

fn not_reproduced(html: &mut String, outcomes: &[Outcome]) {
    if !outcomes.iter().any(falls_short) {
        return;
    }
    let of_papers = of_papers(outcomes);
    let title = NOT_REPRODUCED[usize::from(!of_papers)];
    let silent = match of_papers {
        true => " What each experiment assumes where its paper is silent stands on its page.",
        false => "",
    };
    let _ = writeln!(
        html,
        "<section id=\"not-reproduced\">\n<h2>{title}</h2>\n<p>All claims that do not hold in one \
         cell or more.{silent}</p>"
    );
    for of in by_folder(outcomes) {
        let mut failed = of.iter().filter(|outcome| falls_short(outcome)).peekable();
        if failed.peek().is_some() {
            let _ = writeln!(html, "<h3>{}</h3>", escape(of[0].source()));
        }
        for outcome in failed {
            let _ = writeln!(
                html,
                "<p>{}<small>{}</small></p>",
                link(outcome),
                escape(&bracketed(&outcome.place))
            );
            reasons(html, outcome);
        }
    }
    html.push_str("</section>\n");
}

/// The claims that do not hold, those with the same reason together.
fn reasons(html: &mut String, outcome: &Outcome) {
    let failed: Vec<&ClaimOutcome> = outcome.claims.iter().filter(|c| c.fails()).collect();
    let mut shown: Vec<Option<&str>> = Vec::new();
    for why in failed.iter().map(|c| c.why.as_deref()) {
        if shown.contains(&why) {
            continue;
        }
        shown.push(why);
        html.push_str("<ul>\n");
        for claim in failed.iter().filter(|c| c.why.as_deref() == why) {
            let (class, symbol, words) = sign(claim);
            let _ = writeln!(
                html,
                "<li><span class=\"{class}\">{symbol} {words}</span>: {} <small>({})</small></li>",
                prose(&claim.says),
                escape(&joined(&[&claim.place, &claim.measured()], "; "))
            );
        }
        let why = why.map_or("not known.".into(), prose);
        let _ = writeln!(html, "</ul>\n<p><b>Why:</b> {why}</p>");
    }
}
