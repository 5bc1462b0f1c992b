//! Scenarios: a network, what goes through it and for how long, as a TOML file describes it.
//!
//! [`Scenario::from_toml`] reads and checks one without any I/O; [`Scenario::build`] makes a
//! [`Network`](crate::Network) of it. Quantities have units as in iproute2 ([`units`]). A key that
//! does not exist and a value that makes no sense are errors that say where and what would be right
//! ([`ScenarioError`]).
//!
//! ```
//! use ackclock_net::scenario::{BuildOptions, Scenario};
//! use ackclock_tcp::Registry;
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
//! let registry = Registry::default();
//! let scenario = Scenario::from_toml(text, &registry)?;
//! let mut run = scenario.build(&BuildOptions::new(&registry, 1).strategy("sack"))?;
//! run.run(&mut ()).map_err(|e| scenario.explain(&e))?;
//! let report = run.network.flow_report(run.flows[0].id).expect("the flow of the scenario");
//! assert_eq!((report.stats.segments_sent, report.stats.retransmissions), (101, 1));
//!
//! let wrong = text.replace("0.8mbit", "0.8 Mb");
//! let error = Scenario::from_toml(&wrong, &registry).unwrap_err();
//! assert_eq!((error.line, error.key.as_str()), (Some(6), "link[0].rate"));
//! # Ok::<(), ackclock_net::scenario::ScenarioError>(())
//! ```

mod check;
mod error;
mod model;
mod names;
mod network;
mod path;
mod simulation;
mod text;
mod traces;
pub mod units;
mod values;

pub(crate) use check::check;
pub use check::{check_strategy, deployable};
pub use error::{ScenarioError, nearest};
pub use model::{
    Aggregate, Arrivals, Bernoulli, Cbr, Change, Direction, Distribution, DropList, DropTail,
    Exponential, Fate, FirstRtt, Flow, Fred, GilbertElliott, Link, Lognormal, Loss, Node, OnOff,
    Outage, Pareto, Policer, Processor, Queue, Queued, Red, Reorder, Scenario, Source, Spike, Tcp,
    ThreeState, TimerModel, TraceFile, Web, Write,
};
pub(crate) use names::Names;
pub use simulation::{BuildOptions, BuiltFlow, BuiltLink, Simulation, UnmetDrop};
pub use values::{DelayedAck, Retransmission, SegmentRange};

#[cfg(test)]
mod tests;
