//! The picture as SVG: the marks of `assets/draw.js`, black on white, for print.

mod layout;
mod legend;
mod plot;

use std::fmt::{self, Write};

use super::panel::Picture;
use super::trace::{Trace, View};
use crate::drawing::{FONT, escape};
use layout::{GRAPH_BOTTOM, LEFT, PANEL, RIGHT, SPACE, STRIP_BOTTOM, STRIP_TOP, TOP};
use legend::header;
use plot::Plot;

pub(super) fn render(picture: &Picture, traces: &[Trace]) -> String {
    let mut svg = String::new();
    // Writing into a String cannot fail.
    let _ = document(&mut svg, picture, traces);
    svg
}

fn document(svg: &mut String, picture: &Picture, traces: &[Trace]) -> fmt::Result {
    let columns = if traces.len() < 2 { 1 } else { 2 };
    let width = columns as f64 * (PANEL.0 + SPACE) + SPACE;
    let (header, head) = header(picture, traces, width)?;
    let height = head + traces.len().div_ceil(columns) as f64 * (PANEL.1 + SPACE) + SPACE;
    write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONT}\" font-size=\"12\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <clipPath id=\"graph\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" \
         height=\"{}\"/></clipPath>\n\
         <clipPath id=\"strip\"><rect x=\"{LEFT}\" y=\"{STRIP_TOP}\" width=\"{}\" \
         height=\"{}\"/></clipPath>\n{header}",
        escape(picture.title),
        RIGHT - LEFT,
        GRAPH_BOTTOM - TOP,
        RIGHT - LEFT,
        STRIP_BOTTOM - STRIP_TOP,
    )?;
    let shared =
        picture.window.map_or_else(|| View::new(traces), |window| View::within(traces, window));
    for (i, trace) in traces.iter().enumerate() {
        let x = SPACE + (i % columns) as f64 * (PANEL.0 + SPACE);
        let y = head + SPACE + (i / columns) as f64 * (PANEL.1 + SPACE);
        writeln!(svg, "<g transform=\"translate({x} {y})\">")?;
        let view = trace.own.map_or(shared, |own| View { t0: shared.t0, t1: shared.t1, ..own });
        Plot { svg, view, trace, marks: picture.marks }.draw()?;
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    Ok(())
}
