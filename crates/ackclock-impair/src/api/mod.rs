//! The HTTP API, by which proxies and their conditions are made, changed and removed while they
//! run.
//!
//! Its resources are those of Toxiproxy, with conditions in the place of toxics.
//!
//! - `server.rs` reads requests, each on a connection of its own. None waits for another one.
//!   `host.rs` has the names that they may call this machine by.
//! - `routes.rs` finds out what a request asks for.
//! - `wanted.rs` and `condition.rs` have proxies and conditions as JSON has them, and find out what
//!   takes a while.
//! - `proxies.rs` has the proxies, `managed.rs` one of them with its conditions, `metrics.rs` what
//!   they counted, for Prometheus.

mod condition;
mod host;
mod managed;
mod metrics;
mod proxies;
mod routes;
mod server;
#[cfg(test)]
mod tests;
mod wanted;

use std::fmt;
use std::io::{self, ErrorKind};
use std::marker::PhantomData;

use ackclock_net::scenario::ScenarioError;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::{Error, files};

pub(crate) use condition::Condition;
pub(crate) use proxies::Proxies;
pub(crate) use server::Api;
pub(crate) use wanted::NewProxy;

/// A status, and the body.
type Reply = (u16, Body);

/// The body of an answer.
#[derive(Debug, PartialEq)]
enum Body {
    None,
    Json(Value),
    /// Metrics.
    Text(String),
}

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

    fn reply(self) -> Reply {
        let Problem { status, text } = self;
        (status, Body::Json(json!({ "error": text, "status": status })))
    }

    /// The same, of a value that lies at this path.
    fn within(self, path: &str) -> Problem {
        Problem { text: format!("{path}{}", self.text), ..self }
    }
}

impl From<Error> for Problem {
    /// What is wrong with settings is the client's fault, and so is an address that is taken. That
    /// there are no more files or threads is not.
    fn from(error: Error) -> Problem {
        let status = match &error {
            Error::System { error, .. } if lacks(error) => 503,
            Error::System { .. } => 409,
            Error::Usage(_)
            | Error::Setting { .. }
            | Error::Scenario { .. }
            | Error::Read { .. } => 400,
        };
        let text = match error {
            // It is a key here, and no option.
            Error::Setting { key, text } => format!("{key}: {text}"),
            error => error.to_string(),
        };
        Problem::new(status, text)
    }
}

/// Whether the system has no more of something. What does not block is a thread that is not to be
/// had now (EAGAIN).
fn lacks(error: &io::Error) -> bool {
    files::are_used_up(error)
        || matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::OutOfMemory)
}

/// Reads a body as JSON, and says which key is wrong.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let wrong = |text: String| Problem::new(400, text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (path, inner) = (error.path().to_string(), error.inner());
        if !inner.is_data() {
            return wrong(format!("the body is no JSON: {inner}"));
        }
        let key = if matches!(path.as_str(), "." | "?") { String::new() } else { path };
        let text = inner.to_string();
        let place = format!(" at line {} column {}", inner.line(), inner.column());
        let text = text.strip_suffix(&place).unwrap_or(&text);
        wrong(match in_json(text) {
            Some(text) if key.is_empty() => format!("the body: {text}"),
            Some(text) => format!("{key}: {text}"),
            None => ScenarioError::from_serde(key, text).to_string(),
        })
    })?;
    let rest = reader.end();
    rest.map_err(|error| wrong(format!("the body is to be one JSON value: {error}")))?;
    Ok(value)
}

/// A value that is an object. By itself serde takes a list of the values of its keys, too.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Keys<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_map(Keys(PhantomData)).map(Object)
    }
}

/// A list of objects.
fn objects<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    let all = Vec::<Object<T>>::deserialize(from)?;
    Ok(all.into_iter().map(|Object(one)| one).collect())
}

/// What serde says of a value of the wrong kind, or of a key that is there twice, in words of JSON.
fn in_json(message: &str) -> Option<String> {
    if let Some(name) = message.strip_prefix("duplicate field ") {
        return Some(format!("the key {name} is there twice"));
    }
    let found = message.strip_prefix("invalid type: ");
    let found = found.or_else(|| message.strip_prefix("invalid value: "))?;
    let (found, expected) = found.rsplit_once(", expected ")?;
    let found = match found {
        "map" => "an object".into(),
        "sequence" => "a list".into(),
        other => {
            let number = other.strip_prefix("integer ").or(other.strip_prefix("floating point "));
            let text = other.strip_prefix("string ").map(|text| format!("the text {text}"));
            number
                .map(|number| format!("the number {}", number.replace('`', "")))
                .or(text)
                .unwrap_or_else(|| other.replace("boolean ", "").replace('`', ""))
        }
    };
    let expected = match expected {
        "a boolean" => "true or false",
        "u32" => "a whole number, 0 to 4294967295",
        "u64" => "a whole number, 0 or more",
        "f64" => "a number",
        "a map" => "an object",
        "a sequence" => "a list",
        _ if expected.starts_with("struct ") => "an object",
        _ => expected,
    };
    Some(format!("write {expected}, not {found}"))
}
