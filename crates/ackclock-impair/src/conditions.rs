//! What the network between the two hosts of a proxy is like.

#[cfg(test)]
mod tests;

use std::str::FromStr;

use ackclock_net::scenario::units::{Duration, Probability, Rate};
use ackclock_net::scenario::{
    Bernoulli, Direction, DropTail, GilbertElliott, Link, Loss, Queue, Reorder, Scenario,
    ScenarioError,
};
use ackclock_net::{Gateway, NodeId};
use ackclock_tcp::{Registry, Span};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The nodes where clients and server are if nobody says otherwise.
pub const CLIENT: &str = "client";
/// As [`CLIENT`].
pub const SERVER: &str = "server";

/// A link without a rate takes as long for a packet as one of this rate: 0.1 us.
const NO_RATE: Rate = Rate(100_000_000_000);
/// What a link without a rate lets wait: whatever is sent at once.
const NO_LIMIT: u32 = 1 << 20;
/// What a link with a rate lets wait if nobody says otherwise: as scenarios have it.
const QUEUE: u32 = 1000;

/// The links of a scenario, and the two nodes between which they carry connections.
#[derive(Clone, Debug)]
pub struct Conditions {
    scenario: Scenario,
    file: String,
    seed: u64,
    nodes: [String; 2],
    direction: Way,
    toxicity: Option<Probability>,
    reset_after: Option<Span>,
}

/// What crosses a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// What clients send and what the server sends.
    #[default]
    Both,
    /// What clients send.
    Up,
    /// What the server sends.
    Down,
}

/// Conditions that are the same in both directions, or hold for one of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simple {
    /// What crosses the link; the rest goes past it.
    pub direction: Way,
    /// The rate of the link in each direction; `None` for no limit.
    pub rate: Option<Rate>,
    /// The propagation delay of each direction.
    pub delay: Duration,
    /// Each packet is delayed further by a random time from 0 to this; packets keep their order.
    pub jitter: Option<Duration>,
    /// The share of packets with data, SYN or FIN that are lost; below 1 with `burst`.
    pub loss: Option<Probability>,
    /// How many packets are lost in a row on average, at least 1; needs `loss`.
    pub burst: Option<f64>,
    /// Packets that those behind them overtake.
    pub reorder: Option<Late>,
    /// How many packets wait for the link at most; 1000 if left out. It needs `rate`.
    pub queue: Option<u32>,
}

/// How many packets are late, and by how much: `1%` or `1%:20ms`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Late {
    /// The share of packets.
    pub p: Probability,
    /// How much later than others they arrive; 10 ms if left out.
    pub by: Duration,
}

impl FromStr for Late {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (p, by) = text.split_once(':').unwrap_or((text, "10ms"));
        let wrong = |error: &dyn std::fmt::Display| {
            format!("{error}; `{text}` is to be PROBABILITY or PROBABILITY:TIME, as in 1%:20ms")
        };
        Ok(Late { p: p.parse().map_err(|e| wrong(&e))?, by: by.parse().map_err(|e| wrong(&e))? })
    }
}

impl TryFrom<String> for Late {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Late> for String {
    fn from(Late { p, by }: Late) -> String {
        format!("{p}:{by}")
    }
}

impl Conditions {
    /// The same link in both directions.
    ///
    /// # Errors
    /// [`Error::Setting`] where settings make no sense together.
    pub fn simple(simple: &Simple, seed: u64) -> Result<Conditions, Error> {
        let mut scenario = Scenario::new(Duration(Span::from_secs(1)));
        scenario.links.push(simple.link()?);
        let conditions = Conditions::new(scenario, "options".into(), seed, None, None)?;
        Ok(Conditions { direction: simple.direction, ..conditions })
    }

    /// The links of a scenario that is the text of `file`, which it is called in errors and beside
    /// which its traces are. `seed` is the scenario's if left out, the nodes are [`CLIENT`] and
    /// [`SERVER`].
    ///
    /// # Errors
    /// [`Error::Scenario`]; [`Error::Setting`] if a node is not there, [`Error::Usage`] if it is
    /// not joined to the other one both ways.
    pub fn from_toml(
        text: &str,
        file: &str,
        seed: Option<u64>,
        client: Option<&str>,
        server: Option<&str>,
        registry: &Registry,
    ) -> Result<Conditions, Error> {
        let scenario = Scenario::with_traces(text, file, registry)
            .map_err(|error| Error::Scenario { file: file.into(), error })?;
        let seed = seed.unwrap_or(scenario.seed);
        Conditions::new(scenario, file.into(), seed, client, server)
    }

    /// The links of a scenario that comes by the API, which reads no files: who can reach it is not
    /// to learn what is in them.
    ///
    /// # Errors
    /// As [`Conditions::from_toml`]; and [`Error::Scenario`] for a trace, which is a file.
    pub(crate) fn without_files(
        text: &str,
        seed: Option<u64>,
        client: Option<&str>,
        server: Option<&str>,
        registry: &Registry,
    ) -> Result<Conditions, Error> {
        let file = "scenario";
        let wrong = |error| Error::Scenario { file: file.into(), error };
        let scenario = Scenario::from_toml(text, registry).map_err(wrong)?;
        if let Some(link) = scenario.links.iter().position(|link| link.trace.is_some()) {
            let what = "a scenario that comes by the API names no files";
            let help = "write its rates as [[link.change]], or have the command read the scenario \
                        by its option --scenario";
            let error = ScenarioError::new(format!("link[{link}].trace"), what).help(help);
            return Err(wrong(error.located(text)));
        }
        let seed = seed.unwrap_or(scenario.seed);
        Conditions::new(scenario, file.into(), seed, client, server)
    }

