//! Scenarios: a network, what goes through it and for how long, as a TOML file describes it.
//!
//! [`Scenario::from_toml`] reads and checks one without any I/O; [`Scenario::build`] makes a [`Network`](crate::Network)
//! of it. Quantities have units as in iproute2 ([`units`]). A key that does not exist and a value that makes no sense are
//! errors that say where and what would be right ([`ScenarioError`]).
//!
//! ```
//! use ackclock_net::scenario::{BuildOptions, Scenario};
//!
//! let text = r#"
//!     duration = "10s"
//!     [[link]]
//!     from = "sender"
//!     to = "receiver"
//!     rate = "0.8mbit"
//!     delay = "100ms"
//!     loss = [{ drop = { segments = [14] } }]
//!     [[flow]]
//!     from = "sender"
//!     to = "receiver"
//!     source = { segments = 100 }
//! "#;
//! let scenario = Scenario::from_toml(text)?;
//! let mut run = scenario.build(&BuildOptions { seed: 1, strategy: Some("sack"), events: false })?;
//! run.run(&mut ()).map_err(|e| scenario.explain(&e))?;
//! let report = run.network.flow_report(run.flows[0].id).expect("the flow of the scenario");
//! assert_eq!((report.stats.segments_sent, report.stats.retransmissions), (101, 1));
//!
//! let error = Scenario::from_toml(&text.replace("0.8mbit", "0.8 Mb")).unwrap_err();
//! assert_eq!((error.line, error.key.as_str()), (Some(6), "link[0].rate"));
//! # Ok::<(), ackclock_net::scenario::ScenarioError>(())
//! ```

mod build;
mod check;
mod distribution;
mod error;
mod model;
mod names;
pub mod units;
mod values;

pub use build::{BuildOptions, BuiltFlow, BuiltLink, Simulation};
pub use check::check_strategy;
pub(crate) use check::{Names, check};
pub use distribution::{Distribution, Exponential, Lognormal, Pareto};
pub use error::ScenarioError;
pub use model::{
    Arrivals, Bernoulli, Cbr, Direction, DropList, DropTail, Flow, Fred, GilbertElliott, Link, Loss, Node, OnOff,
    Policer, Queue, Red, Reorder, Scenario, Source, Spike, Tcp, ThreeState, TimerModel, Web, Write,
};
pub use values::{DelayedAck, Retransmission};

#[cfg(test)]
mod tests;
