//! What to do with events: tables, JSON lines, captures and pictures.
//!
//! Everything here reads [`Event`](ackclock_tcp::Event)s and does not know whether they came from a simulation, a wire
//! or a capture.
//!
//! - [`FlowSummary`]: the counters of one flow; [`summary_table`] and [`replication_table`] align them for a terminal.
//! - [`EventWriter`]: one JSON object per event and line.
//! - [`CaptureWriter`]: the packets as the sender saw them, as pcapng or pcap, each commented with its cause.
//! - [`Picture`]: time-sequence graphs side by side, as one HTML file or as SVG.

mod capture;
mod events;
mod picture;
mod summary;

pub use capture::{CaptureFormat, CaptureWriter, Handshake};
pub use events::EventWriter;
pub use picture::{Panel, Picture};
pub use summary::{Estimate, FlowSummary, replication_table, summary_table};
