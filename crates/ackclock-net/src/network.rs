//! A network as its user sees it: nodes, links and flows are added, then it runs.

use std::collections::{HashMap, HashSet};

use ackclock_tcp::recovery::detect::Notices;
use ackclock_tcp::strategy::Axis;
use ackclock_tcp::{Sender, State, Time};

use crate::config::{CbrConfig, Ends, FlowConfig, LinkConfig, Processor};
use crate::connections::Connections;
use crate::error::Error;
use crate::flow::{Agent, Established, Flow};
use crate::heap::{Key, Kind};
use crate::idle::IdlePaths;
use crate::ids::{FlowId, LinkId, NodeId};
use crate::link::Link;
use crate::loss::ListedLoss;
use crate::packet_size::PacketSizes;
use crate::paths::Paths;
use crate::recorder::Recorder;
use crate::report::{FlowReport, LinkReport};
use crate::rng::Rng;
use crate::simulator::Simulator;
use crate::topology::Topology;
use crate::traffic::{Cbr, Writer};
use crate::visits::waiting;
use crate::{lookahead, validate};

/// A network of hosts, routers, links and flows.
///
/// The same calls with the same seed give the same run, to the last bit, on every machine. At the
/// same time, packets come first, then timers, then sources. Of packets, the one that was put onto
/// its link first comes first. What is still equal goes by the order in which links and flows were
/// added.
pub struct Network {
    seed: u64,
    now: u64,
    /// Their names; empty once the network runs.
    nodes: Vec<Box<str>>,
    simulator: Simulator,
    /// Nothing may be added any more.
    started: bool,
    /// The first thing found wrong while the network was built.
    invalid: Option<Error>,
    /// Packets may move ahead of the clock ([`lookahead`]).
    lookahead: bool,
}

/// The two directions of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplex {
    /// The direction that was described.
    pub there: LinkId,
    /// Its mirror image.
    pub back: LinkId,
}

impl Network {
    /// An empty network at time zero.
    pub fn new(seed: u64) -> Self {
        Network {
            seed,
            now: 0,
            nodes: Vec::new(),
            simulator: Simulator::default(),
            started: false,
            invalid: None,
            lookahead: true,
        }
    }

    /// Room for so many links and flows more. Lists that grow by themselves hold an old copy beside
    /// the new one.
    pub(crate) fn reserve(&mut self, links: usize, flows: usize) {
        self.simulator.links.reserve_exact(links);
        self.simulator.flows.reserve_exact(flows);
    }

