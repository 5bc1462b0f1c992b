//! Captures explained.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use ackclock_explain::{
    Explained, Filter, Options, Pictures, Source, TOP, TakeTable, WORST, captures_at, draw,
    one_connection, read, save, short, tables,
};
use ackclock_run::{Cancel, Columns};
use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;

use crate::error::{at, of_captures, of_explain, of_path, plain};
use crate::interrupt::interruptible;
use crate::plot::frame;
use crate::table::Table;

/// Captures explained: why connections stalled, and what would have avoided it.
#[pyclass(frozen, module = "ackclock")]
pub struct Explanation {
    explained: Explained,
    sources: Vec<Source>,
    connections: Py<Table>,
    retransmissions: Py<Table>,
    timeouts: Py<Table>,
    stalls: Py<Table>,
}

fn options(jobs: u16, filter: Option<&str>) -> Options {
    Options { jobs, filter: filter.map(Filter::new), events_of_streams: 0 }
}

/// The captures at a path: itself, or those in a folder.
#[pyfunction]
pub fn captures(path: PathBuf) -> PyResult<Vec<String>> {
    let found = captures_at(&path, &mut Vec::new()).map_err(|e| of_explain(&e))?;
    Ok(found.iter().map(Source::name).collect())
}

/// Explains captures and folders of captures; a single one may be called otherwise than its path.
#[pyfunction]
pub fn explain(
    py: Python<'_>,
    captures: Vec<PathBuf>,
    filter: Option<String>,
    jobs: u16,
    called: Option<String>,
) -> PyResult<Explanation> {
    let done = interruptible(py, |stop| {
        let (mut sources, mut skipped) = (Vec::new(), Vec::new());
        for path in &captures {
            sources.extend(captures_at(path, &mut skipped)?);
        }
        let mut explained = read(&sources, &options(jobs, filter.as_deref()), &stop.cancel)?;
        if let (Some(name), [capture]) = (called, &mut explained.captures[..]) {
            capture.path = name;
        }
        save(&mut explained, jobs)?;
        Ok((explained, sources))
    })?;
    let (explained, sources) = done.map_err(|e| of_explain(&e))?;
    if sources.is_empty() {
        return Err(plain("there is no capture in what was given"));
    }
    let mut list = Collect(Vec::new());
    tables(&explained, &mut list)?;
    let mut list = list.0.into_iter();
    let mut next = || Py::new(py, list.next().ok_or_else(|| plain("a table is missing"))?);
    Ok(Explanation {
        connections: next()?,
        retransmissions: next()?,
        timeouts: next()?,
        stalls: next()?,
        explained,
        sources,
    })
}

struct Collect(Vec<Table>);

impl TakeTable for Collect {
    type Error = PyErr;

    fn take<T>(
        &mut self,
        _name: &str,
        columns: &Columns<T>,
        rows: impl Iterator<Item = T>,
    ) -> PyResult<()> {
        self.0.push(Table::of_columns(columns, rows)?);
        Ok(())
    }
}

/// The value of `top`.
fn count(top: &Bound<'_, PyAny>) -> PyResult<usize> {
    let wrong = |_| at("top", format!("{top} is no number of connections from 0 on"));
    top.extract().map_err(wrong)
}

impl Explanation {
    /// What is wrong with captures, after the path of each.
    fn wrong(&self) -> impl Iterator<Item = (&str, String)> {
        self.explained.captures.iter().flat_map(|capture| {
            let damage = capture.damage.as_ref();
            let damage = damage.map(|d| format!("byte {}: {}", d.offset, d.what));
            let failed = capture.failed.as_ref().map(|f| format!("cannot be read: {f}"));
            damage.into_iter().chain(failed).map(|what| (&*capture.path, what))
        })
    }
}

#[pymethods]
impl Explanation {
    /// One row for each connection.
    #[getter]
    fn connections(&self, py: Python<'_>) -> Py<Table> {
        self.connections.clone_ref(py)
    }

