//! The distance to the oracle: how much later a transfer is complete than with the oracle that has the same window law.

use ackclock_tcp::Composition;
use ackclock_tcp::strategy::Axis;

use crate::format::Strategy;
use crate::measure::{Measurement, Measurements};

/// The measures, in percent of the completion of these oracles.
pub(crate) const MEASURES: [(&str, &str); 2] = [("over-oracle", "oracle"), ("over-oracle-drop", "oracle-drop")];

/// The strategy of the experiment that is this oracle with the window law of `strategy`.
pub(crate) fn bound<'a>(oracle: &str, strategy: &Strategy, strategies: &'a [Strategy]) -> Option<&'a Strategy> {
    let law = window_law(strategy)?;
    let is_oracle = |s: &Strategy| s.composition().is_some_and(|name| name.split('+').next() == Some(oracle));
    strategies.iter().find(|s| is_oracle(s) && window_law(s).as_ref() == Some(&law))
}

/// `measure/strategy` for each strategy that has a bound.
pub(crate) fn distances(strategies: &[Strategy], into: &mut Measurements) {
    for (measure, oracle) in MEASURES {
        for strategy in strategies {
            let completion = |s: &Strategy| match into.get(&format!("completion/{}", s.name)) {
                Some(Measurement::Samples(samples)) => samples.clone(),
                _ => Vec::new(),
            };
            let Some(bound) = bound(oracle, strategy, strategies) else { continue };
            let over = completion(strategy).iter().zip(completion(bound)).map(|(s, b)| 100.0 * (s / b - 1.0)).collect();
            into.insert(format!("{measure}/{}", strategy.name), Measurement::Samples(over));
        }
    }
}

/// The mechanisms of its window law, in the order in which they are applied.
fn window_law(strategy: &Strategy) -> Option<Vec<&'static str>> {
    let composition = Composition::parse(strategy.composition()?).ok()?;
    Some(composition.mechanisms().filter(|m| m.axis == Axis::Window).map(|m| m.name).collect())
}
