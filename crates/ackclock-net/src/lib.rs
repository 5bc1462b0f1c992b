//! A deterministic simulated network that drives the engine of [`ackclock_tcp`].
//!
//! A [`Network`] holds hosts and routers, links with queues and loss models, and flows. Each
//! connection is one `Sender` and one `Receiver`, or two `Connection`s that open and close. The
//! same network with the same seed gives the same run to the last bit, on every machine.
//!
//! Here one of 30 segments is lost on a path of 1 Mb/s and 20 ms each way. Three duplicate ACKs
//! show the loss, and the sender retransmits that one segment:
//!
//! ```
//! use ackclock_net::{
//!     Ends, FlowConfig, FlowId, Limit, LinkConfig, ListedLoss, Loss, LossModel, Network, Queue,
//!     Recorder, Source,
//! };
//! use ackclock_tcp::Registry;
//! use ackclock_tcp::{
//!     Event, EventKind, Receiver, ReceiverConfig, Sender, SenderConfig, Span, Time,
//! };
//!
//! /// Notes what happens to segments.
//! #[derive(Default)]
//! struct Log(Vec<String>);
//!
//! impl Recorder for Log {
//!     fn event(&mut self, _: FlowId, event: &Event) {
//!         let what = match event.kind {
//!             EventKind::Dropped { seq, .. } => format!("segment {} is dropped", seq / 1000),
//!             EventKind::Sent { seq, transmission: 2.., .. } => {
//!                 format!("segment {} is retransmitted", seq / 1000)
//!             }
//!             EventKind::RecoveryEntered { .. } => "recovery begins".into(),
//!             EventKind::TimedOut { .. } => "the retransmission timer expires".into(),
//!             _ => return,
//!         };
//!         self.0.push(format!("{} ms: {what}", event.at.0 / 1_000_000));
//!     }
//! }
//!
//! // Two hosts and a link in each direction; one drops the first transmission of segment 14.
//! let mut network = Network::new(1);
//! let (a, b) = (network.node("sender"), network.node("receiver"));
//! let link = |from, to| {
//!     let queue = Queue::DropTail(Limit::Packets(50));
//!     LinkConfig::new(from, to, 1_000_000, Span::from_millis(20), queue)
//! };
//! let mut lossy = link(a, b);
//! lossy.loss.push(Loss::new(LossModel::Listed(vec![ListedLoss::first(14)])));
//! network.link(lossy);
//! network.link(link(b, a));
//!
//! // A sender that recovers with SACK (RFC 6675), and 30 segments of 1000 bytes to send.
//! let strategy = Registry::default().parse("sack")?.build();
//! let sender = SenderConfig { mss: 1000, sack: true, events: true, ..SenderConfig::default() };
//! let receiver = ReceiverConfig { mss: 1000, sack: true, ..ReceiverConfig::default() };
//! let ends = Ends::Established {
//!     sender: Sender::new(sender, strategy),
//!     receiver: Receiver::new(receiver),
//! };
//! let mut flow = FlowConfig::new("transfer", a, b, ends, 1000);
//! flow.source = Source::Fixed(30_000);
//! let flow = network.flow(flow);
//!
//! let mut log = Log::default();
//! network.run(Time(10_000_000_000), &mut log)?;
//!
//! assert_eq!(log.0, [
//!     "73 ms: segment 14 is dropped",
//!     "181 ms: recovery begins",
//!     "181 ms: segment 14 is retransmitted",
//! ]);
//! let report = network.flow_report(flow).expect("the flow");
//! assert_eq!((report.stats.segments_sent, report.stats.retransmissions), (31, 1));
//! assert_eq!((report.stats.timeouts, report.bytes_acked), (0, 30_000));
//! assert_eq!(report.completed, Some(Time(289_920_000)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`scenario`] describes networks as TOML files.
//! - A [`Recorder`] gets what happens: events of connections, and packets wherever they are seen.
//! - [`Network::flow_report`] and [`Network::link_report`] count.
//! - A [`Gateway`] has the links alone, for packets from outside.

mod config;
mod connections;
mod distribution;
mod error;
mod fates;
mod flow;
mod gateway;
mod heap;
mod idle;
mod ids;
mod link;
mod lookahead;
mod loss;
mod loss_notices;
mod network;
mod packet;
mod packet_size;
mod paths;
mod queue;
mod recorder;
mod report;
mod rng;
pub mod scenario;
mod simulator;
mod topology;
mod trace;
mod traffic;
mod transmission;
mod validate;
mod varying;
mod visits;

pub use config::{
    CbrConfig, Dwell, Endpoint, Ends, FlowConfig, LinkConfig, OnOff, Processor, Reorder, Source,
    Spike, TimedWrite, Web,
};
pub use distribution::{Distribution, Law, MixPart};
pub use error::Error;
pub use fates::{Fate, ListedFate, ListedPacket};
pub use gateway::{Exit, Gateway, Headers, LinkEnds, Outcome, TRIM, TcpHeader, UnderWay, flip};
pub use ids::{FlowId, LinkId, NodeId};
pub use loss::{Applies, ListedLoss, Loss, LossModel};
pub use network::{Duplex, Network};
pub use queue::{Codel, FqCodel, Fred, Limit, Pie, Queue, Red};
pub use recorder::{Place, Recorder, Visit};
pub use report::{FlowReport, LinkReport};
pub use rng::Rng;
pub use trace::{Trace, TraceError};
pub use varying::{Aggregate, Change, InOutage, Outage, Varying};

/// The example of `README.md`, run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
