//! Captures read as what happened to TCP connections: every retransmission, timeout and stall, with
//! its cause.
//!
//! ```text
//! bytes ─> file::Reader ─> Frame ─> packet::decode ─> Packet ─> Tracker ─> Connection
//!          pcap, pcapng             links, IP, TCP               one Flow for each way of each connection
//! ```
//!
//! Everything streams: memory is bounded by what connections are open and how much they have
//! outstanding, not by the file. **Nothing here panics on any input**; what cannot be known is left
//! unknown.

mod compact;
pub mod connection;
mod copies;
pub mod file;
pub mod filter;
pub mod hosts;
mod hypotheses;
mod jumps;
mod lifetime;
mod loss;
mod open;
pub mod packet;
mod path;
mod pauses;
mod reset;
mod sender;
mod settings;
mod standards;
mod steps;
mod tracker;
pub mod translated;
pub mod ways;
mod within;

pub use connection::{
    AskedShorter, Connection, Ecn, Ended, Episode, Flow, Kind, Position, Recovery, Retransmission,
    Spurious, Stall, StallCause, State, Timeout, Vantage,
};
pub use copies::{Copies, Lag, Of};
pub use file::{Damage, Frame, LinkType, Reader};
pub use filter::{Filter, FilterError};
pub use jumps::Jump;
pub use lifetime::{Lifetime, Limit};
pub use loss::{LossCause, Losses};
pub use packet::{Fragments, Ignored, Packet, TooBig, Wrapper, decode, too_big};
pub use reset::{Reset, ResetBy};
pub use settings::{Detail, Settings};
pub use tracker::Tracker;
pub use ways::Ways;

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
