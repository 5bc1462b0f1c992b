//! The simulated network's links for packets from outside.
//!
//! A [`Gateway`] has the nodes and links of a scenario, and no flows of its own. A driver enters
//! packets at one node. It gets each of them back when it reaches another node, or as lost. Links,
//! queues, losses and random numbers are those of a [`Network`](crate::Network) of the same
//! scenario and seed, so that the same packets at the same times meet the same fate. Time is the
//! driver's: real or virtual, counted from its own start.

mod direction;
mod flow_table;
mod headers;
mod under_way;

use std::collections::{HashMap, VecDeque};

use ackclock_tcp::{Codepoint, Span, Time};

use crate::heap::{Heap, Key, Kind};
use crate::idle::IdlePaths;
use crate::ids::{LinkId, NodeId};
use crate::link::{Effects, Link, Served, Wires};
use crate::packet::Packet;
use crate::paths::{Hop, Paths};
use crate::recorder::Visit;
use crate::report::LinkReport;
use crate::rng::Rng;
use crate::scenario::{BuiltLink, Names, Scenario, ScenarioError, check};
use crate::topology::Topology;
use crate::visits::{Visits, waiting};
use direction::Ack;
use flow_table::{FlowTable, Settings};
pub use headers::{Headers, TcpHeader};
pub use under_way::{TRIM, UnderWay, flip};

/// The links of a scenario for packets from outside.
///
/// The contract: time never goes backwards. After every input, and at [`Gateway::next_deadline`] or
/// as soon after it as possible, the driver calls [`Gateway::poll`] until it returns `None`. A call
/// that comes late changes neither the fate nor the [`Exit::at`] of any packet.
pub struct Gateway {
    names: Names,
    links: Vec<Link>,
    built: Vec<BuiltLink>,
    paths: Paths,
    /// Where the paths found so far begin in `paths`; `None` if no links lead there.
    routes: HashMap<(NodeId, NodeId), Option<u32>>,
    heap: Heap,
    wires: Wires,
    flows: FlowTable,
    entered: Vec<Entered>,
    /// Free places in `entered`.
    free: Vec<u32>,
    /// What has left and is still to be polled.
    exits: VecDeque<Exit>,
    /// Of the links' queues, if somebody watches.
    visits: Visits,
    /// For the bits that are flipped.
    rng: Rng,
    now: u64,
}

/// Room that a gateway with no packet under way keeps, in packets.
const KEPT: usize = 1024;

/// A packet that has been entered and has not left.
#[derive(Clone, Copy, Debug)]
struct Entered {
    token: u64,
    to: NodeId,
    /// Bytes of the packet, as its driver knows it.
    len: u32,
    /// How many copies of it are under way.
    copies: u32,
    ack: Option<Ack>,
}

/// A packet leaves the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

/// The nodes that a link joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkEnds {
    /// Where packets enter.
    pub from: NodeId,
    /// Where they leave.
    pub to: NodeId,
}

