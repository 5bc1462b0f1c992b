//! The names that the page knows: strategies, causes and classes of timeouts.

use ackclock_tcp::strategy::{Axis, DEFAULTS, Mechanism};
use ackclock_tcp::{Cause, Registry, TimeoutClass};
use serde::Serialize;

#[derive(Serialize)]
struct Names {
    causes: Vec<&'static str>,
    classes: Vec<&'static str>,
    axes: Vec<AxisName>,
    presets: Vec<PresetName>,
    mechanisms: Vec<MechanismName>,
}

#[derive(Serialize)]
struct AxisName {
    name: &'static str,
    question: &'static str,
}

#[derive(Serialize)]
struct PresetName {
    name: String,
    mechanisms: Vec<String>,
    source: String,
}

#[derive(Serialize)]
struct MechanismName {
    name: String,
    axis: &'static str,
    source: String,
    sentence: String,
    summary: String,
}

/// All names with their sources, as JSON.
pub fn names() -> String {
    let registry = Registry::default();
    let mechanism = |m: &Mechanism| MechanismName {
        name: m.name.to_string(),
        axis: m.axis.name(),
        source: m.source.to_string(),
        sentence: m.sentence.to_string(),
        summary: m.summary.to_string(),
    };
    let presets = registry.presets().iter().map(|p| PresetName {
        name: p.name.to_string(),
        mechanisms: p.mechanisms.iter().map(ToString::to_string).collect(),
        source: p.source.to_string(),
    });
    let names = Names {
        causes: Cause::ALL.map(Cause::name).into(),
        classes: TimeoutClass::ALL.map(TimeoutClass::name).into(),
        axes: Axis::ALL.map(|a| AxisName { name: a.name(), question: a.question() }).into(),
        presets: presets.collect(),
        mechanisms: registry.mechanisms().iter().map(mechanism).collect(),
    };
    // Strings and lists of them always serialise.
    serde_json::to_string(&names).unwrap_or_default()
}

/// The mechanisms of a composition by axis, as JSON: a list of axis and name. What the engine puts
/// on an axis that the composition leaves empty stands first.
///
/// # Errors
/// What is wrong with the name.
pub fn parts(strategy: &str) -> Result<String, String> {
    ackclock_net::scenario::check_strategy(strategy, &Registry::default())?;
    let registry = Registry::default();
    let composition = registry.parse(strategy).map_err(|error| error.to_string())?;
    let named = composition.mechanisms();
    let defaults = DEFAULTS.iter().filter_map(|name| registry.mechanism(name));
    let defaults = defaults.filter(|m| named.iter().all(|n| n.axis != m.axis));
    let parts: Vec<(&str, &str)> =
        defaults.chain(named).map(|m| (m.axis.name(), &*m.name)).collect();
    serde_json::to_string(&parts).map_err(|error| error.to_string())
}
