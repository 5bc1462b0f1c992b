//! Time-sequence graphs, one panel a flow, as HTML and as SVG.
//!
//! The conventions are those of tcptrace and of the papers of this field (Miyake & Inamura 2005,
//! figures 6 to 14): time to the right, sequence upwards, a bar from the first to the last byte of
//! each segment, the ACK line below with a tick per duplicate ACK, the window edge above.

mod columns;
mod findings;
mod html;
mod panel;
mod style;
mod svg;
mod thin;
mod trace;

pub use findings::{Band, Fate, Findings, Tone};
pub use html::page;
pub use panel::{Mark, Panel, Picture};
pub use style::letter;
pub use thin::thin;
use trace::{Trace, View};

impl Picture<'_> {
    /// The picture as one HTML file that needs neither network nor server: zoom and pan are linked
    /// between the panels, a legend switches layers, and hovering shows what a mark is and why
    /// it is there.
    pub fn to_html(&self) -> String {
        self.to_html_with("", "", "")
    }

    /// As [`Picture::to_html`], with HTML below the heading (`intro`) and below the panels
    /// (`rest`), and `css` for it.
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
