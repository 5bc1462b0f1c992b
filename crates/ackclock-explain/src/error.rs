//! What can go wrong.

use std::io;
use std::path::{Path, PathBuf};

use ackclock_report::printable;

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read.
    #[error("{}: cannot be read: {}", printable(path.display()), printable(error))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file could not be written.
    #[error("{}: cannot be written: {}", printable(path.display()), printable(error))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The filter makes no sense, or not for the packets of a capture.
    #[error("--filter: {0}")]
    Filter(String),
    /// What was asked for cannot be done.
    #[error("{0}")]
    Usage(String),
    /// The flag to end was set.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Says which file could not be read.
    pub(crate) fn read(path: &Path) -> impl Fn(io::Error) -> Error {
        move |error| Error::Read { path: path.to_path_buf(), error }
    }

    /// Says which file could not be written.
    pub(crate) fn write(path: &Path) -> impl Fn(io::Error) -> Error {
        move |error| Error::Write { path: path.to_path_buf(), error }
    }
}
