//! Why there is no result.

use std::io;

use ackclock_run::FileError;

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is wrong.
    #[error(transparent)]
    Format(#[from] FileError),
    /// There is no such paper or experiment.
    #[error("there is no paper or experiment `{id}`; {instead}")]
    Unknown {
        /// The name that was asked for.
        id: String,
        /// The one that was meant, or which there are.
        instead: String,
    },
    /// There is no such file, folder or match of a pattern.
    #[error(
        "there is no file `{0}`, and no folder or pattern of files; `ackclock papers list` lists \
         the experiments that are built in"
    )]
    NoFile(String),
    /// A folder, or what a pattern matches, has no experiment in it.
    #[error("{0}: there is no experiment here: no file whose name ends in `.toml`")]
    NoExperiment(String),
    /// Two experiments that are to run have the same name.
    #[error("{first} and {second} are both called `{id}`, after their folders: rename one")]
    Twice {
        /// The name.
        id: String,
        /// The file of the one.
        first: String,
        /// The file of the other.
        second: String,
    },
    /// A file could not be read.
    #[error("{file}: cannot be read: {error}")]
    Read {
        /// The file.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// A network cannot be built, or the system gave no threads.
    #[error(transparent)]
    Run(#[from] ackclock_run::Error),
}
