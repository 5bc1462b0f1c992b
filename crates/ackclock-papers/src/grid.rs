//! A grid of scenarios: one for each combination of the values that some of its keys take.

use ackclock_net::scenario::{Scenario, ScenarioError};
use serde::Deserialize;
use toml::{Table, Value};

use crate::Error;
use crate::library::format_error;
use crate::substitute::set;

/// More cells than this are a mistake.
const MOST_CELLS: usize = 10_000;

/// A key of the scenario that takes several values.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// The path of the key, such as `link[1].delay`.
    pub key: String,
    /// The values.
    pub values: Vec<Value>,
    /// How the values are called; as they are written if left out.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The labels of those that `--quick` runs; all if left out.
    #[serde(default)]
    pub quick: Vec<String>,
}

impl Axis {
    /// Its values, each with its label.
    pub fn all(&self) -> impl Iterator<Item = (String, &Value)> {
        self.values.iter().enumerate().map(|(number, value)| {
            let written = || value.as_str().map_or_else(|| value.to_string(), str::to_string);
            (self.labels.get(number).cloned().unwrap_or_else(written), value)
        })
    }
}

/// Axis and label of each axis, and the scenario there.
pub type Point = (Vec<(String, String)>, Table);

/// The cartesian product of the axes over a scenario; a single point if there is no axis. `file` is what errors name.
///
/// # Errors
/// [`Error::Format`] for an axis that makes no sense.
pub fn grid(file: &str, base: Table, axes: &[Axis], quick: bool) -> Result<Vec<Point>, Error> {
    let mut points: Vec<Point> = vec![(Vec::new(), base)];
    for (i, axis) in axes.iter().enumerate() {
        let key = format!("vary[{i}]");
        if axis.values.is_empty() || points.len() * axis.values.len() > MOST_CELLS {
            let message = format!("values: at least one, and at most {MOST_CELLS} cells in all");
            return Err(format_error(file, &key, message));
        }
        if !axis.labels.is_empty() && axis.labels.len() != axis.values.len() {
            return Err(format_error(file, &key, "there are as many labels as values, or none".into()));
        }
        if let Some(label) = axis.quick.iter().find(|label| !axis.all().any(|(l, _)| l == **label)) {
            return Err(format_error(file, &key, format!("quick: there is no value called `{label}`")));
        }
        let mut next = Vec::new();
        for (labels, table) in &points {
            for (label, value) in axis.all().filter(|(l, _)| !quick || axis.quick.is_empty() || axis.quick.contains(l))
            {
                let mut table = table.clone();
                set(&mut table, &axis.key, value.clone()).map_err(|m| format_error(file, &key, m))?;
                next.push(([labels.clone(), vec![(axis.name.clone(), label)]].concat(), table));
            }
        }
        points = next;
    }
    Ok(points)
}

/// The scenario in a table whose text is nowhere to be seen, so that lines would tell nothing.
///
/// # Errors
/// What is wrong with it.
pub fn read(table: &Table) -> Result<Scenario, ScenarioError> {
    Scenario::from_toml(&table.to_string()).map_err(|error| {
        let key = format!("scenario.{}", error.key);
        ScenarioError { line: None, key, ..error }
    })
}