/// How a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It reaches a node.
    Delivered {
        /// The node.
        node: NodeId,
        /// The bit to flip before it is handed over, counted from the packet's first one (the
        /// highest of its first byte).
        flip: Option<u32>,
        /// Its ECN field is to say CE ([`ackclock_tcp::wire::ip::mark`]), as a queue marked it.
        marked: bool,
    },
    /// A link drops it.
    Dropped {
        /// The link.
        link: LinkId,
        /// Why: `queue`, `early`, `outage`, or a loss model.
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
        scenario.check_traces()?;
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
            paths: Paths::default(),
            routes: HashMap::new(),
            heap: Heap::default(),
            wires: Wires::default(),
            flows: FlowTable::new(settings, others, Settings::new(&scenario.tcp)),
            entered: Vec::new(),
            free: Vec::new(),
            exits: VecDeque::new(),
            visits: Visits::default(),
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

    /// The first 20 of them, for whoever names one that is not there.
    pub fn node_list(&self) -> String {
        let names = self.node_names().iter().take(20).map(|name| format!("`{name}`"));
        names.collect::<Vec<_>>().join(", ")
    }

    /// Whether links lead from one node to another one.
    pub fn has_route(&mut self, from: NodeId, to: NodeId) -> bool {
        self.path(from, to).is_some()
    }

    /// How long a packet of `size` bytes takes from one node to another on links on which nothing
    /// else is under way; `None` if no links lead there.
    pub fn idle_time(&self, from: NodeId, to: NodeId, size: u32) -> Option<Span> {
        let mut idle = IdlePaths::new(self.names.nodes.len(), &self.links);
        idle.one_way(from.0, to.0, size).map(Span)
    }

    /// A packet arrives at `from` and is to go to `to`. `token` names it to the driver.
    /// [`Gateway::poll`] returns what becomes of it. Returns false if no links lead to `to`; then
    /// nothing has happened.
    pub fn enter(
        &mut self,
        now: Time,
        from: NodeId,
        to: NodeId,
        headers: &Headers,
        token: u64,
    ) -> bool {
        let Some(hop) = self.path(from, to) else { return false };
        self.now = self.now.max(now.0);
        // A transmitter is done with what is due before anything comes at that time.
        let now = self.now;
        let first =
            |key: &Key| key.time() < now || key.time() == now && key.kind() == Kind::Transmitter;
        while let Some(key) = self.heap.peek().filter(first) {
            let exit = self.step(key);
            self.exits.extend(exit);
        }
        let (packet, ack) = self.flows.enter(headers);
        let entered = Entered { token, to, len: headers.len, copies: 1, ack };
        let options = match self.free.pop() {
            Some(at) => {
                self.entered[at as usize] = entered;
                at
            }
            None => {
                self.entered.push(entered);
                self.entered.len() as u32 - 1
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
        self.entered.len() - self.free.len()
    }

    /// From now on the gateway keeps the visits of packets at the queues of links, until
    /// [`Gateway::take_visits`].
    pub fn watch_queues(&mut self) {
        self.visits.watch(&mut self.links);
    }

    /// The visits that have become known since the last call, as recorders of a network get them
    /// ([`Recorder::queue`](crate::Recorder::queue)).
    pub fn take_visits(&mut self) -> impl Iterator<Item = (LinkId, Visit)> {
        self.visits.drain()
    }

    /// The visits of packets that wait at links where that is not known as they come.
    pub fn waiting(&self) -> impl Iterator<Item = (LinkId, Visit)> {
        waiting(&self.links, self.now)
    }

    /// The links that the scenario has, each direction by itself.
    pub fn links(&self) -> &[BuiltLink] {
        &self.built
    }

    /// Counts a packet that goes past the links.
    #[cfg(test)]
    pub(crate) fn note(&mut self, headers: &Headers) {
        self.flows.enter(headers);
    }

    /// The nodes at the two ends of a link; `None` if there is no such link.
    pub fn link_ends(&self, link: LinkId) -> Option<LinkEnds> {
        let link = self.links.get(link.0 as usize)?;
        Some(LinkEnds { from: NodeId(link.from), to: NodeId(link.to) })
    }

    /// The links, each direction by itself, with what became of their packets by `now`.
    pub fn link_reports(&self, now: Time) -> impl Iterator<Item = (BuiltLink, LinkReport)> {
        let now = self.now.max(now.0);
        self.built.iter().map(move |&built| (built, self.links[built.id.0 as usize].report(now)))
    }

    /// The first thing under way, which has this key, happens.
    fn step(&mut self, key: Key) -> Option<Exit> {
        if key.kind() == Kind::Transmitter {
            self.transmitter_due(key);
            return None;
        }
        let packet = self.links[key.index()].take(key, &mut self.heap, &mut self.wires)?;
        match self.paths.at(packet.hop) {
            Hop::HOST => Some(self.deliver(key.time(), &packet)),
            _ => self.forward(key.time(), &packet),
        }
    }

    /// A packet enters the link at its hop.
    fn forward(&mut self, now: u64, packet: &Packet) -> Option<Exit> {
        let index = self.paths.at(packet.hop).link() as u32;
        let link = &mut self.links[index as usize];
        if link.is_served() {
            let admitted = link.admit_served(now, packet, || self.flows.mss(packet.flow));
            self.visits.take_of(index, link);
            if let Err(why) = admitted {
                let outcome = Outcome::Dropped { link: LinkId(index), why };
                return Some(self.exit(now, packet, outcome));
            }
            self.note_transmitter(index);
            return None;
        }
        let (arrival, effects) = match link.admit_if_idle(now, packet.size) {
            Some(arrival) => (arrival, Effects::default()),
            None => {
                let mss = || self.flows.mss(packet.flow);
                match self.visits.admit((index, &mut *link), now, packet, mss) {
                    Ok(arrival) => (arrival, link.effects()),
                    Err(why) => {
                        let outcome = Outcome::Dropped { link: LinkId(index), why };
                        return Some(self.exit(now, packet, outcome));
                    }
                }
            }
        };
        self.put(index, (arrival, now), packet, effects);
        None
    }

    /// Something is due at a link's transmitter, or was.
    fn transmitter_due(&mut self, key: Key) {
        let (now, index) = (key.time(), key.index() as u32);
        self.heap.take();
        self.links[index as usize].advance_transmitter(now);
        loop {
            match self.links[index as usize].next_served(now, |flow| self.flows.mss(flow)) {
                None => break,
                Some(Served::Leaves { packet, arrival, effects }) => {
                    self.put(index, (arrival, now), &packet, effects);
                }
                Some(Served::Dropped { packet, why }) => {
                    let outcome = Outcome::Dropped { link: LinkId(index), why };
                    let exit = self.exit(now, &packet, outcome);
                    self.exits.push_back(exit);
                }
            }
        }
        self.visits.take_of(index, &mut self.links[index as usize]);
        self.note_transmitter(index);
    }

    fn note_transmitter(&mut self, index: u32) {
        if let Some(due) = self.links[index as usize].transmitter_due() {
            self.heap.push(Key::transmitter(due, index));
        }
    }

    /// Puts a packet on the wire of the link at its hop.
    fn put(&mut self, index: u32, (arrival, now): (u64, u64), packet: &Packet, effects: Effects) {
        let link = &mut self.links[index as usize];
        let key = Key::new(arrival, now, if effects.late { Kind::Late } else { Kind::Wire }, index);
        let mut packet =
            Packet { hop: packet.hop + 1, corrupt: packet.corrupt || effects.corrupt, ..*packet };
        if effects.marked {
            packet.mark();
        }
        link.put(key, &packet, effects.late, &mut self.heap, &mut self.wires);
        if effects.twice {
            self.entered[packet.options as usize].copies += 1;
            let copy = Packet { copy: true, ..packet };
            link.put(key, &copy, effects.late, &mut self.heap, &mut self.wires);
        }
    }

    /// A packet reaches its node.
    fn deliver(&mut self, now: u64, packet: &Packet) -> Exit {
        let Entered { to, len, ack, .. } = self.entered[packet.options as usize];
        let flip = packet.corrupt.then(|| (self.rng.unit() * 8.0 * f64::from(len)) as u32);
        if let (Some(ack), None) = (&ack, flip) {
            self.flows.acknowledged(packet.flow, ack);
        }
        let marked = packet.ecn.codepoint() == Codepoint::Ce;
        self.exit(now, packet, Outcome::Delivered { node: to, flip, marked })
    }

    fn exit(&mut self, now: u64, packet: &Packet, outcome: Outcome) -> Exit {
        let entered = &mut self.entered[packet.options as usize];
        entered.copies -= 1;
        let (token, last) = (entered.token, entered.copies == 0);
        if last {
            self.free.push(packet.options);
            if self.free.len() == self.entered.len() && self.free.len() > KEPT {
                // What a burst took is given back.
                (self.entered, self.free, self.wires) = Default::default();
            }
        }
        Exit { token, at: Time(now), last, outcome }
    }

    /// Where the path from one node to another one begins in `paths`.
    fn path(&mut self, from: NodeId, to: NodeId) -> Option<u32> {
        if let Some(&path) = self.routes.get(&(from, to)) {
            return path;
        }
        let nodes = self.names.nodes.len();
        let there = (from.0 as usize) < nodes && (to.0 as usize) < nodes && from != to;
        let route = there.then(|| {
            let ends = self.links.iter().map(|link| (link.from, link.to)).collect();
            Topology::new(nodes, ends).route(from.0, to.0)
        });
        let path = route.flatten().map(|route| self.paths.add(route));
        self.routes.insert((from, to), path);
        path
    }
}

#[cfg(test)]
mod tests;
