//! Sums over connections: of a capture, or of a group.

use ackclock_tcp::Span;
use ackclock_trace::{Lifetime, Limit};

use crate::explained::{Counts, Explained, Found};

/// Connections added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// How many.
    pub connections: u64,
    /// What was counted of them.
    pub counts: Counts,
    /// What their time went into, of each that of the end that it waited for ([`Found::sender`]).
    pub lifetime: Lifetime,
    /// Time in which neither the application nor the path was what limited them. A handshake of one
    /// round trip is the path's.
    pub held: Span,
}

impl Summary {
    /// Of these connections.
    pub fn of<'a>(connections: impl IntoIterator<Item = &'a Found>) -> Summary {
        let mut sum = Summary::default();
        connections.into_iter().for_each(|found| sum.add(found));
        sum
    }

    /// One connection more.
    pub fn add(&mut self, found: &Found) {
        self.connections += 1;
        self.counts.count(found);
        let lifetime = found.lifetime();
        Limit::ALL.into_iter().for_each(|limit| self.lifetime.add(limit, lifetime.of(limit)));
        self.held = self.held + found.held();
    }

    /// Of the segments, the part that were retransmissions; `None` of no segment.
    pub fn retransmitted(&self) -> Option<f64> {
        let Counts { segments, .. } = self.counts;
        (segments > 0).then(|| self.counts.all_retransmissions() as f64 / segments as f64)
    }
}

impl Explained {
    /// All connections, each once.
    pub fn summary(&self) -> Summary {
        Summary::of(self.counted())
    }
}
