//! Experiments of papers, and of files.

use std::fs;
use std::path::PathBuf;

use ackclock_papers::{Library, Outcome, pages, run_until, sample_columns, samples, summary};
use pyo3::prelude::*;

use crate::error::{of_file, of_path, of_run, plain};
use crate::interrupt::interruptible;
use crate::mechanism::registry;
use crate::plot::frame;
use crate::table::Table;

/// What came out of experiments.
#[pyclass(frozen, module = "ackclock")]
pub struct Experiments {
    outcomes: Vec<Outcome>,
}

fn of_papers(error: ackclock_papers::Error) -> PyErr {
    match error {
        ackclock_papers::Error::Format(error) => of_file(&error),
        ackclock_papers::Error::Run(error) => of_run(&error),
        error => plain(error),
    }
}

/// Runs experiments by the names of papers, or from files.
#[pyfunction]
pub fn experiment(
    py: Python<'_>,
    names: Vec<String>,
    quick: bool,
    jobs: u16,
) -> PyResult<Experiments> {
    if names.is_empty() {
        return Err(plain("experiment: give the name of a paper, `all`, or a file"));
    }
    let registry = registry();
    let outcomes = interruptible(py, |stop| {
        let mut library = Library::embedded(registry)?;
        let plans = library.plan_all(&names, quick)?;
        run_until(&plans, jobs, &stop.cancel)
    })?;
    Ok(Experiments { outcomes: outcomes.map_err(of_papers)? })
}

#[pymethods]
impl Experiments {
    /// The outcomes with the keys of the command's JSON.
    #[getter]
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = serde_json::to_string(&self.outcomes).map_err(plain)?;
        py.import("json")?.call_method1("loads", (text,))
    }

    /// What did not happen although it was asked for, one sentence each. Those of papers say what
    /// happens where a strategy does not retransmit.
    #[getter]
    fn unmet(&self) -> Vec<String> {
        self.outcomes.iter().flat_map(Outcome::unmet).collect()
    }

    /// One row for each number that was measured in each run.
    #[getter]
    fn samples(&self) -> PyResult<Table> {
        Table::of_columns(&sample_columns(&self.outcomes), samples(&self.outcomes))
    }

    /// Writes an index and a page with figures for each experiment into a folder.
    fn write_html(&self, folder: PathBuf) -> PyResult<()> {
        fs::create_dir_all(&folder).map_err(of_path(&folder))?;
        for (name, text) in pages(&self.outcomes) {
            let path = folder.join(name);
            fs::write(&path, text).map_err(of_path(&path))?;
        }
        Ok(())
    }

    /// The page of a single experiment, or the index of several.
    fn _repr_html_(&self) -> String {
        let all = pages(&self.outcomes);
        let shown = if self.outcomes.len() == 1 { all.get(1) } else { all.first() };
        shown.map_or_else(String::new, |(_, text)| frame(text))
    }

    fn __str__(&self) -> String {
        let tables = self.outcomes.iter().map(|o| o.to_table(None) + "\n");
        tables.collect::<String>() + &summary(&self.outcomes)
    }

    fn __repr__(&self) -> String {
        let ids: Vec<&str> = self.outcomes.iter().map(|o| o.id.as_str()).collect();
        format!("<ackclock.Experiments {}>", ids.join(", "))
    }
}
