//! The axes of a chart and the data between them. Every mark has a title with its exact numbers.

use std::fmt::{self, Write};

use super::data::{Bars, Chart, Curve, Line, Plot, Point};
use super::scale::{X, Y, drawable, interval, labels};
use super::signs::{bar, class, dashes, paper, paper_of, shape};
use crate::drawing::{escape, steps, tenths};
use crate::number::{place, to_place};
use crate::summary::Estimate;

/// The share of a category's width that its bars may take, and the greatest width of a bar.
const GROUP: f64 = 0.8;
const BAR: f64 = 56.0;

pub(super) struct Axes<'a> {
    pub svg: &'a mut String,
    pub chart: &'a Chart,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub height: f64,
    pub y: Y,
}

impl Axes<'_> {
    pub fn nothing(&mut self) -> fmt::Result {
        self.frame()?;
        let (x, y) = ((self.left + self.right) / 2.0, self.top + self.height / 2.0);
        writeln!(
            self.svg,
            "<text class=\"soft\" fill=\"currentColor\" x=\"{x:.1}\" y=\"{y}\" \
             text-anchor=\"middle\">no data</text>"
        )
    }

    /// `names` are those of the categories, in lines.
    pub fn draw(&mut self, names: &[Vec<String>]) -> fmt::Result {
        self.svg.push_str("<g class=\"grid\" stroke=\"currentColor\">\n");
        for (value, text) in self.y.ticks() {
            let y = self.y_of(value);
            self.tick(
                &format!("M{} {y}H{}", tenths(self.left), tenths(self.right)),
                self.left - 6.0,
                y + 4.0,
                "end",
                &text,
            )?;
        }
        match &self.chart.plot {
            Plot::Curves { curves, log_x } => {
                let xs = curves
                    .iter()
                    .flat_map(|c| c.points.iter().map(|p| p.x).chain(c.paper.iter().map(|p| p.0)));
                let (edges, labels) = ((self.left, self.right), labels(&self.chart.x));
                let Some(x) = X::new(xs, *log_x, edges, labels) else { return Ok(()) };
                let (top, bottom) = (self.top, self.top + self.height);
                for (at, text) in x.ticks() {
                    self.tick(
                        &format!("M{} {top}V{bottom}", tenths(at)),
                        at,
                        bottom + 16.0,
                        "middle",
                        &text,
                    )?;
                }
                self.svg.push_str("</g>\n");
                self.frame()?;
                curves.iter().enumerate().try_for_each(|(i, curve)| self.curve(i, curve, &x))
            }
            Plot::Bars { categories, bars } => {
                let width = (self.right - self.left) / categories.len() as f64;
                for (c, lines) in names.iter().enumerate() {
                    for (i, line) in lines.iter().enumerate() {
                        let (x, y) = (
                            self.left + (c as f64 + 0.5) * width,
                            self.top + self.height + 16.0 + 14.0 * i as f64,
                        );
                        self.tick("", x, y, "middle", line)?;
                    }
                }
                self.svg.push_str("</g>\n");
                self.frame()?;
                bars.iter()
                    .enumerate()
                    .try_for_each(|(i, b)| self.bars(i, b, bars.len(), categories))
            }
        }
    }

    /// A grid line, and the text at its end.
    fn tick(&mut self, line: &str, x: f64, y: f64, anchor: &str, text: &str) -> fmt::Result {
        if !line.is_empty() {
            write!(self.svg, "<path d=\"{line}\"/>")?;
        }
        writeln!(
            self.svg,
            "<text class=\"soft\" fill=\"currentColor\" stroke=\"none\" x=\"{}\" y=\"{}\" \
             text-anchor=\"{anchor}\">{}</text>",
            tenths(x),
            tenths(y),
            escape(text)
        )
    }

    /// The frame, and the line at 0 where values go below it.
    fn frame(&mut self) -> fmt::Result {
        let (top, bottom, zero) = (self.top, self.top + self.height, self.y_of(0.0));
        let (left, right) = (tenths(self.left), tenths(self.right));
        writeln!(
            self.svg,
            "<path class=\"soft\" d=\"M{left} {top}H{right}V{bottom}H{left}zM{left} \
             {zero}H{right}\" fill=\"none\" \
             stroke=\"currentColor\"/>"
        )
    }

    /// The pixel of a value that can be drawn; the end of an interval may lie beyond the axis and
    /// is cut there.
    fn y_of(&self, value: f64) -> f64 {
        tenths(self.top + (1.0 - self.y.share(value).clamp(0.0, 1.0)) * self.height)
    }

    fn curve(&mut self, series: usize, curve: &Curve, x: &X) -> fmt::Result {
        writeln!(
            self.svg,
            "<g class=\"{}\" stroke=\"currentColor\" fill=\"none\">",
            class(series)
        )?;
        match curve.line {
            Line::Straight => self.line(series, curve, x)?,
            Line::Steps => self.steps(series, curve, x)?,
        }
        for (at, value) in &curve.paper {
            if let (Some(px), true) = (x.at(*at), drawable(*value)) {
                let title =
                    self.title(&format!("{}, paper", curve.name), &exact(*value), &exact(*at));
                let sign = paper_of(series, px, self.y_of(*value));
                writeln!(self.svg, "<g>{title}{sign}</g>")?;
            }
        }
        self.svg.push_str("</g>\n");
        Ok(())
    }

    /// The pixels of a point that can be drawn.
    fn place(&self, point: &Point, x: &X) -> Option<(f64, f64)> {
        x.at(point.x)
            .filter(|_| drawable(point.y.mean))
            .map(|px| (tenths(px), self.y_of(point.y.mean)))
    }

    fn line(&mut self, series: usize, curve: &Curve, x: &X) -> fmt::Result {
        let (mut d, mut marks) = (String::new(), String::new());
        let mut pen = 'M';
        for point in &curve.points {
            let Some((px, py)) = self.place(point, x) else {
                pen = 'M';
                continue;
            };
            write!(d, "{pen}{px} {py}")?;
            pen = 'L';
            let title = self.title(&curve.name, &estimate(&point.y), &exact(point.x));
            write!(marks, "<g>{title}")?;
            if let Some(ends) = interval(&point.y) {
                write!(marks, "<path d=\"{}\" stroke-width=\"1.5\"/>", self.error_bar(px, ends))?;
            }
            writeln!(
                marks,
                "<path d=\"M{px} {py}{}\" fill=\"currentColor\" stroke-width=\"1.5\"/></g>",
                shape(series)
            )?;
        }
        writeln!(self.svg, "<path d=\"{d}\" stroke-width=\"2\"{}/>\n{marks}", dashes(series))
    }

    fn error_bar(&self, x: f64, (low, high): (f64, f64)) -> String {
        let x = tenths(x - 4.0);
        format!("M{x} {}h8m-4 0V{}m-4 0h8", self.y_of(high), self.y_of(low))
    }

    fn steps(&mut self, series: usize, curve: &Curve, x: &X) -> fmt::Result {
        let points: Vec<(f64, &Point)> =
            curve.points.iter().filter_map(|p| Some((x.at(p.x)?, p))).collect();
        let d =
            steps(points.iter().map(|(px, p)| (*px, self.place(p, x).map(|(_, py)| py))), x.end())?;
        writeln!(self.svg, "<path d=\"{d}\" stroke-width=\"2\"{}/>", dashes(series))?;
        // What the pointer meets: an invisible wide line for each value that is held for a pixel or
        // more.
        self.svg.push_str("<g stroke-opacity=\"0\" stroke-width=\"10\">\n");
        let mut runs = points.chunk_by(|a, b| a.1.y.mean == b.1.y.mean).peekable();
        while let Some(run) = runs.next() {
            let Some((px, py)) = self.place(run[0].1, x) else { continue };
            let next = runs.peek().map(|next| next[0]);
            let to = tenths(next.map_or(x.end(), |(px, _)| px));
            if to - px >= 1.0 {
                let until = next.map(|(_, p)| format!(" to {}", exact(p.x))).unwrap_or_default();
                let held = format!("{}{until}", exact(run[0].1.x));
                let title = self.title(&curve.name, &exact(run[0].1.y.mean), &held);
                writeln!(self.svg, "<path d=\"M{px} {py}H{to}\">{title}</path>")?;
            }
        }
        self.svg.push_str("</g>\n");
        Ok(())
    }

    fn bars(
        &mut self,
        series: usize,
        bars: &Bars,
        of: usize,
        categories: &[String],
    ) -> fmt::Result {
        let room = (self.right - self.left) / categories.len() as f64;
        let width = (room * GROUP / of as f64).min(BAR);
        let space = (width * 0.1).min(2.0);
        writeln!(
            self.svg,
            "<g class=\"{}\" stroke=\"currentColor\" fill=\"currentColor\">",
            class(series)
        )?;
        for (c, category) in categories.iter().enumerate() {
            let x = self.left + (c as f64 + 0.5) * room + (series as f64 - of as f64 / 2.0) * width;
            let value = bars.values.get(c).copied().flatten().filter(|e| drawable(e.mean));
            let paper_value = bars.paper.get(c).copied().flatten().filter(|v| drawable(*v));
            // Beside each other, so that neither covers the other.
            let at = |share: f64| x + width * if paper_value.is_some() { share } else { 0.5 };
            if let Some(value) = value {
                let (y0, y1) = (self.y_of(value.mean.max(0.0)), self.y_of(value.mean.min(0.0)));
                let title = self.title(&bars.name, &estimate(&value), category);
                write!(
                    self.svg,
                    "<g>{title}{}",
                    bar(series, [x + space, y0, x + width - space, y1])?
                )?;
                if let Some(ends) = interval(&value) {
                    let d = self.error_bar(at(0.3), ends);
                    write!(
                        self.svg,
                        "<path class=\"ink\" d=\"{d}\" fill=\"none\" stroke-width=\"1.5\"/>"
                    )?;
                }
                self.svg.push_str("</g>\n");
            }
            if let Some(value) = paper_value {
                let title = self.title(&format!("{}, paper", bars.name), &exact(value), category);
                writeln!(
                    self.svg,
                    "<g class=\"ink\">{title}{}</g>",
                    paper(at(0.72), self.y_of(value))
                )?;
            }
        }
        self.svg.push_str("</g>\n");
        Ok(())
    }

    /// What hovering over a mark tells.
    fn title(&self, series: &str, y: &str, x: &str) -> String {
        let line = |axis: &str, value: &str| {
            if axis.is_empty() {
                escape(value)
            } else {
                format!("{}: {}", escape(axis), escape(value))
            }
        };
        format!(
            "<title>{}\n{}\n{}</title>",
            escape(series),
            line(&self.chart.y, y),
            line(&self.chart.x, x)
        )
    }
}

fn estimate(estimate: &Estimate) -> String {
    let Some(half_width) = estimate.half_width.filter(|_| interval(estimate).is_some()) else {
        return exact(estimate.mean);
    };
    let [mean, half_width] =
        [estimate.mean, half_width].map(|value| match place(estimate.mean, half_width) {
            Some(place) => to_place(value, place),
            None => exact(value),
        });
    format!("{mean} ± {half_width}")
}

/// A number in ten significant digits at most, which hides the rounding errors of sums.
fn exact(value: f64) -> String {
    let rounded: f64 = format!("{value:.9e}").parse().unwrap_or(value);
    if rounded == 0.0 || (1e-6..1e15).contains(&rounded.abs()) {
        rounded.to_string()
    } else {
        format!("{rounded:e}")
    }
}
