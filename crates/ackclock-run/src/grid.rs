//! A grid of scenarios: one for each combination of the values that some of its keys take.

use ackclock_net::scenario::{Scenario, ScenarioError};
use ackclock_tcp::Registry;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::{Table, Value};

use crate::file::error_at;
use crate::set::{overlap, set};

/// A grid with more cells is taken for a mistake.
const MOST_CELLS: usize = 10_000;

/// `[[vary]]`: a key of the scenario that takes several values.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// The path of the key, such as `link[1].delay`.
    pub key: String,
    /// The values.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub values: Vec<Value>,
    /// The labels of the values; as the values are written if left out.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The labels of the values that `--quick` runs; all if left out.
    #[serde(default)]
    pub quick: Vec<String>,
}

/// The place of a cell on one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisLabel {
    /// The name of the axis.
    pub axis: String,
    /// The label of the value.
    pub label: String,
}

/// A cell of a grid.
#[derive(Clone, Debug)]
pub struct GridCell {
    /// Its place, in the order of the axes.
    pub labels: Vec<AxisLabel>,
    /// The scenario here.
    pub scenario: Scenario,
    /// The table that the scenario was read from.
    pub table: Table,
}

impl Axis {
    /// Whether a value has this label.
    pub fn has(&self, label: &str) -> bool {
        self.labelled().any(|(known, _)| known == label)
    }

    /// The labels of its values.
    pub fn labels(&self) -> impl Iterator<Item = String> {
        self.labelled().map(|(label, _)| label)
    }

    fn labelled(&self) -> impl Iterator<Item = (String, &Value)> {
        self.values.iter().enumerate().map(|(number, value)| {
            let written = || value.as_str().map_or_else(|| value.to_string(), str::to_string);
            (self.labels.get(number).cloned().unwrap_or_else(written), value)
        })
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.values.is_empty() {
            return Err(("values", "at least one value is expected".into()));
        }
        if !self.labels.is_empty() && self.labels.len() != self.values.len() {
            return Err(("labels", "as many labels as values are expected, or none".into()));
        }
        let labels: Vec<String> = self.labels().collect();
        if let Some((_, twice)) =
            labels.iter().enumerate().find(|(i, label)| labels[..*i].contains(label))
        {
            return Err(("values", format!("`{twice}` is there twice")));
        }
        match self.quick.iter().find(|label| !self.has(label)) {
            Some(label) => Err(("quick", format!("there is no value called `{label}`"))),
            None => Ok(()),
        }
    }
}

impl GridCell {
    /// The only cell of a grid without axes.
    pub fn of(scenario: Scenario) -> Self {
        GridCell { labels: Vec::new(), scenario, table: Table::new() }
    }

    /// Axes and labels in one line, such as `loss 3%, delay far`; empty if nothing is varied.
    pub fn name(&self) -> String {
        let labels = self.labels.iter().map(|AxisLabel { axis, label }| format!("{axis} {label}"));
        labels.collect::<Vec<_>>().join(", ")
    }

    /// Its label on an axis.
    pub fn label(&self, axis: &str) -> Option<&str> {
        self.labels.iter().find(|place| place.axis == axis).map(|place| place.label.as_str())
    }
}

/// ` (table 1)` behind what stands there; nothing for nothing.
pub fn bracketed(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" ({place})") }
}

/// The combinations of all axes over a scenario; a single cell if there is no axis. With `quick`,
/// only those that the axes name.
///
/// # Errors
/// What is wrong with an axis, or with the scenario in a cell. The keys are those of a file with
/// `[[vary]]` and `[scenario]`.
pub fn grid(
    base: Table,
    axes: &[Axis],
    quick: bool,
    registry: &Registry,
) -> Result<Vec<GridCell>, ScenarioError> {
    let mut points: Vec<(Vec<AxisLabel>, Table)> = vec![(Vec::new(), base)];
    for (i, axis) in axes.iter().enumerate() {
        let wrong = |key: &str, message| error_at(&format!("vary[{i}].{key}"), message);
        axis.check().map_err(|(key, message)| wrong(key, message))?;
        if axes[..i].iter().any(|other| other.name == axis.name && other.key != axis.key) {
            return Err(wrong("name", "another axis has the same".into()));
        }
        // Of two that have one value each, the later one is an exception from the other.
        let varies = |other: &Axis| axis.values.len() > 1 || other.values.len() > 1;
        let sets = |other: &&Axis| overlap(&other.key, &axis.key);
        if let Some(other) =
            axes[..i].iter().filter(sets).find(|other| varies(other) || other.key == axis.key)
        {
            let message =
                format!("`{}` is varied already; one list may have all values", other.key);
            return Err(wrong("key", message));
        }
        if points.len() * axis.values.len() > MOST_CELLS {
            let message = format!("the grid has more than {MOST_CELLS} cells");
            return Err(wrong("values", message));
        }
        let runs = |label: &String| !quick || axis.quick.is_empty() || axis.quick.contains(label);
        let mut next = Vec::new();
        for (labels, table) in &points {
            for (label, value) in axis.labelled().filter(|(label, _)| runs(label)) {
                let mut table = table.clone();
                set(&mut table, &axis.key, value.clone()).map_err(|m| wrong("key", m))?;
                let place = AxisLabel { axis: axis.name.clone(), label };
                next.push(([labels.clone(), vec![place]].concat(), table));
            }
        }
        points = next;
    }
    for (i, axis) in axes.iter().enumerate() {
        if points.iter().all(|(_, table)| is_overridden(table, &axis.key)) {
            let message =
                format!("each flow has a `{}` of its own, and this has no effect", axis.key);
            return Err(error_at(&format!("vary[{i}].key"), message));
        }
    }
    let cell = |(labels, table): (Vec<AxisLabel>, Table)| {
        let scenario = read(&table, registry)?;
        Ok(GridCell { labels, scenario, table })
    };
    points.into_iter().map(cell).collect()
}

/// Whether this is a setting for all flows, and each of them has its own.
fn is_overridden(table: &Table, key: &str) -> bool {
    let own = |flow: &Value| {
        let tcp = flow.get("tcp").zip(key.strip_prefix("tcp."));
        tcp.is_some_and(|(tcp, key)| tcp.get(key).is_some())
    };
    let flows = table.get("flow").and_then(Value::as_array).filter(|flows| !flows.is_empty());
    flows.is_some_and(|flows| flows.iter().all(own))
}

/// The scenario in the table `[scenario]` of a file. Its text is not at hand, so errors have no
/// line.
///
/// # Errors
/// What is wrong with it.
pub fn read(table: &Table, registry: &Registry) -> Result<Scenario, ScenarioError> {
    Scenario::from_toml(&table.to_string(), registry).map_err(|error| error.within("scenario"))
}

#[cfg(test)]
mod tests;
