//! How a link changes with time.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::defaults::is_default;
use super::loss::Loss;
use super::queue::Queue;
use crate::Trace;
use crate::scenario::units::{Duration, Rate};

/// From some time on, settings of a link are others. What is left out stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Change {
    /// When.
    pub at: Duration,
    /// Again each time that so long has passed; once if left out. Above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// The rate from then on. A packet in transmission goes on at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The propagation delay of packets that enter the wire from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// With a shorter delay, packets overtake those on the wire, as on two paths. Otherwise they
    /// arrive together with the last of those.
    #[serde(default, skip_serializing_if = "is_default")]
    pub overtake: bool,
    /// Losses in place of those of the link; `[]` for none. Not `drop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Vec<Loss>>,
    /// How much the queue holds; of a drop-tail queue. What is in it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Queue>,
}

/// A time in which a link sends nothing. What is on its wire arrives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// When it begins.
    pub from: Duration,
    /// How long it lasts; above 0.
    #[serde(rename = "for")]
    pub lasts: Duration,
    /// From one beginning to the next; longer than `for`. Once if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// What becomes of packets that would have to wait; `hold` if left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub queued: Queued,
}

/// What becomes of the packets that an outage keeps from going.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Queued {
    /// They wait, as far as the queue holds them.
    #[default]
    Hold,
    /// Those that wait or are in transmission when it begins are dropped, and those that come while
    /// it lasts.
    Drop,
}

/// Packets leave in bursts, as from Wi-Fi and cable modems: the first one waits after its
/// transmission, and those that follow in this time go with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aggregate {
    /// How long the first packet of a burst waits; above 0.
    #[serde(rename = "for")]
    pub lasts: Duration,
    /// The most packets of a burst, at least 1. A burst of so many goes at once.
    #[schemars(range(min = 1))]
    pub packets: u32,
}

/// A trace: the file, and what is in it once it has been read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub struct TraceFile {
    /// The file, as seen from the scenario's folder.
    pub file: String,
    /// The trace; `None` until [`Scenario::read_traces`](crate::scenario::Scenario::read_traces).
    pub trace: Option<Trace>,
}

impl From<String> for TraceFile {
    fn from(file: String) -> TraceFile {
        TraceFile { file, trace: None }
    }
}

impl From<TraceFile> for String {
    fn from(trace: TraceFile) -> String {
        trace.file
    }
}

impl JsonSchema for TraceFile {
    fn schema_name() -> Cow<'static, str> {
        "TraceFile".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A file in Mahimahi's format, as seen from the scenario's folder: each \
                            line an opportunity to deliver 1504 bytes, in whole milliseconds up to \
                            4294967295. At most 256 MiB.",
            "examples": ["traces/blockage.trace"]
        })
    }
}
