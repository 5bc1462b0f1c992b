//! The options of `ackclock gateway`.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;

use ackclock_net::scenario::units::Duration;
use clap::Args;

use super::super::options::Mtu;
use super::super::prefix::Prefix;
use crate::args::{Format, file, seconds};

#[derive(Debug, Args)]
pub(crate) struct GatewayArgs {
    /// The scenario file. The gateway uses its nodes and links. Where a loss names a flow, the n-th
    /// connection that comes through stands for the n-th flow.
    #[arg(value_name = "SCENARIO.toml")]
    pub scenario: PathBuf,
    /// Attach a kernel to a node: the kernel's address, the prefix that it routes to the gateway,
    /// and its network namespace as named by `ip netns add`. Without a namespace it is this one.
    /// The kernel gets a TUN device `ack-NODE`. Repeat the option for a node to have an IPv4 and an
    /// IPv6 address.
    #[arg(long, value_name = "NODE=ADDR/PREFIX[@NETNS]", required = true)]
    pub attach: Vec<Attach>,
    /// Send packets for another prefix to this node as well. The kernels at the other nodes need a
    /// route to it: `ip route add ADDR/PREFIX dev ack-OTHER`.
    #[arg(long, value_name = "NODE=ADDR/PREFIX")]
    pub route: Vec<Route>,
    /// The seed of the random numbers. Default: the seed of the scenario.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// End after so long: a number of seconds, or a time such as `500ms`. Default: run until Ctrl-C
    /// or SIGTERM.
    #[arg(long, value_name = "N", value_parser = seconds)]
    pub seconds: Option<Duration>,
    #[command(flatten)]
    pub mtu: Mtu,
    /// Write a line of JSON to this file for each packet that a link drops. Within a second the
    /// line is there for whoever follows the file.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub drops: Option<PathBuf>,
    /// Write what each packet finds at the queue of each link to this file, and how long it waits:
    /// as CSV if the name ends in `.csv`, otherwise as lines of JSON. Times count from the start.
    /// The file is there when the gateway has ended.
    #[arg(long, value_name = "FILE", value_parser = file())]
    pub queues: Option<PathBuf>,
    /// How to print the counters of the links at the end.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// A node of the scenario and the kernel there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attach {
    pub node: String,
    pub addr: Prefix,
    pub netns: Option<String>,
}

/// A node of the scenario and what lies behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub node: String,
    pub network: IpAddr,
    pub length: u8,
}

impl FromStr for Attach {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "`{text}` is not NODE=ADDR/PREFIX[@NETNS]: write for example a=10.80.0.1/16@left"
            )
        };
        let (node, rest) =
            text.split_once('=').filter(|(node, _)| !node.is_empty()).ok_or_else(bad)?;
        let (addr, netns) = match rest.split_once('@') {
            Some((_, "")) => return Err(bad()),
            Some((addr, netns)) => (addr, Some(netns.to_string())),
            None => (rest, None),
        };
        Ok(Attach { node: node.into(), addr: addr.parse()?, netns })
    }
}

impl FromStr for Route {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('=').and_then(|(node, prefix)| {
            let (network, length) = prefix.split_once('/')?;
            let network: IpAddr = network.parse().ok()?;
            let length = length
                .parse()
                .ok()
                .filter(|&l: &u8| l <= if network.is_ipv4() { 32 } else { 128 })?;
            Some(Route { node: node.into(), network, length })
        });
        parsed.ok_or_else(|| {
            format!("`{text}` is not NODE=ADDR/PREFIX: write for example a=192.168.7.0/24")
        })
    }
}
