//! By what series are told apart: a colour, and a shape, dashes or hatching for those to whom
//! colours look alike.

use std::fmt::{self, Write};

use crate::drawing::{AMBER, BLUE, Colour, GREEN, PINK, PURPLE, SLATE, VERMILION, tenths};

pub(super) const COLOURS: [Colour; 7] = [BLUE, VERMILION, GREEN, PINK, AMBER, PURPLE, SLATE];

/// Circle, square, triangles, cross and plus, to be moved to. As the colours are seven, pairs do
/// not soon return.
const SHAPES: [&str; 6] = [
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "m-3.5 -3.5h7v7h-7z",
    "m0 -4.5l4.5 8h-9z",
    "m0 4.5l4.5 -8h-9z",
    "m-3.5 -3.5l7 7m0 -7l-7 7",
    "m-4.5 0h9m-4.5 -4.5v9",
];

/// A diamond, for nothing but the numbers of a paper.
const PAPER: &str = "m0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z";

/// The same with room for a shape, and the shapes, as above, that fit into it.
const PAPER_OF: &str = "m0 -7.5l7.5 7.5l-7.5 7.5l-7.5 -7.5z";
const INNER: [&str; SHAPES.len()] = [
    "m-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z",
    "m-2 -2h4v4h-4z",
    "m0 -2.5l2.5 4.5h-5z",
    "m0 2.5l2.5 -4.5h-5z",
    "m-2.5 -2.5l5 5m0 -5l-5 5",
    "m-3 0h6m-3 -3v6",
];

const DASHES: [&str; 5] = ["", "7 3", "2 3", "9 3 2 3", "12 4"];

/// The class of a series' colour.
pub(super) fn class(series: usize) -> String {
    format!("s{}", series % COLOURS.len())
}

pub(super) fn shape(series: usize) -> &'static str {
    SHAPES[series % SHAPES.len()]
}

/// The attribute that dashes a line, with a space before it.
pub(super) fn dashes(series: usize) -> String {
    match DASHES[series % DASHES.len()] {
        "" => String::new(),
        dashes => format!(" stroke-dasharray=\"{dashes}\""),
    }
}

/// Which lines hatch a bar: rising, level, falling, upright. The first series has none.
const HATCHES: [[bool; 4]; 6] = [
    [false, false, false, false],
    [true, false, false, false],
    [false, true, false, false],
    [false, false, true, false],
    [false, false, false, true],
    [true, false, true, false],
];

/// Space between the lines of a hatching, in pixels.
const HATCH: f64 = 6.0;

/// The path that hatches a rectangle, given by its left, upper, right and lower edge. Its lines are
/// cut to length here: a pattern or a clipping path would need an id, which another chart on the
/// same page may use too.
fn hatching(series: usize, [x0, y0, x1, y1]: [f64; 4]) -> Result<String, fmt::Error> {
    let [rising, level, falling, upright] = HATCHES[series % HATCHES.len()];
    let (w, h) = (x1 - x0, y1 - y0);
    let mut d = String::new();
    let mut line =
        |x0, y0, x1, y1| write!(d, "M{} {}L{} {}", tenths(x0), tenths(y0), tenths(x1), tenths(y1));
    let offsets = |length: f64| (1..(length / HATCH).ceil() as usize).map(|i| i as f64 * HATCH);
    for i in offsets(w + h) {
        // A slanted line joins the left or the lower edge with the upper or the right one, or is
        // the mirror image of that.
        let (from, to) = (((i - h).max(0.0), i.min(h)), (i.min(w), (i - w).max(0.0)));
        if rising {
            line(x0 + from.0, y0 + from.1, x0 + to.0, y0 + to.1)?;
        }
        if falling {
            line(x1 - from.0, y0 + from.1, x1 - to.0, y0 + to.1)?;
        }
        if level && i < h {
            line(x0, y1 - i, x1, y1 - i)?;
        }
        if upright && i < w {
            line(x0 + i, y0, x0 + i, y1)?;
        }
    }
    Ok(d)
}

/// A bar, given by its edges as above, within a group that has its colour.
pub(super) fn bar(series: usize, edges: [f64; 4]) -> Result<String, fmt::Error> {
    let [x0, y0, x1, y1] = edges.map(tenths);
    let opacity = if series.is_multiple_of(HATCHES.len()) { 0.5 } else { 0.15 };
    let mut svg = format!(
        "<path d=\"M{x0} {y1}V{y0}H{x1}V{y1}z\" fill-opacity=\"{opacity}\" stroke-width=\"1.5\"/>"
    );
    let lines = hatching(series, edges)?;
    if !lines.is_empty() {
        write!(svg, "<path d=\"{lines}\"/>")?;
    }
    Ok(svg)
}

/// The sign of the paper's numbers for a series of curves, within a group that has its colour: a
/// larger diamond with the shape of the series in it.
pub(super) fn paper_of(series: usize, x: f64, y: f64) -> String {
    let at = format!("M{} {}", tenths(x), tenths(y));
    let inner = INNER[series % INNER.len()];
    format!(
        "<path class=\"panel\" d=\"{at}{PAPER_OF}\" fill=\"currentColor\" stroke=\"none\"/>\
         <path d=\"{at}{PAPER_OF}\" fill=\"none\" stroke-width=\"1.5\"/>\
         <path d=\"{at}{inner}\" fill=\"currentColor\" stroke-width=\"1\"/>"
    )
}

/// The sign of the paper's numbers, within a group that has its colour.
pub(super) fn paper(x: f64, y: f64) -> String {
    let d = format!("M{} {}{PAPER}", tenths(x), tenths(y));
    format!(
        "<path class=\"panel\" d=\"{d}\" fill=\"currentColor\" stroke=\"none\"/>\
         <path d=\"{d}\" fill=\"none\" stroke-width=\"2\"/>"
    )
}
