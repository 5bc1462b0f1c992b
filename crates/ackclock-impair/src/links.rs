//! The simulated links, with the packets that are on them.

mod stage;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use ackclock_net::{Headers, LinkReport, NodeId, Outcome, UnderWay, flip};
use ackclock_stack::{Outgoing, SocketId};
use ackclock_tcp::{Span, Time};

use crate::{Conditions, Error};
use stage::Stage;

/// The links of all conditions, in a row. A packet crosses them one after the other: from clients
/// in the order of their places, from servers in the reverse.
pub(crate) struct Links {
    /// In the order of their places. A place may have several, of which one at most is in force.
    stages: Vec<Stage>,
    packets: UnderWay<Known>,
    /// What has crossed all links, or has found none.
    arrived: VecDeque<Arrived>,
    /// Clients' connections, in the order in which they began, with their ports.
    connections: BTreeMap<SocketId, u16>,
    passed: Passed,
}

/// What became of the packets of both hosts, each counted once, however many links it met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Packets that the hosts sent.
    pub packets: u64,
    /// Of those, the ones that did not arrive, or with a bit flipped. One under way is none yet.
    pub lost: u64,
    /// Of those, the ones that arrived.
    pub delivered: u64,
    /// How long these took, added up.
    pub delay: Span,
    /// Packets with data.
    pub segments: u64,
    /// Retransmissions of data and of FINs.
    pub retransmissions: u64,
}

impl Passed {
    /// Adds what became of others.
    pub fn add(&mut self, other: Passed) {
        self.packets += other.packets;
        self.lost += other.lost;
        self.delivered += other.delivered;
        self.delay = self.delay + other.delay;
        self.segments += other.segments;
        self.retransmissions += other.retransmissions;
    }

    /// A host sends this packet.
    fn note_sent(&mut self, packet: &Outgoing<'_>) {
        self.packets += 1;
        let Some(sent) = packet.sent else { return };
        self.segments += u64::from(packet.payload.iter().any(|part| !part.is_empty()));
        self.retransmissions += u64::from(sent.transmission > 1);
    }
}

/// What is known of a packet on the links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    /// The bits that links flipped.
    flips: Vec<u32>,
    /// Links that it is on, and hosts that it has reached and that have not taken it.
    uses: u32,
    /// A host has taken it.
    arrived: bool,
    /// When a host sent it.
    since: Time,
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
    token: u64,
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
            packets: UnderWay::default(),
            arrived: VecDeque::new(),
            connections: BTreeMap::new(),
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
        let new = |conditions| Stage::new(conditions, place, now, &self.connections);
        let stage = conditions.map(new).transpose()?;
        for old in self.stages.iter_mut().filter(|stage| stage.place == place) {
            old.in_force = false;
        }
        self.stages.extend(stage);
        self.stages.sort_by_key(|stage| stage.place);
        self.retire();
        Ok(())
    }

    /// A client's connection begins, at this port of its host.
    pub(crate) fn begin(&mut self, now: Time, client: SocketId, port: u16) {
        self.connections.insert(client, port);
        let in_force = self.stages.iter_mut().filter(|stage| stage.in_force);
        in_force.for_each(|stage| stage.begin(now, client, port));
    }

    /// A client's connection is over.
    pub(crate) fn end(&mut self, client: SocketId) {
        self.connections.remove(&client);
    }

    /// When a connection is to be reset next; [`Time::NEVER`] if none is.
    pub(crate) fn next_reset(&self) -> Time {
        let in_force = self.stages.iter().filter(|stage| stage.in_force);
        in_force.map(Stage::next_reset).min().unwrap_or(Time::NEVER)
    }

    /// A client's connection that is to be reset by now. It may have ended.
    pub(crate) fn poll_reset(&mut self, now: Time) -> Option<SocketId> {
        let mut in_force = self.stages.iter_mut().filter(|stage| stage.in_force);
        in_force.find_map(|stage| stage.poll_reset(now))
    }

    pub(crate) fn is_full(&self) -> bool {
        self.packets.is_full()
    }

    /// A host sends a packet to the other one.
    pub(crate) fn enter(&mut self, now: Time, host: usize, packet: &Outgoing<'_>) {
        let known = Known { since: now, ..Known::default() };
        let [first, second] = packet.payload;
        let token = self.packets.put(&[packet.header, first, second], known);
        self.passed.note_sent(packet);
        self.forward(now, host, token, None);
    }

    /// A packet that `host` sent goes on behind the links of this place.
    fn forward(&mut self, now: Time, host: usize, token: u64, behind: Option<u32>) {
        let (bytes, known) = self.packets.get(token);
        known.uses += 1;
        let headers = Headers::parse(bytes);
        let client = headers.map(|headers| [headers.from, headers.to][host].port());
        let next = |stage: &&mut Stage| {
            let later = |behind| (stage.place > behind) == (host == 0) && stage.place != behind;
            behind.is_none_or(later) && stage.takes(host, client)
        };
        let mut stages = self.stages.iter_mut();
        let stage = if host == 0 { stages.find(next) } else { stages.rfind(next) };
        match (stage, headers) {
            (Some(stage), Some(headers)) => {
                let (from, to) = (stage.ends[host], stage.ends[1 - host]);
                stage.gateway.enter(stage.time(now), from, to, &headers, token);
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
            let mut token = exit.token;
            if let Outcome::Delivered { node, flip, .. } = exit.outcome {
                if let Some(bit) = flip {
                    token = self.flipped(token, bit);
                }
                self.forward(now, usize::from(node != server), token, Some(place));
            }
            if exit.last {
                self.done(exit.token);
            }
            self.retire();
        }
        self.arrived.pop_front()
    }

    /// Has `take` see the packet, as it arrives.
    pub(crate) fn deliver(&mut self, now: Time, arrived: &Arrived, take: impl FnOnce(&[u8])) {
        let (bytes, Known { flips, arrived: is_there, since, .. }) =
            self.packets.get(arrived.token);
        // A copy of it may have been there before, and one with flipped bits is none of it.
        if !*is_there && flips.is_empty() {
            self.passed.delivered += 1;
            self.passed.delay = self.passed.delay + now.since(*since);
        }
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

    /// Gives back the memory of packets if none is under way. Returns when to try again.
    pub(crate) fn trim(&mut self, now: Time) -> Time {
        self.stages.iter_mut().for_each(|stage| stage.trim(&self.connections));
        self.packets.trim(now)
    }

    /// A copy of a packet, with a bit flipped. The copy has no uses yet.
    fn flipped(&mut self, token: u64, bit: u32) -> u64 {
        let (bytes, known) = self.packets.get(token);
        let (bytes, mut copy) = (bytes.to_vec(), Known { uses: 0, ..known.clone() });
        copy.flips.push(bit);
        self.packets.put(&[&bytes], copy)
    }

    /// One of the uses of a packet has ended.
    fn done(&mut self, token: u64) {
        let (_, known) = self.packets.get(token);
        known.uses -= 1;
        if known.uses == 0 {
            // A copy with flipped bits is no packet of a host.
            self.passed.lost += u64::from(!known.arrived && known.flips.is_empty());
            self.packets.remove(token);
        }
    }

    /// Forgets links that are not in force and on which nothing is any more.
    fn retire(&mut self) {
        self.stages.retain(|stage| stage.in_force || stage.gateway.under_way() > 0);
    }
}
