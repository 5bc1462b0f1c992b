//! The traces of a scenario, which are files of their own.

use std::path::Path;
use std::{fs, io};

use ackclock_tcp::Registry;

use super::error::ScenarioError;
use super::model::Scenario;
use super::path::steps;
use crate::trace::Trace;

impl Scenario {
    /// Reads and checks a scenario that is the text of `file`, and reads the traces beside it.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with its line.
    pub fn with_traces(
        text: &str,
        file: &str,
        registry: &Registry,
    ) -> Result<Scenario, ScenarioError> {
        let mut scenario = Scenario::from_toml(text, registry)?;
        scenario.read_traces(file).map_err(|error| error.located(text))?;
        Ok(scenario)
    }

    /// Reads the traces of its links, which are files seen from the folder of `file`. Without
    /// traces this reads nothing.
    ///
    /// # Errors
    /// The first file that cannot be read, or the first line of one that is wrong.
    pub fn read_traces(&mut self, file: &str) -> Result<(), ScenarioError> {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        for (i, link) in self.links.iter_mut().enumerate() {
            let Some(trace) = link.trace.as_mut().filter(|trace| trace.trace.is_none()) else {
                continue;
            };
            let at = steps!["link", i, "trace"];
            let wrong = |error: String| ScenarioError::at(&at, format!("{}{error}", trace.file));
            let text = read(&folder.join(&trace.file))
                .map_err(|error| ScenarioError { unread: true, ..wrong(unread(&error)) })?;
            trace.trace = Some(Trace::parse(&text).map_err(|error| wrong(format!(":{error}")))?);
        }
        Ok(())
    }
}

fn unread(error: &io::Error) -> String {
    format!(": {error}; a trace is a file, as seen from the folder of the scenario")
}

/// The most bytes of a trace: days of opportunities.
const MOST: u64 = 256 << 20;

/// The text of a file, and not what a device or a pipe may go on to say for ever.
fn read(path: &Path) -> io::Result<String> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("it is no plain file, which a trace is"));
    }
    if about.len() > MOST {
        return Err(io::Error::other("it is too large; a trace has at most 256 MiB"));
    }
    fs::read_to_string(path)
}
