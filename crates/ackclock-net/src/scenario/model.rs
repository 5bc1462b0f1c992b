//! The shape of a scenario file. Field names are the keys; the doc comments are the descriptions in the JSON Schema.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::distribution::Distribution;
use super::units::{Amount, Duration, Probability, Rate, Size};
use super::values::{DelayedAck, Retransmission};

/// A network, what goes through it, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A short name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What the scenario shows.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How long each run lasts in simulated time.
    pub duration: Duration,
    /// Seed of the first run; run `i` (from 0) has seed `seed + i`. At most 2^63 - 1.
    #[serde(default = "one")]
    #[schemars(range(max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// How many runs, each with its own seed. 1 to 100,000.
    #[serde(default = "one_u32")]
    #[schemars(range(min = 1, max = 100_000))]
    pub runs: u32,
    /// TCP settings of all flows; a flow's own `tcp` table overrides them key by key.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tcp: Tcp,
    /// Hosts and routers. May be left out: then they are the ends of the links.
    #[serde(default, rename = "node", skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
    /// Links.
    #[serde(default, rename = "link", skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    /// TCP connections.
    #[serde(default, rename = "flow", skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<Flow>,
    /// Streams of datagrams at a constant rate, without feedback.
    #[serde(default, rename = "cbr", skip_serializing_if = "Vec::is_empty")]
    pub cbrs: Vec<Cbr>,
}

/// A host or router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name; with `count`, `{}` in it stands for 0 to `count` - 1.
    pub name: String,
    /// How many of them.
    #[serde(default = "one_u32", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
}

/// A link between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// One end; with `count`, `{}` in it stands for 0 to `count` - 1.
    pub from: String,
    /// The other end.
    pub to: String,
    /// Rate in each direction.
    pub rate: Rate,
    /// Propagation delay in each direction.
    pub delay: Duration,
    /// Delay of the last copy; those between have delays evenly spaced between the two. Only with `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_to: Option<Duration>,
    /// Whether packets also go from `to` to `from`; both directions are then alike.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub duplex: bool,
    /// How many copies of the link.
    #[serde(default = "one_u32", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// What happens to packets that must wait; 1000 packets, drop-tail, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// Losses other than the queue's. Each model sees the packets that the ones before it let through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<Loss>,
    /// Times in which the wire takes longer; packets keep their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spikes: Vec<Spike>,
    /// Each packet is delayed further by a time drawn uniformly from 0 to this; packets keep their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Duration>,
    /// Packets that those behind them overtake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// Probability that a packet arrives twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Probability>,
    /// Probability that a bit of a packet is flipped on the way; its host drops it for its checksum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Probability>,
}

/// A queue discipline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Queue {
    /// Drops what does not fit. The packet in transmission counts.
    Droptail(DropTail),
    /// Random early detection.
    Red(Red),
    /// Flow random early drop.
    Fred(Fred),
}

/// How much a drop-tail queue holds: either key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropTail {
    /// Packets, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub packets: Option<u32>,
    /// Bytes, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
}

/// Random early detection (Floyd & Jacobson 1993).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Red {
    /// Packets that may wait beside the one in transmission, at least 1.
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// Lower threshold of the average queue, in packets.
    pub min: f64,
    /// Upper threshold of the average queue, in packets; above `min`.
    pub max: f64,
    /// Weight of one arrival in the average, above 0 and at most 1. If left out it follows from the link: a time
    /// constant of ten round trips, each three times the link's delay and transmission time, at least 100 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Drop probability as the average reaches `max`; 0.1 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_p: Option<Probability>,
    /// From `max` to twice `max` the probability rises to 1 instead of jumping there. `true` if left out.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub gentle: bool,
    /// Never drop two packets early in a row. `true` if left out.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub wait: bool,
    /// Measure the queue in bytes; limit and thresholds stand for so many packets of `mean_packet_size`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub queue_in_bytes: bool,
    /// A packet's drop probability is in proportion to its size.
    #[serde(default, skip_serializing_if = "is_default")]
    pub byte_mode: bool,
    /// Bytes of an average packet, at least 1; 500 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet_size: Option<Size>,
}

