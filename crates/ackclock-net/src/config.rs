//! What a network is made of, as its user describes it.

use ackclock_tcp::connection::ConnectionConfig;
use ackclock_tcp::strategy::Strategy;
use ackclock_tcp::{Receiver, Sender, Span, Time};

use crate::distribution::Distribution;
use crate::fates::ListedFate;
use crate::ids::NodeId;
use crate::loss::Loss;
use crate::queue::Queue;
use crate::varying::Varying;

/// One direction of a link.
///
/// A packet meets, in this order: its listed fate, the loss models, the queue, the transmitter
/// (`rate`), and the wire (`delay`, `spikes`, `jitter`, `reorder`, its lateness by a listed fate,
/// `duplicate`, `corrupt`). So a packet that is listed as lost, or that a loss model takes, never
/// occupies the queue or the transmitter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
    /// What becomes of single packets, before loss models see them.
    pub fates: Vec<ListedFate>,
    /// Losses other than the queue's. Each model sees the packets that the models before it let
    /// through.
    pub loss: Vec<Loss>,
    /// Times in which the wire takes longer. Packets keep their order.
    pub spikes: Vec<Spike>,
    /// Each packet is delayed further by a time drawn uniformly from 0 to this. Packets keep their
    /// order.
    pub jitter: Span,
    /// Packets that later ones overtake.
    pub reorder: Option<Reorder>,
    /// The probability, 0 to 1, that a packet arrives twice.
    pub duplicate: f64,
    /// The probability, 0 to 1, that a bit of a packet is flipped on the wire. If the packet
    /// arrives twice, it is flipped in both copies. The packet crosses its path, and its host drops
    /// it for its checksum.
    pub corrupt: f64,
    /// How all this changes with time.
    pub varying: Varying,
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
            fates: Vec::new(),
            loss: Vec::new(),
            spikes: Vec::new(),
            jitter: Span::ZERO,
            reorder: None,
            duplicate: 0.0,
            corrupt: 0.0,
            varying: Varying::default(),
        }
    }
}

/// A delay spike, as on a mobile path that is interrupted for a moment (Gurtov & Ludwig 2003).
/// Packets that enter the wire during the spike take longer, and later packets do not overtake
/// them. Spikes at the same time add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spike {
    /// When it begins.
    pub at: Time,
    /// How long it lasts.
    pub lasts: Span,
    /// How much longer the wire takes.
    pub delay: Span,
}

/// Reordering: some packets take longer on the wire, and later ones overtake them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reorder {
    /// The probability, 0 to 1, that a packet is late.
    pub probability: f64,
    /// Data segments whose first transmission is always late, in every flow. They count as in
    /// [`ListedLoss`](crate::ListedLoss).
    pub segments: Vec<u64>,
    /// How much later it arrives.
    pub extra_delay: Span,
}

impl Reorder {
    /// Reordering with no late packets yet. Set `probability` or `segments`.
    pub fn new(extra_delay: Span) -> Self {
        Reorder { probability: 0.0, segments: Vec::new(), extra_delay }
    }
}

/// A host's processor. It deals with packets one after the other, sent and received ones alike, and
/// any number may wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processor {
    /// How long a packet takes that the host sends.
    pub send: Span,
    /// How long a packet takes that the host receives.
    pub receive: Span,
    /// How much longer for each SACK block in it, either way.
    pub sack_block: Span,
}

/// A TCP connection in one direction: data from `from` to `to`, ACKs back.
#[non_exhaustive]
pub struct FlowConfig {
    /// Names the flow's random numbers. Adding another flow does not change them.
    pub name: String,
    /// The sender's host.
    pub from: NodeId,
    /// The receiver's host.
    pub to: NodeId,
    /// What sends and receives. Build a sender with `events: true` only if a recorder takes its
    /// events.
    pub ends: Ends,
    /// The application at the sender.
    pub source: Source,
    /// When the application starts.
    pub start: Time,
    /// From then on the sender is silent: it sends nothing and ignores what arrives.
    pub stop: Option<Time>,
    /// Payload bytes of a full segment, as given to the sender, at least 1. Segment `k` of a drop
    /// list is the one that holds byte `k * mss`.
    pub mss: u32,
    /// Bytes added to the payload of each data segment: 40 for IPv4 and TCP; 0 as in ns-2, where
    /// the packet size is the payload.
    pub header: u32,
    /// Bytes of a segment without payload, such as an ACK or a SYN, options aside. 40, also in
    /// ns-2.
    pub ack_size: u32,
    /// Whether options (`Segment::option_len`) add to the size of packets. In ns-2 they do not.
    pub count_options: bool,
}

