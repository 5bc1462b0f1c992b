//! Captures explained: reads them on all cores, and tells in tables, JSON, Parquet, HTML, xplot and annotated copies why connections
//! stalled and what would have saved them.
//!
//! ```text
//! Source ─> read ─> Explained { captures, connections } ─> outputs
//!                       └─ replay: what would have saved each timeout
//! ```

mod error;
mod explained;
mod read;
mod replay;
mod source;

pub use error::Error;
pub use explained::{Capture, Counts, End, Explained, Found, Saved};
pub use read::{Options, read, with_events};
pub use replay::{Rescue, replay};
pub use source::{Source, captures_at};
