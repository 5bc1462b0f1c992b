//! The marks of one panel.

use std::collections::HashSet;
use std::fmt::{self, Write};

use super::super::panel::Mark;
use super::super::style::CAUSES;
use super::super::trace::{Trace, View};
use super::layout::{GRID, INK, Layout, SOFT, colour};
use crate::count::in_words;
use crate::drawing::{CHARACTER, escape, fitted, label, shorten, steps, tenths, text_width, ticks};

/// Marks closer together than this would grow into a solid area; those between are left out.
const HATCH: f64 = 3.0;

/// The room beside a segment that its letter takes.
const LETTER: f64 = 5.0 + CHARACTER * 1.1;

/// The room beside a line that a name along it takes.
const NAME: f64 = 13.0;

/// A panel being drawn.
pub(super) struct Plot<'a> {
    pub(super) svg: &'a mut String,
    pub(super) layout: &'a Layout,
    pub(super) view: View,
    pub(super) trace: &'a Trace,
    pub(super) marks: &'a [Mark],
}

impl Plot<'_> {
    pub(super) fn draw(&mut self) -> fmt::Result {
        let &Layout { top, graph_bottom, strip_top, strip_bottom, name, print, panel, .. } =
            self.layout;
        if name > 0.0 {
            writeln!(
                self.svg,
                "<text x=\"4\" y=\"14\" font-size=\"{name}\" font-weight=\"bold\" \
                 fill=\"{INK}\">{}</text>",
                escape(&fitted(&self.trace.name, name, panel.0 - 8.0))
            )?;
        }
        if !print {
            writeln!(
                self.svg,
                "<text x=\"4\" y=\"31\" fill=\"{SOFT}\">{}</text>",
                escape(&self.trace.results)
            )?;
        }
        self.axes()?;
        self.marks()?;
        self.svg.push_str("<g clip-path=\"url(#strip)\" fill=\"none\" stroke-width=\"1.5\">\n");
        self.bands(strip_top, strip_bottom)?;
        self.windows()?;
        self.svg
            .push_str("</g>\n<g clip-path=\"url(#graph)\" fill=\"none\" stroke-width=\"1.5\">\n");
        self.bands(top, graph_bottom)?;
        let acks = &self.trace.acks;
        let edge: Vec<Option<u64>> = acks.edge.iter().copied().map(Some).collect();
        let line: Vec<Option<u64>> = acks.ack.iter().copied().map(Some).collect();
        let end = acks.t.last().copied().unwrap_or(0.0);
        let (ack_t, y) = (&acks.t, |p: &Self, bytes| p.y(bytes));
        self.steps(
            ack_t,
            &edge,
            end,
            "stroke-width=\"1\" stroke-dasharray=\"6 3\"",
            colour("edge"),
            y,
        )?;
        self.sacks()?;
        self.steps(ack_t, &line, end, "", colour("ack"), y)?;
        self.dupacks()?;
        self.zero_windows()?;
        self.segments()?;
        self.spurious()?;
        self.svg.push_str("</g>\n");
        self.moments()?;
        self.verdicts()
    }

    fn x(&self, t: f64) -> f64 {
        let &Layout { left, right, .. } = self.layout;
        bounded(left + (t - self.view.t0) / (self.view.t1 - self.view.t0) * (right - left))
    }

    fn y_of_segment(&self, segment: f64) -> f64 {
        let &Layout { top, graph_bottom, .. } = self.layout;
        bounded(
            graph_bottom
                - (segment - self.view.y0) / (self.view.y1 - self.view.y0) * (graph_bottom - top),
        )
    }

    fn y(&self, bytes: u64) -> f64 {
        self.y_of_segment(bytes as f64 / self.trace.mss as f64)
    }

    fn s(&self, bytes: u64) -> f64 {
        let &Layout { strip_top, strip_bottom, .. } = self.layout;
        let segments = bytes as f64 / self.trace.mss as f64;
        bounded(strip_bottom - segments / self.view.w1 * (strip_bottom - strip_top))
    }

    fn axes(&mut self) -> fmt::Result {
        let &Layout { left, right, top, graph_bottom, strip_top, strip_bottom, .. } = self.layout;
        let view = self.view;
        writeln!(self.svg, "<g stroke=\"{GRID}\" fill=\"{SOFT}\">")?;
        let (times, step) = ticks(view.t0, view.t1, 6.0);
        for t in times {
            let x = self.x(t);
            writeln!(
                self.svg,
                "<path d=\"M{x:.1} {top}V{graph_bottom}M{x:.1} {strip_top}V{strip_bottom}\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" stroke=\"none\">{}</text>",
                strip_bottom + 15.0,
                label(t, step)
            )?;
        }
        let (rows, step) = ticks(view.y0, view.y1, 6.0);
        for v in rows {
            self.row(self.y_of_segment(v), &label(v, step))?;
        }
        let (windows, step) = ticks(0.0, view.w1, 3.0);
        for v in windows {
            let y = strip_bottom - v / view.w1 * (strip_bottom - strip_top);
            self.row(y, &label(v, step))?;
        }
        writeln!(
            self.svg,
            "</g>\n<path d=\"M{left} {top}H{right}V{graph_bottom}H{left}ZM{left} \
             {strip_top}H{right}V{strip_bottom}H{left}Z\" \
             fill=\"none\" stroke=\"{SOFT}\"/>\n<g font-size=\"11\" fill=\"{SOFT}\">\
             <text x=\"{left}\" y=\"{}\">sequence (segments)</text><text x=\"{left}\" \
             y=\"{}\">windows (segments)</text>\
             <text x=\"{right}\" y=\"{}\" text-anchor=\"end\">time (s)</text></g>",
            top - 6.0,
            strip_top - 6.0,
            strip_bottom + 30.0
        )
    }

    fn row(&mut self, y: f64, text: &str) -> fmt::Result {
        let &Layout { left, right, .. } = self.layout;
        writeln!(
            self.svg,
            "<path d=\"M{left} {y:.1}H{right}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" \
             stroke=\"none\">{text}</text>",
            left - 6.0,
            y + 4.0
        )
    }

    /// A thin line at each marked time, with its word below the top of the graph.
    fn marks(&mut self) -> fmt::Result {
        let &Layout { top, graph_bottom, .. } = self.layout;
        let view = self.view.t0..=self.view.t1;
        for mark in self.marks.iter().filter(|mark| view.contains(&mark.at)) {
            let x = self.x(mark.at);
            writeln!(
                self.svg,
                "<path d=\"M{x:.1} {top}V{graph_bottom}\" stroke=\"{SOFT}\" \
                 stroke-dasharray=\"2 3\"/>\
                 <text transform=\"translate({:.1} {}) rotate(-90)\" font-size=\"11\" \
                 text-anchor=\"end\" fill=\"{SOFT}\">{}</text>",
                x - 4.0,
                top + 6.0,
                escape(&mark.label)
            )?;
        }
        Ok(())
    }

    /// Recoveries and stalls.
    fn bands(&mut self, top: f64, bottom: f64) -> fmt::Result {
        let (r, s) = (&self.trace.recoveries, &self.trace.stalls);
        for (t0, t1) in r.t0.iter().zip(&r.t1) {
            self.band(*t0, t1.unwrap_or(self.view.t1), [top, bottom], colour("in_recovery"), 0.15)?;
        }
        for (i, tone) in s.tone.iter().enumerate() {
            self.band(s.t0[i], s.t1[i], [top, bottom], colour(tone.key()), 0.18)?;
        }
        Ok(())
    }

    fn band(
        &mut self,
        t0: f64,
        t1: f64,
        [top, bottom]: [f64; 2],
        colour: &str,
        opacity: f64,
    ) -> fmt::Result {
        let (x0, x1) = (self.x(t0), self.x(t1));
        writeln!(
            self.svg,
            "<rect x=\"{x0:.1}\" y=\"{top}\" width=\"{:.1}\" height=\"{}\" fill=\"{colour}\" \
             fill-opacity=\"{opacity}\"/>",
            (x1 - x0).max(1.0),
            bottom - top,
        )
    }

    /// What stalls are, along the bottom of the graph, or upwards where they are too short for
    /// that. What would end above the graph is cut.
    fn verdicts(&mut self) -> fmt::Result {
        let &Layout { left, right, top, graph_bottom, .. } = self.layout;
        let upright = ((graph_bottom - top - 12.0) / CHARACTER) as usize;
        let s = &self.trace.stalls;
        for (i, label) in s.label.iter().enumerate() {
            let (x0, x1) = (self.x(s.t0[i]).max(left), self.x(s.t1[i]).min(right));
            let mut text = label.clone();
            let place = match x1 - x0 {
                wide if wide > text_width(label) => {
                    format!(
                        "x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\"",
                        (x0 + x1) / 2.0,
                        graph_bottom - 7.0
                    )
                }
                narrow if narrow > 13.0 => {
                    text = shorten(label, upright);
                    format!(
                        "transform=\"translate({:.1} {}) rotate(-90)\"",
                        (x0 + x1) / 2.0 + 4.0,
                        graph_bottom - 6.0
                    )
                }
                _ => continue,
            };
            writeln!(
                self.svg,
                "<text {place} font-size=\"11\" font-weight=\"bold\" fill=\"{}\" \
                 stroke=\"#ffffff\" stroke-width=\"3\" \
                 paint-order=\"stroke\">{}</text>",
                colour(s.tone[i].key()),
                escape(&text)
            )?;
        }
        Ok(())
    }

    /// A thick line along the window edge while the window is closed.
    fn zero_windows(&mut self) -> fmt::Result {
        let zero = &self.trace.zero;
        for (i, t0) in zero.t0.iter().enumerate() {
            let (x0, x1) = (self.x(*t0), self.x(zero.t1[i].unwrap_or(self.view.t1)));
            let (y, colour) = (self.y(zero.edge[i]), colour("zero"));
            writeln!(
                self.svg,
                "<path d=\"M{x0:.1} {y:.1}H{:.1}\" stroke=\"{colour}\" stroke-width=\"4\"/>",
                x1.max(x0 + 2.0)
            )?;
        }
        Ok(())
    }

    /// A ring around each transmission that was not needed.
    fn spurious(&mut self) -> fmt::Result {
        let (f, s) = (&self.trace.fates, &self.trace.segments);
        for (i, _) in f.segment.iter().zip(&f.spurious).filter(|(_, proof)| proof.is_some()) {
            let end = s.seq[*i].saturating_add(s.len[*i].into());
            let (x, y) = (self.x(s.t[*i]), (self.y(s.seq[*i]) + self.y(end)) / 2.0);
            writeln!(
                self.svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" stroke=\"{}\"/>",
                colour("spurious")
            )?;
        }
        Ok(())
    }

    fn windows(&mut self) -> fmt::Result {
        let w = &self.trace.windows;
        let end = w.end.unwrap_or(0.0);
        let some = |column: &[u64]| column.iter().copied().map(Some).collect::<Vec<_>>();
        let s = |p: &Self, bytes| p.s(bytes);
        self.steps(&w.t, &some(&w.flight), end, "stroke-dasharray=\"1.5 2\"", colour("flight"), s)?;
        self.steps(&w.t, &w.ssthresh, end, "stroke-dasharray=\"5 3\"", colour("ssthresh"), s)?;
        self.steps(&w.t, &some(&w.cwnd), end, "", colour("cwnd"), s)?;
        self.reduced()
    }

    /// A short line at the foot of the windows for each reduction for ECN.
    fn reduced(&mut self) -> fmt::Result {
        let view = self.view.t0..=self.view.t1;
        let foot = self.layout.strip_bottom;
        let mut path = String::new();
        for t in self.trace.reduced.t.iter().filter(|t| view.contains(t)) {
            write!(path, "M{} {foot}v-9", tenths(self.x(*t)))?;
        }
        if path.is_empty() {
            return Ok(());
        }
        let colour = colour("reduced");
        writeln!(self.svg, "<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"1.5\"/>")
    }

    /// A line that stays at each value until the next one, to `end`, with gaps where there is none.
    fn steps(
        &mut self,
        t: &[f64],
        values: &[Option<u64>],
        end: f64,
        style: &str,
        colour: &str,
        to: impl Fn(&Self, u64) -> f64,
    ) -> fmt::Result {
        let points =
            t.iter().zip(values).map(|(t, value)| (self.x(*t), value.map(|bytes| to(self, bytes))));
        let path = steps(points, self.x(end))?;
        if path.is_empty() {
            return Ok(());
        }
        writeln!(self.svg, "<path d=\"{path}\" stroke=\"{colour}\" {style}/>")
    }

    fn sacks(&mut self) -> fmt::Result {
        let (mut first, mut others) = (String::new(), String::new());
        let acks = &self.trace.acks;
        let mut last = f64::NEG_INFINITY;
        for (t, blocks) in acks.t.iter().zip(&acks.sack) {
            let x = self.x(*t);
            if x - last < HATCH || blocks.is_empty() {
                continue;
            }
            last = x;
            for (i, (left, right)) in blocks.iter().enumerate() {
                let path = if i == 0 { &mut first } else { &mut others };
                write!(
                    path,
                    "M{} {}V{}",
                    tenths(x),
                    tenths(self.y(*left)),
                    tenths(self.y(*right))
                )?;
            }
        }
        for (path, opacity) in [(others, 0.45), (first, 0.9)] {
            if !path.is_empty() {
                let style = format!(
                    "stroke=\"{}\" stroke-opacity=\"{opacity}\" stroke-width=\"1\"",
                    colour("sack")
                );
                writeln!(self.svg, "<path d=\"{path}\" {style}/>")?;
            }
        }
        Ok(())
    }

    fn dupacks(&mut self) -> fmt::Result {
        let mut path = String::new();
        let acks = &self.trace.acks;
        let mut last = f64::NEG_INFINITY;
        for (i, t) in acks.t.iter().enumerate() {
            let x = self.x(*t);
            if acks.dupacks[i] > 0 && acks.newly_acked[i] == 0 && x - last >= HATCH {
                last = x;
                write!(path, "M{} {}v5", tenths(x), tenths(self.y(acks.ack[i])))?;
            }
        }
        if path.is_empty() {
            return Ok(());
        }
        writeln!(
            self.svg,
            "<path d=\"{path}\" stroke=\"{}\" stroke-width=\"1\"/>",
            colour("dupack")
        )
    }

    /// Bars by cause, retransmissions on top, each with its letter; crosses over what was dropped.
    fn segments(&mut self) -> fmt::Result {
        let s = &self.trace.segments;
        let mut bars: [Vec<[f64; 3]>; CAUSES.len()] = Default::default();
        let mut crosses = String::new();
        let fates = &self.trace.fates;
        let lost =
            fates.segment.iter().zip(&fates.lost).filter(|(_, lost)| **lost).map(|(i, _)| *i);
        let lost: HashSet<usize> = lost.collect();
        for (i, t) in s.t.iter().enumerate() {
            let end = s.seq[i].saturating_add(s.len[i].into());
            let (x, bottom) = (self.x(*t), self.y(s.seq[i]));
            let new = s.cause[i] == 0;
            let top = self.y(end).min(bottom - if new { 2.0 } else { 5.0 });
            if s.drop[i].is_some() || lost.contains(&i) {
                write!(
                    crosses,
                    "M{} {}l7 7m-7 0l7 -7",
                    tenths(x - 3.5),
                    tenths((top + bottom) / 2.0 - 3.5)
                )?;
            }
            let Some(bars) = bars.get_mut(usize::from(s.cause[i])) else { continue };
            match bars.last_mut() {
                // Bars in one pixel column that touch become one.
                Some([x0, b0, t0])
                    if (x - *x0).abs() < 0.5 && top <= *b0 + 1.0 && bottom >= *t0 - 1.0 =>
                {
                    (*b0, *t0) = (b0.max(bottom), t0.min(top));
                }
                _ => bars.push([x, bottom, top]),
            }
        }
        let mut taken = HashSet::new();
        for (layer, bars) in CAUSES.iter().zip(&bars).filter(|(_, bars)| !bars.is_empty()) {
            let (mut path, mut letters) = (String::new(), String::new());
            for [x, bottom, top] in bars {
                write!(path, "M{} {}V{}", tenths(*x), tenths(*bottom), tenths(*top))?;
                let y = (top + bottom) / 2.0;
                if !layer.letter.is_empty()
                    && taken.insert(((x / 8.0).round() as i64, (y / 10.0).round() as i64))
                {
                    // On the left of its segment where the right has no room.
                    let (x, anchor) = if x + LETTER > self.layout.right {
                        (x - 5.0, " text-anchor=\"end\"")
                    } else {
                        (x + 5.0, "")
                    };
                    let (x, y) = (tenths(x), tenths(y + 4.0));
                    write!(letters, "<text x=\"{x}\" y=\"{y}\"{anchor}>{}</text>", layer.letter)?;
                }
            }
            let (colour, width) = (layer.light, if layer.letter.is_empty() { 2 } else { 3 });
            writeln!(
                self.svg,
                "<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
            )?;
            if !letters.is_empty() {
                let halo = "stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"";
                writeln!(
                    self.svg,
                    "<g fill=\"{colour}\" {halo} font-size=\"11\" \
                     font-weight=\"bold\">{letters}</g>"
                )?;
            }
        }
        if !crosses.is_empty() {
            writeln!(
                self.svg,
                "<path d=\"{crosses}\" stroke=\"#ffffff\" stroke-width=\"3.5\"/>\n<path \
                 d=\"{crosses}\" stroke=\"{}\"/>",
                colour("drop")
            )?;
        }
        Ok(())
    }

    /// Timeouts and undos: vertical lines through both plots, named along the line.
    fn moments(&mut self) -> fmt::Result {
        let &Layout { left, top, graph_bottom, strip_top, strip_bottom, .. } = self.layout;
        let trace = self.trace;
        let timeouts = trace.timeouts.t.iter().zip(&trace.timeouts.class);
        let timeouts =
            timeouts.map(|(t, class)| (*t, "rto", format!("timeout: {}", in_words(class))));
        let undone = trace.undone.t.iter().zip(&trace.undone.by);
        let undone = undone.map(|(t, by)| (*t, "undo", format!("undone by {}", escape(by))));
        let view = self.view.t0..=self.view.t1;
        let mut named: Vec<f64> = Vec::new();
        let mut names = String::new();
        for (t, key, text) in timeouts.chain(undone).filter(|(t, ..)| view.contains(t)) {
            let (x, colour) = (self.x(t), colour(key));
            write!(
                self.svg,
                "<path d=\"M{x:.1} {top}V{graph_bottom}M{x:.1} {strip_top}V{strip_bottom}\" \
                 stroke=\"{colour}\" \
                 stroke-width=\"1.3\" stroke-dasharray=\"7 3 2 3\"/>"
            )?;
            // One name upon another could not be read; the legend has the line.
            if named.iter().all(|other| (x - other).abs() >= NAME) {
                named.push(x);
                writeln!(
                    names,
                    "<text transform=\"translate({:.1} {}) rotate(-90)\" font-size=\"11\" \
                     text-anchor=\"end\" \
                     fill=\"{colour}\">{text}</text>",
                    if x < left + 16.0 { x + 11.0 } else { x - 4.0 },
                    top + 6.0
                )?;
            }
            self.svg.push('\n');
        }
        // Above all lines, which would cross them.
        if !names.is_empty() {
            let halo = "stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\"";
            writeln!(self.svg, "<g {halo}>\n{names}</g>")?;
        }
        Ok(())
    }
}

/// Keeps coordinates far outside the clip rectangle within what every viewer can read.
fn bounded(pixels: f64) -> f64 {
    pixels.clamp(-1e4, 1e4)
}
