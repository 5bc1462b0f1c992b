//! Before and after a change: whether connections of the second capture take longer.

use ackclock_report::Estimate;
use ackclock_tcp::Span;

use crate::explained::{Explained, Found};

/// Fewer connections tell little. Chosen: of five, Student's t is 2.8, and 4.3 of three.
const FEWEST: usize = 5;
/// A smaller part is no difference that anyone would feel. Chosen.
const LEAST: f64 = 0.05;

/// How long connections with payload took, but for what their clients asked nothing in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    /// The median of each capture.
    pub took: [Span; 2],
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
    /// `None` if a capture has fewer than five such connections.
    pub fn of(explained: &Explained) -> Option<Change> {
        let [mut first, mut second] = [0, 1].map(|capture| {
            let of = explained.counted().filter(|found| found.capture == capture);
            of.filter_map(took).collect::<Vec<Span>>()
        });
        let enough = first.len().min(second.len()) >= FEWEST;
        let ratio = Ratio::of([&first, &second]).filter(|_| enough)?;
        Some(Change { took: [median(&mut first)?, median(&mut second)?], ratio })
    }
}

/// What an answer took is the server's or the path's; a pause of its application is not, as long as
/// the client asks for nothing.
fn took(found: &Found) -> Option<Span> {
    let any = found.flows().any(|(_, flow)| flow.bytes > 0);
    let took = found.busy() + found.connection.from_server.lifetime.answering();
    Some(took).filter(|took| any && *took > Span::ZERO)
}

fn median(spans: &mut [Span]) -> Option<Span> {
    spans.sort_unstable();
    let (lower, upper) = (spans.get(spans.len().checked_sub(1)? / 2)?, spans.get(spans.len() / 2)?);
    Some(Span(lower.0 / 2 + upper.0 / 2))
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

    /// Chance may have made it, as the interval has 1 in it; or it is too small to matter.
    pub fn is_no_difference(&self) -> bool {
        let chance = self.low <= 1.0 && 1.0 <= self.high;
        chance || (self.mean - 1.0).abs() < LEAST
    }
}

#[cfg(test)]
mod tests;
