//! The shape of a scenario file. Field names are the keys; the doc comments are the descriptions in
//! the JSON Schema.

mod defaults;
mod distribution;
mod fate;
mod flow;
mod link;
mod loss;
mod queue;
mod source;
mod tcp;
mod varying;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::units::Duration;
pub(super) use defaults::is_no_rate;
use defaults::{is_default, is_one, one};

pub use distribution::{Distribution, Exponential, Lognormal, Pareto};
pub use fate::Fate;
pub use flow::{Arrivals, Cbr, Flow};
pub use link::{Link, Reorder, Spike};
pub use loss::{Bernoulli, Direction, DropList, GilbertElliott, Loss, Policer, ThreeState};
pub use queue::{Codel, DropTail, FqCodel, Fred, Pie, Queue, Red};
pub use source::{OnOff, Source, Web, Write};
pub use tcp::{FirstRtt, Tcp, TimerModel};
pub use varying::{Aggregate, Change, Outage, Queued, TraceFile};

/// A network, what goes through it, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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
    #[serde(default = "first_seed")]
    #[schemars(range(max = 9_223_372_036_854_775_807_u64))]
    pub seed: u64,
    /// How many runs, each with its own seed. 1 to 100,000.
    #[serde(default = "one")]
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

impl Scenario {
    /// A scenario of one run that lasts so long, with nothing in it.
    pub fn new(duration: Duration) -> Self {
        Scenario {
            name: String::new(),
            description: String::new(),
            duration,
            seed: first_seed(),
            runs: one(),
            tcp: Tcp::default(),
            nodes: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            cbrs: Vec::new(),
        }
    }
}

/// A host or router.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Node {
    /// Its name; with `count`, `{}` in it stands for 0 to `count` - 1.
    pub name: String,
    /// How many of them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// How long its processor takes for the packets of flows that begin or end here; no time. A
    /// gateway's hosts have processors of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<Processor>,
}

impl Node {
    /// One node of this name, whose processor takes no time.
    pub fn new(name: impl Into<String>) -> Self {
        Node { name: name.into(), count: one(), processor: None }
    }
}

/// A processor that deals with packets one after the other, sent and received ones alike. Any
/// number may wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Processor {
    /// For each packet sent.
    pub send: Duration,
    /// For each packet received.
    pub receive: Duration,
    /// More for each SACK block in a packet, either way; `0s`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sack_block: Duration,
}

fn first_seed() -> u64 {
    1
}
