//! Experiments on the wire.
//!
//! A lab is data in `labs/<name>.toml`; `labs/README.md` describes the format. For each run it builds two network namespaces
//! with the simulated network's links between them in real time, lets a sender of ours or the kernel's send to a kernel, and
//! measures. Where the lab asks for it, the same scenario is simulated too, and the two are compared.
//!
//! Nothing outlives the process: namespaces are anonymous, devices are not persistent.

mod format;
mod html;
mod outcome;
mod run;
mod sender;
mod table;
mod tcp;
mod testbed;
mod workload;

pub use format::{Lab, Measure};
pub use outcome::{Agreement, AimOutcome, Cell, Outcome, RowOutcome};
pub use run::{Measured, Options, run};

use std::io;

/// Why a lab gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is wrong.
    #[error(transparent)]
    Format(#[from] ackclock_papers::Error),
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

#[cfg(test)]
#[path = "agreement_tests.rs"]
mod agreement;
