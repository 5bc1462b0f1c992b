//! Python's values as TOML, and back.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use crate::error::at;

/// More than any scenario has. What contains itself has no end.
const MOST_DEPTH: usize = 100;

/// The value of a key, which errors name.
///
/// # Errors
/// What TOML has no word or no room for.
pub fn value(object: &Bound<'_, PyAny>, key: &str) -> PyResult<Value> {
    within(object, key, 0)
}

fn within(object: &Bound<'_, PyAny>, key: &str, depth: usize) -> PyResult<Value> {
    if depth > MOST_DEPTH {
        // The whole path would be a long one.
        let top = key.split(['.', '[']).next().unwrap_or_default();
        return Err(at(top, format!("it has more than {MOST_DEPTH} levels, or contains itself")));
    }
    // `bool` first: it is an `int` too.
    if let Ok(flag) = object.cast::<PyBool>() {
        return Ok(Value::Boolean(flag.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        let beyond = |_| at(key, format!("{object} is not from {} to {}", i64::MIN, i64::MAX));
        return object.extract().map(Value::Integer).map_err(beyond);
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(object.extract()?));
    }
    if object.is_instance_of::<PyString>() {
        return Ok(Value::String(object.extract()?));
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return entries(dict, key, depth).map(Value::Table);
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return object
            .try_iter()?
            .enumerate()
            .map(|(i, item)| within(&item?, &format!("{key}[{i}]"), depth + 1))
            .collect::<PyResult<_>>()
            .map(Value::Array);
    }
    // numpy's numbers and arrays.
    if object.hasattr("tolist")? {
        return within(&object.call_method0("tolist")?, key, depth + 1);
    }
    let kind = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("{key}: a scenario cannot hold a value of type {kind}")))
}

/// A table.
///
/// # Errors
/// As [`value`].
pub fn table(dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    entries(dict, "", 0)
}

fn entries(dict: &Bound<'_, PyDict>, path: &str, depth: usize) -> PyResult<Table> {
    let entry = |(key, item): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let not_text = |_| PyTypeError::new_err(format!("{path}[{key}]: a key is a text"));
        let key: String = key.extract().map_err(not_text)?;
        let at = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        Ok((key, within(&item, &at, depth + 1)?))
    };
    dict.iter().map(entry).collect()
}

/// A table as a dictionary, whose keys are in the order of the text.
///
/// # Errors
/// None but of the interpreter.
pub fn dict<'py>(py: Python<'py>, table: &DeTable<'_>) -> PyResult<Bound<'py, PyDict>> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let dict = PyDict::new(py);
    for (key, value) in entries {
        dict.set_item(&**key.get_ref(), object(py, value.get_ref())?)?;
    }
    Ok(dict)
}

fn object<'py>(py: Python<'py>, value: &DeValue<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        DeValue::String(text) => PyString::new(py, text).into_any(),
        DeValue::Integer(number) => {
            py.get_type::<PyInt>().call1((number.as_str(), number.radix()))?
        }
        DeValue::Float(number) => number.as_str().parse::<f64>()?.into_pyobject(py)?.into_any(),
        DeValue::Boolean(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        // No key has one.
        DeValue::Datetime(time) => PyString::new(py, &time.to_string()).into_any(),
        DeValue::Array(items) => {
            let list = PyList::empty(py);
            for item in items.iter() {
                list.append(object(py, item.get_ref())?)?;
            }
            list.into_any()
        }
        DeValue::Table(table) => dict(py, table)?.into_any(),
    })
}
