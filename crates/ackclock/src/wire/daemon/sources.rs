//! How many connections an address has, and how fast new ones come from it: the generic cell rate
//! algorithm (ITU-T I.371, annex A, virtual scheduling), with bursts of as many as a second allows.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use ackclock_tcp::{Span, Time};

/// What one address may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceLimits {
    /// Connections at the same time (`--max-per-source`).
    pub connections: Option<u32>,
    /// New ones a second (`--max-rate-per-source`).
    pub rate: Option<u32>,
}

impl SourceLimits {
    /// Whether there is one.
    pub fn any(&self) -> bool {
        self.connections.is_some() || self.rate.is_some()
    }
}

/// Which limit an address has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TooMany {
    Connections(u32),
    Rate(u32),
}

impl TooMany {
    /// Both, with the label of metrics and what the access log says.
    pub const NAMES: [(&str, &str); 2] =
        [("connections", "refused_connections"), ("rate", "refused_rate")];

    pub fn index(self) -> usize {
        match self {
            TooMany::Connections(_) => 0,
            TooMany::Rate(_) => 1,
        }
    }
}

#[derive(Default)]
struct Source {
    open: u32,
    /// When the next connection would come if all came at the rate.
    due: Time,
}

/// The addresses that connections are from.
pub(super) struct Sources {
    limits: SourceLimits,
    sources: HashMap<IpAddr, Source>,
    /// Clients refused, by [`TooMany::NAMES`].
    pub refused: [u64; 2],
}

impl Sources {
    pub fn new(limits: SourceLimits) -> Sources {
        Sources { limits, sources: HashMap::new(), refused: [0; 2] }
    }

    /// Counts a new connection, or says why it may not be.
    pub fn admit(&mut self, now: Time, address: IpAddr) -> Result<(), TooMany> {
        let source = self.sources.entry(subscriber(address)).or_default();
        let admitted = source.admit(now, self.limits);
        if let Err(why) = admitted {
            self.refused[why.index()] += 1;
        }
        admitted
    }

    /// One of its connections is over.
    pub fn leave(&mut self, address: IpAddr) {
        if let Some(source) = self.sources.get_mut(&subscriber(address)) {
            source.open = source.open.saturating_sub(1);
        }
    }

    /// Forgets addresses of which nothing needs to be known: once a second, so that a flood from
    /// many is not kept for longer.
    pub fn sweep(&mut self, now: Time) {
        self.sources.retain(|_, source| source.open > 0 || source.due > now);
        if self.sources.capacity() > 4 * self.sources.len() {
            self.sources.shrink_to_fit();
        }
    }
}

impl Source {
    fn admit(&mut self, now: Time, limits: SourceLimits) -> Result<(), TooMany> {
        if let Some(most) = limits.connections.filter(|&most| self.open >= most) {
            return Err(TooMany::Connections(most));
        }
        if let Some(rate) = limits.rate {
            let interval = Span::from_micros(1_000_000 / u64::from(rate));
            let due = self.due.max(now);
            if due.since(now) + interval > Span::from_secs(1) {
                return Err(TooMany::Rate(rate));
            }
            self.due = due + interval;
        }
        self.open += 1;
        Ok(())
    }
}

/// An address of IPv4, or the prefix that a subscriber has in IPv6.
pub(super) fn subscriber(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & u128::MAX << 64).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests;