    /// Adds a host or router. Names must differ: they name the random numbers of the links.
    pub fn node(&mut self, name: &str) -> NodeId {
        self.nodes.push(name.into());
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds one direction of a link.
    pub fn link(&mut self, config: LinkConfig) -> LinkId {
        let id = self.simulator.links.len() as u32;
        let name = self.link_name(&config);
        let problem = validate::link(&config, self.nodes.len()).or(Self::too_many(id));
        self.note(problem, || format!("link {name}"));
        self.simulator.links.push(Link::new(config, self.seed, &name));
        LinkId(id)
    }

    /// Adds a link and its mirror image with the same settings.
    pub fn duplex(&mut self, config: LinkConfig) -> Duplex {
        let back = LinkConfig { from: config.to, to: config.from, ..config.clone() };
        Duplex { there: self.link(config), back: self.link(back) }
    }

    /// Gives a host a processor that takes time for each packet that the host sends or receives.
    /// What it forwards, and loss notices, take none. A host has one processor at most.
    pub fn processor(&mut self, host: NodeId, processor: Processor) {
        let id = self.simulator.links.len() as u32;
        let is_one = |link: &Link| link.from == host.0 && link.processor.is_some();
        let problem = if host.0 as usize >= self.nodes.len() {
            Some("there is no such node")
        } else if self.simulator.links.iter().any(is_one) {
            Some("it has one already")
        } else {
            Self::too_many(id)
        };
        self.note(problem, || format!("processor of node {}", host.0));
        self.simulator.links.push(Link::processor(host, processor));
    }

    /// Adds a connection.
    pub fn flow(&mut self, config: FlowConfig) -> FlowId {
        let problem = validate::flow(&config, self.nodes.len());
        let rng = || Rng::new(self.seed, &format!("flow {} source", config.name));
        let start = config.start.0;
        let writer = Writer::new(config.source, start, rng);
        let next_write = writer.first(start);
        let total = writer.total();
        // The handshake has ended as the flow starts. Both ends echo its timestamp first.
        let handshake = config.start.timestamp();
        let FlowConfig { mss, header, ack_size, count_options, .. } = config;
        let sizes = PacketSizes { mss, header, ack_size, count_options };
        let agent = match config.ends {
            Ends::Established { sender, mut receiver } => Agent::Established(Established {
                sender,
                receiver: {
                    receiver.set_ts_recent(Some(handshake));
                    receiver
                },
                ts_recent: handshake,
                sender_timer: u64::MAX,
                receiver_timer: u64::MAX,
                writer,
                total,
                sizes,
            }),
            Ends::Handshake { client, server } => {
                Agent::Handshake(Box::new(Connections::new(client, server, writer, sizes)))
            }
        };
        let stop = config.stop.unwrap_or(Time::NEVER).0;
        let flow = Flow::new(agent, config.from.0, config.to.0, start, stop);
        self.add_flow(&config.name, problem, Flow { next_write, ..flow })
    }

    /// Adds a CBR stream.
    pub fn cbr(&mut self, config: CbrConfig) -> FlowId {
        let problem = validate::cbr(&config, self.nodes.len());
        let rng = || Rng::new(self.seed, &format!("flow {} dither", config.name));
        let agent = Agent::Cbr(Box::new(Cbr::new(&config, rng)));
        let (start, stop) = (config.start.0, config.stop.unwrap_or(Time::NEVER).0);
        let flow = Flow::new(agent, config.from.0, config.to.0, start, stop);
        self.add_flow(&config.name, problem, Flow { next_write: start, ..flow })
    }

    fn add_flow(&mut self, name: &str, problem: Option<&'static str>, flow: Flow) -> FlowId {
        let id = self.simulator.flows.len() as u32;
        let problem = problem.or(Self::too_many(id));
        self.note(problem, || format!("flow {name}"));
        self.simulator.flows.push(flow);
        FlowId(id)
    }

    /// Runs until `until`, events at that time included. May be called again with a later time.
    /// With an earlier one it does nothing.
    ///
    /// # Errors
    /// When a flow has no route, or a setting is out of its range: nothing has happened then. When
    /// a mechanism asks for a time that has passed again and again ([`Error::Stands`]).
    pub fn run<R: Recorder>(&mut self, until: Time, recorder: &mut R) -> Result<(), Error> {
        if let Some(error) = &self.invalid {
            return Err(error.clone());
        }
        if !self.started {
            self.start()?;
        }
        self.now = self.now.max(until.0);
        self.simulator.until = self.now;
        if recorder.wants_queues() {
            self.simulator.visits.watch(&mut self.simulator.links);
        }
        let lookahead = self.lookahead
            && !recorder.wants_events()
            && !recorder.wants_packets()
            && !recorder.wants_queues()
            && !self.simulator.links.iter().any(Link::is_served)
            && self.simulator.flows.iter().all(|flow| flow.notified == Notices::Never);
        self.simulator.lookahead_until = if lookahead { self.now.saturating_add(1) } else { 0 };
        self.simulator.run(recorder);
        if let Some((index, now)) = self.simulator.stands {
            let flow = FlowId(index as u32);
            let waits_for = self.sender(flow).and_then(Sender::waits_for);
            let axis = waits_for.unwrap_or(Axis::Timer);
            let error = Error::Stands { flow, axis, mechanisms: Vec::new(), at: Time(now) };
            self.invalid = Some(error.clone());
            return Err(error);
        }
        Ok(())
    }

    /// Has a recorder see the packets that wait, at links where that is not known as they come
    /// ([`Visit::waits`](crate::Visit::waits)): what is missing once the last run has ended.
    pub fn waiting<R: Recorder>(&self, recorder: &mut R) {
        waiting(&self.simulator.links, self.now)
            .for_each(|(link, visit)| recorder.queue(link, &visit));
    }

    /// What became of a flow so far; `None` if there is no such flow.
    pub fn flow_report(&self, flow: FlowId) -> Option<FlowReport> {
        Some(self.simulator.flows.get(flow.0 as usize)?.report(self.now))
    }

    /// What became of all flows, in the order of their numbers. The memory of links is given back
    /// first, and that of a flow with its report.
    pub(crate) fn into_flow_reports(self) -> impl Iterator<Item = FlowReport> {
        let Network { now, simulator: Simulator { flows, .. }, .. } = self;
        flows.into_iter().map(move |flow| flow.report(now))
    }

    /// The state of a flow's sender; `None` if there is no such flow, if it is a CBR stream, or if
    /// its connection has not been opened yet.
    pub fn sender_state(&self, flow: FlowId) -> Option<&State> {
        self.sender(flow).map(Sender::state)
    }

    fn sender(&self, flow: FlowId) -> Option<&Sender> {
        match &self.simulator.flows.get(flow.0 as usize)?.agent {
            Agent::Established(tcp) => Some(&tcp.sender),
            Agent::Handshake(connections) => Some(connections.client()?.sender()),
            Agent::Cbr(_) => None,
        }
    }

    /// What became of the packets of a link so far; `None` if there is no such link.
    pub fn link_report(&self, link: LinkId) -> Option<LinkReport> {
        Some(self.simulator.links.get(link.0 as usize)?.report(self.now))
    }

    /// The listed fates of a link that no packet has met so far, by their places in
    /// [`LinkConfig::fates`].
    pub fn unmet_fates(&self, link: LinkId) -> impl Iterator<Item = usize> {
        self.simulator.links.get(link.0 as usize).into_iter().flat_map(Link::unmet_fates)
    }

    /// The entries of a link's drop lists that no packet has met so far, each after the place of
    /// its list in [`LinkConfig::loss`].
    pub fn unmet_drops(&self, link: LinkId) -> impl Iterator<Item = (usize, ListedLoss)> {
        self.simulator.links.get(link.0 as usize).into_iter().flat_map(Link::unmet_drops)
    }

    /// The segments listed in [`LinkConfig::reorder`] that no packet has brought to a link so far.
    pub fn unmet_segments(&self, link: LinkId) -> impl Iterator<Item = u64> {
        self.simulator.links.get(link.0 as usize).into_iter().flat_map(Link::unmet_segments)
    }

    /// Whether packets move ahead of the clock where that cannot change the result (on by
    /// default). For tests of just that.
    #[doc(hidden)]
    pub fn lookahead(&mut self, on: bool) {
        self.lookahead = on;
    }

    /// A link's name: its ends, and which of the links between them it is. Adding other links later
    /// does not change it.
    fn link_name(&self, config: &LinkConfig) -> String {
        let name = |node: NodeId| self.nodes.get(node.0 as usize).map_or("?", |name| name);
        let ends = (config.from.0, config.to.0);
        // Only a link that draws random numbers needs its number, and counting takes time in large
        // networks.
        let nth = if Link::is_deterministic(config) {
            0
        } else {
            self.simulator.links.iter().filter(|link| (link.from, link.to) == ends).count()
        };
        format!("{}>{}#{nth}", name(config.from), name(config.to))
    }

    fn too_many(index: u32) -> Option<&'static str> {
        (index > Key::MAX_INDEX).then_some("there are too many")
    }

