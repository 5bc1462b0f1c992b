//! The papers and their experiments, embedded in the program.

use std::collections::BTreeMap;

use ackclock_net::scenario::{Scenario, ScenarioError};
use include_dir::{Dir, include_dir};
use serde::de::DeserializeOwned;

use crate::Error;
use crate::format::{Experiment, Paper};

static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../papers");

/// The folder of a paper in which the scenarios lie that its experiments share.
const SCENARIOS: &str = "scenarios";

/// Papers, and experiments by `paper/experiment`.
#[derive(Debug, Default)]
pub struct Library {
    papers: BTreeMap<String, Paper>,
    experiments: Vec<Entry>,
    texts: BTreeMap<String, String>,
}

/// An experiment and where it comes from.
#[derive(Debug)]
pub(crate) struct Entry {
    /// `paper/experiment`.
    pub id: String,
    pub file: String,
    pub experiment: Experiment,
}

impl Library {
    /// The papers of this project.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is wrong.
    pub fn embedded() -> Result<Library, Error> {
        fn collect(dir: &Dir<'_>, files: &mut Vec<(String, String)>) {
            for file in dir.files() {
                if let (Some(path), Some(text)) = (file.path().to_str(), file.contents_utf8()) {
                    files.push((path.to_string(), text.to_string()));
                }
            }
            dir.dirs().for_each(|d| collect(d, files));
        }
        let mut files = Vec::new();
        collect(&FILES, &mut files);
        Library::from_files(files)
    }

    /// From pairs of a path below `papers/` and a text.
    ///
    /// # Errors
    /// [`Error::Format`] if a file is wrong.
    pub fn from_files(files: Vec<(String, String)>) -> Result<Library, Error> {
        let mut library = Library::default();
        for (path, text) in files {
            let file = format!("papers/{path}");
            match path.split('/').collect::<Vec<_>>()[..] {
                [paper, "paper.toml"] => {
                    library.papers.insert(paper.to_string(), parse(&file, &text)?);
                }
                [paper, name] if name.ends_with(".toml") => {
                    let experiment = parse(&file, &text)?;
                    let id = format!("{paper}/{}", name.trim_end_matches(".toml"));
                    library.experiments.push(Entry { id, file: file.clone(), experiment });
                }
                _ => {}
            }
            library.texts.insert(file, text);
        }
        // What goes beyond the papers comes after them.
        library.experiments.sort_by_key(|e| (e.id.starts_with("beyond/"), natural(&e.id)));
        Ok(library)
    }

    /// Each experiment with its id and its paper, in the order of their names, those beyond the papers last.
    pub fn list(&self) -> impl Iterator<Item = (&str, Option<&Paper>, &Experiment)> {
        self.experiments.iter().map(|e| (e.id.as_str(), self.paper(&e.id), &e.experiment))
    }

    pub(crate) fn paper(&self, id: &str) -> Option<&Paper> {
        self.papers.get(id.split('/').next()?)
    }

    /// The experiments that `id` names: one, those of a paper, or `all`.
    pub(crate) fn select(&self, id: &str) -> Result<Vec<&Entry>, Error> {
        let named = |e: &&Entry| id == "all" || e.id == id || e.id.split('/').next() == Some(id);
        let selected: Vec<&Entry> = self.experiments.iter().filter(named).collect();
        if selected.is_empty() {
            let mut known: Vec<&str> = self.papers.keys().map(String::as_str).collect();
            known.push("all");
            known.extend(self.experiments.iter().map(|e| e.id.as_str()));
            return Err(Error::Unknown { id: id.into(), known: known.join(", ") });
        }
        Ok(selected)
    }

    /// The scenario of an experiment, checked, as a table still without its `set` keys.
    pub(crate) fn scenario(&self, entry: &Entry) -> Result<toml::Table, Error> {
        let wrong = |key: &str, message: String| format_error(&entry.file, key, message);
        let located = |file: &str, error| Error::Format { file: file.into(), error };
        match (&entry.experiment.scenario, &entry.experiment.scenario_file) {
            (Some(scenario), None) => {
                let text = self.texts.get(&entry.file).map_or("", String::as_str);
                scenario.check().map_err(|mut error| {
                    error.key = format!("scenario.{}", error.key);
                    located(&entry.file, error.located(text))
                })?;
                let mut table: toml::Table = parse(&entry.file, text)?;
                match table.remove("scenario") {
                    Some(toml::Value::Table(scenario)) => Ok(scenario),
                    _ => Err(wrong("scenario", "a table is expected here".into())),
                }
            }
            (None, Some(name)) => {
                let paper = entry.id.split('/').next().unwrap_or_default();
                let file = format!("papers/{paper}/{SCENARIOS}/{name}");
                let text =
                    self.texts.get(&file).ok_or_else(|| wrong("scenario_file", format!("there is no {file}")))?;
                Scenario::from_toml(text).map_err(|error| located(&file, error))?;
                parse(&file, text)
            }
            _ => Err(wrong("scenario", "exactly one of `scenario` and `scenario_file` is expected".into())),
        }
    }
}

/// What is wrong with a key of a file.
pub fn format_error(file: &str, key: &str, message: String) -> Error {
    let error = ScenarioError { line: None, key: key.into(), message, help: None };
    Error::Format { file: file.into(), error }
}

/// Reads a file of which this is the text.
///
/// # Errors
/// [`Error::Format`].
pub fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, Error> {
    toml::from_str(text).map_err(|e| Error::Format { file: file.into(), error: ScenarioError::from_toml(text, &e) })
}

/// Sorts `figure-2` before `figure-10`.
fn natural(id: &str) -> Vec<(u64, String)> {
    id.split('-').map(|part| (part.parse().unwrap_or(0), part.to_string())).collect()
}
