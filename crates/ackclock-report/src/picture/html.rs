//! The picture as one HTML file.
//!
//! The drawing is our own canvas code, for the windows below too: they share the time axis, its
//! zoom and its pointer with the time-sequence graph, which no plotting library draws.

use std::fmt::Write;

use serde::Serialize;

use super::panel::{Mark, Picture};
use super::style::{CAUSES, Layer, OTHERS};
use super::trace::{Trace, View};
use crate::drawing::escape;
use crate::flow::FlowSummary;
use crate::html::page;

const SCRIPTS: [&str; 4] = [
    include_str!("../../assets/view.js"),
    include_str!("../../assets/draw.js"),
    include_str!("../../assets/save.js"),
    include_str!("../../assets/page.js"),
];

/// What the script reads.
#[derive(Serialize)]
struct Data<'a> {
    view: View,
    causes: &'a [Layer],
    layers: &'a [Layer],
    panels: &'a [Trace],
    marks: &'a [Mark],
    /// What is in view at first, if not everything.
    start: Option<View>,
}

/// `intro` is HTML that stands below the heading, `rest` HTML below the panels.
pub(super) fn render(picture: &Picture, traces: &[Trace], intro: &str, rest: &str) -> String {
    let data = Data {
        view: View::new(traces),
        causes: &CAUSES,
        layers: &OTHERS,
        panels: traces,
        marks: picture.marks,
        start: picture.window.map(|window| View::within(traces, window)),
    };
    // Serialising numbers, strings and lists into memory cannot fail. Within a script element only
    // `<` can end the data.
    let json = serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c");
    let mut body = format!("<header>\n<h1>{}</h1>\n{intro}", escape(picture.title));
    // Writing into a String cannot fail.
    let _ = parameters(&mut body, picture.parameters);
    let summaries: Vec<&FlowSummary> = picture.panels.iter().filter_map(|p| p.summary).collect();
    body.push_str(
        "<div id=\"legend\"></div>\n\
         <p id=\"help\">Drag to zoom, drag with Shift to pan; the wheel zooms time, with Shift \
         sequence; a double click \
         or 0 resets; arrow keys pan, + and − zoom. All panels move together. Point at a mark, or \
         press n and p in a graph, to read what it is. Fingers pan and pinch.</p>\n</header>\n\
         <main id=\"panels\"></main>\n<div id=\"tip\" role=\"status\" hidden></div>\n\
         <noscript>The graphs are drawn by a script in this file; allow it to run.</noscript>\n",
    );
    let _ = table(&mut body, &summaries);
    body.push_str(rest);
    let _ = write!(
        body,
        "<script type=\"application/json\" id=\"data\">{json}</script>\n<script>\n\"use strict\";\n"
    );
    for script in SCRIPTS {
        body.push_str(script);
    }
    body.push_str("</script>\n");
    page(picture.title, &body)
}

fn parameters(page: &mut String, parameters: &[(String, String)]) -> std::fmt::Result {
    if parameters.is_empty() {
        return Ok(());
    }
    page.push_str("<dl>");
    for (name, value) in parameters {
        write!(page, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value))?;
    }
    page.push_str("</dl>\n");
    Ok(())
}

fn table(page: &mut String, summaries: &[&FlowSummary]) -> std::fmt::Result {
    if summaries.is_empty() {
        return Ok(());
    }
    let (heading, rows) = FlowSummary::table(summaries);
    page.push_str("<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>");
    for name in heading {
        write!(page, "<th>{}</th>", escape(name))?;
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        page.push_str("<tr>");
        for cell in row {
            write!(page, "<td>{}</td>", escape(&cell))?;
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
    Ok(())
}