/// Flow random early drop (Lin & Morris 1997): random early detection that accounts for each flow's packets in the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fred {
    /// Packets that may wait beside the one in transmission, at least 1.
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// Lower threshold of the average queue, and the most that one flow may have in the queue, in packets; at least 1.
    pub min: f64,
    /// Upper threshold of the average queue, in packets; above `min`. The paper has twice `min`.
    pub max: f64,
    /// Weight of one arrival or departure in the average, above 0 and at most 1; 0.002 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Probability of a random drop as the average reaches `max`; 0.02 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_p: Option<Probability>,
    /// A flow with fewer packets in the queue loses none at random; 2 if left out, for small buffers; 4 for large ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minq: Option<u32>,
    /// From `max` on each flow may have two packets in the queue, instead of none joining it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub many_flows: bool,
    /// Bytes of an average packet, at least 1; 500 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet_size: Option<Size>,
}

/// A loss model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Loss {
    /// Exactly these transmissions of data segments.
    Drop(DropList),
    /// Each packet with the same probability.
    Bernoulli(Bernoulli),
    /// Two states, good and bad (Gilbert 1960, Elliott 1963); the first packet meets the good one.
    GilbertElliott(GilbertElliott),
    /// Three states in sequence (Gurtov & Floyd 2004, section V).
    ThreeState(ThreeState),
    /// What exceeds a rate for longer than a bucket of tokens lasts.
    Policer(Policer),
}

/// Which transmissions are lost. Segments count from 0; segment `k` is the one that holds byte `k * mss`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropList {
    /// Segments whose first transmission is lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<u64>,
    /// Retransmissions that are lost: `"14:1"` is the first retransmission of segment 14.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retransmissions: Vec<Retransmission>,
    /// The one flow that it concerns, by name; all flows if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// Independent losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bernoulli {
    /// Probability of a loss.
    pub p: Probability,
    /// Which packets it sees; data if left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub direction: Direction,
    /// The one flow that it concerns, by name; all flows if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// Losses in bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// Probability, after each packet, to go from good to bad.
    pub p: Probability,
    /// Probability, after each packet, to go from bad to good.
    pub r: Probability,
    /// Probability of a loss in the good state; 0 if left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loss_good: Probability,
    /// Probability of a loss in the bad state; 1 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_bad: Option<Probability>,
    /// Which packets it sees; data if left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub direction: Direction,
    /// The one flow that it concerns, by name; all flows if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// No loss until `second_at`, then a state that brings on a timeout, then a third one; no loss after that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreeState {
    /// When the second state begins.
    pub second_at: Duration,
    /// How long it lasts.
    pub second_for: Duration,
    /// Probability of a loss in it.
    pub second_loss: Probability,
    /// How long the third state lasts.
    pub third_for: Duration,
    /// Probability of a loss in it.
    pub third_loss: Probability,
    /// The first fast retransmission from `second_at` on is lost too.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lose_fast_retransmission: bool,
    /// Which packets it sees; data if left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub direction: Direction,
    /// The one flow that it concerns, by name; all flows if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// A token bucket, full at first, for each direction of the link. A packet that finds fewer tokens than it has bytes,
/// headers included, is lost and takes none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policer {
    /// How fast tokens come.
    pub rate: Rate,
    /// How much the bucket holds, 1 byte to 4 GB; less than a packet lets none pass.
    pub burst: Size,
    /// Which packets it sees; data if left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub direction: Direction,
    /// The one flow that it concerns, by name; all flows if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// Which packets of a connection a loss model sees. Datagrams of a CBR stream count as data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Segments from the sender.
    #[default]
    Data,
    /// Segments from the receiver.
    Ack,
    /// All.
    Both,
}

/// A delay spike: packets that enter the wire in that time take longer, and what enters it later does not arrive before
/// them. Spikes at the same time add up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spike {
    /// When it begins.
    pub at: Duration,
    /// How long it lasts; above 0.
    #[serde(rename = "for")]
    pub lasts: Duration,
    /// How much longer the wire takes; above 0.
    pub delay: Duration,
}

