//! The simulated links, with the packets that are on them.

use ackclock_net::{Gateway, Headers, LinkReport, NodeId, Outcome};
use ackclock_stack::Outgoing;
use ackclock_tcp::Time;

use crate::{Conditions, Error};

/// Bytes of packets on the links. When there are more, the hosts have to wait.
const MOST_BYTES: usize = 256 << 20;

/// The links, and those before them as long as packets are on these.
pub(crate) struct Links {
    /// The last one is in force.
    eras: Vec<Era>,
    /// Packets under way, by token.
    packets: Vec<Vec<u8>>,
    free: Vec<u32>,
    held: usize,
}

/// The links of some conditions, from when these came into force.
struct Era {
    gateway: Gateway,
    /// Where the hosts are.
    ends: [NodeId; 2],
    since: Time,
}

/// What one direction of a link did since its conditions are in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkCounts {
    /// The node that it comes from.
    pub from: String,
    /// The node that it leads to.
    pub to: String,
    /// Its packets.
    pub counts: LinkReport,
}

/// A packet has reached a host.
pub(crate) struct Arrived {
    pub(crate) host: usize,
    token: u64,
    /// The bit that was flipped.
    flip: Option<u32>,
    last: bool,
}

impl Links {
    pub(crate) fn new(conditions: &Conditions) -> Result<Links, Error> {
        let eras = vec![Era::new(conditions, Time::ZERO)?];
        Ok(Links { eras, packets: Vec::new(), free: Vec::new(), held: 0 })
    }

    /// Other conditions come into force, whose time begins now. What is under way goes on as it was.
    pub(crate) fn switch(&mut self, now: Time, conditions: &Conditions) -> Result<(), Error> {
        self.eras.push(Era::new(conditions, now)?);
        Ok(())
    }

    pub(crate) fn is_full(&self) -> bool {
        self.held >= MOST_BYTES
    }

    /// A host sends a packet to the other one.
    pub(crate) fn enter(&mut self, now: Time, host: usize, packet: &Outgoing<'_>) {
        let token = self.free.pop().unwrap_or(self.packets.len() as u32);
        if token as usize == self.packets.len() {
            self.packets.push(Vec::new());
        }
        let bytes = &mut self.packets[token as usize];
        bytes.clear();
        for part in [packet.header, packet.payload[0], packet.payload[1]] {
            bytes.extend_from_slice(part);
        }
        self.held += bytes.len();
        let entered = match (Headers::parse(bytes), self.eras.last_mut()) {
            (Some(headers), Some(Era { gateway, ends, since })) => {
                let at = Time(now.since(*since).nanos());
                gateway.enter(at, ends[host], ends[1 - host], &headers, token.into())
            }
            _ => false,
        };
        if !entered {
            self.free(token.into());
        }
    }

    /// When a packet leaves next; [`Time::NEVER`] if none is under way.
    pub(crate) fn next_deadline(&mut self) -> Time {
        self.eras.iter_mut().map(Era::next_deadline).min().unwrap_or(Time::NEVER)
    }

    /// The next packet that reaches a host at `now`, which is not after [`Links::next_deadline`]: the
    /// hosts answer at the time at which packets arrive, however late this is called.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Arrived> {
        loop {
            let mut eras = self.eras.iter_mut();
            let era = eras.find_map(|era| (era.next_deadline() <= now).then_some(era))?;
            let Some(exit) = era.gateway.poll(Time(now.since(era.since).nanos())) else {
                continue;
            };
            let server = era.ends[1];
            self.retire();
            match exit.outcome {
                Outcome::Delivered { node, flip, .. } => {
                    let host = usize::from(node == server);
                    return Some(Arrived { host, token: exit.token, flip, last: exit.last });
                }
                Outcome::Dropped { .. } if exit.last => self.free(exit.token),
                Outcome::Dropped { .. } => {}
            }
        }
    }

    /// Has `take` see the packet, as it arrives.
    pub(crate) fn deliver(&mut self, arrived: &Arrived, take: impl FnOnce(&[u8])) {
        let bytes = &mut self.packets[arrived.token as usize];
        flip(bytes, arrived.flip);
        take(bytes);
        // A copy of it may arrive whole.
        flip(bytes, arrived.flip);
        if arrived.last {
            self.free(arrived.token);
        }
    }

    /// What the links of the conditions in force did.
    pub(crate) fn report(&self, now: Time) -> Vec<LinkCounts> {
        let Some(Era { gateway, since, .. }) = self.eras.last() else { return Vec::new() };
        let names = gateway.node_names();
        let name = |node: NodeId| names[node.0 as usize].clone();
        let links = gateway.link_reports(Time(now.since(*since).nanos()));
        let named = links.filter_map(|(built, counts)| {
            let ends = gateway.link_ends(built.id)?;
            Some(LinkCounts { from: name(ends.from), to: name(ends.to), counts })
        });
        named.collect()
    }

    fn free(&mut self, token: u64) {
        self.held -= self.packets[token as usize].len();
        self.free.push(token as u32);
    }

    /// Forgets links on which nothing is any more.
    fn retire(&mut self) {
        let last = self.eras.len() - 1;
        if last > 0 {
            let mut index = 0;
            self.eras.retain(|era| {
                index += 1;
                index > last || era.gateway.under_way() > 0
            });
        }
    }
}

impl Era {
    fn new(conditions: &Conditions, since: Time) -> Result<Era, Error> {
        let (gateway, ends) = conditions.gateway()?;
        Ok(Era { gateway, ends, since })
    }

    fn next_deadline(&mut self) -> Time {
        match self.gateway.next_deadline() {
            Time::NEVER => Time::NEVER,
            at => Time(self.since.nanos() + at.nanos()),
        }
    }
}

/// Flips a bit, counted from the highest of the first byte.
fn flip(bytes: &mut [u8], bit: Option<u32>) {
    if let Some(bit) = bit
        && let Some(byte) = bytes.get_mut(bit as usize / 8)
    {
        *byte ^= 0x80 >> (bit % 8);
    }
}
