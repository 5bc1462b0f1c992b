//! The kinds of files that commands run.

use std::collections::HashMap;

use ackclock_net::scenario::ScenarioError;
use serde::de::IgnoredAny;

use crate::{error_at, parse};

/// What a file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A network with its traffic.
    Scenario,
    /// Runs of a scenario, and what they are to show.
    Experiment,
    /// An experiment on the wire.
    Lab,
}

impl Kind {
    /// What a file is by its tables, whatever else is wrong with it.
    pub fn of(text: &str) -> Option<Kind> {
        let has: HashMap<String, IgnoredAny> = parse("", text).ok()?;
        match has.contains_key("scenario") {
            true if has.contains_key("row") => Some(Kind::Lab),
            true => Some(Kind::Experiment),
            false => has.contains_key("link").then_some(Kind::Scenario),
        }
    }

    /// What it is called, and the command that runs it.
    fn words(self) -> [&'static str; 3] {
        match self {
            Kind::Scenario => ["a", "scenario", "run"],
            Kind::Experiment => ["an", "experiment", "experiment"],
            Kind::Lab => ["a", "lab file", "lab"],
        }
    }

    /// What is wrong with a file of this kind where another one is expected.
    pub fn instead_of(self, expected: Kind, file: &str) -> ScenarioError {
        let ([article, name, command], [_, expected, _]) = (self.words(), expected.words());
        error_at("", format!("this is {article} {name}, and no {expected}"))
            .help(format!("`ackclock {command} {file}` runs it"))
    }
}