/// Some packets take longer on the wire than those behind them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// Probability that a packet is late; 0 if left out beside `segments`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<Probability>,
    /// Segments whose first transmission is late anyway, in every flow. They count from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<u64>,
    /// How much later it arrives.
    pub delay: Duration,
}

/// A TCP connection: data from `from` to `to`, ACKs back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name, which also names its random numbers; `flow{}` with its number if left out. With `count`, `{}` stands
    /// for 0 to `count` - 1, and is appended if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The sender's node; with `count`, `{}` in it stands for 0 to `count` - 1.
    pub from: String,
    /// The receiver's node; as `from`.
    pub to: String,
    /// The recovery strategy, such as `newreno` or `sack+lt`; `newreno` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// How many copies of the flow.
    #[serde(default = "one_u32", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// When the application starts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: Duration,
    /// Each copy starts so much later than the one before it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_step: Duration,
    /// Copies start at random distances, instead of `start_step`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// Each copy starts later, too, by a time drawn uniformly from 0 to this.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_spread: Duration,
    /// From then on the sender is silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
    /// What the application sends; `bulk` if left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub source: Source,
    /// Settings that differ from the scenario's `tcp` table.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tcp: Tcp,
}

/// When copies of a flow start, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// A Poisson process that begins at `start`: the distance from there to the first copy, and from each copy to the next
    /// one, is exponentially distributed with this mean.
    Poisson(Duration),
}

/// What an application writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Source {
    /// Without end.
    #[default]
    Bulk,
    /// So many bytes, then it closes.
    Bytes(Size),
    /// So many full segments, then it closes.
    Segments(u64),
    /// As many bytes as are drawn from a distribution, then it closes. Each copy of the flow draws its own.
    Draw(Distribution),
    /// By turns at a constant rate and silent; begins with a burst.
    OnOff(OnOff),
    /// An application that stalls: so much at each time, in ascending order; then it closes.
    Writes(Vec<Write>),
    /// A Web server on a persistent connection; then it closes.
    Web(Web),
}

/// An on-off source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Length of a burst.
    pub on: Duration,
    /// Length of the silence between two bursts.
    pub off: Duration,
    /// Rate during a burst.
    pub rate: Rate,
    /// What is written at once; one segment if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Amount>,
    /// `on` and `off` are means of exponential distributions.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exponential: bool,
}

/// Responses over a persistent connection. Each is one write; the next one follows when the last one has been acknowledged
/// in full, after a think time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Web {
    /// The mean number of responses on a connection, 1 to 1,000,000; geometrically distributed.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub responses: f64,
    /// Every connection has exactly `responses` of them, which is then a whole number.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exactly: bool,
    /// The size of each response.
    pub size: Distribution,
    /// Mean of the exponentially distributed think time before the next response; `0s` for none.
    pub think: Duration,
}

/// One write of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// When, from the start of the flow.
    pub at: Duration,
    /// How much.
    pub amount: Amount,
}

/// A stream of datagrams at a constant rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cbr {
    /// Its name, as a flow's; `cbr{}` with its number if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The sending node; with `count`, `{}` in it stands for 0 to `count` - 1.
    pub from: String,
    /// The receiving node; as `from`.
    pub to: String,
    /// How many copies of the stream.
    #[serde(default = "one_u32", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// Rate of each, headers included.
    pub rate: Rate,
    /// Bytes of a packet, headers included; 1000 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_size: Option<Size>,
    /// Each interval is longer or shorter by up to half of this share of itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dither: Probability,
    /// The first packet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: Duration,
    /// No packet is sent at this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Duration>,
}

