//! What goes through a network: TCP connections and streams of datagrams.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::defaults::{is_default, is_one, one};
use super::source::Source;
use super::tcp::Tcp;
use crate::scenario::units::{Duration, Probability, Rate, Size};

/// A TCP connection: data from `from` to `to`, ACKs back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Flow {
    /// Its name, which also names its random numbers; `flow{}` with its number if left out. With
    /// `count`, `{}` stands for 0 to `count` - 1, and is appended if it is missing.
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
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 1_000_000))]
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

impl Flow {
    /// One connection over which an application sends without end from the start.
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Self {
        Flow {
            name: None,
            from: from.into(),
            to: to.into(),
            strategy: None,
            count: one(),
            start: Duration::default(),
            start_step: Duration::default(),
            arrivals: None,
            start_spread: Duration::default(),
            stop: None,
            source: Source::default(),
            tcp: Tcp::default(),
        }
    }
}

/// When copies of a flow start, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Arrivals {
    /// A Poisson process that begins at `start`: the distance from there to the first copy, and
    /// from each copy to the next one, is exponentially distributed with this mean.
    Poisson(Duration),
}

/// A stream of datagrams at a constant rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Cbr {
    /// Its name, as a flow's; `cbr{}` with its number if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The sending node; with `count`, `{}` in it stands for 0 to `count` - 1.
    pub from: String,
    /// The receiving node; as `from`.
    pub to: String,
    /// How many copies of the stream.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 1_000_000))]
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

impl Cbr {
    /// One stream without end from the start.
    pub fn new(from: impl Into<String>, to: impl Into<String>, rate: Rate) -> Self {
        Cbr {
            name: None,
            from: from.into(),
            to: to.into(),
            count: one(),
            rate,
            packet_size: None,
            dither: Probability::default(),
            start: Duration::default(),
            stop: None,
        }
    }
}
