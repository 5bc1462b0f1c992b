//! Before and after a change: whether connections of the second capture take longer.

use ackclock_report::Estimate;
use ackclock_tcp::Span;

use crate::explained::{Explained, Found};

/// How long connections with payload had something to do: pauses of applications are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    /// The median of each capture.
    pub busy: [Span; 2],
    /// How many times as long the second takes.
    pub ratio: Ratio,
}

/// A ratio of geometric means: few long connections do not decide it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratio {
    pub mean: f64,
    /// The ends of its 95 % confidence interval, of connections that do not depend on each other.
    pub low: f64,
    pub high: f64,
}

impl Change {
    /// `None` if a capture has fewer than two such connections.
    pub fn of(explained: &Explained) -> Option<Change> {
        let [mut first, mut second] = [0, 1].map(|capture| {
            let of = explained.counted().filter(|found| found.capture == capture);
            of.filter_map(busy).collect::<Vec<Span>>()
        });
        let ratio = Ratio::of([&first, &second])?;
        Some(Change { busy: [median(&mut first)?, median(&mut second)?], ratio })
    }
}

fn busy(found: &Found) -> Option<Span> {
    let any = found.flows().any(|(_, flow)| flow.bytes > 0);
    Some(found.busy()).filter(|busy| any && *busy > Span::ZERO)
}

fn median(spans: &mut [Span]) -> Option<Span> {
    spans.sort_unstable();
    spans.get(spans.len() / 2).copied()
}

impl Ratio {
    fn of(spans: [&[Span]; 2]) -> Option<Ratio> {
        let [first, second] = spans.map(|spans| {
            let logs: Vec<f64> = spans.iter().map(|span| span.secs_f64().ln()).collect();
            let Estimate { mean, half_width } = Estimate::of(&logs)?;
            Some((mean, half_width?))
        });
        let ((first, width), (second, other_width)) = (first?, second?);
        let (mean, width) = (second - first, width.hypot(other_width));
        Some(Ratio { mean: mean.exp(), low: (mean - width).exp(), high: (mean + width).exp() })
    }

    /// Chance may have made it: the interval has 1 in it.
    pub fn may_be_chance(&self) -> bool {
        self.low <= 1.0 && 1.0 <= self.high
    }
}

#[cfg(test)]
mod tests;
