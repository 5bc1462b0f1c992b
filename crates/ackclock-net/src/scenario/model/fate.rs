//! What becomes of single packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults::is_default;
use crate::scenario::units::Duration;

/// What becomes of one packet, in whichever direction of the link it comes: either `segment` or
/// `ack` says which, and either `lose` or `late` what. Of two that name the same packet the first
/// counts. A fate comes before the losses of `loss`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Fate {
    /// The segment, as drop lists count: from 0, and the one that holds byte `segment * mss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<u64>,
    /// Which transmission of the segment: 1 is the first, 2 the first retransmission; 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub transmission: Option<u32>,
    /// The ACK of this number among those of its flow that come to the link, from 1. All that the
    /// receiver sends is counted but its SYN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub ack: Option<u64>,
    /// The flow by name; if left out, such a packet of each flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The packet is lost before it comes to the queue.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lose: bool,
    /// The packet arrives so much later. Those behind it do not wait for it: they overtake it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<Duration>,
}
