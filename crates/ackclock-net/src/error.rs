//! What can be wrong with a network.

use ackclock_tcp::{Time, strategy::Axis};
use thiserror::Error as ThisError;

use crate::ids::FlowId;

/// What is wrong with a network.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// No path of links leads from one node to the other.
    #[error("no route from {from} to {to}")]
    NoRoute {
        /// Name of the first node.
        from: String,
        /// Name of the last node.
        to: String,
    },
    /// A link or flow was added after the network had run.
    #[error("nothing can be added to a network once it has run")]
    Started,
    /// A setting is out of its range.
    #[error("{what}: {problem}")]
    Invalid {
        /// The link or flow.
        what: String,
        /// Which setting, and what it may be.
        problem: &'static str,
    },
    /// A mechanism of a flow's sender asks again and again for a time that has passed, so that the
    /// run would not end.
    #[error(
        "{} asks again and again for a time that has passed, at {} s of the run; its deadline has \
         to be later once it has come, or never",
        asks(*flow, *axis, mechanisms),
        at.secs_f64()
    )]
    Stands {
        /// The flow.
        flow: FlowId,
        /// The axis of the mechanism.
        axis: Axis,
        /// The names on that axis, where the network was built from a scenario.
        mechanisms: Vec<String>,
        /// When that was noticed.
        at: Time,
    },
}

fn asks(flow: FlowId, axis: Axis, mechanisms: &[String]) -> String {
    if mechanisms.is_empty() {
        return format!("flow {}: the mechanism of the axis `{}`", flow.0, axis.name());
    }
    format!("`{}`", mechanisms.join("` or `"))
}