    fn note(&mut self, problem: Option<&'static str>, what: impl FnOnce() -> String) {
        if self.invalid.is_some() {
            return;
        }
        if self.started {
            self.invalid = Some(Error::Started);
        } else if let Some(problem) = problem {
            self.invalid = Some(Error::Invalid { what: what(), problem });
        }
    }

    /// Finds the routes and sets the sources going.
    fn start(&mut self) -> Result<(), Error> {
        let mut names = HashSet::new();
        if let Some(name) = self.nodes.iter().find(|name| !names.insert(&***name)) {
            return Err(Error::Invalid {
                what: format!("node {name}"),
                problem: "another node has this name",
            });
        }
        let mut paths = self.routes()?;
        let simulator = &mut self.simulator;
        lookahead::mark(&simulator.links, &mut simulator.flows, &mut paths);
        simulator.paths = paths;
        for (index, flow) in simulator.flows.iter().enumerate() {
            if flow.next_write != u64::MAX {
                simulator.heap.push(Key::new(
                    flow.next_write,
                    flow.next_write,
                    Kind::Source,
                    index as u32,
                ));
            }
        }
        self.started = true;
        self.nodes = Vec::new();
        Ok(())
    }

    /// How long packets take over the links added so far, with nothing else under way.
    pub(crate) fn idle_paths(&self) -> IdlePaths {
        IdlePaths::new(self.nodes.len(), &self.simulator.links)
    }

    /// Its state, for tests that look at endpoints.
    #[cfg(test)]
    pub(crate) fn simulator(&self) -> &Simulator {
        &self.simulator
    }

    /// The links of a network that has not run.
    pub(crate) fn into_links(self) -> Result<Vec<Link>, Error> {
        self.invalid.map_or(Ok(self.simulator.links), Err)
    }

    fn routes(&mut self) -> Result<Paths, Error> {
        let links = self.simulator.links.iter().map(|link| (link.from, link.to)).collect();
        let mut topology = Topology::new(self.nodes.len(), links);
        let mut paths = Paths::default();
        let is_processor = |(_, link): &(u32, &Link)| link.processor.is_some();
        let processors: HashMap<u32, u32> = (0..)
            .zip(&self.simulator.links)
            .filter(is_processor)
            .map(|(id, link)| (link.from, id))
            .collect();
        for flow in &mut self.simulator.flows {
            let mut add = |from: u32, to: u32| {
                let route = topology.route(from, to).ok_or_else(|| Error::NoRoute {
                    from: self.nodes[from as usize].to_string(),
                    to: self.nodes[to as usize].to_string(),
                })?;
                let of = |host| processors.get(&host).copied();
                Ok(paths.add(of(from).into_iter().chain(route).chain(of(to))))
            };
            flow.data_path = add(flow.from, flow.to)?;
            if !matches!(flow.agent, Agent::Cbr(_)) {
                flow.ack_path = add(flow.to, flow.from)?;
            }
        }
        Ok(paths)
    }
}

#[cfg(test)]
mod tests;
