//! Files in TOML, and what is wrong with one.

use ackclock_net::scenario::ScenarioError;
use serde::de::DeserializeOwned;

/// What is wrong with a file: `FILE:LINE: KEY: what`.
#[derive(Debug, thiserror::Error)]
#[error("{file}{}{error}", if error.line.is_some() { ":" } else { ": " })]
pub struct FileError {
    /// The file, or what else the text came from.
    pub file: String,
    /// The line, the key, and what is wrong.
    pub error: ScenarioError,
}

/// Reads the text of `file`.
///
/// # Errors
/// What is no TOML, and what `T` does not have.
pub fn parse<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, FileError> {
    toml::from_str(text)
        .map_err(|e| FileError { file: file.into(), error: ScenarioError::from_toml(text, &e) })
}

/// An error at a key, still without its line.
pub fn error_at(key: &str, message: impl Into<String>) -> ScenarioError {
    ScenarioError::new(key, message)
}
