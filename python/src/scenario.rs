//! Scenarios as text: Python's classes hold TOML.

use std::ffi::OsString;

use ackclock_net::scenario::ScenarioError;
use ackclock_run::{FileError, error_at, parse, set};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use toml::de::DeTable;
use toml::{Table, Value};

use crate::error::{at, of_file, plain};
use crate::mechanism::registry;
use crate::run::read;
use crate::values;

/// Checks a scenario. `lines` says that the user has the text.
#[pyfunction]
pub fn check(text: &str, file: &str, lines: bool) -> PyResult<()> {
    read(text, file, lines, &registry()).map(drop)
}

/// TOML as a dictionary. Python's own parser knows less of it than scenarios may have.
#[pyfunction]
pub fn from_toml<'py>(py: Python<'py>, text: &str, file: &str) -> PyResult<Bound<'py, PyDict>> {
    let table = DeTable::parse(text).map_err(|e| {
        let error = ScenarioError::from_toml(text, &e);
        of_file(&FileError { file: file.into(), error })
    })?;
    values::dict(py, table.get_ref())
}

/// What is wrong with a key, of a file that has this text.
#[pyfunction]
#[pyo3(signature = (key, message, file=None, text=None))]
pub fn error(key: &str, message: &str, file: Option<&str>, text: Option<&str>) -> PyErr {
    let error = error_at(key, message);
    match (file, text) {
        (Some(file), Some(text)) => {
            of_file(&FileError { file: file.into(), error: error.located(text) })
        }
        (Some(file), None) => of_file(&FileError { file: file.into(), error }),
        _ => at(key, message),
    }
}

/// Checks the name of a strategy.
#[pyfunction]
pub fn check_strategy(name: &str) -> PyResult<()> {
    ackclock_net::scenario::check_strategy(name, &registry()).map_err(plain)
}

/// A dictionary as TOML.
#[pyfunction]
pub fn to_toml(table: &Bound<'_, PyDict>) -> PyResult<String> {
    toml::to_string(&values::table(table)?).map_err(plain)
}

/// The text with another value at a path such as `link[1].delay`, or with the table of TOML that
/// `value` is written as.
#[pyfunction]
pub fn set_key(text: &str, file: &str, path: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut table: Table = parse(file, text).map_err(|e| of_file(&e))?;
    let value: Value = values::value(value, path)?;
    set(&mut table, path, value)
        .map_err(|m| of_file(&FileError { file: file.into(), error: error_at(path, m) }))?;
    toml::to_string(&table).map_err(plain)
}

/// The scenario of `ackclock compare` with these options.
#[pyfunction]
pub fn compare_scenario(args: Vec<OsString>) -> PyResult<String> {
    ackclock::compare_scenario(&registry(), args).map_err(plain)
}

/// Whether two paths name a key in common.
#[pyfunction]
pub fn overlap(one: &str, other: &str) -> bool {
    ackclock_run::overlap(one, other)
}
