//! The file of a scenario.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ackclock_net::scenario::Scenario;
use ackclock_run::{FileError, Kind};
use ackclock_tcp::Registry;

use crate::error::Error;
use crate::input::text;

/// A scenario and where it comes from.
pub(crate) struct ScenarioFile {
    pub file: String,
    pub text: String,
    pub scenario: Scenario,
}

impl ScenarioFile {
    pub fn read(path: &Path, registry: &Registry) -> Result<ScenarioFile, Error> {
        let stdin = path.as_os_str() == "-";
        let mut bytes = Vec::new();
        let read = match stdin {
            true => io::stdin().read_to_end(&mut bytes).map(drop),
            false => fs::read(path).map(|read| bytes = read),
        };
        read.map_err(|error| Error::Read { path: path.to_path_buf(), error })?;
        let file = if stdin { "<stdin>".into() } else { path.display().to_string() };
        let text = text(&file, bytes)?;
        match Scenario::with_traces(&text, &file, registry) {
            Ok(scenario) => Ok(ScenarioFile { file, text, scenario }),
            Err(error) => {
                let other = Kind::of(&text).filter(|kind| *kind != Kind::Scenario);
                let error = other.map_or(error, |other| other.instead_of(Kind::Scenario, &file));
                Err(ackclock_run::Error::Scenario(FileError { file, error }).into())
            }
        }
    }

    /// The files that were read: the scenario's, and its traces.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let traces = traces(&self.file, &self.scenario);
        std::iter::once(PathBuf::from(&self.file)).chain(traces).collect()
    }
}

/// The traces of a scenario, which are files seen from the folder of `file`.
pub(crate) fn traces(file: &str, scenario: &Scenario) -> impl Iterator<Item = PathBuf> {
    let folder = Path::new(file).parent().unwrap_or(Path::new("")).to_path_buf();
    scenario.links.iter().filter_map(move |link| Some(folder.join(&link.trace.as_ref()?.file)))
}
