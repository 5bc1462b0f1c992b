//! The chart as SVG: what stands around the data. There are no ids, so that several charts fit on
//! one page.

use std::fmt::{self, Write};

use super::data::{Chart, Line, Plot};
use super::marks::Axes;
use super::scale::{LEFT, MARGIN, Y, drawable, interval, labels, position};
use super::signs::{COLOURS, bar, class, dashes, paper, paper_of, shape};
use crate::drawing::{
    CHARACTER, Colour, FONT, GRID, INK, PANEL, PIXELS_PER_MM, Rows, SOFT, escape, shorten, size,
    text_width,
};
use crate::summary::Estimate;

/// The least width for the name of a category.
const NAME: f64 = 40.0;

/// Some fonts are wider than [`text_width`] by this factor.
const WIDEST: f64 = 1.15;

/// What differs between the screen and a page of print.
struct Layout {
    width: f64,
    margin: f64,
    /// The least room for the labels of the y axis.
    left: f64,
    /// Of the plot.
    height: f64,
    print: bool,
}

const SCREEN: Layout =
    Layout { width: 720.0, margin: MARGIN, left: LEFT, height: 280.0, print: false };

/// For a page of print so many millimetres wide, or else for the screen.
pub(super) fn render(chart: &Chart, width_mm: Option<f64>) -> String {
    let print = |mm| {
        let width = mm * PIXELS_PER_MM;
        Layout { width, margin: 8.0, left: 30.0, height: (width * 0.5).min(280.0), print: true }
    };
    let mut svg = String::new();
    // Writing into a String cannot fail.
    let _ = document(&mut svg, chart, &width_mm.map_or(SCREEN, print));
    svg
}

fn document(svg: &mut String, chart: &Chart, layout: &Layout) -> fmt::Result {
    let &Layout { width, margin, print, .. } = layout;
    let right = width - margin;
    let characters = (right / (CHARACTER * WIDEST)) as usize;
    let heights = heights(&chart.plot);
    let empty = !heights.iter().any(|v| drawable(*v));
    let y = Y::new(heights.into_iter(), labels(&chart.y));
    let widest = y.ticks().iter().map(|(_, text)| text_width(text)).fold(0.0, f64::max);
    let left = layout.left.max(margin + widest);
    let title = if print { Vec::new() } else { wrap(&chart.title, 76) };
    let x = match chart.plot {
        Plot::Curves { log_x: true, .. } if chart.x.is_empty() => "logarithmic".into(),
        Plot::Curves { log_x: true, .. } => format!("{}, logarithmic", chart.x),
        _ => chart.x.clone(),
    };
    let mut legend = String::new();
    let first = if print { margin + 11.0 } else { 30.0 + 20.0 * title.len() as f64 };
    let rows = Rows { left: margin, right, line: 20.0, x: margin, y: first };
    let top = legends(&mut legend, &chart.plot, rows, characters)? + 36.0;
    let names = match &chart.plot {
        Plot::Bars { categories, .. } => names(categories, right - left),
        Plot::Curves { .. } => Vec::new(),
    };
    let name_lines = names.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let height = top + layout.height + 31.0 + 14.0 * name_lines as f64;
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ackclock-chart\" role=\"img\" \
         aria-label=\"{}\" \
         {} font-family=\"{FONT}\" font-size=\"12\">\n\
         {}<rect class=\"panel\" width=\"100%\" height=\"100%\" fill=\"currentColor\"/>",
        escape(&chart.title),
        size(width, height, print),
        style(print)
    )?;
    svg.push_str("<g class=\"ink\" fill=\"currentColor\" font-size=\"15\" font-weight=\"bold\">\n");
    for (i, line) in title.iter().enumerate() {
        writeln!(svg, "<text x=\"{margin}\" y=\"{}\">{}</text>", 24 + 20 * i, escape(line))?;
    }
    writeln!(
        svg,
        "</g>\n{legend}<g class=\"soft\" fill=\"currentColor\">\n<text x=\"{left:.1}\" \
         y=\"{}\">{}</text>\n\
         <text x=\"{right:.1}\" y=\"{}\" text-anchor=\"end\">{}</text>\n</g>",
        top - 12.0,
        escape(&shorten(&chart.y, characters)),
        height - 10.0,
        escape(&shorten(&x, characters))
    )?;
    let mut axes = Axes { svg, chart, left, right, top, height: layout.height, y };
    if empty {
        axes.nothing()?
    } else {
        axes.draw(&names)?
    }
    svg.push_str("</svg>\n");
    Ok(())
}

/// The colours; in print those on white alone.
fn style(print: bool) -> String {
    let neutral = [("panel", PANEL), ("ink", INK), ("soft", SOFT), ("grid", GRID)]
        .map(|(n, c)| (n.to_string(), c));
    let series = COLOURS.iter().enumerate().map(|(i, colour)| (class(i), *colour));
    let classes: Vec<(String, Colour)> = neutral.into_iter().chain(series).collect();
    let rules = |ground: usize| -> String {
        classes
            .iter()
            .map(|(name, colour)| format!(".ackclock-chart .{name}{{color:{}}}\n", colour[ground]))
            .collect()
    };
    if print {
        return format!("<style>\n{}</style>\n", rules(0));
    }
    format!(
        "<style>\n.ackclock-chart{{max-width:100%;height:auto}}\n{}@media \
         (prefers-color-scheme:dark){{\n{}}}</style>\n",
        rules(0),
        rules(1)
    )
}

