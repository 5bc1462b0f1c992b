//! Which client gets which strategy, so that two can be compared on live users: by the client's
//! prefix, or by a share of the connections.
//!
//! A connection's place between 0 and 1 comes from its client's address and port by the mixing
//! function of SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators",
//! 2014): the same on every machine and after every start.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use ackclock_tcp::{Composition, Registry};

use super::prefix::Prefix;
use crate::error::Error;
use ackclock_net::scenario::deployable;

/// Clients that get a strategy of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Clients {
    Prefix(Prefix),
    /// A share of the connections, above 0 and at most 1.
    Share(f64),
}

impl FromStr for Clients {
    type Err = String;

    fn from_str(text: &str) -> Result<Clients, String> {
        let bad = || {
            format!(
                "`{text}` is neither a share such as 10% nor a prefix such as 198.51.100.0/24 or \
                 2001:db8::/32"
            )
        };
        if let Some(percent) = text.strip_suffix('%') {
            let share = percent.parse::<f64>().map_err(|_| bad())? / 100.0;
            return if share > 0.0 && share <= 1.0 {
                Ok(Clients::Share(share))
            } else {
                Err(format!("`{text}`: a share is above 0% and at most 100%"))
            };
        }
        let (addr, len) = text.split_once('/').ok_or_else(bad)?;
        let (addr, len): (IpAddr, u8) =
            (addr.parse().map_err(|_| bad())?, len.parse().map_err(|_| bad())?);
        if len > if addr.is_ipv4() { 32 } else { 128 } {
            return Err(bad());
        }
        Ok(Clients::Prefix(Prefix { addr, len }.network()))
    }
}

/// `--split`: a strategy and its clients.
#[derive(Clone, Debug)]
pub(crate) struct SplitArg {
    pub strategy: String,
    pub clients: Clients,
}

impl FromStr for SplitArg {
    type Err = String;

    fn from_str(text: &str) -> Result<SplitArg, String> {
        let (strategy, clients) = text
            .split_once('=')
            .ok_or("write a strategy, `=` and its clients: prr=10% or prr=198.51.100.0/24")?;
        Ok(SplitArg { strategy: strategy.into(), clients: clients.parse()? })
    }
}

/// All strategies of a command, and who gets which.
#[derive(Clone, Default)]
pub(crate) struct Split {
    parts: Vec<(Composition, Clients)>,
}

impl Split {
    /// Checks the strategies, and that the shares are not more than everything.
    pub fn new(args: &[SplitArg], registry: &Registry) -> Result<Split, Error> {
        let mut split = Split::default();
        for SplitArg { strategy, clients } in args {
            split
                .push(strategy, *clients, registry)
                .map_err(|(_, message)| Error::Usage(format!("--split {strategy}: {message}")))?;
        }
        Ok(split)
    }

    /// Gives a strategy to more clients. An error has the key of a file that is wrong.
    pub fn push(
        &mut self,
        strategy: &str,
        clients: Clients,
        registry: &Registry,
    ) -> Result<(), (&'static str, String)> {
        let strategy = deployable(strategy, registry).map_err(|message| ("strategy", message))?;
        if let Clients::Prefix(prefix) = clients
            && let Some((other, _)) = self.parts.iter().find(|(_, other)| *other == clients)
        {
            let (this, other) = (strategy.name(), other.name());
            let message = format!("`{this}` and `{other}` both have {prefix}; give it to one");
            return Err(("clients", message));
        }
        self.parts.push((strategy, clients));
        let shares = self.parts.iter().filter_map(|(_, clients)| match clients {
            Clients::Share(share) => Some(*share),
            Clients::Prefix(_) => None,
        });
        // Ten shares of 10% are not exactly 1.
        if shares.sum::<f64>() > 1.0 + 1e-9 {
            return Err(("clients", "all shares together are more than 100%".into()));
        }
        Ok(())
    }

    /// The strategies, in the order given.
    pub fn strategies(&self) -> impl Iterator<Item = &Composition> {
        self.parts.iter().map(|(strategy, _)| strategy)
    }

    /// Which of them a client gets; `None` for the one that all others have. Prefixes go before
    /// shares, and of several that hold the client the longest.
    pub fn of(&self, client: SocketAddr) -> Option<usize> {
        let holds = |(number, (_, clients)): (usize, &(Composition, Clients))| match clients {
            Clients::Prefix(prefix) if prefix.contains(client.ip()) => Some((prefix.len, number)),
            _ => None,
        };
        let longest = self.parts.iter().enumerate().filter_map(holds).max();
        longest.map(|(_, number)| number).or_else(|| {
            let (place, mut end) = (place(client), 0.0);
            self.parts.iter().position(|(_, clients)| match clients {
                Clients::Prefix(_) => false,
                Clients::Share(share) => {
                    end += share;
                    place < end
                }
            })
        })
    }
}

/// The place of a connection, from 0 to below 1.
fn place(client: SocketAddr) -> f64 {
    let bits = match client.ip() {
        IpAddr::V4(ip) => u128::from(ip.to_bits()),
        IpAddr::V6(ip) => ip.to_bits(),
    };
    let mixed = mix(mix(mix((bits >> 64) as u64) ^ bits as u64) ^ u64::from(client.port()));
    // 53 bits are what a number of this kind holds.
    (mixed >> 11) as f64 / (1_u64 << 53) as f64
}

fn mix(x: u64) -> u64 {
    let z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests;
