//! What captures to take: `kernel.toml`.

use ackclock_tcp::Registry;
use std::collections::BTreeMap;

use ackclock_net::scenario::Scenario;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

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
    /// The link, as in a scenario, without its ends.
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

/// The nodes of the scenario.
pub const NODES: [&str; 2] = ["sender", "receiver"];

impl Planned {
    /// The link between its ends.
    ///
    /// # Errors
    /// What is wrong with the link.
    pub fn scenario(&self) -> Result<Scenario, String> {
        let mut link = self.link.clone();
        for (end, node) in ["from", "to"].into_iter().zip(NODES) {
            link.insert(end.into(), node.into());
        }
        let mut whole = Table::new();
        whole.insert("duration".into(), "1s".into());
        whole.insert("link".into(), Value::Array(vec![link.into()]));
        Scenario::from_toml(&whole.to_string(), &Registry::default())
            .map_err(|error| format!("capture {}: {error}", self.name))
    }
}
