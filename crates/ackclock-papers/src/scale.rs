//! The numbers of an axis, from its labels.

use ackclock_net::scenario::units::{Duration, Probability, Rate, Size};
use ackclock_run::Axis;

use crate::measures::with_unit;

/// How the labels of an axis are numbers.
pub(crate) struct Scale {
    /// The unit of the numbers; empty if they have none.
    pub unit: String,
    /// Whether the labels have several units, so that the numbers are not as they are written.
    pub converted: bool,
    number: OfLabel,
}

type OfLabel = fn(&str) -> Option<f64>;

/// The kinds of quantities, each in its base unit.
const QUANTITIES: [(&str, OfLabel); 4] = [
    ("", |label| Some(label.parse::<Probability>().ok()?.get())),
    ("s", |label| Some(label.parse::<Duration>().ok()?.0.secs_f64())),
    ("bit/s", |label| Some(label.parse::<Rate>().ok()?.0 as f64)),
    ("bytes", |label| Some(label.parse::<Size>().ok()?.0 as f64)),
];

impl Scale {
    /// Of the axes of this name. Where the labels have one unit, or none, the numbers are as they
    /// are written. Quantities with several units are in their base unit. `None` if the labels are
    /// neither.
    pub fn of(axes: &[Axis], name: &str) -> Option<Scale> {
        let labels: Vec<String> =
            axes.iter().filter(|axis| axis.name == name).flat_map(Axis::labels).collect();
        let (_, unit) = split(labels.last()?)?;
        if labels.iter().all(|label| split(label).is_some_and(|(_, other)| is_same(other, unit))) {
            return Some(Scale {
                unit: unit.into(),
                converted: false,
                number: |label| split(label).map(|(number, _)| number),
            });
        }
        let in_base = |(unit, number): &(&str, OfLabel)| Scale {
            unit: (*unit).into(),
            converted: true,
            number: *number,
        };
        let mut scales = QUANTITIES.iter().map(in_base);
        scales.find(|scale| labels.iter().all(|label| scale.number(label).is_some()))
    }

    /// What an axis shows that is called so.
    pub fn title(&self, name: &str) -> String {
        let known = name.ends_with(&format!("({})", self.unit));
        if known { name.into() } else { with_unit(name, &self.unit) }
    }

    /// The number of a label.
    pub fn number(&self, label: &str) -> Option<f64> {
        (self.number)(label)
    }
}

/// Whether two units are the same, but for the plural of a word: 1 flow, 2 flows.
fn is_same(a: &str, b: &str) -> bool {
    // Shorter ones are units: `s` is the plural of nothing.
    let words = a.len() > 3 && b.len() > 3;
    a == b || words && a.trim_end_matches('s') == b.trim_end_matches('s')
}

/// The number that a text begins with, and what follows it: 50 and `kb` of `50kb`.
fn split(label: &str) -> Option<(f64, &str)> {
    // Neither `inf` nor `nan`.
    label.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)).then_some(())?;
    let ends = (1..=label.len()).rev().filter(|end| label.is_char_boundary(*end));
    let read = |end| Some((label[..end].parse().ok().filter(|n: &f64| n.is_finite())?, end));
    let (number, end) = ends.into_iter().find_map(read)?;
    Some((number, label[end..].trim()))
}

#[cfg(test)]
mod tests;
