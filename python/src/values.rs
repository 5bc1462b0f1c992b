//! Python's values as TOML.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::{Table, Value};

/// A value.
///
/// # Errors
/// What TOML has no word for.
pub fn value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    // `bool` first: it is an `int` too.
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Boolean(flag.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(Value::Integer(object.extract()?));
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(object.extract()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(Value::String(object.extract()?));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return table(dict).map(Value::Table);
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return object
            .try_iter()?
            .map(|item| value(&item?))
            .collect::<PyResult<_>>()
            .map(Value::Array);
    }
    // numpy's numbers and arrays.
    if object.hasattr("tolist")? {
        return value(&object.call_method0("tolist")?);
    }
    let kind = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("a scenario cannot hold a value of type {kind}")))
}

/// A table.
///
/// # Errors
/// As [`value`].
pub fn table(dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    dict.iter().map(|(key, item)| Ok((key.extract()?, value(&item)?))).collect()
}
