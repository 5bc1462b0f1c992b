//! Time-sequence graphs, one panel a flow, as HTML and as SVG.
//!
//! The conventions are those of tcptrace and of the papers of this field (Miyake & Inamura 2005, figures 6 to 14): time
//! to the right, sequence upwards, a bar from the first to the last byte of each segment, the ACK line below with a tick
//! per duplicate ACK, the window edge above.

mod findings;
mod html;
mod style;
mod svg;
mod thin;
mod trace;

use ackclock_tcp::Event;
use serde::Serialize;

use crate::drawing::{padded, widen};
use crate::summary::{FlowSummary, rate};
pub use findings::{Band, Fate, Findings, Tone};
pub use html::page;
pub use thin::thin;
use trace::Trace;

/// Flows side by side, drawn to one scale.
#[derive(Clone, Debug, Default)]
pub struct Picture<'a> {
    /// The heading.
    pub title: &'a str,
    /// Name and value of what all panels share: the parameters of the scenario.
    pub parameters: &'a [(String, String)],
    /// The flows.
    pub panels: &'a [Panel<'a>],
    /// Each panel has axes of its own for sequence and windows, as the two ways of a connection need. Time is shared all the same.
    pub own_scales: bool,
}

/// One flow in a [`Picture`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Panel<'a> {
    /// What tells this panel from the others, such as the name of the strategy.
    pub name: &'a str,
    /// SMSS in bytes: the unit of the sequence axis. 0 counts as 1.
    pub mss: u32,
    /// Its events in order of time.
    pub events: &'a [Event],
    /// Its counters, for the table above and the line below its name.
    pub summary: Option<&'a FlowSummary>,
    /// The line below its name where there is no summary.
    pub note: &'a str,
    /// What an analysis says of it.
    pub findings: Findings<'a>,
}

impl Picture<'_> {
    /// The picture as one HTML file that needs neither network nor server: zoom and pan are linked between the panels,
    /// a legend switches layers, and hovering tells what a mark is and why it is there.
    pub fn to_html(&self) -> String {
        self.to_html_with("", "", "")
    }

    /// As [`Picture::to_html`], with HTML below the heading (`intro`) and below the panels (`rest`), and `css` for it.
    pub fn to_html_with(&self, css: &str, intro: &str, rest: &str) -> String {
        html::render(self, &self.traces(), css, intro, rest)
    }

    /// The picture as SVG, for print: black on white, all layers but arrivals.
    pub fn to_svg(&self) -> String {
        svg::render(self, &self.traces())
    }

    fn traces(&self) -> Vec<Trace> {
        let mut traces: Vec<Trace> = self.panels.iter().map(Trace::new).collect();
        if self.own_scales {
            for trace in &mut traces {
                trace.own = Some(View::new(std::slice::from_ref(trace)));
            }
        }
        traces
    }
}

/// What a panel shows at first, and what a double click returns to: seconds, and segments of its SMSS.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct View {
    pub t0: f64,
    pub t1: f64,
    pub y0: f64,
    pub y1: f64,
    /// The top of the window strip, which begins at 0.
    pub w1: f64,
}

impl View {
    fn new(traces: &[Trace]) -> View {
        let (mut t, mut y, mut w1) = (None, None, 0.0_f64);
        for trace in traces {
            let mss = trace.mss as f64;
            t = widen(t, trace.times());
            y = widen(y, trace.positions().map(|(low, high)| (low as f64 / mss, high as f64 / mss)));
            w1 = w1.max(trace.window() as f64 / mss);
        }
        let (t0, t1) = padded(t.unwrap_or((0.0, 1.0)), 0.02);
        let (y0, y1) = padded(y.unwrap_or((0.0, 1.0)), 0.04);
        View { t0, t1, y0, y1, w1: (w1 * 1.1).max(1.0) }
    }
}

/// The results in one line.
fn results(s: &FlowSummary) -> String {
    let plural = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut parts = vec![match s.completion_s {
        Some(seconds) => format!("done in {seconds:.3}s"),
        None => "unfinished".into(),
    }];
    parts.push(rate(s.goodput_bps));
    parts.push(plural(s.retransmissions, "retransmission"));
    let classes = [
        (s.timeouts_non_trigger, "non-trigger"),
        (s.timeouts_multiple_losses, "multiple losses"),
        (s.timeouts_lost_retransmission, "lost retransmission"),
    ];
    let classes: Vec<String> = classes.iter().filter(|c| c.0 > 0).map(|(n, name)| format!("{n} {name}")).collect();
    let timeouts = plural(s.timeouts, "timeout");
    parts.push(if classes.is_empty() { timeouts } else { format!("{timeouts} ({})", classes.join(", ")) });
    parts.join(" · ")
}
