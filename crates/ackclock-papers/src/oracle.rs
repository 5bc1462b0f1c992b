//! The oracles that bound the strategies of an experiment.

use ackclock_tcp::Registry;

use crate::format::Strategy;
use crate::measurement::{Measurement, Measurements};
use crate::measures::over_oracles;

/// The compositions that bound these strategies, each once.
pub(crate) fn bounds(strategies: &[Strategy], registry: &Registry) -> Vec<String> {
    let mut all: Vec<String> = over_oracles()
        .flat_map(|(_, oracle)| strategies.iter().filter_map(move |s| bound(s, oracle, registry)))
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Adds `MEASURE/STRATEGY`, from `completion/STRATEGY` and `completion/BOUND`.
pub(crate) fn distances(strategies: &[Strategy], registry: &Registry, into: &mut Measurements) {
    for (measure, oracle) in over_oracles() {
        for strategy in strategies {
            let Some(bound) = bound(strategy, oracle, registry) else { continue };
            let completion = |name: &str| into.get(&format!("completion/{name}"));
            if let (Some(Measurement::Samples(ours)), Some(Measurement::Samples(least))) =
                (completion(&strategy.name), completion(&bound))
            {
                let over =
                    ours.iter().zip(least).map(|(s, least)| 100.0 * (s / least - 1.0)).collect();
                into.insert(format!("{measure}/{}", strategy.name), Measurement::Samples(over));
            }
        }
    }
}

/// `None` if each flow has a strategy of its own.
fn bound(strategy: &Strategy, oracle: &str, registry: &Registry) -> Option<String> {
    Some(registry.parse(strategy.composition()?).ok()?.bound(oracle))
}
