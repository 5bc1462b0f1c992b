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
mod tests {
    use super::*;

    const ONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(1000 + ms)
    }

    #[test]
    fn a_second_s_worth_at_once_then_one_each_interval() {
        let mut sources = Sources::new(SourceLimits { connections: None, rate: Some(4) });
        // Four in a burst: the fifth would be due at 1.25 s after the first. One more each 250 ms.
        let mut admitted = |ms| sources.admit(at(ms), ONE).is_ok();
        assert_eq!([0, 0, 0, 0, 0].map(&mut admitted), [true, true, true, true, false]);
        assert_eq!([249, 250, 499, 500, 500].map(&mut admitted), [false, true, false, true, false]);
        // A rest of a second and more earns no more than a second's worth.
        assert_eq!([5000; 5].map(&mut admitted), [true, true, true, true, false]);
        assert_eq!(sources.admit(at(5000), ONE), Err(TooMany::Rate(4)));
        // One, three and one in the bursts above, and this.
        assert_eq!(sources.refused, [0, 6]);
        // Its connections may end: the rate is remembered for the second that it holds.
        (0..10).for_each(|_| sources.leave(ONE));
        sources.sweep(at(5999));
        assert_eq!(sources.sources.len(), 1);
        sources.sweep(at(6000));
        assert_eq!(sources.sources.len(), 0);
    }

    #[test]
    fn a_64_prefix_is_one_source_and_what_is_open_counts() {
        let mut sources = Sources::new(SourceLimits { connections: Some(2), rate: None });
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let mut admit = |text| sources.admit(at(0), address(text));
        assert_eq!((admit("2001:db8::1"), admit("2001:db8::2:3")), (Ok(()), Ok(())));
        assert_eq!(admit("2001:db8::4"), Err(TooMany::Connections(2)));
        assert_eq!(admit("2001:db8:0:1::1"), Ok(()));
        sources.leave(address("2001:db8::1"));
        sources.sweep(at(0));
        assert_eq!(sources.admit(at(0), address("2001:db8::5")), Ok(()));
        assert_eq!(sources.refused, [1, 0]);
    }
}
