//! One experiment, from the text of its file.

use ackclock_net::scenario::{Scenario, ScenarioError};
use ackclock_run::{FileError, error_at, parse};
use ackclock_tcp::Registry;
use toml::{Table, Value};

use crate::format::{Experiment, Paper};

/// The folder beside an experiment that holds the scenarios it shares with others.
const SCENARIOS: &str = "scenarios";

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
        let experiment: Experiment = parse(file, text)?;
        let wrong =
            |error: ScenarioError| FileError { file: file.to_string(), error: error.located(text) };
        let scenario = match (&experiment.scenario, &experiment.scenario_file) {
            (Some(scenario), None) => {
                scenario.check(registry).map_err(|error| wrong(error.within("scenario")))?;
                match parse::<Table>(file, text)?.remove("scenario") {
                    Some(Value::Table(scenario)) => scenario,
                    _ => return Err(wrong(error_at("scenario", "a table is expected here"))),
                }
            }
            (None, Some(name)) => {
                let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
                let path = format!("{folder}/{SCENARIOS}/{name}");
                let missing = || wrong(error_at("scenario_file", format!("there is no {path}")));
                let shared = read(&path).ok_or_else(missing)?;
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
