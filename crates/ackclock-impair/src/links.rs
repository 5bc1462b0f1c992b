//! The simulated links, with the packets that are on them.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use ackclock_net::{Gateway, Headers, LinkReport, NodeId, Outcome};
use ackclock_stack::Outgoing;
use ackclock_tcp::Time;

use crate::{Conditions, Error};

/// Bytes of packets on the links. When there are more, the hosts have to wait.
const MOST_BYTES: usize = 256 << 20;

/// The links of all conditions, in a row. A packet crosses them one after the other: from clients
/// in the order of their places, from servers in the reverse.
pub(crate) struct Links {
    /// In the order of their places. A place may have several, of which one at most is in force.
    stages: Vec<Stage>,
    /// Packets under way, by token.
    packets: Vec<UnderWay>,
    free: Vec<u32>,
    held: usize,
    /// What has crossed all links, or has found none.
    arrived: VecDeque<Arrived>,
    passed: Passed,
}

/// What became of the packets of both hosts, each counted once, however many links it met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Packets that the hosts sent.
    pub packets: u64,
    /// Of those, the ones that did not arrive, or with a bit flipped. One under way is none yet.
    pub lost: u64,
}

impl Passed {
    /// Adds what became of others.
    pub fn add(&mut self, other: Passed) {
        self.packets += other.packets;
        self.lost += other.lost;
    }
}

/// The links of some conditions.
struct Stage {
    place: u32,
    gateway: Gateway,
    /// Where the hosts are.
    ends: [NodeId; 2],
    /// Whether what a host sends crosses it.
    takes: [bool; 2],
    since: Time,
    /// False once other conditions have its place: then packets only leave it.
    in_force: bool,
}

#[derive(Clone, Default)]
struct UnderWay {
    bytes: Vec<u8>,
    /// The bits that links flipped.
    flips: Vec<u32>,
    /// Links that it is on, and hosts that it has reached and that have not taken it.
    uses: u32,
    /// A host has taken it.
    arrived: bool,
}

/// What one direction of a link did since its conditions are in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkCounts {
    /// The place of the conditions.
    pub place: u32,
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
    token: u32,
}

impl LinkCounts {
    /// Packets that it dropped: by a loss model or an outage, by a full queue, early.
    pub(crate) fn dropped(&self) -> u64 {
        self.counts.dropped_loss + self.counts.dropped_queue + self.counts.dropped_early
    }
}

impl Links {
    pub(crate) fn new() -> Links {
        Links {
            stages: Vec::new(),
            packets: Vec::new(),
            free: Vec::new(),
            held: 0,
            arrived: VecDeque::new(),
            passed: Passed::default(),
        }
    }

    /// From now on packets meet these conditions at this place, or none. What is on the links there
    /// goes on as it was. The time of the conditions begins now.
    pub(crate) fn set(
        &mut self,
        now: Time,
        place: u32,
        conditions: Option<&Conditions>,
    ) -> Result<(), Error> {
        let stage = conditions.map(|conditions| Stage::new(conditions, place, now)).transpose()?;
        for old in self.stages.iter_mut().filter(|stage| stage.place == place) {
            old.in_force = false;
        }
        self.stages.extend(stage);
        self.stages.sort_by_key(|stage| stage.place);
        self.retire();
        Ok(())
    }

    pub(crate) fn is_full(&self) -> bool {
        self.held >= MOST_BYTES
    }

    /// A host sends a packet to the other one.
    pub(crate) fn enter(&mut self, now: Time, host: usize, packet: &Outgoing<'_>) {
        let token = self.place_for_a_packet();
        let bytes = &mut self.packets[token as usize].bytes;
        for part in [packet.header, packet.payload[0], packet.payload[1]] {
            bytes.extend_from_slice(part);
        }
        self.held += bytes.len();
        self.passed.packets += 1;
        self.forward(now, host, token, None);
    }

    /// A packet that `host` sent goes on behind the links of this place.
    fn forward(&mut self, now: Time, host: usize, token: u32, behind: Option<u32>) {
        let packet = &mut self.packets[token as usize];
        packet.uses += 1;
        let next = |stage: &&mut Stage| {
            let later = |behind| (stage.place > behind) == (host == 0) && stage.place != behind;
            stage.in_force && stage.takes[host] && behind.is_none_or(later)
        };
        let mut stages = self.stages.iter_mut();
        let stage = if host == 0 { stages.find(next) } else { stages.rfind(next) };
        match (stage, Headers::parse(&packet.bytes)) {
            (Some(stage), Some(headers)) => {
                let (from, to) = (stage.ends[host], stage.ends[1 - host]);
                stage.gateway.enter(stage.time(now), from, to, &headers, token.into());
            }
            _ => self.arrived.push_back(Arrived { host: 1 - host, token }),
        }
    }

