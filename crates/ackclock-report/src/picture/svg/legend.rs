//! What stands above the panels: title, parameters, and the legend of what is drawn.

use std::fmt::{self, Write};

use super::super::findings::Tone;
use super::super::panel::Picture;
use super::super::style::{CAUSES, Layer, OTHERS};
use super::super::trace::{Trace, View};
use super::layout::{INK, Layout, SOFT};
use crate::drawing::{Rows, escape, fitted, text_width};

/// Title, parameters and the legend of what is in view, and their height. For print, the legend
/// alone.
pub(super) fn header(
    picture: &Picture,
    traces: &[Trace],
    view: View,
    layout: &Layout,
) -> Result<(String, f64), fmt::Error> {
    let mut svg = String::new();
    let space = layout.space;
    let mut rows =
        Rows { left: space, right: layout.width() - space, line: 18.0, x: space, y: space + 11.0 };
    if !layout.print {
        rows.y = heading(&mut svg, picture, &mut rows)?;
    }
    (rows.x, rows.line) = (space, 20.0);
    for layer in CAUSES.iter().chain(&OTHERS).filter(|layer| present(layer.key, traces, view)) {
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

/// Title and parameters, and where the line below them is.
fn heading(svg: &mut String, picture: &Picture, rows: &mut Rows) -> Result<f64, fmt::Error> {
    let y = if picture.title.is_empty() { 0.0 } else { rows.left + 18.0 };
    writeln!(
        svg,
        "<text x=\"{}\" y=\"{y}\" font-size=\"19\" font-weight=\"bold\" \
         fill=\"{INK}\">{}</text>",
        rows.left,
        escape(&fitted(picture.title, 19.0, rows.right - rows.left))
    )?;
    rows.y = y + 24.0;
    for (name, value) in picture.parameters {
        let text = format!("{name}: {value}");
        let (x, y) = rows.place(text_width(&text) + 18.0);
        writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" fill=\"{SOFT}\">{}</text>", escape(&text))?;
    }
    Ok(if picture.parameters.is_empty() { rows.y } else { rows.y + 24.0 })
}

/// Whether a panel has something to draw in a layer between the ends of the view. Arrivals are for
/// the interactive picture only.
fn present(key: &str, traces: &[Trace], View { t0, t1, .. }: View) -> bool {
    let cause = CAUSES.iter().position(|c| c.key == key);
    let inside = |t: f64| (t0..=t1).contains(&t);
    let at = |times: &[f64]| times.iter().any(|t| inside(*t));
    // Of the marks at these times, those that `are` so.
    let some = |times: &[f64], are: &dyn Fn(usize) -> bool| {
        times.iter().enumerate().any(|(i, t)| inside(*t) && are(i))
    };
    let over = |from: f64, to: Option<f64>| from <= t1 && to.is_none_or(|to| to >= t0);
    let begun = |times: &[f64]| times.first().is_some_and(|t| *t <= t1);
    traces.iter().any(|t| {
        let (s, f, z, r) = (&t.segments, &t.fates, &t.zero, &t.recoveries);
        let fate = |is: &dyn Fn(usize) -> bool| {
            f.segment.iter().enumerate().any(|(n, i)| is(n) && inside(s.t[*i]))
        };
        let stall = |tone| {
            let stalls = t.stalls.t0.iter().zip(&t.stalls.t1).zip(&t.stalls.tone);
            stalls.into_iter().any(|((from, to), of)| *of == tone && over(*from, Some(*to)))
        };
        match (cause, key) {
            (Some(cause), _) => some(&s.t, &|i| usize::from(s.cause[i]) == cause),
            (_, "drop") => some(&s.t, &|i| s.drop[i].is_some()) || fate(&|n| f.lost[n]),
            (_, "spurious") => fate(&|n| f.spurious[n].is_some()),
            (_, "zero") => z.t0.iter().zip(&z.t1).any(|(from, to)| over(*from, *to)),
            (_, "loss") => stall(Tone::Loss),
            (_, "window") => stall(Tone::Window),
            (_, "other") => stall(Tone::Other),
            (_, "ack" | "edge") => begun(&t.acks.t),
            (_, "dupack") => some(&t.acks.t, &|i| t.acks.dupacks[i] > 0),
            (_, "sack") => some(&t.acks.t, &|i| !t.acks.sack[i].is_empty()),
            (_, "in_recovery") => r.t0.iter().zip(&r.t1).any(|(from, to)| over(*from, *to)),
            (_, "rto") => at(&t.timeouts.t),
            (_, "reduced") => at(&t.reduced.t),
            (_, "undo") => at(&t.undone.t),
            (_, "ssthresh") => {
                let until = t.windows.t.iter().take_while(|t| **t <= t1).count();
                t.windows.ssthresh[..until].iter().any(Option::is_some)
            }
            (_, "cwnd" | "flight") => begun(&t.windows.t),
            _ => false,
        }
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
        "in_recovery" => line(svg, "M2 7h16", " stroke-width=\"12\" stroke-opacity=\"0.35\"")?,
        "rto" | "undo" => line(svg, "M10 0v14", " stroke-dasharray=\"4 2 1 2\"")?,
        "reduced" => line(svg, "M10 5v9", "")?,
        "edge" => line(svg, "M1 7h18", " stroke-dasharray=\"5 2\"")?,
        "ssthresh" => line(svg, "M1 7h18", " stroke-dasharray=\"4 2\"")?,
        "flight" => line(svg, "M1 11h7v-7h11", " stroke-dasharray=\"1.5 2\"")?,
        "ack" | "cwnd" => line(svg, "M1 11h7v-7h11", "")?,
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
