//! One experiment, from the text of its file.

use ackclock_net::scenario::{Scenario, ScenarioError};
use ackclock_run::{FileError, error_at, parse};
use ackclock_tcp::Registry;
use serde::Deserialize;
use toml::{Table, Value};

use crate::format::{Experiment, Paper};

/// The folder beside an experiment that holds the scenarios it shares with others.
const SCENARIOS: &str = "scenarios";

/// What an experiment says for itself, even where it is `like` another.
const OWN: [&str; 5] = ["title", "place", "notes", "why", "sensitivity"];

/// An experiment and the file that it comes from.
#[derive(Debug)]
pub struct ExperimentFile {
    /// `paper/experiment`.
    pub id: String,
    /// The path of the file.
    pub file: String,
    text: String,
    /// The paper.
    pub paper: Paper,
    /// What the file says.
    pub experiment: Experiment,
    /// Its scenario, checked, still without its `set` keys and axes.
    pub(crate) scenario: Table,
}

impl ExperimentFile {
    /// Reads the text of the file at the path `file`. `read` finds the text of a scenario that
    /// the experiment shares with others, by its path. Strategies are those of `registry`.
    ///
    /// # Errors
    /// What is wrong with the experiment or its scenario.
    pub fn from_toml(
        id: &str,
        paper: Paper,
        (file, text): (&str, &str),
        registry: &Registry,
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<ExperimentFile, FileError> {
        let mut experiment: Experiment = parse(file, text)?;
        let wrong =
            |error: ScenarioError| FileError { file: file.to_string(), error: error.located(text) };
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let missing = |key: &str, path: &str| wrong(error_at(key, format!("there is no {path}")));
        let mut table: Table = parse(file, text)?;
        if let Some(other) = &experiment.like {
            let path = format!("{folder}/{other}.toml");
            let shared = read(&path).ok_or_else(|| missing("like", &path))?;
            // Read as an experiment first, for errors with lines of that file.
            let _: Experiment = parse(&path, &shared)?;
            for (key, value) in parse::<Table>(&path, &shared)? {
                if !OWN.contains(&key.as_str()) {
                    table.entry(key).or_insert(value);
                }
            }
            experiment = Experiment::deserialize(table.clone())
                .map_err(|error| wrong(error_at("like", error.to_string())))?;
        }
        let scenario = match (table.remove("scenario"), &experiment.scenario_file) {
            (Some(Value::Table(scenario)), None) => {
                if let Some(scenario) = &experiment.scenario {
                    scenario.check(registry).map_err(|error| wrong(error.within("scenario")))?;
                }
                scenario
            }
            (None, Some(name)) => {
                let path = format!("{folder}/{SCENARIOS}/{name}");
                let shared = read(&path).ok_or_else(|| missing("scenario_file", &path))?;
                Scenario::from_toml(&shared, registry)
                    .map_err(|error| FileError { file: path.clone(), error })?;
                parse(&path, &shared)?
            }
            _ => {
                let message = "exactly one of `scenario` and `scenario_file` is expected";
                return Err(wrong(error_at("scenario", message)));
            }
        };
        Ok(ExperimentFile {
            id: id.into(),
            file: file.into(),
            text: text.into(),
            paper,
            experiment,
            scenario,
        })
    }

    /// An error in this file, with the line of its key. Keys of the scenario have no line, since
    /// the value may come from `set`, an axis or a draw.
    pub(crate) fn wrong(&self, error: ScenarioError) -> FileError {
        let of_scenario = error.key.starts_with("scenario.");
        let error = if of_scenario { error } else { error.located(&self.text) };
        FileError { file: self.file.clone(), error }
    }
}