    fn new(
        scenario: Scenario,
        file: String,
        seed: u64,
        client: Option<&str>,
        server: Option<&str>,
    ) -> Result<Conditions, Error> {
        let nodes = [client.unwrap_or(CLIENT), server.unwrap_or(SERVER)].map(String::from);
        let (direction, toxicity, reset_after) = (Way::Both, None, None);
        let conditions =
            Conditions { scenario, file, seed, nodes, direction, toxicity, reset_after };
        conditions.gateway()?;
        Ok(conditions)
    }

    /// The seed of the random numbers.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The same with random numbers of this seed.
    pub(crate) fn with_seed(&self, seed: u64) -> Conditions {
        Conditions { seed, ..self.clone() }
    }

    /// The same for this share of connections; each of those is reset so long after it began, or
    /// after the conditions came into force if that was later.
    pub(crate) fn holding(
        self,
        toxicity: Option<Probability>,
        reset_after: Option<Duration>,
    ) -> Conditions {
        Conditions { toxicity, reset_after: reset_after.map(|time| time.0), ..self }
    }

    /// The share of connections for which they hold.
    pub(crate) fn toxicity(&self) -> f64 {
        self.toxicity.map_or(1.0, Probability::get)
    }

    /// How long such a connection lasts at most.
    pub(crate) fn reset_after(&self) -> Option<Span> {
        self.reset_after
    }

    /// The same between other nodes.
    pub(crate) fn between(
        &self,
        client: Option<&str>,
        server: Option<&str>,
    ) -> Result<Conditions, Error> {
        Conditions::new(self.scenario.clone(), self.file.clone(), self.seed, client, server)
    }

    /// Whether what the clients' host sends crosses the links, and what the servers' host sends.
    pub(crate) fn takes(&self) -> [bool; 2] {
        [self.direction != Way::Down, self.direction != Way::Up]
    }

    /// The links at time zero, and the nodes of clients and server.
    pub(crate) fn gateway(&self) -> Result<(Gateway, [NodeId; 2]), Error> {
        let file = &self.file;
        let mut gateway = Gateway::new(&self.scenario, self.seed)
            .map_err(|error| Error::Scenario { file: file.clone(), error })?;
        let find = |name: &str, key: &'static str| {
            gateway.node(name).ok_or_else(|| {
                if gateway.node_names().is_empty() {
                    let text = format!("{file} has no nodes; write a [[link]] between two of them");
                    return Error::setting(key, text);
                }
                let names = gateway.node_list();
                let who = if key == "client" { "clients are" } else { "server is" };
                let text = format!(
                    "there is no node `{name}`; {file} has {names}: name the one that the {who} at"
                );
                Error::setting(key, text)
            })
        };
        let ends = [find(&self.nodes[0], "client")?, find(&self.nodes[1], "server")?];
        for (from, to) in [(0, 1), (1, 0)] {
            if !gateway.has_route(ends[from], ends[to]) {
                let (from, to) = (&self.nodes[from], &self.nodes[to]);
                return Err(Error::Usage(format!(
                    "{file}: no links lead from `{from}` to `{to}`; connections need both ways"
                )));
            }
        }
        Ok((gateway, ends))
    }
}

impl Simple {
    fn link(&self) -> Result<Link, Error> {
        let wrong = |key, text: &str| Err(Error::setting(key, text));
        let rate = match self.rate {
            Some(Rate(0)) => {
                return wrong("rate", "0 lets nothing pass; leave it out for no limit");
            }
            rate => rate.unwrap_or(NO_RATE),
        };
        let mut link = Link::new(CLIENT, SERVER, rate, self.delay);
        let packets = match (self.rate, self.queue) {
            (_, Some(0)) => return wrong("queue", "at least 1 packet"),
            (None, Some(_)) => return wrong("queue", "nothing waits without a rate"),
            (None, None) => NO_LIMIT,
            (Some(_), packets) => packets.unwrap_or(QUEUE),
        };
        link.queue = Some(Queue::Droptail(DropTail::packets(packets)));
        link.jitter = self.jitter.filter(|jitter| jitter.0 > Span::ZERO);
        match (self.loss, self.burst) {
            (None, Some(_)) => return wrong("burst", "needs a loss, the share that is lost"),
            (None, None) => {}
            (Some(p), None) => {
                let direction = Direction::Data;
                link.loss.push(Loss::Bernoulli(Bernoulli { p, direction, flow: None }));
            }
            (Some(loss), Some(burst)) => link.loss.push(bursts(loss.get(), burst)?),
        }
        if let Some(Late { p, by }) = self.reorder {
            let mut reorder = Reorder::new(by);
            reorder.p = Some(p);
            link.reorder = Some(reorder);
        }
        Ok(link)
    }
}

/// Losses in bursts whose mean length is `burst`, so that a share of `loss` is lost: all packets in
/// the bad state, none in the good one. A visit to the bad state lasts 1/r packets on average, and
/// p / (p + r) of all packets meet it (Gilbert 1960).
fn bursts(loss: f64, burst: f64) -> Result<Loss, Error> {
    let r = 1.0 / burst;
    let p = r * loss / (1.0 - loss);
    let probabilities = (Probability::new(p), Probability::new(r));
    let (Some(p), Some(r), true) = (probabilities.0, probabilities.1, burst.is_finite()) else {
        let text = format!(
            "{burst} packets in a row cannot be {}% of all; a burst has at least 1 packet, and \
             between two of them at least one arrives",
            loss * 100.0
        );
        return Err(Error::setting("burst", text));
    };
    let (loss_good, loss_bad) = (Probability::default(), None);
    let direction = Direction::Data;
    Ok(Loss::GilbertElliott(GilbertElliott { p, r, loss_good, loss_bad, direction, flow: None }))
}
