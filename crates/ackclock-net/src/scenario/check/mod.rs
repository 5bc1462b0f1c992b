//! Checks what types cannot: ranges, names, and keys that exclude each other.

mod distribution;
mod flow;
mod link;
mod loss;
mod names;
mod queue;
mod ranges;
mod source;
mod tcp;
mod varying;

use ackclock_tcp::{Registry, Span};

use super::error::{Checked, ScenarioError, fail};
use super::model::Scenario;
use super::names::Names;
use super::path::steps;
use flow::{check_cbr, check_flow};
use link::check_link;
use names::{check_nodes, name_flows};
use ranges::{RUNS, count};
use tcp::{check_combinations, check_tcp};

pub use flow::{check_strategy, deployable};

/// Unfolds the names of nodes and flows.
pub(crate) fn names_of(scenario: &Scenario) -> Result<Names, ScenarioError> {
    let mut names = Names::default();
    check_nodes(scenario, &mut names)?;
    name_flows(scenario, &mut names)?;
    Ok(names)
}

/// Checks all of a scenario but the names of its strategies, and unfolds its names.
pub(crate) fn check(scenario: &Scenario) -> Result<Names, ScenarioError> {
    if scenario.duration.0 == Span::ZERO {
        fail(&steps!["duration"], "a run must last longer than 0s")?;
    }
    count(scenario.runs, RUNS, &steps!["runs"])?;
    check_tcp(&scenario.tcp, &steps!["tcp"])?;
    let names = names_of(scenario)?;
    for (i, link) in scenario.links.iter().enumerate() {
        check_link(link, &names, &steps!["link", i])?;
    }
    for (i, flow) in scenario.flows.iter().enumerate() {
        let at = steps!["flow", i];
        check_flow(flow, &names, &at)?;
        check_combinations(&flow.tcp, &scenario.tcp, &at)?;
    }
    for (i, cbr) in scenario.cbrs.iter().enumerate() {
        check_cbr(cbr, &names, &steps!["cbr", i])?;
    }
    Ok(names)
}

/// Checks the names of the strategies.
pub(crate) fn check_strategies(scenario: &Scenario, registry: &Registry) -> Checked {
    for (i, flow) in scenario.flows.iter().enumerate() {
        if let Some(strategy) = &flow.strategy {
            check_strategy(strategy, registry)
                .map_err(|message| ScenarioError::at(&steps!["flow", i, "strategy"], message))?;
        }
    }
    Ok(())
}
