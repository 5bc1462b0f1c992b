//! A TCP proxy with a simulated network inside.
//!
//! A client's connection ends in the operating system's TCP. Its bytes enter one host of
//! `ackclock-stack`, cross the links of a scenario to another host, and go on to the server over
//! the system's TCP again. So the loss of a packet costs what it costs: the time that TCP takes to
//! recover. Nothing of it needs root.
//!
//! - [`Conditions`] are the links: a scenario, or a few settings ([`Simple`]).
//! - A [`Proxy`] listens, and runs in a thread of its own. All its connections share the links.
//! - Links draw their random numbers by the seed, packet by packet, and everything between the
//!   hosts happens when it is due, however late the thread is. So the same bytes that come at the
//!   same times meet the same fates.

mod address;
mod api;
mod args;
mod conditions;
mod config;
mod error;
mod event_loop;
#[doc(hidden)]
pub mod exposition;
pub mod files;
mod joint;
mod links;
mod look_up;
#[doc(hidden)]
pub mod names;
mod options;
mod path;
mod percent;
mod proxy;
#[doc(hidden)]
pub mod relay;
mod report;

pub use args::{ImpairArgs, impair};
pub use conditions::{CLIENT, Conditions, Late, SERVER, Simple, Way};
pub use config::ProxyConfig;
pub use error::Error;
pub use links::{LinkCounts, Passed};
#[doc(hidden)]
pub use options::options;
#[doc(hidden)]
pub use percent::percent_decode;
pub use proxy::Proxy;
pub use report::ProxyReport;

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
