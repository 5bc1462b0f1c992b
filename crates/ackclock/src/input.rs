//! Files that are read as text.

use std::fs;
use std::path::Path;

use crate::error::{Error, not_text};

/// The text of a file.
///
/// # Errors
/// [`Error::Read`], and [`Error::Usage`] if it holds no text.
pub(crate) fn text_of(path: &Path) -> Result<String, Error> {
    let bytes = fs::read(path).map_err(|error| Error::Read { path: path.into(), error })?;
    text(&path.display().to_string(), bytes)
}

/// What was read from `file` as text.
///
/// # Errors
/// [`Error::Usage`] if it is none.
pub(crate) fn text(file: &str, bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|_| Error::Usage(not_text(file)))
}
