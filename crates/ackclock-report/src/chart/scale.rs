//! Where values lie, and which of them are named on the axes.

use crate::drawing::{label, padded, plain_label, tick_step, ticks, widen};
use crate::summary::Estimate;

/// How the ticks of an axis are written, whose title this is. `60k` of kbit/s would have to be
/// multiplied twice.
pub(super) fn labels(title: &str) -> Label {
    let unit = title.rsplit_once('(').map_or("", |(_, unit)| unit);
    let mut begin = unit.chars();
    let prefix = begin.next().is_some_and(|c| "kMGmµ".contains(c));
    if prefix && begin.next().is_some_and(|c| "bBs".contains(c)) { plain_label } else { label }
}

/// Writes a value on an axis whose ticks are so far apart.
pub(super) type Label = fn(f64, f64) -> String;

pub(super) const MARGIN: f64 = 14.0;
/// The left edge of the axes, unless the labels of the y axis need more room.
pub(super) const LEFT: f64 = 46.0;
/// Numbers beyond this are not drawn: their differences would not be finite.
const GREATEST: f64 = 1e100;

pub(super) fn drawable(value: f64) -> bool {
    value.abs() <= GREATEST
}

/// The ends of an interval that can be drawn.
pub(super) fn interval(estimate: &Estimate) -> Option<(f64, f64)> {
    let half_width =
        estimate.half_width.filter(|half_width| (0.0..f64::INFINITY).contains(half_width))?;
    let (low, high) = (estimate.mean - half_width, estimate.mean + half_width);
    (drawable(low) && drawable(high)).then_some((low, high))
}

/// The value, or its logarithm to base 10, if it can be drawn.
pub(super) fn position(value: f64, log: bool) -> Option<f64> {
    let position = if log { value.log10() } else { value };
    (drawable(value) && drawable(position)).then_some(position)
}

fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |range, v| widen(range, Some((v, v))))
}

/// Space between the ends of the x axis and the outermost data, in pixels.
const INSET: f64 = 10.0;

/// The axis of numbers to the right.
pub(super) struct X {
    log: bool,
    /// The outermost data: values, or their logarithms to base 10.
    low: f64,
    high: f64,
    left: f64,
    right: f64,
    label: Label,
}

/// The least distance of a named end of an axis from the next tick, in pixels.
const APART: f64 = 24.0;

impl X {
    /// `None` if there is nothing to draw.
    pub fn new(
        values: impl Iterator<Item = f64>,
        log: bool,
        (left, right): (f64, f64),
        label: Label,
    ) -> Option<X> {
        let (low, mut high) = range(values.filter_map(|v| position(v, log)))?;
        // Values so close that ticks between them would be equal count as one.
        if high - low <= low.abs() * 1e-9 {
            high = low;
        }
        let (low, high) = padded((low, high), 0.0);
        Some(X { log, low, high, left: left + INSET, right: right - INSET, label })
    }

    /// The pixel of a value, if it has one.
    pub fn at(&self, value: f64) -> Option<f64> {
        let share = (position(value, self.log)? - self.low) / (self.high - self.low);
        Some(self.left + share * (self.right - self.left))
    }

    /// The pixel of the last value.
    pub fn end(&self) -> f64 {
        self.right
    }

    /// Pixels and texts of the ticks.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let margin = INSET / (self.right - self.left) * (self.high - self.low);
        let (low, high) = (self.low - margin, self.high + margin);
        let (values, step) = match self.log {
            true if high - low >= 1.0 => return self.decades(low, high),
            true => ticks(10_f64.powf(low), 10_f64.powf(high), 6.0),
            false => ticks(low, high, 7.0),
        };
        values.into_iter().filter_map(|v| Some((self.at(v)?, (self.label)(v, step)))).collect()
    }

    /// Powers of ten. Where there is room, with their 2- and 5-fold and the outermost data.
    fn decades(&self, low: f64, high: f64) -> Vec<(f64, String)> {
        let folds: &[f64] = if high - low <= 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let every = ((high - low) / 8.0).ceil().max(1.0) as usize;
        let powers = (low.floor() as i32..=high as i32).step_by(every).map(|e| 10_f64.powi(e));
        let values = powers.flat_map(|power| folds.iter().map(move |fold| (fold * power, power)));
        let within = values.filter(|(v, _)| (low..=high).contains(&v.log10()));
        let text = |(v, step): (f64, f64)| Some((self.at(v)?, (self.label)(v, step)));
        let mut ticks: Vec<(f64, String)> = within.filter_map(text).collect();
        if folds.len() > 1 {
            let ends = [self.low, self.high].map(|end| 10_f64.powf(end));
            let ends = ends.into_iter().filter_map(|end| text((end, last_figure(end))));
            for end in ends.collect::<Vec<_>>() {
                if ticks.iter().all(|(at, _)| (at - end.0).abs() >= APART) {
                    ticks.push(end);
                }
            }
            ticks.sort_by(|one, other| one.0.total_cmp(&other.0));
        }
        ticks
    }
}

/// What the last figure of a value is worth, of the first four.
fn last_figure(value: f64) -> f64 {
    let first = value.log10().floor() as i32;
    let is_whole = |step: &f64| (value / step - (value / step).round()).abs() < 1e-6;
    let mut steps = (0..3).map(|figures| 10_f64.powi(first - figures));
    steps.find(is_whole).unwrap_or(10_f64.powi(first - 3))
}

/// The axis upwards: from tick to tick, with 0.
pub(super) struct Y {
    step: f64,
    /// The ends in steps.
    low: i64,
    high: i64,
    label: Label,
}

impl Y {
    pub fn new(values: impl Iterator<Item = f64>, label: Label) -> Y {
        let (low, mut high) =
            range(values.filter(|v| drawable(*v)).chain([0.0])).unwrap_or_default();
        // Nothing but zeros, or what no axis can tell from it.
        if high - low < 1.0 / GREATEST {
            high = 1.0;
        }
        let step = tick_step(high - low, 6.0);
        // The quotient of a multiple of the step may lie a rounding error beyond it.
        let [low, high] = [(low / step + 1e-9).floor(), (high / step - 1e-9).ceil()];
        Y { step, low: low as i64, high: high as i64, label }
    }

    /// How far up a value lies, from 0 at the bottom to 1 at the top.
    pub fn share(&self, value: f64) -> f64 {
        (value / self.step - self.low as f64) / (self.high - self.low) as f64
    }

    /// Values and texts of the ticks.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        (self.low..=self.high)
            .map(|n| n as f64 * self.step)
            .map(|v| (v, (self.label)(v, self.step)))
            .collect()
    }
}
