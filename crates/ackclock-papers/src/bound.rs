//! The distance to the oracle: how much later a transfer is complete than with the oracle that bounds its strategy.

use ackclock_tcp::Composition;

use crate::format::Strategy;
use crate::measure::{Measurement, Measurements};

/// The measures, in percent of the completion with these oracles.
pub(crate) const MEASURES: [(&str, &str); 2] = [("over-oracle", "oracle"), ("over-oracle-drop", "oracle-drop")];

/// The compositions that bound these strategies, each once.
pub(crate) fn bounds(strategies: &[Strategy]) -> Vec<String> {
    let mut all: Vec<String> =
        MEASURES.iter().flat_map(|(_, oracle)| strategies.iter().filter_map(|s| bound(s, oracle))).collect();
    all.sort();
    all.dedup();
    all
}

/// `measure/strategy`, from `completion/strategy` and `completion/bound`.
pub(crate) fn distances(strategies: &[Strategy], into: &mut Measurements) {
    for (measure, oracle) in MEASURES {
        for strategy in strategies {
            let Some(bound) = bound(strategy, oracle) else { continue };
            let completion = |name: &str| into.get(&format!("completion/{name}"));
            if let (Some(Measurement::Samples(ours)), Some(Measurement::Samples(least))) =
                (completion(&strategy.name), completion(&bound))
            {
                let over = ours.iter().zip(least).map(|(s, least)| 100.0 * (s / least - 1.0)).collect();
                into.insert(format!("{measure}/{}", strategy.name), Measurement::Samples(over));
            }
        }
    }
}

/// `None` if each flow has a strategy of its own.
fn bound(strategy: &Strategy, oracle: &str) -> Option<String> {
    Some(Composition::parse(strategy.composition()?).ok()?.bound(oracle))
}