/// TCP settings beside the strategy. What is left out has the default given with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// Payload bytes of a full segment, 1 to 65,495; 1460.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<Size>,
    /// Initial congestion window in segments, 1 to 10 (RFC 5681, RFC 6928); 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub initial_window: Option<u32>,
    /// Initial slow start threshold; unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<Amount>,
    /// The receiver's buffer, at most 1 GiB; 1 MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rwnd: Option<Amount>,
    /// An upper bound on the congestion window; none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cwnd: Option<Amount>,
    /// `off`, or how long an ACK may wait for a second segment (at most 500 ms, RFC 5681), or `bsd`, until the next tick
    /// of a timer of 200 ms with a random phase for each flow; 200 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<DelayedAck>,
    /// How many full segments a delayed ACK covers, 1 to 1000: more than 2 for stretch ACKs, as receivers send that merge
    /// segments (LRO, GRO). Not with `delayed_ack = "off"`; 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub ack_every: Option<u32>,
    /// Whether SACK is negotiated; if left out it is when the strategy needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Whether the receiver reports duplicates (D-SACK, RFC 2883); `true`, where SACK is negotiated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// Whether timestamps are negotiated (RFC 7323); `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Whether the receiver echoes the timestamp of what arrives out of order too, against RFC 7323 section 4.3; `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo_out_of_order: Option<bool>,
    /// Nagle's algorithm; `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nagle: Option<bool>,
    /// Most new segments that one ACK may release (RFC 6582 section 3.2), at least 1; no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_burst: Option<u32>,
    /// The retransmission timer, unless the strategy names one; `rfc6298`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<TimerModel>,
    /// Lower bound of the retransmission timeout; the timer's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Duration>,
    /// Upper bound of the retransmission timeout, back-off included, at least 1 s; 60 s (RFC 6298 section 2.5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rto: Option<Duration>,
    /// Whether the window restarts from the initial one after an idle time (RFC 5681 section 4.1); `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_restart: Option<bool>,
    /// Whether flows open and close: SYN, SYN/ACK and FIN both ways over the same links, from when the application first writes.
    /// The retransmission timer then begins with the round trip of the handshake, and the window with what the SYN/ACK can tell,
    /// 65,535 bytes at most. Not with an oracle; `mss` at least 28. `false`: flows begin as established connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake: Option<bool>,
    /// Sequence number of the first data byte; 1, so that the SYN of a capture has number 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isn: Option<u32>,
    /// The receiver's window scale shift, 0 to 14 (RFC 7323); the smallest that covers `rwnd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 14))]
    pub window_scale: Option<u8>,
    /// Bytes of the headers of a data segment; 40.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<u32>,
    /// Bytes of an ACK without options; 40.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_size: Option<u32>,
    /// Whether TCP options add to the size of packets; `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_options: Option<bool>,
}

/// A model of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimerModel {
    /// RFC 6298: at least 1 s.
    Rfc6298,
    /// Linux: a variance term of at least 200 ms.
    Linux,
    /// BSD: ticks of 500 ms with a random phase for each flow.
    Bsd,
}

impl Tcp {
    /// These settings, and where they leave something open, those of `base`.
    pub fn or(&self, base: &Tcp) -> Tcp {
        let own = self.clone();
        Tcp {
            mss: own.mss.or(base.mss),
            initial_window: own.initial_window.or(base.initial_window),
            initial_ssthresh: own.initial_ssthresh.or(base.initial_ssthresh),
            rwnd: own.rwnd.or(base.rwnd),
            max_cwnd: own.max_cwnd.or(base.max_cwnd),
            delayed_ack: own.delayed_ack.or(base.delayed_ack),
            ack_every: own.ack_every.or(base.ack_every),
            sack: own.sack.or(base.sack),
            dsack: own.dsack.or(base.dsack),
            timestamps: own.timestamps.or(base.timestamps),
            echo_out_of_order: own.echo_out_of_order.or(base.echo_out_of_order),
            nagle: own.nagle.or(base.nagle),
            max_burst: own.max_burst.or(base.max_burst),
            timer: own.timer.or(base.timer),
            min_rto: own.min_rto.or(base.min_rto),
            max_rto: own.max_rto.or(base.max_rto),
            idle_restart: own.idle_restart.or(base.idle_restart),
            handshake: own.handshake.or(base.handshake),
            isn: own.isn.or(base.isn),
            window_scale: own.window_scale.or(base.window_scale),
            header: own.header.or(base.header),
            ack_size: own.ack_size.or(base.ack_size),
            count_options: own.count_options.or(base.count_options),
        }
    }
}

fn one() -> u64 {
    1
}

fn one_u32() -> u32 {
    1
}

fn is_one(n: &u32) -> bool {
    *n == 1
}

fn yes() -> bool {
    true
}

fn is_true(b: &bool) -> bool {
    *b
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
