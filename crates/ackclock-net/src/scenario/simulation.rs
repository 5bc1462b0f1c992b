//! A network built from a scenario, and what it was built of.

use ackclock_tcp::{Registry, Seq, Time};

use crate::{Error, FlowId, LinkId, ListedLoss, Network, Recorder};

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
}

/// A flow of a built network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuiltFlow {
    /// Its number.
    pub id: FlowId,
    /// Its name.
    pub name: String,
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
    /// Whether timestamps are negotiated.
    pub timestamps: bool,
    /// The receiver's window scale shift.
    pub wscale: u8,
    /// The receiver's buffer in bytes.
    pub rwnd: u64,
}

impl BuiltFlow {
    /// A flow that starts at time zero, without SACK, timestamps and window scaling.
    pub fn new(id: FlowId, name: String, strategy: &str, mss: u32) -> Self {
        BuiltFlow {
            id,
            name,
            strategy: strategy.into(),
            mss,
            isn: Seq(0),
            start: Time::ZERO,
            sack: false,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutstandingDrop {
    /// Which `[[link]]` of the scenario has the list.
    pub link: usize,
    /// Which of its losses the list is.
    pub loss: usize,
    /// The entry.
    pub entry: ListedLoss,
    /// The flow that did not meet it; `None` for a list about all flows that none came by.
    pub flow: Option<FlowId>,
}

impl Simulation {
    /// The fates that no packet has met so far: the `[[link]]` of the scenario, and the place of
    /// the fate in it.
    pub fn outstanding_fates(&self) -> Vec<(usize, usize)> {
        let of_entry = |links: &[BuiltLink]| {
            let outstanding = |link: &BuiltLink| self.network.outstanding_fates(link.id);
            // A packet meets its fate in one direction, on one copy.
            let mut left: Vec<usize> = links.iter().take(1).flat_map(outstanding).collect();
            for link in links.iter().skip(1) {
                let own: Vec<usize> = outstanding(link).collect();
                left.retain(|place| own.contains(place));
            }
            let entry = links.first().map_or(0, |link| link.entry);
            left.into_iter().map(move |place| (entry, place))
        };
        self.links.chunk_by(|a, b| a.entry == b.entry).flat_map(of_entry).collect()
    }

    /// The entries of drop lists that no packet has met so far. A list is about the data of one
    /// flow, or of each flow whose data has come to the link.
    pub fn outstanding_drops(&self) -> Vec<OutstandingDrop> {
        let mut all = Vec::new();
        for links in self.links.chunk_by(|a, b| a.entry == b.entry) {
            let of = |link: &BuiltLink| self.network.losses(link.id);
            let Some(first) = links.first() else { continue };
            for loss in 0..of(first).len() {
                // Data comes in one direction, and a flow on one copy.
                let seen = links.iter().filter(|link| of(link)[loss].has_seen());
                let seen: Vec<&BuiltLink> = seen.collect();
                let about = if seen.is_empty() { &[first][..] } else { &seen };
                let drops = about.iter().flat_map(|link| of(link)[loss].outstanding());
                all.extend(drops.map(|(entry, flow)| OutstandingDrop {
                    link: first.entry,
                    loss,
                    entry,
                    flow,
                }));
            }
        }
        all
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// As [`Network::run`]. [`Scenario::explain`](super::Scenario::explain) says what it means for
    /// the scenario.
    pub fn run<R: Recorder>(&mut self, recorder: &mut R) -> Result<(), Error> {
        self.network.run(self.until, recorder)
    }
}