    /// When a packet leaves next; [`Time::NEVER`] if none is under way.
    pub(crate) fn next_deadline(&mut self) -> Time {
        if !self.arrived.is_empty() {
            return Time::ZERO;
        }
        self.stages.iter_mut().map(Stage::next_deadline).min().unwrap_or(Time::NEVER)
    }

    /// The next packet that reaches a host at `now`, which is not after [`Links::next_deadline`]:
    /// the hosts answer at the time at which packets arrive, however late this is called.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Arrived> {
        while self.arrived.is_empty() {
            let mut stages = self.stages.iter_mut();
            let stage = stages.find_map(|stage| (stage.next_deadline() <= now).then_some(stage))?;
            let Some(exit) = stage.gateway.poll(stage.time(now)) else { continue };
            let (place, server) = (stage.place, stage.ends[1]);
            let mut token = exit.token as u32;
            if let Outcome::Delivered { node, flip, .. } = exit.outcome {
                if let Some(bit) = flip {
                    token = self.flipped(token, bit);
                }
                self.forward(now, usize::from(node != server), token, Some(place));
            }
            if exit.last {
                self.done(exit.token as u32);
            }
            self.retire();
        }
        self.arrived.pop_front()
    }

    /// Has `take` see the packet, as it arrives.
    pub(crate) fn deliver(&mut self, arrived: &Arrived, take: impl FnOnce(&[u8])) {
        let UnderWay { bytes, flips, arrived: is_there, .. } =
            &mut self.packets[arrived.token as usize];
        *is_there = true;
        flips.iter().for_each(|&bit| flip(bytes, bit));
        take(bytes);
        // A copy of it may be on the way.
        flips.iter().for_each(|&bit| flip(bytes, bit));
        self.done(arrived.token);
    }

    /// What the links of the conditions in force did.
    pub(crate) fn report(&self, now: Time) -> Vec<LinkCounts> {
        let mut counts = Vec::new();
        for stage in self.stages.iter().filter(|stage| stage.in_force) {
            let Stage { place, gateway, .. } = stage;
            let names = gateway.node_names();
            let name = |node: NodeId| names[node.0 as usize].clone();
            counts.extend(gateway.link_reports(stage.time(now)).filter_map(|(built, counts)| {
                let ends = gateway.link_ends(built.id)?;
                let (from, to) = (name(ends.from), name(ends.to));
                Some(LinkCounts { place: *place, from, to, counts })
            }));
        }
        counts
    }

    /// What became of all packets.
    pub(crate) fn passed(&self) -> Passed {
        self.passed
    }

    /// Gives back the memory of packets if none is under way: returns whether that is so.
    pub(crate) fn trim(&mut self) -> bool {
        let none = self.free.len() == self.packets.len();
        if none {
            (self.packets, self.free) = (Vec::new(), Vec::new());
        }
        none
    }

    /// The token of a packet that is not there yet.
    fn place_for_a_packet(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.packets.push(UnderWay::default());
            self.packets.len() as u32 - 1
        })
    }

    /// A copy of a packet, with a bit flipped. The copy has no uses yet.
    fn flipped(&mut self, token: u32, bit: u32) -> u32 {
        let mut copy = UnderWay { uses: 0, ..self.packets[token as usize].clone() };
        copy.flips.push(bit);
        self.held += copy.bytes.len();
        let token = self.place_for_a_packet();
        self.packets[token as usize] = copy;
        token
    }

    /// One of the uses of a packet has ended.
    fn done(&mut self, token: u32) {
        let packet = &mut self.packets[token as usize];
        packet.uses -= 1;
        if packet.uses == 0 {
            // A copy with flipped bits is no packet of a host.
            self.passed.lost += u64::from(!packet.arrived && packet.flips.is_empty());
            self.held -= packet.bytes.len();
            packet.bytes.clear();
            packet.flips.clear();
            packet.arrived = false;
            self.free.push(token);
        }
    }

    /// Forgets links that are not in force and on which nothing is any more.
    fn retire(&mut self) {
        self.stages.retain(|stage| stage.in_force || stage.gateway.under_way() > 0);
    }
}

impl Stage {
    fn new(conditions: &Conditions, place: u32, since: Time) -> Result<Stage, Error> {
        let (gateway, ends) = conditions.gateway()?;
        Ok(Stage { place, gateway, ends, takes: conditions.takes(), since, in_force: true })
    }

    /// Its own time.
    fn time(&self, now: Time) -> Time {
        Time(now.since(self.since).nanos())
    }

    fn next_deadline(&mut self) -> Time {
        match self.gateway.next_deadline() {
            Time::NEVER => Time::NEVER,
            at => Time(self.since.nanos() + at.nanos()),
        }
    }
}

/// Flips a bit, counted from the highest of the first byte.
fn flip(bytes: &mut [u8], bit: u32) {
    if let Some(byte) = bytes.get_mut(bit as usize / 8) {
        *byte ^= 0x80 >> (bit % 8);
    }
}
