//! The picture as SVG: the marks of `assets/draw.js`, black on white, for print.

mod layout;
mod legend;
mod plot;

use std::fmt::{self, Write};

use super::panel::Picture;
use super::trace::{Trace, View};
use crate::drawing::{FONT, escape, size};
use layout::Layout;
use legend::header;
use plot::Plot;

/// For a page of print so many millimetres wide, or else for the screen.
pub(super) fn render(picture: &Picture, traces: &[Trace], width_mm: Option<f64>) -> String {
    let panels = traces.len();
    let layout = width_mm.map_or_else(|| Layout::screen(panels), |mm| Layout::print(panels, mm));
    let mut svg = String::new();
    // Writing into a String cannot fail.
    let _ = document(&mut svg, picture, traces, &layout);
    svg
}

fn document(svg: &mut String, picture: &Picture, traces: &[Trace], layout: &Layout) -> fmt::Result {
    let Layout { columns, panel, space, left, right, top, strip_top, .. } = *layout;
    let shared = View::of(traces, picture.window);
    let width = layout.width();
    let (header, head) = header(picture, traces, shared, layout)?;
    let height = head + traces.len().div_ceil(columns) as f64 * (panel.1 + space) + space;
    write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {} font-family=\"{FONT}\" font-size=\"12\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <clipPath id=\"graph\"><rect x=\"{left}\" y=\"{top}\" width=\"{}\" \
         height=\"{}\"/></clipPath>\n\
         <clipPath id=\"strip\"><rect x=\"{left}\" y=\"{strip_top}\" width=\"{}\" \
         height=\"{}\"/></clipPath>\n{header}",
        size(width, height, layout.print),
        escape(picture.title),
        right - left,
        layout.graph_bottom - top,
        right - left,
        layout.strip_bottom - strip_top,
    )?;
    for (i, trace) in traces.iter().enumerate() {
        let x = space + (i % columns) as f64 * (panel.0 + space);
        let y = head + space + (i / columns) as f64 * (panel.1 + space);
        writeln!(svg, "<g transform=\"translate({x} {y})\">")?;
        let own = |own| match picture.window {
            Some(window) => View::within(std::slice::from_ref(trace), window),
            None => View { t0: shared.t0, t1: shared.t1, ..own },
        };
        let view = trace.own.map_or(shared, own);
        Plot { svg, layout, view, trace, marks: picture.marks }.draw()?;
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    Ok(())
}
