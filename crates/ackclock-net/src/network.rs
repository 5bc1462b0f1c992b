//! A network as its user sees it: nodes, links and flows are added, then it runs.

use std::collections::HashSet;

use ackclock_tcp::Time;
use ackclock_tcp::axes::Told;

use crate::config::{CbrConfig, Ends, FlowConfig, FlowId, LinkConfig, LinkId, NodeId};
use crate::engine::{AHEAD, DELIVER, Engine};
use crate::error::Error;
use crate::flow::{Agent, Flow, Sizes, Tcp};
use crate::heap::{Key, Kind};
use crate::link::Link;
use crate::recorder::Recorder;
use crate::report::{FlowReport, LinkReport};
use crate::rng::Rng;
use crate::topology::Topology;
use crate::traffic::{Cbr, Writer};
use crate::validate;
use crate::whole::Connections;

/// A network of hosts, routers, links and flows.
///
/// The same calls with the same seed give the same run, to the last bit, on every machine. What happens at the same time
/// happens in this order: packets, the one that was put onto its link first before the others; timers; sources. What is
/// still equal goes by the order in which links and flows were added.
pub struct Network {
    seed: u64,
    now: u64,
    /// Names; let go once the network runs.
    nodes: Vec<Box<str>>,
    engine: Engine,
    /// Nothing may be added any more.
    started: bool,
    /// The first thing found wrong while the network was built.
    invalid: Option<Error>,
    /// Packets may be carried ahead of time.
    carry_ahead: bool,
}

impl Network {
    /// An empty network at time zero.
    pub fn new(seed: u64) -> Self {
        Network {
            seed,
            now: 0,
            nodes: Vec::new(),
            engine: Engine::default(),
            started: false,
            invalid: None,
            carry_ahead: true,
        }
    }

