//! The nodes that kernels are attached to: what can be wrong with them, and their devices.

use std::collections::HashSet;
use std::io;
use std::net::IpAddr;

use ackclock_live::{Attachment, Namespace, Tun, TunConfig};
use ackclock_net::Gateway;
use ackclock_net::scenario::BuiltLink;
use ackclock_run::FileError;

use super::super::prefix::{Prefix, check_free, check_reached};
use super::options::{Attach, GatewayArgs};
use crate::error::Error;
use crate::output::say;
use crate::scenario_file::ScenarioFile;

/// A node with all that is attached to it.
pub(super) struct Node<'a> {
    name: &'a str,
    netns: Option<&'a str>,
    addresses: Vec<Prefix>,
}

/// The nodes in the order in which they are attached.
pub(super) fn nodes_of(args: &GatewayArgs) -> Result<Vec<Node<'_>>, Error> {
    let mut nodes: Vec<Node<'_>> = Vec::new();
    for Attach { node: name, addr, netns } in &args.attach {
        let (address, netns) = (*addr, netns.as_deref());
        match nodes.iter_mut().find(|node| node.name == name) {
            None => nodes.push(Node { name, netns, addresses: vec![address] }),
            Some(node) if node.netns != netns => {
                return Err(Error::Usage(format!(
                    "--attach: node `{name}` is in one namespace only"
                )));
            }
            Some(node) => node.addresses.push(address),
        }
    }
    if let Some(route) =
        args.route.iter().find(|route| nodes.iter().all(|node| node.name != route.node))
    {
        return Err(Error::Usage(format!("--route: node `{}` is not attached", route.node)));
    }
    Ok(nodes)
}

