//! One experiment, from the text of its file.

use ackclock_net::scenario::{Scenario, ScenarioError};
use ackclock_run::{FileError, error_at, parse};
use ackclock_tcp::Registry;
use serde::Deserialize;
use toml::{Table, Value};

use crate::format::{Experiment, Paper};

/// The folder beside an experiment that holds the scenarios it shares with others.
pub(crate) const SCENARIOS: &str = "scenarios";

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
    /// The paths and texts of those that it is `like`.
    likes: Vec<(String, String)>,
    /// The paper, where the file stands beside a `paper.toml`.
    pub paper: Option<Paper>,
    /// What the file says.
    pub experiment: Experiment,
    /// Its scenario, checked, still without its `set` keys and axes.
    pub(crate) scenario: Table,
    /// The file that has it: its traces are files seen from the folder of that one.
    pub(crate) scenario_file: String,
    /// The text of that file, if it is not this one.
    scenario_text: Option<String>,
}

/// The file of an experiment as it is read, and how others are found.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
    read: &'a dyn Fn(&str) -> Option<String>,
}

impl Source<'_> {
    fn wrong(&self, error: ScenarioError) -> FileError {
        FileError { file: self.file.to_string(), error: error.located(self.text) }
    }

    /// The path and the text of a file beside this one, which `key` names.
    fn beside(&self, key: &str, name: &str) -> Result<(String, String), FileError> {
        let path = match self.file.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{name}"),
            None => name.to_string(),
        };
        match (self.read)(&path) {
            Some(text) => Ok((path, text)),
            None => Err(self.wrong(error_at(key, format!("there is no {path}")))),
        }
    }

    /// Adds to `table` what the experiment that this one is `like` says and it does not. Returns
    /// the path and the text of that one.
    fn take_over(&self, other: &str, table: &mut Table) -> Result<(String, String), FileError> {
        let (path, text) = self.beside("like", &format!("{other}.toml"))?;
        // Read as an experiment first, for errors with lines of that file.
        let _: Experiment = parse(&path, &text)?;
        for (key, value) in parse::<Table>(&path, &text)? {
            if !OWN.contains(&key.as_str()) {
                table.entry(key).or_insert(value);
            }
        }
        Ok((path, text))
    }

    /// The scenario, checked: this file's `own`, or that of another file. Returns also the path of
    /// the file that has it, and its text if that is another.
    fn scenario(
        &self,
        own: Option<Value>,
        experiment: &Experiment,
        registry: &Registry,
    ) -> Result<(Table, String, Option<String>), FileError> {
        match (own, &experiment.scenario_file) {
            (Some(Value::Table(scenario)), None) => {
                if let Some(scenario) = &experiment.scenario {
                    let checked = scenario.check(registry);
                    checked.map_err(|error| self.wrong(error.within("scenario")))?;
                }
                Ok((scenario, self.file.to_string(), None))
            }
            (None, Some(name)) if name.starts_with('/') => {
                let message =
                    format!("the name of a file in `{SCENARIOS}` beside this one is expected");
                Err(self.wrong(error_at("scenario_file", message)))
            }
            (None, Some(name)) => {
                let (path, text) = self.beside("scenario_file", &format!("{SCENARIOS}/{name}"))?;
                Scenario::from_toml(&text, registry)
                    .map_err(|error| FileError { file: path.clone(), error })?;
                Ok((parse(&path, &text)?, path, Some(text)))
            }
            _ => {
                let message = "exactly one of `scenario` and `scenario_file` is expected";
                Err(self.wrong(error_at("scenario", message)))
            }
        }
    }
}

impl ExperimentFile {
    /// Reads the text of the file at the path `file`. `read` finds the text of a scenario that
    /// the experiment shares with others, by its path. Strategies are those of `registry`.
    ///
    /// # Errors
    /// What is wrong with the experiment or its scenario.
    pub fn from_toml(
        id: &str,
        paper: Option<Paper>,
        (file, text): (&str, &str),
        registry: &Registry,
        read: impl Fn(&str) -> Option<String>,
    ) -> Result<ExperimentFile, FileError> {
        let source = Source { file, text, read: &read };
        let mut experiment: Experiment = parse(file, text)?;
        let mut table: Table = parse(file, text)?;
        let mut likes = Vec::new();
        for other in &experiment.like {
            likes.push(source.take_over(other, &mut table)?);
        }
        if !likes.is_empty() {
            experiment = Experiment::deserialize(table.clone())
                .map_err(|error| source.wrong(error_at("like", error.to_string())))?;
        }
        let own = table.remove("scenario");
        let (scenario, scenario_file, scenario_text) =
            source.scenario(own, &experiment, registry)?;
        Ok(ExperimentFile {
            id: id.into(),
            file: file.into(),
            text: text.into(),
            likes,
            paper,
            experiment,
            scenario,
            scenario_file,
            scenario_text,
        })
    }

    /// An error in this file, with the line of its key. A key of the scenario has the line of the
    /// axis, the draw or the `set` that gives it its value, if there is one, and else the one in
    /// the file that has the scenario. A key that another experiment says, which this one is
    /// `like`, is named with that file and its line there.
    pub(crate) fn wrong(&self, mut error: ScenarioError) -> FileError {
        let of_scenario = error.key.strip_prefix("scenario.");
        let origin = of_scenario.and_then(|key| self.origin(key));
        if let (Some(key), Some(text), None) = (of_scenario, &self.scenario_text, &origin) {
            error.key = key.to_string();
            let error = error.located(text);
            return FileError { file: self.scenario_file.clone(), error };
        }
        let key = origin.as_deref().unwrap_or(&error.key);
        let line = |text: &str| error_at(key, "").located(text).line;
        let says = |text: &str| {
            let table = text.parse::<Table>();
            table.is_ok_and(|t| key.split(['.', '[']).next().is_some_and(|k| t.contains_key(k)))
        };
        let other = || self.likes.iter().find(|(_, text)| says(text));
        if !says(&self.text)
            && let Some((path, text)) = other()
        {
            error.line = line(text);
            let there = FileError { file: path.clone(), error }.to_string();
            error = error_at("like", there).located(&self.text);
        } else {
            error.line = line(&self.text);
        }
        FileError { file: self.file.clone(), error }
    }

    /// The key of this file that sets a key of the scenario.
    fn origin(&self, key: &str) -> Option<String> {
        let e = &self.experiment;
        let axis = e.vary.iter().position(|axis| axis.key == key);
        let draws = e.population.iter().flat_map(|population| &population.draw);
        let draw = || draws.clone().position(|draw| draw.key == key);
        axis.map(|i| format!("vary[{i}].values"))
            .or_else(|| draw().map(|i| format!("population.draw[{i}].values")))
            .or_else(|| e.set.contains_key(key).then(|| format!("set.{key}")))
    }
}
