//! The native half of the Python package `ackclock`. Its types are written down in
//! `ackclock/_native.pyi`.

mod error;
mod events;
mod experiment;
mod explain;
mod interrupt;
mod mechanism;
mod plot;
mod run;
mod scenario;
mod state;
mod table;
mod values;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with these arguments, the first one being its name, and returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| ackclock::run_with(&mechanism::registry(), args))
}

/// The module.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::error::Error;
    #[pymodule_export]
    use super::experiment::{Experiments, experiment};
    #[pymodule_export]
    use super::explain::{Explanation, Page, captures, explain};
    #[pymodule_export]
    use super::main;
    #[pymodule_export]
    use super::mechanism::{Law, register, registered};
    #[pymodule_export]
    use super::plot::Plot;
    #[pymodule_export]
    use super::run::{RunResult, flow_column_names, run};
    #[pymodule_export]
    use super::scenario::{
        check, check_strategy, compare_scenario, error, from_toml, overlap, set_key, to_toml,
    };
    #[pymodule_export]
    use super::state::{Ack, Notice, Outgoing, Segment, State};
    #[pymodule_export]
    use super::table::{Table, from_parquet};
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// An error that is raised in Python knows no place either.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let error = module.py().get_type::<Error>();
        ["file", "line", "key", "help"].iter().try_for_each(|name| error.setattr(*name, None::<u8>))
    }
}
