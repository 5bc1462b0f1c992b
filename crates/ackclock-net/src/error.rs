//! What can be wrong with a network.

use thiserror::Error as ThisError;

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
}
