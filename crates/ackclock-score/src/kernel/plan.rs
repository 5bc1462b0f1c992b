//! What captures to take: `kernel.toml`.

use std::collections::BTreeMap;

use ackclock_net::scenario::Scenario;
use ackclock_tcp::{Registry, Span};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::places::PLACES;

/// Settings below `net/ipv4`, as `sysctl` names them.
pub type Settings = BTreeMap<String, Value>;

/// The captures to take.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Settings of all kernels.
    pub sysctl: Settings,
    /// Each of them.
    pub capture: Vec<Planned>,
}

/// One capture.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planned {
    /// Its name, and that of its files.
    pub name: String,
    /// The link, as in a scenario, without its ends; where its halves lie: [`Planned::scenario`].
    pub link: Table,
    /// Settings of both kernels that differ from those of all.
    #[serde(default)]
    pub sysctl: Settings,
    /// The sender's congestion control, as the kernel names it. The names that a namespace allows
    /// as its default may be fewer.
    #[serde(default = "cubic")]
    pub congestion: String,
    /// What is sent.
    pub work: Work,
    /// IPv6 in the place of IPv4.
    #[serde(default)]
    pub ipv6: bool,
    /// The sender's device cuts super-segments for it, so that the capture there shows them whole.
    #[serde(default)]
    pub super_segments: bool,
    /// Seed of the link's random numbers.
    #[serde(default)]
    pub seed: u64,
}

fn cubic() -> String {
    "cubic".into()
}

/// What is sent.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Work {
    /// So many bytes at once.
    Bulk {
        /// How many.
        bytes: u64,
    },
    /// Requests of 100 bytes come in, and each is answered.
    Responses {
        /// How many.
        count: u32,
        /// Bytes of a response.
        bytes: u64,
        /// What the client waits before the next request.
        pause_ms: u64,
        /// Each on a connection of its own.
        #[serde(default)]
        reconnect: bool,
    },
    /// An application that sends now and then.
    Writes {
        /// How often.
        count: u32,
        /// Bytes each time.
        bytes: u64,
        /// Between two writes.
        pause_ms: u64,
        /// The receiving application sleeps for so long after the first byte, which may close its
        /// window.
        #[serde(default)]
        reader_sleeps_ms: u64,
    },
}

impl Plan {
    /// The plan that comes with this crate.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn built_in() -> Result<Plan, toml::de::Error> {
        toml::from_str(include_str!("../../kernel.toml"))
    }
}

impl Planned {
    /// The path: half of the link's delay on each side of the node in the middle, and all else of
    /// the link before it with an odd seed, behind it with an even one. So losses before the middle
    /// and behind it are about as many. Listed losses are before it always: the gateway counts what
    /// comes to it once more, from the middle, as another transmission.
    ///
    /// # Errors
    /// What is wrong with the link.
    pub fn scenario(&self) -> Result<Scenario, String> {
        let delay = self.link.get("delay").cloned().unwrap_or_else(|| "0ms".into());
        let plain =
            Table::from_iter([("delay".to_string(), delay), ("rate".to_string(), "1gbit".into())]);
        let mut links = [self.link.clone(), plain];
        let losses = self.link.get("loss").and_then(Value::as_array);
        let listed = losses.is_some_and(|all| all.iter().any(|loss| loss.get("drop").is_some()));
        if self.seed.is_multiple_of(2) && !listed {
            links.reverse();
        }
        for (link, ends) in links.iter_mut().zip(PLACES.windows(2)) {
            for (end, node) in ["from", "to"].into_iter().zip(ends) {
                link.insert(end.into(), (*node).into());
            }
        }
        let mut whole = Table::new();
        whole.insert("duration".into(), "1s".into());
        whole.insert("link".into(), Value::Array(links.map(Value::from).to_vec()));
        let mut scenario = Scenario::from_toml(&whole.to_string(), &Registry::default())
            .map_err(|error| format!("capture {}: {error}", self.name))?;
        for link in &mut scenario.links {
            link.delay.0 = Span(link.delay.0.nanos() / 2);
        }
        Ok(scenario)
    }
}