    /// Adds a host or router. Names must differ: they name the random numbers of the links.
    pub fn node(&mut self, name: &str) -> NodeId {
        self.nodes.push(name.into());
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Adds one direction of a link.
    pub fn link(&mut self, config: LinkConfig) -> LinkId {
        let id = self.engine.links.len() as u32;
        let name = self.link_name(&config);
        let problem = validate::link(&config, self.nodes.len()).or(Self::too_many(id));
        self.note(problem, || format!("link {name}"));
        self.engine.links.push(Link::new(config, self.seed, &name));
        LinkId(id)
    }

    /// Adds a link and its mirror image with the same settings; the first id is the direction of `config`.
    pub fn duplex(&mut self, config: LinkConfig) -> (LinkId, LinkId) {
        let back = LinkConfig { from: config.to, to: config.from, ..config.clone() };
        (self.link(config), self.link(back))
    }

    /// Adds a connection.
    pub fn flow(&mut self, config: FlowConfig) -> FlowId {
        let problem = validate::flow(&config, self.nodes.len());
        let rng = || Rng::new(self.seed, &format!("flow {} source", config.name));
        let start = config.start.0;
        let writer = Writer::new(config.source, start, rng);
        let next_write = writer.first(start);
        let total = writer.total();
        let FlowConfig { mss, header, ack_size, count_options, .. } = config;
        let sizes = Sizes { mss, header, ack_size, count_options };
        let agent = match config.ends {
            Ends::Established { sender, receiver } => Agent::Tcp(Tcp {
                sender,
                receiver,
                sender_timer: u64::MAX,
                receiver_timer: u64::MAX,
                writer,
                total,
                sizes,
            }),
            Ends::Whole(whole) => Agent::Whole(Box::new(Connections::new(*whole, writer, sizes))),
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
        let id = self.engine.flows.len() as u32;
        let problem = problem.or(Self::too_many(id));
        self.note(problem, || format!("flow {name}"));
        self.engine.flows.push(flow);
        FlowId(id)
    }

    /// Runs until `until`, events at that time included. May be called again with a later time; one that is not later
    /// does nothing.
    ///
    /// # Errors
    /// When a flow has no route or a setting is out of its range; nothing has happened then.
    pub fn run<R: Recorder>(&mut self, until: Time, recorder: &mut R) -> Result<(), Error> {
        if let Some(error) = &self.invalid {
            return Err(error.clone());
        }
        if !self.started {
            self.start()?;
        }
        self.now = self.now.max(until.0);
        self.engine.until = self.now;
        let told = self.engine.flows.iter().any(|flow| flow.told != Told::Never);
        let ahead = self.carry_ahead && !recorder.wants_events() && !recorder.wants_packets() && !told;
        self.engine.horizon = if ahead { self.now.saturating_add(1) } else { 0 };
        self.engine.run(recorder);
        Ok(())
    }

    /// What became of a flow so far; `None` if there is no such flow.
    pub fn flow_report(&self, flow: FlowId) -> Option<FlowReport> {
        Some(self.engine.flows.get(flow.0 as usize)?.report(self.now))
    }

    /// What became of the packets of a link so far; `None` if there is no such link.
    pub fn link_report(&self, link: LinkId) -> Option<LinkReport> {
        Some(self.engine.links.get(link.0 as usize)?.report(self.now))
    }

    /// Whether packets are carried ahead of the clock where that cannot change the result (on by default). For tests of
    /// just that.
    #[doc(hidden)]
    pub fn carry_ahead(&mut self, on: bool) {
        self.carry_ahead = on;
    }

    /// A name that does not change when other links are added: its ends, and which of the links between them it is.
    fn link_name(&self, config: &LinkConfig) -> String {
        let name = |node: NodeId| self.nodes.get(node.0 as usize).map_or("?", |name| name);
        let ends = (config.from.0, config.to.0);
        // Only what draws random numbers needs the number, and counting takes time in large networks.
        let nth = if Link::is_deterministic(config) {
            0
        } else {
            self.engine.links.iter().filter(|link| (link.from, link.to) == ends).count()
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
            return Err(Error::Invalid { what: format!("node {name}"), problem: "another node has this name" });
        }
        let paths = self.routes()?;
        let engine = &mut self.engine;
        engine.paths = paths;
        mark_ahead(engine);
        for (index, flow) in engine.flows.iter().enumerate() {
            if flow.next_write != u64::MAX {
                engine.heap.push(Key::new(flow.next_write, flow.next_write, Kind::Source, index as u32));
            }
        }
        self.started = true;
        self.nodes = Vec::new();
        Ok(())
    }

    /// The links of a network that has not run.
    pub(crate) fn into_links(self) -> Result<Vec<Link>, Error> {
        self.invalid.map_or(Ok(self.engine.links), Err)
    }

    fn routes(&mut self) -> Result<Vec<u32>, Error> {
        let links: Vec<(u32, u32)> = self.engine.links.iter().map(|link| (link.from, link.to)).collect();
        let mut topology = Topology::new(self.nodes.len(), &links);
        let mut paths = Vec::new();
        for flow in &mut self.engine.flows {
            let mut add = |from: u32, to: u32| {
                let begin = paths.len() as u32;
                let route = topology.route(from, to).ok_or_else(|| Error::NoRoute {
                    from: self.nodes[from as usize].to_string(),
                    to: self.nodes[to as usize].to_string(),
                })?;
                paths.extend(route);
                paths.push(DELIVER);
                Ok(begin)
            };
            flow.data_path = add(flow.from, flow.to)?;
            if !matches!(flow.agent, Agent::Cbr(_)) {
                flow.ack_path = add(flow.to, flow.from)?;
            }
        }
        Ok(paths)
    }
}

/// What puts packets onto a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeder {
    Nothing,
    Link(u32),
    /// A flow's sender or receiver.
    Sender(u32),
    Receiver(u32),
    Several,
}

/// Marks where packets may be carried ahead of the clock: see [`crate::engine`].
fn mark_ahead(engine: &mut Engine) {
    let way = |paths: &[u32], begin: u32| -> Vec<u32> {
        paths[begin as usize..].iter().copied().take_while(|&hop| hop != DELIVER).collect()
    };
    let mut feeders = vec![Feeder::Nothing; engine.links.len()];
    let mut feed = |links: &[u32], mut feeder: Feeder| {
        for &link in links {
            let slot = &mut feeders[link as usize];
            if *slot == Feeder::Nothing {
                *slot = feeder;
            } else if *slot != feeder {
                *slot = Feeder::Several;
            }
            feeder = Feeder::Link(link);
        }
    };
    for (index, flow) in (0u32..).zip(&engine.flows) {
        feed(&way(&engine.paths, flow.data_path), Feeder::Sender(index));
        if !matches!(flow.agent, Agent::Cbr(_)) {
            feed(&way(&engine.paths, flow.ack_path), Feeder::Receiver(index));
        }
    }
    let links = &engine.links;
    let is_ahead = |link: u32| match feeders[link as usize] {
        Feeder::Link(feeder) => links[feeder as usize].keeps_order(),
        _ => false,
    };
    for (index, flow) in (0u32..).zip(&mut engine.flows) {
        if matches!(flow.agent, Agent::Whole(_)) {
            continue;
        }
        let data = way(&engine.paths, flow.data_path);
        let in_order = |way: &[u32]| way.last().is_some_and(|&link| links[link as usize].keeps_order());
        if matches!(flow.agent, Agent::Cbr(_)) {
            flow.receiver_ahead = in_order(&data);
            continue;
        }
        let acks = way(&engine.paths, flow.ack_path);
        let alone = |way: &[u32], feeder| way.first().is_some_and(|&link| feeders[link as usize] == feeder);
        flow.receiver_ahead = in_order(&data) && alone(&acks, Feeder::Receiver(index));
        // A sender's burst must be on the wire before its first ACK comes back, so a loop needs at least one event.
        let loops = flow.receiver_ahead && data[1..].iter().chain(&acks[1..]).all(|&link| is_ahead(link));
        flow.sender_ahead = in_order(&acks) && alone(&data, Feeder::Sender(index)) && !loops;
    }
    for hop in &mut engine.paths {
        if *hop != DELIVER && is_ahead(*hop) {
            *hop |= AHEAD;
        }
    }
}

#[cfg(test)]
mod tests;
