//! Captures explained: reads them on all cores, and tells in tables, JSON, Parquet, HTML, xplot and annotated copies why connections
//! stalled and what would have saved them.

mod replay;

pub use replay::{Rescue, replay};
