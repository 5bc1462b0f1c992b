//! Loss models.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::defaults::is_default;
use crate::scenario::units::{Duration, Probability, Rate, Size};
use crate::scenario::values::{Retransmission, SegmentRange};

/// A loss model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
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

/// Which transmissions are lost. Segments count from 0; segment `k` is the one that holds byte `k *
/// mss`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DropList {
    /// Segments whose first transmission is lost: numbers, and ranges such as `"14-20"`.
    #[serde(default, deserialize_with = "unfolded", skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<SegmentRange>")]
    pub segments: Vec<u64>,
    /// Retransmissions that are lost: `"14:1"` is the first retransmission of segment 14.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retransmissions: Vec<Retransmission>,
    /// The one flow that it concerns, by name; all flows if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// Each segment of the numbers and ranges.
fn unfolded<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u64>, D::Error> {
    Ok(Vec::<SegmentRange>::deserialize(d)?.into_iter().flat_map(|range| range.0).collect())
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

/// No loss until `second_at`, then a state that brings on a timeout, then a third one; no loss
/// after that, or all three again and again.
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
    /// The end of the third state is the beginning of the first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub repeat: bool,
    /// Which packets it sees; data if left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub direction: Direction,
    /// The one flow that it concerns, by name; all flows if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
}

/// A token bucket, full at first, for each direction of the link. A packet that finds fewer tokens
/// than it has bytes, headers included, is lost and takes none.
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
