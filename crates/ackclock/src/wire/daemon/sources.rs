//! How many connections an address has, and how fast new ones come from it: the generic cell rate
//! algorithm (ITU-T I.371, annex A, virtual scheduling), with bursts of as many as a second allows.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use ackclock_tcp::{Span, Time};

/// What one address may have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SourceLimits {
    /// Connections at the same time (`--max-per-source`).
    pub connections: Option<u32>,
    /// New ones a second (`--max-rate-per-source`).
    pub rate: Option<u32>,
}

impl SourceLimits {
    /// The limits of a listener that may have its own, and with which its connections count: those
    /// of a listener that has one count by themselves.
    pub fn at(self, listener: SocketAddr, own: SourceLimits) -> (Option<SocketAddr>, SourceLimits) {
        let limits = SourceLimits {
            connections: own.connections.or(self.connections),
            rate: own.rate.or(self.rate),
        };
        ((own != SourceLimits::default()).then_some(listener), limits)
    }
}

/// The connections that count together: of an address, at a listener with limits of its own or at
/// all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Account {
    pub listener: Option<SocketAddr>,
    /// An address of IPv4, or a prefix of IPv6.
    pub subscriber: IpAddr,
}

impl Account {
    pub fn new(listener: Option<SocketAddr>, address: IpAddr) -> Account {
        Account { listener, subscriber: subscriber(address) }
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

/// The addresses that connections are from. They are counted without limits, too: SIGHUP may bring
/// some.
#[derive(Default)]
pub(super) struct Sources {
    sources: HashMap<Account, Source>,
    /// Clients refused, by [`TooMany::NAMES`].
    pub refused: [u64; 2],
}

impl Sources {
    /// Counts a new connection, or says why it may not be.
    pub fn admit(
        &mut self,
        now: Time,
        account: Account,
        limits: SourceLimits,
    ) -> Result<(), TooMany> {
        let admitted = self.sources.entry(account).or_default().admit(now, limits);
        if let Err(why) = admitted {
            self.refused[why.index()] += 1;
        }
        admitted
    }

    /// One of its connections is over.
    pub fn leave(&mut self, account: Account) {
        if let Some(source) = self.sources.get_mut(&account) {
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
fn subscriber(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & u128::MAX << 64).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests;
