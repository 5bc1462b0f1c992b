//! The simulated network's links for packets from outside.
//!
//! A [`Gateway`] has the nodes and links of a scenario, and no flows of its own: a driver enters packets at one node and gets
//! them back, at the time at which they reach another one, or as lost. Links, queues, losses and random numbers are those of a
//! [`Network`](crate::Network) of the same scenario and seed, so that the same packets at the same times meet the same fate.
//! Time is the driver's: real or virtual, counted from its own start.

mod follow;
mod headers;

use std::collections::{HashMap, VecDeque};

use ackclock_tcp::Time;

use crate::config::{LinkId, NodeId};
use crate::engine::DELIVER;
use crate::heap::{Heap, Key, Kind};
use crate::link::{Fate, InFlight, Link};
use crate::packet::Packet;
use crate::report::LinkReport;
use crate::rng::Rng;
use crate::scenario::{BuiltLink, Names, Scenario, ScenarioError, check};
use crate::topology::Topology;
use follow::{Ack, Flows, Settings};
pub use headers::{Headers, TcpHeader};

/// The links of a scenario for packets from outside.
///
/// The contract: time never goes backwards; after every input, and at [`Gateway::next_deadline`] or as soon after it as
/// possible, [`Gateway::poll`] is called until it returns `None`. A call that comes late changes neither the fate nor the
/// [`Exit::at`] of any packet.
pub struct Gateway {
    names: Names,
    links: Vec<Link>,
    built: Vec<BuiltLink>,
    /// The links of each way, ended by `DELIVER`.
    paths: Vec<u32>,
    /// Where the ways found so far stand in `paths`.
    ways: HashMap<(NodeId, NodeId), Option<u32>>,
    heap: Heap,
    flows: Flows,
    held: Vec<Held>,
    free: Vec<u32>,
    /// What has left and is still to be told.
    exits: VecDeque<Exit>,
    /// For the bits that are flipped.
    rng: Rng,
    now: u64,
}

/// What is known of a packet that has been entered.
#[derive(Clone, Copy, Debug)]
struct Held {
    token: u64,
    to: NodeId,
    /// Its bytes, as its driver knows them.
    len: u32,
    /// How many copies of it are under way.
    copies: u32,
    ack: Option<Ack>,
}

/// A packet leaves the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// As given to [`Gateway::enter`].
    pub token: u64,
    /// When.
    pub at: Time,
    /// No copy of it is under way any more.
    pub last: bool,
    /// How.
    pub outcome: Outcome,
}

/// How a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It reaches a node.
    Delivered {
        /// The node.
        node: NodeId,
        /// The bit to flip before it is handed over, counted from the packet's first one (the highest of its first byte).
        flip: Option<u32>,
    },
    /// A link drops it.
    Dropped {
        /// The link.
        link: LinkId,
        /// Why: `queue`, `early`, or a loss model.
        why: &'static str,
    },
}

impl Gateway {
    /// The nodes and links of a scenario in the run `seed`, at time zero.
    ///
    /// # Errors
    /// As [`Scenario::check`].
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Gateway, ScenarioError> {
        let names = check(scenario)?;
        let (network, built) = scenario.build_links(&names, seed);
        let links = network.into_links().map_err(|error| scenario.explain(&error))?;
        let settings = scenario.flows.iter().flat_map(|flow| {
            let settings = Settings::new(&flow.tcp.or(&scenario.tcp));
            std::iter::repeat_n(settings, flow.count as usize)
        });
        let settings: Vec<Settings> = settings.collect();
        let others = names.flows.len() - settings.len();
        Ok(Gateway {
            names,
            links,
            built,
            paths: Vec::new(),
            ways: HashMap::new(),
            heap: Heap::default(),
            flows: Flows::new(settings, others, Settings::new(&scenario.tcp)),
            held: Vec::new(),
            free: Vec::new(),
            exits: VecDeque::new(),
            rng: Rng::new(seed, "gateway flip"),
            now: 0,
        })
    }

    /// The node of this name.
    pub fn node(&self, name: &str) -> Option<NodeId> {
        self.names.node(name).map(NodeId)
    }

    /// The names of the nodes, in the order of their numbers.
    pub fn node_names(&self) -> &[String] {
        &self.names.nodes
    }

    /// Whether links lead from one node to another one.
    pub fn has_route(&mut self, from: NodeId, to: NodeId) -> bool {
        self.way(from, to).is_some()
    }

    /// A packet arrives at `from` and is to go to `to`. `token` names it to the driver. What becomes of it is for
    /// [`Gateway::poll`] to tell; returns false if there is no way, and then nothing has happened.
    pub fn enter(&mut self, now: Time, from: NodeId, to: NodeId, headers: &Headers, token: u64) -> bool {
        let Some(hop) = self.way(from, to) else { return false };
        self.now = self.now.max(now.0);
        while let Some(key) = self.heap.peek().filter(|key| key.time() < self.now) {
            let exit = self.step(key);
            self.exits.extend(exit);
        }
        let (packet, ack) = self.flows.enter(headers);
        let held = Held { token, to, len: headers.len, copies: 1, ack };
        let options = match self.free.pop() {
            Some(at) => {
                self.held[at as usize] = held;
                at
            }
            None => {
                self.held.push(held);
                self.held.len() as u32 - 1
            }
        };
        let exit = self.forward(self.now, &Packet { hop, options, ..packet });
        self.exits.extend(exit);
        true
    }

