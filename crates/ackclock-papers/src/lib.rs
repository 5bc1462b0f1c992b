//! The experiments of published papers, run again: the paper's number beside ours, and a verdict for each of its claims.
//!
//! An experiment is data in `papers/<id>/<experiment>.toml`; `papers/README.md` describes the format. A [`Plan`] unfolds
//! it into runs, [`run`] yields named measurements, and on these stand the rows of its table and the verdicts. A claim
//! that does not hold is a result like any other.

mod bound;
mod chart;
mod format;
mod grid;
mod html;
mod index;
mod library;
mod measure;
mod outcome;
mod plan;
mod population;
mod run;
mod sequence;
mod side_by_side;
mod substitute;
mod table;
mod timeouts;
mod verdict;

pub use format::{Experiment, Paper};
pub use grid::{Axis, Point, grid, read};
pub use html::{CSS, pages};
pub use library::{Library, format_error, parse};
pub use outcome::{Cell, ClaimOutcome, Outcome, Row};
pub use plan::Plan;
pub use run::run;
pub use side_by_side::Table;
pub use substitute::set;
pub use table::summary;
pub use verdict::{Judgement, Verdict};

use ackclock_net::scenario::ScenarioError;

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is wrong; `FILE:LINE: KEY: what`.
    #[error("{file}{}{error}", if error.line.is_some() { ":" } else { ": " })]
    Format {
        /// The file, from the root of the project.
        file: String,
        /// What is wrong.
        error: ScenarioError,
    },
    /// There is no such paper or experiment.
    #[error("there is no paper or experiment `{id}`; there are {known}")]
    Unknown {
        /// The name that was asked for.
        id: String,
        /// Those that there are.
        known: String,
    },
    /// A run failed.
    #[error(transparent)]
    Run(#[from] ackclock_run::Error),
}