impl FlowConfig {
    /// A connection over which an application sends without end from the start, with the headers
    /// of IPv4 and TCP.
    pub fn new(name: &str, from: NodeId, to: NodeId, ends: Ends, mss: u32) -> Self {
        FlowConfig {
            name: name.into(),
            from,
            to,
            ends,
            source: Source::Bulk,
            start: Time::ZERO,
            stop: None,
            mss,
            header: 40,
            ack_size: 40,
            count_options: true,
        }
    }
}

/// The two ends of a connection.
#[allow(clippy::large_enum_variant)]
#[non_exhaustive]
pub enum Ends {
    /// An established one: a new sender and a new receiver.
    Established {
        /// At [`FlowConfig::from`].
        sender: Sender,
        /// At [`FlowConfig::to`].
        receiver: Receiver,
    },
    /// One that opens with a handshake when the application first writes, and closes after its last
    /// byte: SYNs and FINs both ways.
    Handshake {
        /// Who opens the connection and sends the data.
        client: Box<Endpoint>,
        /// Who answers.
        server: Box<Endpoint>,
    },
}

/// How one end of a connection with a handshake behaves.
pub struct Endpoint {
    /// Its settings.
    pub config: ConnectionConfig,
    /// How it recovers from losses.
    pub strategy: Strategy,
}

/// What an application writes into its sender.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Source {
    /// Without end.
    Bulk,
    /// This many bytes, then it closes.
    Fixed(u64),
    /// Bursts at a constant rate and silences in turn. It begins with a burst.
    OnOff(OnOff),
    /// An application that stalls: these writes in ascending order of time, then it closes.
    Stalls(Vec<TimedWrite>),
    /// Responses over a persistent connection, then it closes.
    Web(Web),
}

/// A write of an application that stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedWrite {
    /// When, from the start of the flow.
    pub after: Span,
    /// How much.
    pub bytes: u64,
}

/// Responses of a Web server. Each is one write. When a response is acknowledged in full, a think
/// time passes, and then the next one is written.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Web {
    /// The mean number of responses, at least 1: geometrically distributed unless `exactly`.
    pub responses: f64,
    /// The number of responses is exactly `responses`, which is a whole number.
    pub exactly: bool,
    /// The bytes of each response.
    pub size: Distribution,
    /// Mean of the think time, which is exponentially distributed.
    pub think: Span,
}

impl Web {
    /// Responses whose number is geometrically distributed.
    pub fn new(responses: f64, size: Distribution, think: Span) -> Self {
        Web { responses, exactly: false, size, think }
    }
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
    /// Always this long.
    Constant(Span),
    /// Exponentially distributed with this mean.
    Exponential(Span),
}

/// A constant-rate stream of datagrams without feedback (UDP).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
    /// Each interval is longer or shorter by a random share of itself: uniform, up to half of
    /// `dither`. 0 to 1 (1 is ns-2's `random_ 1`).
    pub dither: f64,
    /// The first packet.
    pub start: Time,
    /// No packet is sent at this time or later.
    pub stop: Option<Time>,
}

impl CbrConfig {
    /// A stream of packets of 1000 bytes at even intervals, without end from the start.
    pub fn new(name: &str, from: NodeId, to: NodeId, rate: u64) -> Self {
        CbrConfig {
            name: name.into(),
            from,
            to,
            rate,
            packet_size: 1000,
            dither: 0.0,
            start: Time::ZERO,
            stop: None,
        }
    }
}