/// Refuses an address that two nodes have, as packets for it go to one of them. Refuses prefixes of
/// two nodes in one namespace that overlap: its kernel would send what is for both to one of them.
fn check_apart(nodes: &[Node<'_>]) -> Result<(), Error> {
    for (i, node) in nodes.iter().enumerate() {
        for other in &nodes[..i] {
            for ours in &node.addresses {
                let is_its = |theirs: &&Prefix| theirs.addr == ours.addr;
                if let Some(theirs) = other.addresses.iter().find(is_its) {
                    return Err(Error::Usage(format!(
                        "--attach {}: node {} has {}, too; each node has addresses of its own",
                        node.name, other.name, theirs.addr
                    )));
                }
            }
        }
        for other in nodes[..i].iter().filter(|other| other.netns == node.netns) {
            for ours in &node.addresses {
                if let Some(theirs) = other.addresses.iter().find(|theirs| ours.overlaps(**theirs))
                {
                    return Err(Error::Usage(format!(
                        "--attach {}: {ours}: node {} has {theirs} in the same namespace; choose \
                         prefixes that do not overlap",
                        node.name, other.name
                    )));
                }
            }
        }
    }
    Ok(())
}

/// What can be found wrong before anything is made. Returns the links.
pub(super) fn check(
    source: &ScenarioFile,
    nodes: &[Node<'_>],
    seed: u64,
) -> Result<Vec<BuiltLink>, Error> {
    let mut gateway = Gateway::new(&source.scenario, seed).map_err(|error| {
        ackclock_run::Error::Scenario(FileError { file: source.file.clone(), error })
    })?;
    let list = || format!("{} has {}", source.file, gateway.node_list());
    if nodes.len() < 2 {
        return Err(Error::Usage(format!(
            "--attach: packets go from one node to another; attach two or more: {}",
            list()
        )));
    }
    if let Some(node) = nodes.iter().find(|node| gateway.node(node.name).is_none()) {
        return Err(Error::Usage(format!(
            "--attach: there is no node `{}`: {}",
            node.name,
            list()
        )));
    }
    let ids: Vec<_> = nodes.iter().filter_map(|node| gateway.node(node.name)).collect();
    for (from, a) in nodes.iter().zip(&ids) {
        for (to, b) in nodes.iter().zip(&ids) {
            if a != b && !gateway.has_route(*a, *b) {
                let (from, to) = (from.name, to.name);
                return Err(Error::Usage(format!(
                    "--attach: in {} no links lead from `{from}` to `{to}`",
                    source.file
                )));
            }
        }
    }
    check_apart(nodes)?;
    Ok(gateway.links().to_vec())
}

impl Node<'_> {
    /// Does something in the node's namespace.
    pub fn within<T: Send>(&self, run: impl FnOnce() -> T + Send) -> Result<T, Error> {
        let Some(name) = self.netns else { return Ok(run()) };
        let namespace = Namespace::named(name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::Usage(format!(
                "--attach: there is no network namespace `{name}`; `ip netns add {name}` makes one"
            )),
            _ => Error::system(format!("network namespace {name}"))(error),
        })?;
        namespace.run(run).map_err(Error::system(format!("network namespace {name}")))
    }

    /// Refuses a prefix of which a device of the namespace has a part. What the other nodes have is
    /// not there yet.
    pub fn check_free(&self) -> Result<(), Error> {
        let option = format!("--attach {}:", self.name);
        self.addresses.iter().try_for_each(|&address| check_free(&option, address))
    }

    /// Refuses addresses of other nodes that lie in a prefix of this one, and to which the kernel
    /// has another route than our device. Others need a route of the user's, which may come later.
    /// In one namespace packets for them never leave the kernel ([`warn_of_one_namespace`]).
    pub fn check_reached(&self, nodes: &[Node<'_>]) -> Result<(), Error> {
        let own: Vec<IpAddr> = self.addresses.iter().map(|prefix| prefix.addr).collect();
        for other in nodes.iter().filter(|other| other.netns != self.netns) {
            for to in &other.addresses {
                if self.addresses.iter().any(|prefix| prefix.contains(to.addr)) {
                    let option = format!("--attach {}: from node {} to", other.name, self.name);
                    let ours = own.iter().filter(|addr| addr.is_ipv4() == to.addr.is_ipv4());
                    check_reached(&option, to.addr, &ours.copied().collect::<Vec<_>>())?;
                }
            }
        }
        Ok(())
    }

    /// Makes the node's device.
    pub fn attach(&self, args: &GatewayArgs) -> Result<Attachment, Error> {
        // Names of devices have at most 15 bytes, without slashes and spaces.
        let fit = |c: char| if c.is_ascii_graphic() && c != '/' && c != ':' { c } else { '-' };
        let device: String = format!("ack-{}", self.name).chars().map(fit).take(15).collect();
        let config = TunConfig {
            name: device,
            addresses: self.addresses.iter().map(|prefix| (prefix.addr, prefix.len)).collect(),
            mtu: args.mtu.bytes,
            offload: false,
        };
        let refused = |error: io::Error| {
            let error = match error.kind() {
                io::ErrorKind::AlreadyExists => io::Error::new(
                    error.kind(),
                    "there is a device of this name; give the node another name in the scenario, \
                     or delete the device",
                ),
                _ => error,
            };
            Error::system(format!("device {}", config.name))(error)
        };
        let tun = self.within(|| Tun::open(&config))?.map_err(refused)?;
        let shown: Vec<String> = self.addresses.iter().map(Prefix::to_string).collect();
        let place =
            self.netns.map_or("this namespace".to_string(), |name| format!("namespace {name}"));
        say(&format!("{}: node {}, {} in {place}", tun.name(), self.name, shown.join(" and ")));
        // The address itself, so that nodes may share a prefix; what else is in the prefix, if no
        // other node has it.
        let whole = |address: IpAddr| (address, if address.is_ipv4() { 32 } else { 128 });
        let mut prefixes: Vec<(IpAddr, u8)> =
            self.addresses.iter().map(|prefix| whole(prefix.addr)).collect();
        prefixes.extend(&config.addresses);
        let routes = args.route.iter().filter(|route| route.node == self.name);
        prefixes.extend(routes.map(|route| (route.network, route.length)));
        Ok(Attachment { node: self.name.into(), tun, prefixes })
    }
}

/// Between two addresses of its own a kernel needs no device.
pub(super) fn warn_of_one_namespace(nodes: &[Node<'_>]) {
    let mut seen = HashSet::new();
    if let Some(node) = nodes.iter().find(|node| !seen.insert(node.netns)) {
        say(&format!(
            "note: node {} is in the same namespace as another one; what a kernel sends from one \
             of its own addresses to another does not come through the gateway",
            node.name
        ));
    }
}
