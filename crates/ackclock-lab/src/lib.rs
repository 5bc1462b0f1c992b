//! Experiments on the wire.
//!
//! A lab is data in `labs/<name>.toml`; `labs/README.md` describes the format. For each run it
//! builds two network namespaces, with the links of the simulated network between them in real
//! time. A sender of ours or the kernel's sends to a kernel, and is measured. Where the lab asks
//! for it, the same scenario is simulated too, and the two are compared.
//!
//! Nothing outlives the process: namespaces are anonymous, devices are not persistent.

mod error;
mod format;
mod html;
mod library;
mod load;
mod measure;
mod measured;
mod outcome;
mod run;
mod sender;
mod table;
mod tcp;
mod testbed;
mod verdict;
mod workload;

pub use error::Error;
pub use format::Lab;
pub use measure::Measure;
pub use measured::Measured;
pub use outcome::{Agreement, AimOutcome, Cell, Outcome, RowOutcome};
pub use run::{Options, run};

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
