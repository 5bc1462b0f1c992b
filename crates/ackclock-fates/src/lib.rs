//! Every fate of a window of segments.
//!
//! A connection has sent 20 segments, and all are acknowledged. Now it sends a window at once: with
//! new data behind it, or as the end of the transfer. Each segment of the window arrives, or its
//! original is lost, or its first retransmission too. A [`Space`] has all these [`Case`]s, a
//! [`Sweep`] runs each of them with a strategy, and a [`Tally`] says what they come to: whether the
//! transfer always completes, in which smallest cases it times out, and how far it is from the
//! oracle.
//!
//! A run takes a few microseconds. So [`Path`] is no general network but one path between a
//! `Sender` and a `Receiver`; the same [`Connection`] is a scenario of `ackclock-net` too, and both
//! are compared event by event.
//!
//! ```
//! use ackclock_fates::{Connection, Space, Sweep};
//! use ackclock_run::Progress;
//! use ackclock_tcp::Registry;
//!
//! let registry = Registry::default();
//! let space = Space::losses(Connection::tail(2));
//! let progress = Progress::new(space.numbers());
//! let stop = || false;
//! let mut sweep = Sweep::new(&registry, &space, 1, &progress, &stop);
//! let tally = sweep.strategy(&registry.parse("newreno")?)?.expect("nobody stopped it");
//! // Two segments at the end of a transfer draw one duplicate at most: each loss is a timeout.
//! assert_eq!((tally.runs, tally.timed_out.runs, tally.incomplete.runs), (9, 8, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connection;
mod exhaust;
mod html;
mod path;
mod report;
mod schedule;
mod space;
pub mod worst;

pub use connection::{Connection, FIRST, LIMIT, MSS, RTT};
pub use exhaust::{Found, Minimal, OverOracle, Sweep, Tally};
pub use html::page;
pub use path::{Outcome, Path};
pub use report::{After, Row, Swept, text};
pub use schedule::{Schedule, Spike};
pub use space::{Case, LATENESS, MAX_DISTURBED, MAX_WINDOW, Space};

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
