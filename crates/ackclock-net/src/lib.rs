//! A deterministic simulated network.
//!
//! A [`Network`] holds hosts and routers, links with queues and loss models, and flows. It drives the `ackclock_tcp`
//! engine: every connection is one `Sender` and one `Receiver`, or two `Connection`s that open and close. The same network with the same seed gives the same run
//! to the last bit, on every machine.

mod config;
mod distribution;
mod engine;
mod error;
mod flow;
mod gateway;
mod heap;
mod link;
mod loss;
mod network;
mod notice;
mod packet;
mod queue;
mod recorder;
mod report;
mod rng;
pub mod scenario;
mod topology;
mod traffic;
mod validate;
mod whole;

pub use config::{
    Applies, CbrConfig, Dwell, Ends, FlowConfig, FlowId, Fred, Limit, LinkConfig, LinkId, ListedLoss, Loss, LossModel,
    NodeId, OnOff, Queue, Red, Reorder, Source, Spike, Web, Whole,
};
pub use distribution::{Distribution, Law};
pub use error::Error;
pub use gateway::{Exit, Gateway, Headers, Outcome, TcpHeader};
pub use network::Network;
pub use recorder::{Place, Recorder, Sighting};
pub use report::{FlowReport, LinkReport};
pub use rng::Rng;
