//! The links of one condition, and the connections for which it holds.

use std::collections::{BTreeMap, HashSet, VecDeque};

use ackclock_net::{Gateway, NodeId, Rng};
use ackclock_stack::SocketId;
use ackclock_tcp::{Span, Time};

use crate::{Conditions, Error};

/// The links of some conditions.
pub(super) struct Stage {
    pub(super) place: u32,
    pub(super) gateway: Gateway,
    /// Where the hosts are.
    pub(super) ends: [NodeId; 2],
    /// Whether what a host sends crosses it.
    takes: [bool; 2],
    since: Time,
    /// False once other conditions have its place: then packets only leave it.
    pub(super) in_force: bool,
    /// The share of connections for which it holds, and the random numbers by which each is drawn.
    toxicity: f64,
    rng: Rng,
    /// The ports of those for which it holds.
    drawn: HashSet<u16>,
    /// How long each of those lasts at most.
    reset_after: Option<Span>,
    /// Which ones are to be reset, by when. The first to begin is the first to end.
    resets: VecDeque<(Time, SocketId)>,
}

impl Stage {
    /// These connections are there already.
    pub(super) fn new(
        conditions: &Conditions,
        place: u32,
        since: Time,
        connections: &BTreeMap<SocketId, u16>,
    ) -> Result<Stage, Error> {
        let (gateway, ends) = conditions.gateway()?;
        let rng = |name| Rng::new(conditions.seed(), name);
        let mut stage = Stage {
            place,
            gateway,
            ends,
            takes: conditions.takes(),
            since,
            in_force: true,
            toxicity: conditions.toxicity(),
            rng: rng("toxicity of those before"),
            drawn: HashSet::new(),
            reset_after: conditions.reset_after(),
            resets: VecDeque::new(),
        };
        for (&client, &port) in connections {
            stage.begin(since, client, port);
        }
        // Whoever is still there moves none of those to come.
        stage.rng = rng("toxicity");
        Ok(stage)
    }

    /// A connection begins, or is there when the conditions come into force.
    pub(super) fn begin(&mut self, now: Time, client: SocketId, port: u16) {
        // One of before may have had the port.
        self.drawn.remove(&port);
        // Each takes one random number: so the share moves nobody else's.
        if self.rng.unit() >= self.toxicity {
            return;
        }
        self.drawn.insert(port);
        self.resets.extend(self.reset_after.map(|after| (now + after, client)));
    }

    /// Whether what this host sends crosses it, of the connection that has this port at the
    /// clients' host.
    pub(super) fn takes(&self, host: usize, client: Option<u16>) -> bool {
        let drawn = || client.is_some_and(|port| self.drawn.contains(&port));
        self.in_force && self.takes[host] && (self.toxicity >= 1.0 || drawn())
    }

    pub(super) fn next_reset(&self) -> Time {
        self.resets.front().map_or(Time::NEVER, |(at, _)| *at)
    }

    pub(super) fn poll_reset(&mut self, now: Time) -> Option<SocketId> {
        let is_due = self.next_reset() <= now;
        is_due.then(|| self.resets.pop_front()).flatten().map(|(_, client)| client)
    }

    /// Forgets the resets of connections that are none of these any more.
    pub(super) fn trim(&mut self, connections: &BTreeMap<SocketId, u16>) {
        self.resets.retain(|(_, client)| connections.contains_key(client));
    }

    /// Its own time.
    pub(super) fn time(&self, now: Time) -> Time {
        Time(now.since(self.since).nanos())
    }

    pub(super) fn next_deadline(&mut self) -> Time {
        match self.gateway.next_deadline() {
            Time::NEVER => Time::NEVER,
            at => Time(self.since.nanos() + at.nanos()),
        }
    }
}
