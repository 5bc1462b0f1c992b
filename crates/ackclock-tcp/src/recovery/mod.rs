//! The mechanisms of loss recovery: a folder for each axis, a file for each mechanism.
//!
//! An axis is one question that loss recovery has to answer. Its `mod.rs` has the question as a
//! trait, the decisions that are possible, and a row of the registry for each mechanism. A
//! mechanism answers from what it is shown, the [`State`](crate::State) of the connection and the
//! [`AckSummary`](crate::AckSummary) of the ACK at hand. It returns a *decision*: only the
//! connection changes windows, timers and the scoreboard.
//!
//! `ns2` and `ff96` hold families whose mechanisms belong to several axes, `linux` what those of
//! Linux ask alike.
//!
//! A mechanism that wraps another implements `inner` and `inner_mut` of its trait. Every method
//! that has a default forwards to the inner mechanism by that default; `wraps` writes the rest.

pub mod ambiguity;
pub mod detect;
pub mod ff96;
pub mod fill;
pub(crate) mod linux;
pub(crate) mod min_rtt;
mod minmax;
pub mod ns2;
pub mod pacing;
pub mod probe;
pub mod regulate;
pub mod response;
pub mod retransmission;
pub(crate) mod row;
pub mod segmentation;
pub mod select;
pub mod timer;
pub mod undo;
pub mod window;
mod wraps;

pub use row::{Row, WithoutSack};
pub(crate) use wraps::wraps;
