//! What a network is made of, as its user describes it.

use ackclock_tcp::connection::ConnectionConfig;
use ackclock_tcp::strategy::Strategy;
use ackclock_tcp::{Receiver, Sender, Span, Time};

use crate::distribution::Distribution;
pub use crate::loss::{Applies, ListedLoss, Loss, LossModel};
pub use crate::queue::{Fred, Limit, Queue, Red};

/// A host or router; numbered from 0 in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// One direction of a link; numbered from 0 in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// A TCP connection or a CBR stream; numbered from 0 in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub u32);

/// One direction of a link.
///
/// A packet meets, in this order: the loss models, the queue, the transmitter (`rate`), and the wire (`delay`, `spikes`,
/// `jitter`, `reorder`, `duplicate`, `corrupt`). So a packet that a loss model takes never occupies the queue or the transmitter.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Where packets enter.
    pub from: NodeId,
    /// Where they leave.
    pub to: NodeId,
    /// Bits per second, at least 1.
    pub rate: u64,
    /// Propagation delay.
    pub delay: Span,
    /// What happens to packets that must wait.
    pub queue: Queue,
    /// Losses other than the queue's; each model sees the packets that the ones before it let through.
    pub loss: Vec<Loss>,
    /// Times in which the wire takes longer; packets keep their order.
    pub spikes: Vec<Spike>,
    /// Each packet is delayed further by a time drawn uniformly from 0 to this; packets keep their order.
    pub jitter: Span,
    /// Packets that are overtaken by those behind them.
    pub reorder: Option<Reorder>,
    /// The probability, 0 to 1, that a packet arrives twice.
    pub duplicate: f64,
    /// The probability, 0 to 1, that a bit of a packet is flipped on the wire (of both copies, if it arrives twice). It goes
    /// its way; its host drops it for its checksum.
    pub corrupt: f64,
}

impl LinkConfig {
    /// A link without losses, delay spikes, jitter, reordering, duplication and corruption.
    pub fn new(from: NodeId, to: NodeId, rate: u64, delay: Span, queue: Queue) -> Self {
        LinkConfig {
            from,
            to,
            rate,
            delay,
            queue,
            loss: Vec::new(),
            spikes: Vec::new(),
            jitter: Span::ZERO,
            reorder: None,
            duplicate: 0.0,
            corrupt: 0.0,
        }
    }
}

/// A delay spike, as of a mobile path that is away for a moment (Gurtov & Ludwig 2003): packets that enter the wire in
/// that time take longer, and what enters it later does not arrive before them. Spikes at the same time add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spike {
    /// When it begins.
    pub at: Time,
    /// How long it lasts.
    pub lasts: Span,
    /// How much longer the wire takes.
    pub delay: Span,
}

/// Reordering: some packets take longer on the wire than those behind them.
#[derive(Clone, Debug, PartialEq)]
pub struct Reorder {
    /// The probability, 0 to 1, that a packet is late.
    pub probability: f64,
    /// Data segments whose first transmission is late anyway, counted as in [`ListedLoss`], in every flow.
    pub segments: Vec<u64>,
    /// How much later it arrives.
    pub extra_delay: Span,
}

/// A TCP connection in one direction: data from `from` to `to`, ACKs back.
pub struct FlowConfig {
    /// Names the flow's random numbers, so that another flow more or less does not change them.
    pub name: String,
    /// The sender's host.
    pub from: NodeId,
    /// The receiver's host.
    pub to: NodeId,
    /// What sends and receives. Build a sender with `events: true` only if a recorder takes its events.
    pub ends: Ends,
    /// The application at the sender.
    pub source: Source,
    /// When the application starts.
    pub start: Time,
    /// From then on the sender is silent: it sends nothing and ignores what arrives.
    pub stop: Option<Time>,
    /// Payload bytes of a full segment, as given to the sender: segment `k` of a drop list is the one that holds byte
    /// `k * mss`. At least 1.
    pub mss: u32,
    /// Bytes added to the payload of each data segment: 40 for IPv4 and TCP, 0 for ns-2, whose packet size is the payload.
    pub header: u32,
    /// Bytes of a segment without payload, SYN and FIN included, options aside: 40, also in ns-2.
    pub ack_size: u32,
    /// Whether options (`Segment::option_len`) add to the size of packets; ns-2 does not count them.
    pub count_options: bool,
}

/// The two ends of a connection.
#[allow(clippy::large_enum_variant)]
pub enum Ends {
    /// An established one: a sender and a receiver, fresh.
    Established {
        /// At [`FlowConfig::from`].
        sender: Sender,
        /// At [`FlowConfig::to`].
        receiver: Receiver,
    },
    /// One that opens when the application first writes, and closes after its last byte: SYNs and FINs both ways.
    Whole(Box<Whole>),
}

/// How both ends of a whole connection behave.
pub struct Whole {
    /// Who opens it and sends the data.
    pub client: (ConnectionConfig, Strategy),
    /// Who answers.
    pub server: (ConnectionConfig, Strategy),
}

/// What an application writes into its sender.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Without end.
    Bulk,
    /// So many bytes, then it closes.
    Fixed(u64),
    /// By turns at a constant rate and silent; begins with a burst.
    OnOff(OnOff),
    /// An application that stalls: so many bytes at each time after the start, in ascending order; then it closes.
    Stalls(Vec<(Span, u64)>),
    /// Responses over a persistent connection; then it closes.
    Web(Web),
}

/// Responses of a Web server. The next one is written when the last one has been acknowledged in full, after a think time.
/// Each is one write.
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// The mean number of responses, at least 1: geometrically distributed unless `exactly`.
    pub responses: f64,
    /// There are exactly `responses` of them, which is a whole number.
    pub exactly: bool,
    /// The bytes of each response.
    pub size: Distribution,
    /// Mean of the think time, which is exponentially distributed.
    pub think: Span,
}

/// An on-off source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnOff {
    /// Length of a burst; each holds at least one write.
    pub on: Dwell,
    /// Length of the silence between two bursts.
    pub off: Dwell,
    /// Bits per second during a burst, at least 1.
    pub rate: u64,
    /// Bytes of each write, at least 1.
    pub write: u32,
}

/// How long a state lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dwell {
    /// Always so long.
    Constant(Span),
    /// Exponentially distributed with this mean.
    Exponential(Span),
}

/// A constant-rate stream of datagrams without feedback (UDP).
#[derive(Clone, Debug, PartialEq)]
pub struct CbrConfig {
    /// Names the stream's random numbers.
    pub name: String,
    /// The sending host.
    pub from: NodeId,
    /// The receiving host.
    pub to: NodeId,
    /// Bits per second, at least 1, headers included.
    pub rate: u64,
    /// Bytes of each packet, headers included, at least 1.
    pub packet_size: u32,
    /// Each interval is lengthened or shortened by up to half of this share of itself, uniformly; 0 to 1 (1 is ns-2's
    /// `random_ 1`).
    pub dither: f64,
    /// The first packet.
    pub start: Time,
    /// No packet is sent at this time or later.
    pub stop: Option<Time>,
}
