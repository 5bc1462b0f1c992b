//! Time-sequence graphs, one panel a flow, as HTML and as SVG.
//!
//! The conventions are those of tcptrace and of the papers of this field (Miyake & Inamura 2005,
//! figures 6 to 14): time to the right, sequence upwards, a bar from the first to the last byte of
//! each segment, the ACK line below with a tick per duplicate ACK, the window edge above.

mod columns;
mod csv;
mod findings;
mod html;
mod panel;
mod style;
mod svg;
mod thin;
mod trace;

use std::collections::BTreeMap;

use crate::drawing::widen;
pub use findings::{Band, Fate, Findings, Tone};
pub use panel::{Mark, Panel, Picture};
pub use style::{TOO_BIG_LETTER, letter};
pub use thin::{MOST_OF_PANEL, thin};
use trace::{Trace, View};

impl Picture<'_> {
    /// The picture as one HTML file that needs neither network nor server: zoom and pan are linked
    /// between the panels, a legend switches layers, and hovering shows what a mark is and why
    /// it is there.
    pub fn to_html(&self) -> String {
        self.to_html_with("", "")
    }

    /// As [`Picture::to_html`], with HTML below the heading (`intro`) and below the panels
    /// (`rest`).
    pub fn to_html_with(&self, intro: &str, rest: &str) -> String {
        html::render(self, &self.traces(), intro, rest)
    }

    /// The picture as SVG, for print: black on white, all layers but arrivals.
    pub fn to_svg(&self) -> String {
        svg::render(self, &self.traces(), None)
    }

    /// As [`Picture::to_svg`], for a page of print: `width_mm` wide, with text of 7 to 9 points,
    /// and without the heading, which a caption stands for. From 150 mm on panels stand in two
    /// columns.
    pub fn to_figure(&self, width_mm: f64) -> String {
        svg::render(self, &self.traces(), Some(width_mm))
    }

    /// The data as CSV with a line for each mark that is in the window. The columns are `panel`,
    /// `mark`, `time_s`, `until_s` of what lasts, `low_segments` and `high_segments`, and `detail`.
    /// A segment, a SACK block reaches from low to high; all else with a value has it as low.
    pub fn to_csv(&self) -> String {
        csv::render(self, &self.traces())
    }

    /// First and last time of anything to draw, in seconds; `None` if there is nothing.
    pub fn times(&self) -> Option<(f64, f64)> {
        self.traces().iter().map(Trace::times).fold(None, widen)
    }

    fn traces(&self) -> Vec<Trace> {
        let until = self.until.unwrap_or(0.0);
        let trace = |panel| Trace { until, ..Trace::new(panel) };
        let mut traces: Vec<Trace> = self.panels.iter().map(trace).collect();
        if self.own_scales {
            // How far the strategies of one flow got is to be compared.
            let mut flows = BTreeMap::<_, Vec<usize>>::new();
            for (i, panel) in self.panels.iter().enumerate() {
                // A panel without a flow is alone.
                let flow = panel.summary.map_or(Err(i), |summary| Ok(summary.flow));
                flows.entry(flow).or_default().push(i);
            }
            for panels in flows.into_values() {
                let view = View::new(panels.iter().map(|&i| &traces[i]));
                panels.into_iter().for_each(|i| traces[i].own = Some(view));
            }
        }
        traces
    }
}
