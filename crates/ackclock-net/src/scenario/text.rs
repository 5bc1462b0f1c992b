//! Scenarios as text: read, checked, written and described.

use ackclock_tcp::Registry;

use super::check::{check, check_strategies, names_of};
use super::error::ScenarioError;
use super::model::Scenario;
use crate::NodeId;

impl Scenario {
    /// Reads and checks a scenario, whose strategies are those of `registry`. Reads nothing but
    /// `text`.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with its line.
    pub fn from_toml(text: &str, registry: &Registry) -> Result<Scenario, ScenarioError> {
        let scenario: Scenario =
            toml::from_str(text).map_err(|e| ScenarioError::from_toml(text, &e))?;
        scenario.check(registry).map_err(|e| e.located(text))?;
        Ok(scenario)
    }

    /// The scenario as TOML, from which [`Scenario::from_toml`] reads the same scenario. Keys at
    /// their default are left out.
    ///
    /// # Errors
    /// Only if a number does not fit TOML (a drop list with a segment above 2^63).
    pub fn to_toml(&self) -> Result<String, ScenarioError> {
        toml::to_string(self).map_err(|e| ScenarioError::at(&[], e.to_string()))
    }

    /// The JSON Schema of scenario files.
    pub fn json_schema() -> serde_json::Value {
        schemars::schema_for!(Scenario).to_value()
    }

    /// Checks ranges and names, as [`Scenario::from_toml`] does.
    ///
    /// # Errors
    /// The first thing that is wrong, without a line.
    pub fn check(&self, registry: &Registry) -> Result<(), ScenarioError> {
        check(self)?;
        check_strategies(self, registry)
    }

    /// The node of this name, as `--pcap-at` has it; `None` if there is none, or the names of the
    /// scenario are wrong.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        let names = names_of(self).ok()?;
        names.nodes.iter().position(|node| node == name).map(|index| NodeId(index as u32))
    }
}
