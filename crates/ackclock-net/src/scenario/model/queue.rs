//! Queues of links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults::{is_default, is_true, yes};
use crate::scenario::units::{Duration, Probability, Size};

/// A queue discipline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Queue {
    /// Drops what does not fit. The packet in transmission counts.
    Droptail(DropTail),
    /// Random early detection.
    Red(Red),
    /// Flow random early drop.
    Fred(Fred),
    /// Controlled delay.
    Codel(Codel),
    /// Flow queue CoDel.
    FqCodel(FqCodel),
    /// Proportional integral controller enhanced.
    Pie(Pie),
}

/// How much a drop-tail queue holds: either key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DropTail {
    /// Packets, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub packets: Option<u32>,
    /// Bytes, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
}

impl DropTail {
    /// A queue that holds so many packets.
    pub fn packets(packets: u32) -> Self {
        DropTail { packets: Some(packets), bytes: None }
    }

    /// A queue that holds so many bytes.
    pub fn bytes(bytes: Size) -> Self {
        DropTail { packets: None, bytes: Some(bytes) }
    }
}

/// Random early detection (Floyd & Jacobson 1993).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Red {
    /// Packets that may wait beside the one in transmission, at least 1.
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// Lower threshold of the average queue, in packets.
    pub min: f64,
    /// Upper threshold of the average queue, in packets; above `min`.
    pub max: f64,
    /// Weight of one arrival in the average, above 0 and at most 1. If left out it follows from
    /// the link: a time constant of ten round trips, each three times the link's delay and
    /// transmission time, at least 100 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Drop probability as the average reaches `max`; 0.1 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_p: Option<Probability>,
    /// From `max` to twice `max` the probability rises to 1 instead of jumping there. `true` if
    /// left out.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub gentle: bool,
    /// Never drop two packets early in a row. `true` if left out.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub wait: bool,
    /// Measure the queue in bytes; limit and thresholds stand for so many packets of
    /// `mean_packet_size`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub queue_in_bytes: bool,
    /// A packet's drop probability is in proportion to its size.
    #[serde(default, skip_serializing_if = "is_default")]
    pub byte_mode: bool,
    /// Bytes of an average packet, at least 1; 500 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet_size: Option<Size>,
    /// Packets of connections with `ecn` are marked instead of dropped early.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ecn: bool,
}

impl Red {
    /// A queue with these thresholds, and the defaults for the rest.
    pub fn new(limit: u32, min: f64, max: f64) -> Self {
        Red {
            limit,
            min,
            max,
            weight: None,
            max_p: None,
            gentle: yes(),
            wait: yes(),
            queue_in_bytes: false,
            byte_mode: false,
            mean_packet_size: None,
            ecn: false,
        }
    }
}

/// Flow random early drop (Lin & Morris 1997): random early detection that accounts for each flow's
/// packets in the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Fred {
    /// Packets that may wait beside the one in transmission, at least 1.
    #[schemars(range(min = 1))]
    pub limit: u32,
    /// Lower threshold of the average queue, and the most that one flow may have in the queue, in
    /// packets; at least 1.
    pub min: f64,
    /// Upper threshold of the average queue, in packets; above `min`. The paper has twice `min`.
    pub max: f64,
    /// Weight of one arrival or departure in the average, above 0 and at most 1; 0.002 if left
    /// out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Probability of a random drop as the average reaches `max`; 0.02 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_p: Option<Probability>,
    /// A flow with fewer packets in the queue loses none at random; 2 if left out, for small
    /// buffers; 4 for large ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minq: Option<u32>,
    /// From `max` on each flow may have two packets in the queue, instead of none joining it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub many_flows: bool,
    /// Bytes of an average packet, at least 1; 500 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet_size: Option<Size>,
}

impl Fred {
    /// A queue with these thresholds, and the defaults for the rest.
    pub fn new(limit: u32, min: f64, max: f64) -> Self {
        Fred {
            limit,
            min,
            max,
            weight: None,
            max_p: None,
            minq: None,
            many_flows: false,
            mean_packet_size: None,
        }
    }
}

/// Controlled delay (CoDel, RFC 8289): packets are dropped as they leave the queue, if all have
/// waited for too long for some time. Every key may be left out: `codel = {}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Codel {
    /// Packets that may wait beside the one in transmission, at least 1; 1000 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
    /// A time in the queue that is acceptable as a standing delay, above 0; 5 ms if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Duration>,
    /// For so long packets have to wait for the target or longer before any is dropped: about the
    /// longest round trip, at least the target; 100 ms if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// Bytes of the largest packet: while no more wait, nothing is dropped. At least 1; 1500 if
    /// left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Size>,
    /// Packets of connections with `ecn` are marked instead of dropped.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ecn: bool,
}

/// Flow queue CoDel (FQ-CoDel, RFC 8290): flows are hashed to queues that are served in turn, each
/// with controlled delay of its own. Every key may be left out: `fq_codel = {}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FqCodel {
    /// Packets that may wait in all queues together, at least 1; 10240 if left out. One more, and
    /// the queue with most bytes loses half of them, at most 64 packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
    /// Bytes that may wait in all queues together, at least 1; 32 MiB if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Size>,
    /// How many queues, 1 to 65,536; 1024 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65_536))]
    pub flows: Option<u32>,
    /// Bytes that a queue may send in its turn, at least 1; 1514 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// As CoDel's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Duration>,
    /// As CoDel's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// As CoDel's; the bytes that wait are those of all queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Size>,
    /// As CoDel's; `true` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
}

/// Proportional integral controller enhanced (PIE, RFC 8033): arriving packets are dropped with a
/// probability that follows the time that packets wait. Every key may be left out: `pie = {}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Pie {
    /// Packets that may wait beside the one in transmission, at least 1; 1000 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub limit: Option<u32>,
    /// The time in the queue that is aimed at, above 0; 15 ms if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Duration>,
    /// Time from one update of the probability to the next, above 0; 15 ms if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<Duration>,
    /// Weight of the distance from the target, a second, 0 or more; 0.125 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub alpha: Option<f64>,
    /// Weight of the change of the time in the queue, a second, 0 or more; 1.25 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub beta: Option<f64>,
    /// For so long after a calm time nothing is dropped; 150 ms if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_burst: Option<Duration>,
    /// Bytes of an average packet, at least 1; 1024 if left out. While no more than two of them
    /// wait, nothing is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_packet_size: Option<Size>,
    /// Drops are spread more evenly than chance alone would have them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub derandomize: bool,
    /// Above 10 % the probability grows by at most 2 percentage points at a time, as in Linux.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cap: bool,
    /// Packets of connections with `ecn` are marked instead of dropped, while the probability is at
    /// most 10 %.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ecn: bool,
}
