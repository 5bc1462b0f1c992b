//! The experiments of published papers, run again: the paper's number beside ours, and a verdict
//! for each of its claims.
//!
//! An experiment is data in `papers/<paper>/<experiment>.toml`, or in a file of your own;
//! `papers/README.md` describes the format. [`ExperimentFile`] reads one from its text, and
//! [`Library`] holds those of this project and finds those in files.
//! A [`Plan`] unfolds an experiment into runs. [`run`] takes measurements from them, and from these
//! the rows of tables and the verdicts. A claim that does not hold is a result like any other.

mod captures;
mod cell;
mod chart;
mod check;
mod claims;
mod columns;
mod error;
mod files;
mod format;
mod html;
mod library;
mod load;
mod measurement;
mod measures;
mod numbers;
mod oracle;
mod outcome;
mod plan;
mod population;
mod rows;
mod run;
mod samples;
mod scale;
mod sequence;
mod table;
mod timeouts;
mod verdict;

pub use claims::{CellJudgement, ClaimOutcome, Part};
pub use columns::{Sample, sample_columns, samples};
pub use error::Error;
pub use format::{Experiment, Paper};
pub use html::{figures, pages};
pub use library::Library;
pub use load::ExperimentFile;
pub use outcome::{Cell, Outcome, Row, Sequence, Table};
pub use plan::Plan;
pub use run::{run, run_until};
pub use sequence::{SentSegment, Step};
pub use table::summary;
pub use verdict::{Judgement, Verdict};

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
