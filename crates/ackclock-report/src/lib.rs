//! What to do with events: tables, JSON lines, captures and pictures.
//!
//! Everything here reads [`Event`](ackclock_tcp::Event)s and does not know whether they came from a
//! simulation, a wire or a capture.
//!
//! - [`FlowSummary`]: the counters of one flow; [`summary_table`] and [`replication_table`] align
//!   them for a terminal.
//! - [`RecoveryStats`]: the statistics of recovery in the PRR paper, taken from the events of flows
//!   by [`RecoveryTracker`]s.
//! - [`EventWriter`]: one JSON object per event and line.
//! - [`CaptureWriter`]: the packets as the sender saw them, as pcapng or pcap, each commented with
//!   its cause.
//! - [`PacketWriter`]: packets as they are, as pcapng or pcap.
//! - [`FrameWriter`]: frames of any link as they are, as pcapng with comments.
//! - [`QlogTrace`] and [`write_qlog`]: qlog, for qvis.
//! - [`Picture`]: time-sequence graphs side by side, as one HTML file or as SVG; [`thin`] keeps
//!   those of long connections small.
//! - [`html_table`], [`prose`] and [`page`]: reports as HTML files that need no network.
//! - [`Chart`]: curves, steps and bars with intervals, and a paper's numbers beside them, as SVG.
//!
//! ```
//! use ackclock_report::{Panel, Picture};
//! use ackclock_tcp::{Registry, Sender, SenderConfig, Time};
//!
//! let config = SenderConfig { mss: 1000, events: true, ..SenderConfig::default() };
//! let mut sender = Sender::new(config, Registry::default().parse("newreno")?.build());
//! sender.write(Time::ZERO, 100_000);
//! while sender.poll_transmit(Time::ZERO).is_some() {}
//! let events: Vec<_> = std::iter::from_fn(|| sender.poll_event()).collect();
//!
//! let panels = [Panel { name: "newreno", mss: 1000, events: &events, ..Panel::default() }];
//! let picture = Picture { title: "An initial window", panels: &panels, ..Picture::default() };
//! assert!(picture.to_svg().starts_with("<svg"));
//! # Ok::<(), ackclock_tcp::strategy::UnknownName>(())
//! ```

mod align;
mod capture;
mod chart;
mod count;
mod csv;
mod drawing;
mod events;
mod flow;
mod html;
mod number;
mod over;
mod picture;
mod printable;
mod qlog;
mod recovery;
mod summary;

pub use align::{Align, align, align_results, align_within, hanging, wrap};
pub use capture::{CaptureFormat, CaptureWriter, FrameWriter, Handshake, PacketWriter};
pub use chart::{Bars, Chart, Curve, Line, Plot, Point};
pub use count::{counted, in_words, percent};
pub use csv::csv_line;
pub use drawing::escape;
pub use events::EventWriter;
pub use flow::{FlowSummary, are_named};
pub use html::{html_table, page, prose};
pub use number::{Written, place, rate, to_place, with_interval};
pub use over::{FlowMeasure, Over, percentile};
pub use picture::{
    Band, Fate, Findings, MOST_OF_PANEL, Mark, Panel, Picture, TOO_BIG_LETTER, Tone, letter, thin,
};
pub use printable::{printable, printable_lines};
pub use qlog::{QlogTrace, write_qlog};
pub use recovery::{
    Distribution, Kind, RECOVERY_TABLES, RecoveryMeasure, RecoveryStats, RecoveryTable,
    RecoveryTracker, TimedOutIn, recovery_measures, recovery_table, recovery_table_within,
};
pub use summary::{
    Estimate, FLOW_NAME, RESULTS, replication_rows, replication_table, student_t_975, summary_rows,
    summary_table,
};

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