/// All y values that have a place on the x axis, with the ends of their intervals. What is measured
/// is seldom negative, so an interval alone does not take the axis below 0.
fn heights(plot: &Plot) -> Vec<f64> {
    let with_interval = |e: &Estimate| {
        let ends =
            interval(e).map(|(low, high)| [if e.mean < 0.0 { low } else { low.max(0.0) }, high]);
        ends.unwrap_or([e.mean; 2])
    };
    let mut heights = Vec::new();
    match plot {
        Plot::Curves { curves, log_x } => {
            let shown = |x: f64| position(x, *log_x).is_some();
            for curve in curves {
                let points = curve.points.iter().filter(|p| shown(p.x));
                match curve.line {
                    Line::Straight => heights.extend(points.flat_map(|p| with_interval(&p.y))),
                    Line::Steps => heights.extend(points.map(|p| p.y.mean)),
                }
                heights.extend(curve.paper.iter().filter(|(x, _)| shown(*x)).map(|(_, y)| *y));
            }
        }
        Plot::Bars { categories, bars } => {
            for bars in bars {
                let values = bars.values.iter().take(categories.len()).flatten();
                heights.extend(values.flat_map(with_interval));
                heights.extend(bars.paper.iter().take(categories.len()).flatten());
            }
        }
    }
    heights
}

/// The names of the categories in lines; some are left out where there are too many to read.
fn names(categories: &[String], width: f64) -> Vec<Vec<String>> {
    let room = width / categories.len().max(1) as f64;
    let every = (NAME / room).ceil() as usize;
    let characters = (room.max(NAME) / CHARACTER) as usize;
    let name = |(i, name): (usize, &String)| {
        if i % every == 0 { wrap(name, characters) } else { Vec::new() }
    };
    categories.iter().enumerate().map(name).collect()
}

/// The words of a text in up to three lines of so many characters. What does not fit ends in an
/// ellipsis.
fn wrap(text: &str, characters: usize) -> Vec<String> {
    let mut wrapped: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let last = wrapped.len() == 3;
        match wrapped.last_mut() {
            Some(line) if last || line.chars().count() + 1 + word.chars().count() <= characters => {
                *line = format!("{line} {word}");
            }
            _ => wrapped.push(word.into()),
        }
    }
    wrapped.iter().map(|line| shorten(line, characters)).collect()
}

/// The legend in these rows, and its last line. A name has so many characters at most.
fn legends(
    svg: &mut String,
    plot: &Plot,
    mut rows: Rows,
    characters: usize,
) -> Result<f64, fmt::Error> {
    let mut entry = |name: &str, class: &str, sign: &str| {
        let name = &shorten(name, characters.saturating_sub(6));
        let (x, y) = rows.place(text_width(name) * WIDEST + 48.0);
        writeln!(
            svg,
            "<g class=\"{class}\" transform=\"translate({x:.1} {})\" fill=\"currentColor\" \
             stroke=\"currentColor\">{sign}</g>\
             <text class=\"ink\" fill=\"currentColor\" x=\"{:.1}\" y=\"{y}\">{}</text>",
            y - 11.0,
            x + 34.0,
            escape(name)
        )
    };
    let (any_paper, intervals);
    match plot {
        Plot::Curves { curves, .. } => {
            for (i, curve) in curves.iter().enumerate() {
                let mut sign =
                    format!("<path d=\"M0 7h28\" fill=\"none\" stroke-width=\"2\"{}/>", dashes(i));
                if curve.line == Line::Straight {
                    write!(sign, "<path d=\"M14 7{}\" stroke-width=\"1.5\"/>", shape(i))?;
                } else if !curve.paper.is_empty() {
                    // Steps have no shapes of their own.
                    sign.push_str(&paper_of(i, 14.0, 7.0));
                }
                entry(&curve.name, &class(i), &sign)?;
            }
            any_paper = curves.iter().any(|c| !c.paper.is_empty());
            let mut points =
                curves.iter().filter(|c| c.line == Line::Straight).flat_map(|c| &c.points);
            intervals = points.any(|p| interval(&p.y).is_some());
        }
        Plot::Bars { bars, .. } => {
            for (i, bars) in bars.iter().enumerate() {
                entry(&bars.name, &class(i), &bar(i, [2.0, 1.0, 26.0, 13.0])?)?;
            }
            any_paper = bars.iter().any(|b| b.paper.iter().any(Option::is_some));
            intervals =
                bars.iter().flat_map(|b| &b.values).flatten().any(|e| interval(e).is_some());
        }
    }
    if any_paper {
        entry("paper", "ink", &paper(14.0, 7.0))?;
    }
    if intervals {
        entry(
            "95 % confidence interval",
            "ink",
            "<path d=\"M10 1h8m-4 0v12m-4 0h8\" fill=\"none\" stroke-width=\"1.5\"/>",
        )?;
    }
    Ok(rows.y)
}