    /// One row for each retransmission.
    #[getter]
    fn retransmissions(&self, py: Python<'_>) -> Py<Table> {
        self.retransmissions.clone_ref(py)
    }

    /// One row for each timeout.
    #[getter]
    fn timeouts(&self, py: Python<'_>) -> Py<Table> {
        self.timeouts.clone_ref(py)
    }

    /// One row for each stall.
    #[getter]
    fn stalls(&self, py: Python<'_>) -> Py<Table> {
        self.stalls.clone_ref(py)
    }

    /// What is wrong with captures, one line each.
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.wrong().map(|(path, what)| format!("{path}: {what}")).collect()
    }

    /// Raises what is wrong with captures, if anything is; the error names the file, if it is one.
    fn raise_problems(&self) -> PyResult<()> {
        let mut files: Vec<&str> = self.wrong().map(|(path, _)| path).collect();
        files.dedup();
        match files[..] {
            [] => Ok(()),
            [file] => Err(of_captures(self.problems().join("; "), Some(file))),
            _ => Err(of_captures(self.problems().join("; "), None)),
        }
    }

    /// Writes an index, and a page with a time-sequence graph for each of at most `top` connections
    /// that lost time, into a folder. 0 is all.
    #[pyo3(signature = (folder, top=20))]
    fn write_html(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        #[pyo3(from_py_with = count)] top: usize,
    ) -> PyResult<()> {
        py.detach(|| self.draw(&self.explained, &folder, top))
    }

    /// The page of a connection, by its number.
    fn plot(&self, py: Python<'_>, connection: &Bound<'_, PyAny>) -> PyResult<Page> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let one = self.one(connection)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = format!("ackclock-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let page = py.detach(|| {
            self.draw(&one, &folder, 1)?;
            let mut files = fs::read_dir(&folder)?.collect::<Result<Vec<_>, _>>()?;
            files.retain(|file| file.file_name() != "index.html");
            let path = files.first().ok_or_else(|| plain("there is nothing to draw"))?.path();
            Ok::<_, PyErr>(fs::read_to_string(path)?)
        });
        let _ = fs::remove_dir_all(&folder);
        Ok(Page { html: page? })
    }

    /// A connection in full, as the command prints it.
    fn connection_text(&self, connection: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(one_connection(&self.one(connection)?, TOP))
    }

    fn __str__(&self) -> String {
        short(&self.explained, WORST)
    }

    fn __repr__(&self) -> String {
        let (captures, connections) =
            (self.explained.captures.len(), self.explained.connections.len());
        format!("<ackclock.Explanation of {captures} captures, {connections} connections>")
    }
}

impl Explanation {
    /// Of one connection. A negative number is that of none, as is one that is too large.
    fn one(&self, connection: &Bound<'_, PyAny>) -> PyResult<Explained> {
        let mut one = self.explained.clone();
        match connection.extract() {
            Ok(number) if one.keep(number) => Ok(one),
            Err(error) if !error.is_instance_of::<PyOverflowError>(connection.py()) => Err(error),
            _ => Err(PyIndexError::new_err(format!("there is no connection {connection}"))),
        }
    }

    fn draw(&self, explained: &Explained, folder: &PathBuf, top: usize) -> PyResult<()> {
        fs::create_dir_all(folder).map_err(of_path(folder))?;
        let pictures = Pictures { html: Some(folder), xplot: None, qlog: None, top };
        draw(explained, &self.sources, &options(0, None), &pictures, &Cancel::default())
            .map_err(plain)
    }
}

/// A page that a notebook shows.
#[pyclass(frozen, module = "ackclock")]
pub struct Page {
    /// It needs neither network nor server.
    #[pyo3(get)]
    html: String,
}

#[pymethods]
impl Page {
    fn _repr_html_(&self) -> String {
        frame(&self.html)
    }
}
