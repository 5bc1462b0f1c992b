//! What can go wrong.

use std::io;
use std::path::PathBuf;

use ackclock_net::scenario::ScenarioError;

use crate::files;

/// Why a proxy does not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Options or nodes make no sense.
    #[error("{0}")]
    Usage(String),
    /// A setting makes no sense: an option of the command, or a key of the API.
    #[error("--{key}: {text}")]
    Setting {
        /// What it is called, without dashes.
        key: &'static str,
        /// What is wrong, and what would be right.
        text: String,
    },
    /// A scenario is wrong.
    #[error("{file}:{error}")]
    Scenario {
        /// The file that has it.
        file: String,
        /// What is wrong, with its line and key.
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
    /// The system refused something, such as an address to listen at.
    #[error("{what}: {error}{}", files::limit(error))]
    System {
        /// What was asked of it.
        what: String,
        /// Why.
        error: io::Error,
    },
}

impl Error {
    /// The exit code: 2 for wrong input, 3 for a file, 4 for what the system refused.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Scenario { error, .. } if error.unread => 3,
            Error::Usage(_) | Error::Setting { .. } | Error::Scenario { .. } => 2,
            Error::Read { .. } => 3,
            Error::System { .. } => 4,
        }
    }

    /// What is wrong with a setting.
    pub(crate) fn setting(key: &'static str, text: impl Into<String>) -> Error {
        Error::Setting { key, text: text.into() }
    }

    /// Says what the system was asked for when it refused.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        move |error| Error::System { what: what.into(), error }
    }
}
