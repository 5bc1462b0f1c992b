//! The playground: what its page asks, answered by the engine and the simulated network.
//!
//! The page keeps a scenario as text, and beside it what its reader has changed ([`Edits`]).
//! [`edited`] puts both together into one scenario, which everything else takes as text, as the
//! command takes a file: [`runs`] has what is drawn, [`step`] the sender at one moment, and
//! [`events`] the same lines as `ackclock run --events`.
//!
//! [`Explanation`] is a capture that was dropped on the page, explained.
//!
//! Nothing here knows a browser but `browser.rs`, which hands these functions to the page.

#[cfg(target_family = "wasm")]
mod browser;
mod edit;
mod explain;
mod names;
mod picture;
mod run;
mod step;

pub use edit::{Edits, Late, Opened, edited, opened};
pub use explain::Explanation;
pub use names::{names, parts};
pub use picture::picture;
pub use run::{ROW, Rows, events, runs};
pub use step::step;

use ackclock_net::scenario::Scenario;
use ackclock_run::FileError;
use ackclock_tcp::Registry;

/// What errors name in place of a file.
const FILE: &str = "scenario";

/// Reads a scenario as the command does.
fn read(text: &str, registry: &Registry) -> Result<Scenario, String> {
    Scenario::from_toml(text, registry)
        .map_err(|error| FileError { file: FILE.into(), error }.to_string())
}
