//! Explains captures: why connections stalled, and what would have avoided it.
//!
//! Captures are read on all cores. The outputs are tables, JSON, Parquet, HTML, xplot and annotated
//! copies.
//!
//! ```text
//! Source ─> read ─> Explained { captures, connections } ─> outputs
//!                       └─ replay: what would have avoided each timeout
//! ```

#[cfg(not(target_family = "wasm"))]
mod annotate;
mod clock;
mod compare;
mod draw;
mod error;
mod explained;
#[cfg(test)]
mod fixture;
mod groups;
mod html;
mod join;
mod json;
mod monitor;
mod names;
mod others;
mod overall;
#[cfg(not(target_family = "wasm"))]
mod parquet;
mod read;
mod replay;
mod saved;
mod slow;
mod source;
mod summary;
mod text;
mod waits;
mod xplot;

pub use ackclock_run::Cancel;
pub use ackclock_trace::{Filter, FilterError, Ignored, Jump, Kind, Limit, LinkType, Reader};
#[cfg(not(target_family = "wasm"))]
pub use annotate::{annotatable, annotate};
pub use clock::Back;
pub use compare::{Comparison, compare, compared, write_compared};
#[cfg(not(target_family = "wasm"))]
pub use draw::figure;
pub use draw::{Pictures, connection_page, draw, eventful, index_page};
pub use error::Error;
pub use explained::{Capture, Counts, End, Explained, Found, Saved};
pub use groups::{By, grouped, write_grouped};
pub use json::write_json;
pub use monitor::Monitor;
#[cfg(not(target_family = "wasm"))]
pub use parquet::{TakeTable, tables, write_parquet};
pub use read::{Options, read, with_events};
pub use replay::{Rescue, Sender, replay};
pub use saved::save;
pub use source::{Source, captures_at};
pub use summary::Summary;
pub use text::{one_connection, short, table, terms};

/// How many entries of each list are shown unless told otherwise.
pub const TOP: usize = 20;

/// How many connections the short text shows unless told otherwise.
pub const WORST: usize = 3;

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
