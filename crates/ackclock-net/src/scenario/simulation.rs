//! A network built from a scenario, and what it was built of.

use ackclock_tcp::{Composition, Registry, Seq, Time};

use crate::{Error, FlowId, FlowReport, LinkId, ListedLoss, Network, NodeId, Recorder};

/// What one run of a scenario adds to it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BuildOptions<'a> {
    /// What the names of strategies mean.
    pub registry: &'a Registry,
    /// The seed of the run.
    pub seed: u64,
    /// The strategy of every flow, instead of its own.
    pub strategy: Option<&'a str>,
    /// Whether a recorder takes the senders' events.
    pub events: bool,
}

impl<'a> BuildOptions<'a> {
    /// A run with this seed, each flow with its own strategy of `registry`, without events.
    pub fn new(registry: &'a Registry, seed: u64) -> Self {
        BuildOptions { registry, seed, strategy: None, events: false }
    }

    /// With this strategy for every flow; `None` leaves each its own.
    pub fn strategy(self, strategy: impl Into<Option<&'a str>>) -> Self {
        BuildOptions { strategy: strategy.into(), ..self }
    }

    /// With the senders' events, or without.
    pub fn events(self, events: bool) -> Self {
        BuildOptions { events, ..self }
    }
}

/// A network built from a scenario.
#[non_exhaustive]
pub struct Simulation {
    /// The network, not yet run.
    pub network: Network,
    /// Its TCP flows.
    pub flows: Vec<BuiltFlow>,
    /// Its links, each direction by itself.
    pub links: Vec<BuiltLink>,
    /// The end of the run.
    pub until: Time,
    /// What the flows of each `[[flow]]` are made of, after the number of the first one.
    pub(super) compositions: Vec<(FlowId, Composition)>,
}

/// A flow of a built network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuiltFlow {
    /// Its number.
    pub id: FlowId,
    /// Its name.
    pub name: String,
    /// The nodes where its data begins and ends.
    pub ends: [NodeId; 2],
    /// Its strategy as given.
    pub strategy: String,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Sequence number of its first data byte.
    pub isn: Seq,
    /// When its application starts.
    pub start: Time,
    /// Whether SACK is negotiated.
    pub sack: bool,
    /// Whether ECN is.
    pub ecn: bool,
    /// Whether timestamps are negotiated.
    pub timestamps: bool,
    /// The receiver's window scale shift.
    pub wscale: u8,
    /// The receiver's buffer in bytes.
    pub rwnd: u64,
}

impl BuiltFlow {
    /// A flow from the first node to the second that starts at time zero, without SACK, timestamps
    /// and window scaling.
    pub fn new(id: FlowId, name: String, strategy: &str, mss: u32) -> Self {
        BuiltFlow {
            id,
            name,
            ends: [NodeId(0), NodeId(1)],
            strategy: strategy.into(),
            mss,
            isn: Seq(0),
            start: Time::ZERO,
            sack: false,
            ecn: false,
            timestamps: false,
            wscale: 0,
            rwnd: 0,
        }
    }
}

/// One direction of a link of a built network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuiltLink {
    /// Its number.
    pub id: LinkId,
    /// Which `[[link]]` of the scenario it is a copy of.
    pub entry: usize,
    /// Whether it is the way back of a duplex link.
    pub back: bool,
}

/// An entry of a drop list that no packet has met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct UnmetDrop {
    /// Which `[[link]]` of the scenario has the list.
    pub link: usize,
    /// Which of its losses the list is.
    pub loss: usize,
    /// The entry.
    pub entry: ListedLoss,
}

impl Simulation {
    /// The fates that no packet has met so far: the `[[link]]` of the scenario, and the place of
    /// the fate in it.
    pub fn unmet_fates(&self) -> Vec<(usize, usize)> {
        self.unmet(|link| self.network.unmet_fates(link)).collect()
    }

    /// The entries of drop lists that no packet has met so far.
    pub fn unmet_drops(&self) -> Vec<UnmetDrop> {
        let drops = self.unmet(|link| self.network.unmet_drops(link));
        drops.map(|(link, (loss, entry))| UnmetDrop { link, loss, entry }).collect()
    }

    /// The listed segments of `reorder` that no packet has brought so far, each after the
    /// `[[link]]` of the scenario.
    pub fn unmet_segments(&self) -> Vec<(usize, u64)> {
        self.unmet(|link| self.network.unmet_segments(link)).collect()
    }

    /// What no packet has met, each after the `[[link]]` of the scenario. A packet meets it in one
    /// direction, on one copy.
    fn unmet<T: PartialEq, I: Iterator<Item = T>>(
        &self,
        of: impl Fn(LinkId) -> I,
    ) -> impl Iterator<Item = (usize, T)> {
        self.links.chunk_by(|a, b| a.entry == b.entry).flat_map(move |links| {
            let mut left: Vec<T> = of(links[0].id).collect();
            for link in &links[1..] {
                let own: Vec<T> = of(link.id).collect();
                left.retain(|one| own.contains(one));
            }
            left.into_iter().map(|one| (links[0].entry, one))
        })
    }

    /// How many flows of each `[[flow]]` of the scenario begin when the run ends, or later.
    pub fn late_flows(&self) -> Vec<usize> {
        let firsts = self.compositions.iter().map(|(first, _)| first.0 as usize);
        let ends = firsts.clone().skip(1).chain([self.flows.len()]);
        let is_late = |flow: &&BuiltFlow| flow.start >= self.until;
        firsts
            .zip(ends)
            .map(|(first, end)| self.flows[first..end].iter().filter(is_late).count())
            .collect()
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// As [`Network::run`]. [`Scenario::explain`](super::Scenario::explain) says what it means for
    /// the scenario.
    pub fn run<R: Recorder>(&mut self, recorder: &mut R) -> Result<(), Error> {
        self.network.run(self.until, recorder).map_err(|error| self.named(error))
    }

    /// The error with the names of the mechanisms that it is about.
    fn named(&self, error: Error) -> Error {
        let Error::Stands { flow, axis, at, .. } = error else { return error };
        let i = self.compositions.partition_point(|(first, _)| *first <= flow);
        let composition = i.checked_sub(1).map(|i| &self.compositions[i].1);
        let sack = self.flows.get(flow.0 as usize).is_some_and(|built| built.sack);
        let all = composition.map_or(&[][..], |composition| match composition.without_sack() {
            Some(others) if !sack => others,
            _ => composition.mechanisms(),
        });
        // The last one is the mechanism of its axis, but for probes; it may wrap those before it.
        let on = all.iter().rev().filter(|m| m.axis == axis).map(|m| m.name.to_string());
        Error::Stands { flow, axis, mechanisms: on.collect(), at }
    }

    /// What became of its TCP flows. The memory of links is given back first, and that of a flow
    /// with its report, so that results need none beside both.
    pub fn into_reports(self) -> impl Iterator<Item = (BuiltFlow, FlowReport)> {
        // CBR streams have the numbers after those of TCP flows.
        self.flows.into_iter().zip(self.network.into_flow_reports())
    }
}
