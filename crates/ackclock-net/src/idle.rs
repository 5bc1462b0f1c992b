//! How long packets take over links on which nothing else is under way.

use ackclock_tcp::Span;

use crate::ids::NodeId;
use crate::link::Link;
use crate::topology::Topology;
use crate::transmission::transmission_time;

/// The routes of a network and how long each of its links takes.
pub(crate) struct IdlePaths {
    topology: Topology,
    /// Rate and propagation delay of each link.
    links: Vec<(u64, u64)>,
}

impl IdlePaths {
    /// Every link joins two of the `nodes`.
    pub(crate) fn new(nodes: usize, links: &[Link]) -> IdlePaths {
        let ends = links.iter().map(|link| (link.from, link.to)).collect();
        IdlePaths {
            topology: Topology::new(nodes, ends),
            links: links.iter().map(Link::rate_and_delay).collect(),
        }
    }

    /// How long a packet of `size` bytes from one node to another takes, and one of the same size
    /// that answers it; `None` if there is no route.
    pub(crate) fn round_trip(&mut self, from: NodeId, to: NodeId, size: u32) -> Option<Span> {
        let there = self.one_way(from.0, to.0, size)?;
        let back = self.one_way(to.0, from.0, size)?;
        Some(Span(there.saturating_add(back)))
    }

    /// One way of it, in nanoseconds.
    pub(crate) fn one_way(&mut self, from: u32, to: u32, size: u32) -> Option<u64> {
        let route = self.topology.route(from, to)?;
        let links = route.iter().map(|&link| self.links[link as usize]);
        Some(links.fold(0, |sum, (rate, delay)| {
            sum.saturating_add(transmission_time(size, rate)).saturating_add(delay)
        }))
    }
}
