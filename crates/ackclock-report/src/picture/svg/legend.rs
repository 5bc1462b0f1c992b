//! What stands above the panels: title, parameters, and the legend of what is drawn.

use std::fmt::{self, Write};

use super::super::findings::Tone;
use super::super::panel::Picture;
use super::super::style::{CAUSES, Layer, OTHERS};
use super::super::trace::Trace;
use super::layout::{INK, SOFT, SPACE};
use crate::drawing::{Rows, escape, text_width};

/// Title, parameters and legend, wrapped to `width`, and their height.
pub(super) fn header(
    picture: &Picture,
    traces: &[Trace],
    width: f64,
) -> Result<(String, f64), fmt::Error> {
    let mut svg = String::new();
    let y = if picture.title.is_empty() { 0.0 } else { SPACE + 18.0 };
    writeln!(
        svg,
        "<text x=\"{SPACE}\" y=\"{y}\" font-size=\"19\" font-weight=\"bold\" \
         fill=\"{INK}\">{}</text>",
        escape(picture.title)
    )?;
    let mut rows = Rows { left: SPACE, right: width - SPACE, line: 18.0, x: SPACE, y: y + 24.0 };
    for (name, value) in picture.parameters {
        let text = format!("{name}: {value}");
        let (x, y) = rows.place(text_width(&text) + 18.0);
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" fill=\"{SOFT}\">{}</text>", escape(&text))?;
    }
    if !picture.parameters.is_empty() {
        (rows.x, rows.y) = (SPACE, rows.y + 24.0);
    }
    rows.line = 20.0;
    for layer in CAUSES.iter().chain(&OTHERS).filter(|layer| present(layer.key, traces)) {
        let (x, y) = rows.place(text_width(layer.label) + 42.0);
        sign(&mut svg, layer, x, y - 11.0)?;
        writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{y}\" fill=\"{INK}\">{}</text>",
            x + 25.0,
            layer.label
        )?;
    }
    Ok((svg, rows.y + 6.0))
}

/// Whether a panel has something to draw in a layer. Arrivals are for the interactive picture only.
fn present(key: &str, traces: &[Trace]) -> bool {
    let cause = CAUSES.iter().position(|c| c.key == key);
    traces.iter().any(|t| match (cause, key) {
        (Some(cause), _) => t.segments.cause.iter().any(|c| usize::from(*c) == cause),
        (_, "drop") => t.segments.drop.iter().any(Option::is_some) || t.fates.lost.contains(&true),
        (_, "spurious") => t.fates.spurious.iter().any(Option::is_some),
        (_, "zero") => !t.zero.t0.is_empty(),
        (_, "loss") => t.stalls.tone.contains(&Tone::Loss),
        (_, "window") => t.stalls.tone.contains(&Tone::Window),
        (_, "other") => t.stalls.tone.contains(&Tone::Other),
        (_, "ack" | "edge") => !t.acks.t.is_empty(),
        (_, "dupack") => t.acks.dupacks.iter().any(|n| *n > 0),
        (_, "sack") => t.acks.sack.iter().any(|blocks| !blocks.is_empty()),
        (_, "recovery") => !t.recoveries.t0.is_empty(),
        (_, "rto") => !t.timeouts.t.is_empty(),
        (_, "undo") => !t.undone.t.is_empty(),
        (_, "ssthresh") => t.windows.ssthresh.iter().any(Option::is_some),
        (_, "cwnd" | "flight") => !t.windows.t.is_empty(),
        _ => false,
    })
}

/// The sign of a layer in the legend, in a box of 20 by 14.
fn sign(svg: &mut String, layer: &Layer, x: f64, y: f64) -> fmt::Result {
    let colour = layer.light;
    write!(
        svg,
        "<g transform=\"translate({x:.1} {y:.1})\" fill=\"none\" stroke=\"{colour}\" \
         stroke-width=\"2\">"
    )?;
    let line = |svg: &mut String, d: &str, more: &str| write!(svg, "<path d=\"{d}\"{more}/>");
    match layer.key {
        "drop" => line(svg, "M6 3l8 8m-8 0l8 -8", "")?,
        "dupack" => line(svg, "M1 4h18M6 4v7M13 4v7", "")?,
        "sack" => line(svg, "M7 1v12M13 4v9", " stroke-opacity=\"0.75\"")?,
        "spurious" => line(svg, "M6 7a4 4 0 0 0 8 0a4 4 0 0 0 -8 0", "")?,
        "zero" => line(svg, "M1 7h18", " stroke-width=\"4\"")?,
        "loss" | "window" | "other" => {
            line(svg, "M2 7h16", " stroke-width=\"12\" stroke-opacity=\"0.3\"")?
        }
        "recovery" => line(svg, "M2 7h16", " stroke-width=\"12\" stroke-opacity=\"0.35\"")?,
        "rto" | "undo" => line(svg, "M10 0v14", " stroke-dasharray=\"4 2 1 2\"")?,
        "edge" => line(svg, "M1 7h18", " stroke-dasharray=\"5 2\"")?,
        "ssthresh" => line(svg, "M1 7h18", " stroke-dasharray=\"4 2\"")?,
        "ack" | "cwnd" | "flight" => line(svg, "M1 11h7v-7h11", "")?,
        _ if layer.letter.is_empty() => line(svg, "M10 1v12", "")?,
        _ => {
            line(svg, "M5.5 1v12", " stroke-width=\"3\"")?;
            write!(
                svg,
                "<text x=\"10\" y=\"11\" font-size=\"11\" font-weight=\"bold\" fill=\"{colour}\" \
                 stroke=\"none\">{}</text>",
                layer.letter
            )?;
        }
    }
    svg.push_str("</g>\n");
    Ok(())
}
