//! Errors as Python exceptions.

use std::io;
use std::path::Path;

use ackclock_net::scenario::ScenarioError;
use ackclock_run::FileError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;

create_exception!(
    ackclock,
    Error,
    PyException,
    "What is wrong, as the command says it: a scenario, a name, a file. `file`, `line`, `key` and \
     `help` say where and what would be right; `None` where there is no such thing."
);

/// An [`Error`] that concerns no place in a file.
pub fn plain(error: impl std::fmt::Display) -> PyErr {
    with(error.to_string(), None, None)
}

/// An [`Error`] that concerns an argument or a key of no file.
pub fn at(key: &str, message: impl Into<String>) -> PyErr {
    let error = ScenarioError::new(key, message);
    with(error.to_string(), None, Some(&error))
}

/// An [`Error`] at a place in a file.
pub fn of_file(error: &FileError) -> PyErr {
    with(error.to_string(), Some(&error.file), Some(&error.error))
}

/// What the system says of a file, which it does not name.
pub fn of_path(path: &Path) -> impl Fn(io::Error) -> PyErr {
    move |error| match error.raw_os_error() {
        // Python makes of it the exception of this number, such as `FileNotFoundError`.
        Some(number) => PyOSError::new_err((number, os_text(&error), path.as_os_str().to_owned())),
        None => error.into(),
    }
}

/// What an error is called without its number, which Python adds.
fn os_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().into()
}

/// What is wrong with captures.
pub fn of_explain(error: &ackclock_explain::Error) -> PyErr {
    use ackclock_explain::Error::{Filter, Read, Write};
    match error {
        Read { path, .. } | Write { path, .. } => {
            with(error.to_string(), Some(&path.to_string_lossy()), None)
        }
        Filter(told) => at("filter", told),
        error => plain(error),
    }
}

/// What is wrong with captures that have been read: with `file`, if it is one.
pub fn of_captures(message: String, file: Option<&str>) -> PyErr {
    with(message, file, None)
}

/// What a run says.
pub fn of_run(error: &ackclock_run::Error) -> PyErr {
    match error {
        ackclock_run::Error::Scenario(error) => of_file(error),
        error => plain(error),
    }
}

fn with(message: String, file: Option<&str>, error: Option<&ScenarioError>) -> PyErr {
    Python::attach(|py| {
        let exception = Error::new_err(message);
        let value = exception.value(py);
        let line = error.and_then(|e| e.line);
        let key = error.map(|e| e.key.as_str()).filter(|key| !key.is_empty());
        let help = error.and_then(|e| e.help.as_deref());
        let set = || -> PyResult<()> {
            value.setattr("file", file)?;
            value.setattr("line", line)?;
            value.setattr("key", key)?;
            value.setattr("help", help)
        };
        match set() {
            Ok(()) => exception,
            Err(failed) => failed,
        }
    })
}
