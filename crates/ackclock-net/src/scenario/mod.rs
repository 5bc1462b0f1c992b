//! Scenarios: a network, what goes through it and for how long, as a TOML file describes it.
//!
//! [`Scenario::from_toml`] reads and checks one without any I/O; [`Scenario::build`] makes a [`Network`](crate::Network)
//! of it. Quantities have units as in iproute2 ([`units`]). A key that does not exist and a value that makes no sense are
//! errors that say where and what would be right ([`ScenarioError`]).

mod build;
mod check;
mod error;
mod model;
mod names;
pub mod units;
mod values;

pub use build::{BuildOptions, BuiltFlow, BuiltLink, Simulation};
pub use check::check_strategy;
pub use error::ScenarioError;
pub use model::{
    Bernoulli, Cbr, Direction, DropList, DropTail, Flow, GilbertElliott, Link, Loss, Node, OnOff, Queue, Red, Reorder,
    Scenario, Source, Tcp, ThreeState, TimerModel, Write,
};
pub use values::{DelayedAck, Retransmission};

#[cfg(test)]
mod tests;
