//! What can go wrong, and the exit code of each.

use std::io;
use std::path::{Path, PathBuf};

use ackclock_net::scenario::ScenarioError;

/// Why the command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The scenario is wrong; `FILE:LINE: KEY: what`.
    #[error("{file}{}{error}", if error.line.is_some() { ":" } else { ": " })]
    Scenario {
        /// The file, or the verb that made the scenario.
        file: String,
        /// What is wrong.
        error: ScenarioError,
    },
    /// The options make no sense together.
    #[error("{0}")]
    Usage(String),
    /// A run failed.
    #[error("{file}{}{error}", if error.line.is_some() { ":" } else { ": " })]
    Run {
        /// As in [`Error::Scenario`].
        file: String,
        /// What is wrong.
        error: ScenarioError,
    },
    /// A file could not be read.
    #[error("{}: cannot be read: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file or standard output could not be written.
    #[error("{}: cannot be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl Error {
    /// The exit code of bad usage, which option parsing shares.
    pub(crate) const USAGE: u8 = 2;

    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Error::Run { .. } => 1,
            Error::Scenario { .. } | Error::Usage(_) => Error::USAGE,
            Error::Read { .. } | Error::Write { .. } => 3,
        }
    }

    /// Says which file could not be written.
    pub(crate) fn write(path: &Path) -> impl Fn(io::Error) -> Error {
        move |error| Error::Write { path: path.to_path_buf(), error }
    }
}
