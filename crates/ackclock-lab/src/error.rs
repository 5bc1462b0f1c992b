//! Why there is no result.

use std::io;

use ackclock_run::FileError;

/// Why a lab gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is wrong.
    #[error(transparent)]
    Format(#[from] FileError),
    /// There is no such row.
    #[error("there is no row `{name}`; there are {known}")]
    Row {
        /// The name that was asked for.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The system refused something, or a connection failed.
    #[error("the wire: {0}")]
    Wire(io::Error),
    /// A simulation failed.
    #[error(transparent)]
    Run(#[from] ackclock_run::Error),
}
