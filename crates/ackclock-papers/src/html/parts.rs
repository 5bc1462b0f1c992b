//! What the index and the pages of experiments share.

use std::fmt::Write;

use ackclock_report::{Panel, Picture, escape, prose};
use ackclock_run::bracketed;

use crate::claims::{ClaimOutcome, Overall};
use crate::outcome::{Outcome, Trace};

/// The name of the page of an experiment.
pub(super) fn file_name(outcome: &Outcome) -> String {
    format!("{}.html", outcome.id.replace('/', "-"))
}

pub(super) fn panels(traces: &[Trace]) -> Vec<Panel<'_>> {
    let panel = |t| {
        let Trace { name, mss, summary, .. }: &Trace = t;
        Panel {
            name,
            mss: *mss,
            events: t.eventful(),
            summary: summary.as_ref(),
            ..Panel::default()
        }
    };
    traces.iter().map(panel).collect()
}

/// The time-sequence graphs of an experiment, without a heading.
pub(super) fn picture<'a>(outcome: &'a Outcome, panels: &'a [Panel<'a>]) -> Picture<'a> {
    Picture { panels, marks: &outcome.marks, window: outcome.window, ..Picture::default() }
}

/// The class, the symbol and the words of its verdict; none of them stands alone.
pub(super) fn sign(claim: &ClaimOutcome) -> (&'static str, &'static str, &'static str) {
    match claim.overall() {
        Overall::Holds => ("holds", "✓", "holds"),
        Overall::InSomeCells => ("part", "◐", "in some cells"),
        Overall::DoesNotHold => ("fails", "✗", "does not hold"),
        Overall::Undecided => ("undecided", "?", "undecided"),
    }
}

/// The table of all claims.
pub(super) fn claims(html: &mut String, outcome: &Outcome) {
    html.push_str(
        "<table class=\"claims\">\n<tr><th>verdict</th><th>claim</th><th>measured</th></tr>\n",
    );
    let mut shown = None;
    for claim in &outcome.claims {
        let (class, symbol, words) = sign(claim);
        let (says, place, measured) =
            (prose(&claim.says), escape(&bracketed(&claim.place)), escape(&claim.measured()));
        let _ = write!(
            html,
            "<tr><td class=\"{class}\">{symbol} {words}</td>\
             <td>{says}<small>{place}</small></td><td class=\"measured\">{measured}"
        );
        if let Some(by_part) = claim.by_part() {
            let _ = write!(html, "<br><small>{}</small>", escape(&by_part));
        }
        // A reason that many share is shown once.
        if let Some(why) = claim.reason().filter(|why| shown.replace(*why) != Some(*why)) {
            let _ = write!(html, "<br><small>Why: {}</small>", prose(why));
        }
        html.push_str("</td></tr>\n");
    }
    html.push_str("</table>\n");
}
