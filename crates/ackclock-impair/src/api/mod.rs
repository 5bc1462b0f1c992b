//! The HTTP API, by which proxies and their conditions are made, changed and removed while they
//! run.
//!
//! Its resources are those of Toxiproxy, with conditions in the place of toxics.
//!
//! - `server.rs` reads requests, each on a connection of its own. None waits for another one.
//! - `routes.rs` finds out what a request asks for.
//! - `proxies.rs` has the proxies with their conditions, `condition.rs` one of these as JSON has
//!   it.

mod condition;
mod proxies;
mod routes;
mod server;
#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;

use crate::Error;

pub(crate) use condition::Condition;
pub(crate) use proxies::{NewProxy, Proxies};
pub(crate) use server::Api;

/// Why a request is not carried out: the status, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Problem {
    fn new(status: u16, text: impl Into<String>) -> Problem {
        Problem { status, text: text.into() }
    }
}

impl From<Error> for Problem {
    /// What is wrong with settings is the client's fault, and so is an address that is taken.
    fn from(error: Error) -> Problem {
        let status = match &error {
            Error::System { .. } => 409,
            Error::Usage(_) | Error::Scenario { .. } | Error::Read { .. } => 400,
        };
        // Options are keys here.
        Problem::new(status, error.to_string().replace("--", ""))
    }
}

/// Reads a body as JSON, and says which key is wrong.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let wrong = |text: String| Problem::new(400, text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        match path.as_str() {
            "." | "?" => wrong(format!("the body is not right: {}", error.inner())),
            key => wrong(format!("{key}: {}", error.inner())),
        }
    })?;
    let rest = reader.end();
    rest.map_err(|error| wrong(format!("the body is to be one JSON value: {error}")))?;
    Ok(value)
}
