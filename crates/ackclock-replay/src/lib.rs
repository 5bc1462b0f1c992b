//! Vectors: what went into a sender, recorded, and what it sent. They are read strictly, replayed
//! into a [`Sender`](ackclock_tcp::Sender) with any strategy, and compared input by input.
//!
//! ```text
//! JSON lines ─ read ─> Vector ─ replay ─> Answer to each input ─> Comparison ─> Score
//! ```
//!
//! `docs/src/vectors.md` describes the format and what is counted.

mod compare;
mod file;
mod replay;
mod show;
mod strategy;
#[cfg(test)]
mod tests;
mod vector;

pub use compare::{Comparison, Input, Score, table};
pub use file::{ReadError, read, write};
pub use replay::{Answer, Left, replay};
pub use strategy::matching;
pub use vector::{Ack, CaState, FORMAT, Header, Info, NO_SSTHRESH, Sent, Step, Vector, What};

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
