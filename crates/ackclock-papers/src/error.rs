//! Why there is no result.

use ackclock_run::FileError;

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is wrong.
    #[error(transparent)]
    Format(#[from] FileError),
    /// There is no such paper or experiment.
    #[error("there is no paper or experiment `{id}`; there are {known}")]
    Unknown {
        /// The name that was asked for.
        id: String,
        /// The names that there are.
        known: String,
    },
    /// A run failed.
    #[error(transparent)]
    Run(#[from] ackclock_run::Error),
}
