//! What can go wrong, and the exit code of each.

use std::io;
use std::path::{Path, PathBuf};

use ackclock_report::printable;

use crate::exit::{DISAGREE, Exit, FAILED, FILE, INPUT, INTERRUPTED, REFUSED};

/// Why the command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A scenario or a lab is wrong.
    #[error(transparent)]
    Run(ackclock_run::Error),
    /// An experiment of a paper is wrong, or there is none of this name.
    #[error(transparent)]
    Papers(ackclock_papers::Error),
    /// Captures cannot be explained.
    #[error(transparent)]
    Explain(ackclock_explain::Error),
    /// A proxy with a simulated network inside cannot run.
    #[error(transparent)]
    Impair(#[from] ackclock_impair::Error),
    /// A file holds no vectors.
    #[error(transparent)]
    Vector(#[from] ackclock_replay::ReadError),
    /// The options make no sense together.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read.
    #[error("{}: cannot be read: {}", printable(path.display()), printable(error))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file or standard output could not be written.
    #[error("{}: cannot be written: {}", printable(path.display()), printable(error))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Captures are damaged, or none at all.
    #[error("{0}")]
    Capture(String),
    /// A connection on the wire failed.
    #[error("{0}")]
    Connection(String),
    /// The system refused what it takes to be on the wire: a TUN device, a namespace, an address.
    #[error("{what}: {error}{}", hint(error))]
    System {
        /// What was asked of it.
        what: String,
        /// Why.
        error: io::Error,
    },
    /// The peer cannot be reached unless the system is set up for it.
    #[error("{0}")]
    NoWay(String),
    /// Wire and simulation do not agree in a lab.
    #[error("wire and simulation do not agree in {apart} of {of} cells")]
    Disagree {
        /// In so many cells.
        apart: usize,
        /// Of so many that were simulated.
        of: usize,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; this takes root (CAP_NET_ADMIN and, for namespaces, CAP_SYS_ADMIN)"
        }
        _ => "",
    }
}

/// What is wrong with a file that is to be read as text, and holds none.
pub(crate) fn not_text(file: &str) -> String {
    format!("{file}: this is not UTF-8 text")
}

impl From<ackclock_run::Error> for Error {
    fn from(error: ackclock_run::Error) -> Self {
        match error {
            ackclock_run::Error::Threads(error) => Error::Usage(format!("--jobs: {error}")),
            ackclock_run::Error::Cancelled => Error::Interrupted,
            error => Error::Run(error),
        }
    }
}

impl From<ackclock_explain::Error> for Error {
    fn from(error: ackclock_explain::Error) -> Self {
        match error {
            ackclock_explain::Error::Interrupted => Error::Interrupted,
            error => Error::Explain(error),
        }
    }
}

impl From<ackclock_papers::Error> for Error {
    fn from(error: ackclock_papers::Error) -> Self {
        match error {
            ackclock_papers::Error::Run(error) => error.into(),
            ackclock_papers::Error::Read { file, error }
                if error.kind() == io::ErrorKind::InvalidData =>
            {
                Error::Usage(not_text(&file))
            }
            error => Error::Papers(error),
        }
    }
}

impl From<ackclock_lab::Error> for Error {
    fn from(error: ackclock_lab::Error) -> Self {
        match error {
            ackclock_lab::Error::Format(error) => Error::Run(ackclock_run::Error::Scenario(error)),
            ackclock_lab::Error::Run(error) => error.into(),
            ackclock_lab::Error::Row { .. } => Error::Usage(format!("--only: {error}")),
            ackclock_lab::Error::Wire(error) => Error::System { what: "the lab".into(), error },
        }
    }
}

impl Error {
    /// The exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Error::Connection(_) => FAILED,
            Error::Papers(
                ackclock_papers::Error::Read { .. } | ackclock_papers::Error::NoFile(_),
            ) => FILE,
            Error::Run(ackclock_run::Error::Scenario(error)) if error.error.unread => FILE,
            Error::Run(_) | Error::Papers(_) | Error::Usage(_) | Error::Capture(_) => INPUT,
            Error::Vector(_) => INPUT,
            Error::Impair(error) => match error.exit_code() {
                code if code == REFUSED.code => REFUSED,
                code if code == FILE.code => FILE,
                _ => INPUT,
            },
            Error::Explain(
                ackclock_explain::Error::Filter(_) | ackclock_explain::Error::Usage(_),
            ) => INPUT,
            Error::Read { .. } | Error::Write { .. } | Error::Explain(_) => FILE,
            Error::System { .. } | Error::NoWay(_) => REFUSED,
            Error::Disagree { .. } => DISAGREE,
            Error::Interrupted => INTERRUPTED,
        }
    }

    /// Whether nobody reads what is written any more.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Error::Write { error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Says what the system was asked for when it refused.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        move |error| Error::System { what: what.into(), error }
    }

    /// Says which file could not be written.
    pub(crate) fn write(path: &Path) -> impl Fn(io::Error) -> Error {
        move |error| Error::Write { path: path.to_path_buf(), error }
    }
}
