//! Links and what they do to packets, queues and losses aside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults::{is_no_rate, is_one, is_true, no_rate, one, yes};
use super::fate::Fate;
use super::loss::Loss;
use super::queue::Queue;
use super::varying::{Aggregate, Change, Outage, TraceFile};
use crate::scenario::units::{Duration, Probability, Rate};

/// A link between two nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Link {
    /// One end; with `count`, `{}` in it stands for 0 to `count` - 1.
    pub from: String,
    /// The other end.
    pub to: String,
    /// Rate in each direction; left out beside `trace`.
    #[serde(default = "no_rate", skip_serializing_if = "is_no_rate")]
    pub rate: Rate,
    /// When the link delivers, in place of a rate: a file in Mahimahi's format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceFile>,
    /// Propagation delay in each direction.
    pub delay: Duration,
    /// Delay of the last copy; those between have delays evenly spaced between the two. Only with
    /// `count`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_to: Option<Duration>,
    /// Whether packets also go from `to` to `from`; both directions are then alike.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub duplex: bool,
    /// How many copies of the link.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// What happens to packets that must wait; 1000 packets, drop-tail, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
    /// What becomes of single packets.
    #[serde(default, rename = "fate", skip_serializing_if = "Vec::is_empty")]
    pub fates: Vec<Fate>,
    /// Losses other than the queue's. Each model sees the packets that the ones before it let
    /// through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loss: Vec<Loss>,
    /// Times in which the wire takes longer; packets keep their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spikes: Vec<Spike>,
    /// Each packet is delayed further by a time drawn uniformly from 0 to this; packets keep their
    /// order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Duration>,
    /// Packets that those behind them overtake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// Probability that a packet arrives twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<Probability>,
    /// Probability that a bit of a packet is flipped on the way; its host drops it for its
    /// checksum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrupt: Option<Probability>,
    /// Times from which on settings are others. If two set the same, the one that came last is in
    /// force.
    #[serde(default, rename = "change", skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Times in which nothing is sent.
    #[serde(default, rename = "outage", skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Packets leave in bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate: Option<Aggregate>,
}

impl Link {
    /// One link in both directions that only queues and delays packets.
    pub fn new(
        from: impl Into<String>,
        to: impl Into<String>,
        rate: Rate,
        delay: Duration,
    ) -> Self {
        Link {
            from: from.into(),
            to: to.into(),
            rate,
            trace: None,
            delay,
            delay_to: None,
            duplex: yes(),
            count: one(),
            queue: None,
            fates: Vec::new(),
            loss: Vec::new(),
            spikes: Vec::new(),
            jitter: None,
            reorder: None,
            duplicate: None,
            corrupt: None,
            changes: Vec::new(),
            outages: Vec::new(),
            aggregate: None,
        }
    }
}

/// A delay spike: packets that enter the wire in that time take longer, and what enters it later
/// does not arrive before them. Spikes at the same time add up.
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
#[non_exhaustive]
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

impl Reorder {
    /// Reordering that delays no packet yet: neither by chance nor by number.
    pub fn new(delay: Duration) -> Self {
        Reorder { p: None, segments: Vec::new(), delay }
    }
}
