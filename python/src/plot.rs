//! Pictures that a notebook shows.

use std::fs;
use std::path::PathBuf;

use ackclock_report::escape;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::of_path;

/// A picture, as a page to look around in and as SVG for print. A notebook shows the page.
#[pyclass(frozen, module = "ackclock")]
pub struct Plot {
    /// A page that needs neither network nor server.
    #[pyo3(get)]
    pub html: String,
    /// The same for print.
    #[pyo3(get)]
    pub svg: String,
}

/// A page inside of a notebook, which must not see its styles and scripts.
pub fn frame(html: &str) -> String {
    format!(
        "<iframe srcdoc=\"{}\" style=\"width: 100%; height: 640px; border: 0\"></iframe>",
        escape(html)
    )
}

#[pymethods]
impl Plot {
    fn _repr_html_(&self) -> String {
        frame(&self.html)
    }

    fn __repr__(&self) -> String {
        format!("<ackclock.Plot of {} bytes of HTML>", self.html.len())
    }

    /// Writes it to a file whose name ends in `.html` or `.svg`.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        let text = match path.extension().and_then(|e| e.to_str()) {
            Some("html") => &self.html,
            Some("svg") => &self.svg,
            _ => return Err(PyValueError::new_err("the name has to end in .html or .svg")),
        };
        fs::write(&path, text).map_err(of_path(&path))
    }
}