    /// The next packet that has left by `now`, in the order of time.
    pub fn poll(&mut self, now: Time) -> Option<Exit> {
        self.now = self.now.max(now.0);
        while self.exits.is_empty() {
            let key = self.heap.peek().filter(|key| key.time() <= self.now)?;
            let exit = self.step(key);
            self.exits.extend(exit);
        }
        self.exits.pop_front()
    }

    /// When something happens next; [`Time::NEVER`] if nothing is under way.
    pub fn next_deadline(&mut self) -> Time {
        if !self.exits.is_empty() {
            return Time(self.now);
        }
        self.heap.peek().map_or(Time::NEVER, |key| Time(key.time()))
    }

    /// Packets that have been entered and have not left.
    pub fn under_way(&self) -> usize {
        self.held.len() - self.free.len()
    }

    /// Follows a packet past the links.
    #[cfg(test)]
    pub(crate) fn note(&mut self, headers: &Headers) {
        self.flows.enter(headers);
    }

    /// The nodes at the two ends of a link, the one where packets enter first.
    pub fn link_ends(&self, link: LinkId) -> Option<(NodeId, NodeId)> {
        self.links.get(link.0 as usize).map(|link| (NodeId(link.from), NodeId(link.to)))
    }

    /// The links, each direction by itself, with what became of their packets by `now`.
    pub fn link_reports(&self, now: Time) -> impl Iterator<Item = (BuiltLink, LinkReport)> {
        let now = self.now.max(now.0);
        self.built.iter().map(move |&built| (built, self.links[built.id.0 as usize].report(now)))
    }

    /// The first thing under way, which has this key, happens.
    fn step(&mut self, key: Key) -> Option<Exit> {
        self.heap.take();
        let packet = self.links[key.index()].take(key.kind() == Kind::Late, &mut self.heap)?;
        match self.paths[packet.hop as usize] {
            DELIVER => Some(self.deliver(key.time(), &packet)),
            _ => self.forward(key.time(), &packet),
        }
    }

    /// A packet enters the link at its hop.
    fn forward(&mut self, now: u64, packet: &Packet) -> Option<Exit> {
        let index = self.paths[packet.hop as usize];
        let link = &mut self.links[index as usize];
        let (arrival, fate) = match link.admit_if_idle(now, packet.size) {
            Some(arrival) => (arrival, Fate::default()),
            None => match link.admit(now, packet, || self.flows.mss(packet.flow)) {
                Ok(arrival) => (arrival, link.fate()),
                Err(why) => {
                    let outcome = Outcome::Dropped { link: LinkId(index), why };
                    return Some(self.exit(now, packet, outcome));
                }
            },
        };
        let key = Key::new(arrival, now, if fate.late { Kind::Late } else { Kind::Wire }, index);
        let packet = Packet { hop: packet.hop + 1, corrupt: packet.corrupt || fate.corrupt, ..*packet };
        link.put(InFlight { key, packet }, fate.late, &mut self.heap);
        if fate.twice {
            self.held[packet.options as usize].copies += 1;
            link.put(InFlight { key, packet: Packet { copy: true, ..packet } }, fate.late, &mut self.heap);
        }
        None
    }

    /// A packet reaches its node.
    fn deliver(&mut self, now: u64, packet: &Packet) -> Exit {
        let Held { to, len, ack, .. } = self.held[packet.options as usize];
        let flip = packet.corrupt.then(|| (self.rng.unit() * 8.0 * f64::from(len)) as u32);
        if let (Some(ack), None) = (&ack, flip) {
            self.flows.left(packet.flow, ack);
        }
        self.exit(now, packet, Outcome::Delivered { node: to, flip })
    }

    fn exit(&mut self, now: u64, packet: &Packet, outcome: Outcome) -> Exit {
        let held = &mut self.held[packet.options as usize];
        held.copies -= 1;
        let last = held.copies == 0;
        if last {
            self.free.push(packet.options);
        }
        Exit { token: held.token, at: Time(now), last, outcome }
    }

    /// Where the way from one node to another one stands in `paths`.
    fn way(&mut self, from: NodeId, to: NodeId) -> Option<u32> {
        if let Some(&way) = self.ways.get(&(from, to)) {
            return way;
        }
        let nodes = self.names.nodes.len();
        let there = (from.0 as usize) < nodes && (to.0 as usize) < nodes && from != to;
        let route = there.then(|| {
            let ends: Vec<(u32, u32)> = self.links.iter().map(|link| (link.from, link.to)).collect();
            Topology::new(nodes, &ends).route(from.0, to.0)
        });
        let way = route.flatten().map(|route| {
            let begin = self.paths.len() as u32;
            self.paths.extend(route);
            self.paths.push(DELIVER);
            begin
        });
        self.ways.insert((from, to), way);
        way
    }
}

#[cfg(test)]
mod tests;
