//! `ackclock gateway`: the links of a scenario in real time between TUN devices.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ackclock_live::{
    Attachment, GatewayReport, Lateness, Logs, Namespace, QueueLog, RealTimeGateway, Tun, TunConfig,
};
use ackclock_net::Gateway;
use ackclock_net::scenario::BuiltLink;
use ackclock_net::scenario::units::Duration;
use ackclock_report::{Align, align_within, counted};
use ackclock_run::{FileError, LinkStats};
use ackclock_tcp::{Registry, Time};
use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;

use super::Interrupt;
use super::drops::Drops;
use super::prefix::{Prefix, check_free, check_reached};
use crate::args::{Format, file, seconds};
use crate::error::Error;
use crate::output::{self, LINK_HEADING, json_text, link_cells, width};
use crate::overwrite;
use crate::queues::Queues;
use crate::scenario_file::ScenarioFile;

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
    /// The MTU of the devices.
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 1500,
        value_parser = clap::value_parser!(u16).range(576..)
    )]
    pub mtu: u16,
    /// Write a line of JSON to this file for each packet that a link drops. Within a second the
    /// line is there for whoever follows the file.
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub drops: Option<PathBuf>,
    /// Write what each packet finds at the queue of each link to this file, and how long it waits:
    /// as CSV if the name ends in `.csv`, otherwise as lines of JSON. Times count from the start.
    /// The file is there when the gateway has ended.
    #[arg(long, value_name = "FILE", value_parser = file)]
    pub queues: Option<PathBuf>,
    /// How to print the counters of the links at the end.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// A node of the scenario and the kernel there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attach {
    node: String,
    addr: Prefix,
    netns: Option<String>,
}

/// A node of the scenario and what lies behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    node: String,
    network: IpAddr,
    length: u8,
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

pub(crate) fn gateway(args: &GatewayArgs, registry: &Registry) -> Result<String, Error> {
    let source = ScenarioFile::read(&args.scenario, registry)?;
    let inputs = source.inputs();
    overwrite::check(inputs.iter().map(PathBuf::as_path), args.drops.iter().chain(&args.queues))?;
    let seed = args.seed.unwrap_or(source.scenario.seed);
    let nodes = nodes(args)?;
    let links = check(&source, &nodes, seed)?;
    let interrupt = Interrupt::new()?;
    for node in &nodes {
        node.within(|| node.check_free())??;
    }
    let attachments = nodes.iter().map(|node| node.attach(args)).collect::<Result<Vec<_>, _>>()?;
    for node in &nodes {
        node.within(|| node.check_reached(&nodes))??;
    }
    warn_of_one_namespace(&nodes);
    let drops = args.drops.clone().map(Drops::create).transpose()?;
    let queues = match queues_of(args)? {
        None => None,
        Some(mut queues) => {
            queues.begin(None, &links, &source.scenario, Time::NEVER);
            Some(Arc::new(Mutex::new(queues)))
        }
    };
    let logs = Logs {
        drops: drops.as_ref().map(Drops::log),
        queues: queues.clone().map(|queues| -> QueueLog {
            Box::new(move |link, visit| lock(&queues).visit(link, visit))
        }),
    };
    let started = RealTimeGateway::start_logged(&source.scenario, seed, attachments, logs);
    let gateway = started.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => Error::Usage(format!("{}: {error}", source.file)),
        _ => Error::system("gateway")(error),
    })?;
    say(&format!("{} runs with seed {seed}; Ctrl-C ends it\n", source.file));
    wait(&gateway, &interrupt, args.seconds, drops.as_ref())?;
    let failure = gateway.failure();
    let report = gateway.report();
    drop(gateway);
    drops.map_or(Ok(()), |drops| drops.finish())?;
    queues.map_or(Ok(()), |queues| lock(&queues).finish_file())?;
    let text = match args.format {
        Format::Table => table(&report),
        Format::Json => json_text(&Json::new(&report)),
    };
    let Some(failure) = failure else { return Ok(text) };
    // What there was until then is told all the same.
    output::print(&text)?;
    Err(Error::system("a device is gone")(io::Error::other(failure)))
}

/// The file of `--queues`.
fn queues_of(args: &GatewayArgs) -> Result<Option<Queues>, Error> {
    let Some(path) = &args.queues else { return Ok(None) };
    let mut queues = Queues::new(false);
    queues.write_to(path)?;
    Ok(Some(queues))
}

fn lock(queues: &Mutex<Queues>) -> MutexGuard<'_, Queues> {
    queues.lock().unwrap_or_else(PoisonError::into_inner)
}

fn say(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A node with all that is attached to it.
struct Node<'a> {
    name: &'a str,
    netns: Option<&'a str>,
    addresses: Vec<Prefix>,
}

/// The nodes in the order in which they are attached.
fn nodes(args: &GatewayArgs) -> Result<Vec<Node<'_>>, Error> {
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
fn check(source: &ScenarioFile, nodes: &[Node<'_>], seed: u64) -> Result<Vec<BuiltLink>, Error> {
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
    fn within<T: Send>(&self, run: impl FnOnce() -> T + Send) -> Result<T, Error> {
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
    fn check_free(&self) -> Result<(), Error> {
        let option = format!("--attach {}:", self.name);
        self.addresses.iter().try_for_each(|&address| check_free(&option, address))
    }

    /// Refuses addresses of other nodes that lie in a prefix of this one, and to which the kernel
    /// has another route than our device. Others need a route of the user's, which may come later.
    /// In one namespace packets for them never leave the kernel ([`warn_of_one_namespace`]).
    fn check_reached(&self, nodes: &[Node<'_>]) -> Result<(), Error> {
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
    fn attach(&self, args: &GatewayArgs) -> Result<Attachment, Error> {
        // Names of devices have at most 15 bytes, without slashes and spaces.
        let fit = |c: char| if c.is_ascii_graphic() && c != '/' && c != ':' { c } else { '-' };
        let device: String = format!("ack-{}", self.name).chars().map(fit).take(15).collect();
        let config = TunConfig {
            name: device,
            addresses: self.addresses.iter().map(|prefix| (prefix.addr, prefix.len)).collect(),
            mtu: args.mtu,
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
        say(&format!("{}: node {}, {} in {place}\n", tun.name(), self.name, shown.join(" and ")));
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
fn warn_of_one_namespace(nodes: &[Node<'_>]) {
    let mut seen = HashSet::new();
    if let Some(node) = nodes.iter().find(|node| !seen.insert(node.netns)) {
        say(&format!(
            "note: node {} is in the same namespace as another one; what a kernel sends from one \
             of its own addresses to \
             another does not come through the gateway\n",
            node.name
        ));
    }
}

/// How often what was dropped is handed to the file, for whoever follows it.
const FOLLOW: std::time::Duration = std::time::Duration::from_secs(1);

/// Waits for a signal, the end of the time, or a failure.
fn wait(
    gateway: &RealTimeGateway,
    interrupt: &Interrupt,
    time: Option<Duration>,
    drops: Option<&Drops>,
) -> Result<(), Error> {
    let time = time.map(|time| std::time::Duration::from_nanos(time.0.nanos()));
    let end = time.and_then(|time| Instant::now().checked_add(time));
    let mut fds = [
        PollFd::from_borrowed_fd(interrupt.as_fd(), PollFlags::IN),
        PollFd::from_borrowed_fd(gateway.as_fd(), PollFlags::IN),
    ];
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let follow = drops.map(|_| FOLLOW);
        let timeout = [left, follow].into_iter().flatten().min();
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let ready = rustix::io::retry_on_intr(|| poll(&mut fds, timeout.as_ref()))
            .map_err(|e| Error::system("poll")(e.into()))?;
        if ready > 0 || end.is_some_and(|end| end <= Instant::now()) {
            return Ok(());
        }
        if let Some(drops) = drops {
            drops.flush();
        }
    }
}

fn links(report: &GatewayReport) -> impl Iterator<Item = LinkStats> {
    report.links.iter().map(|(from, to, link)| LinkStats::of(from, to, link))
}

fn table(report: &GatewayReport) -> String {
    let row = |link: String, cells: Vec<String>| [vec![link], cells].concat();
    let mut rows = vec![row("link".into(), LINK_HEADING.map(String::from).to_vec())];
    rows.extend(links(report).map(|l| row(format!("{} > {}", l.from, l.to), link_cells(&l))));
    let mut text = align_within(&rows, Align::Right, width());
    let late = quantiles(&report.lateness).map(|us| format!("{us:.0}"));
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "\n{} in, {} out; late by {} us in the median, 99 %: {} us, at most {} us",
        counted(report.entered, "packet"),
        report.delivered,
        late[0],
        late[1],
        late[2]
    );
    let were = if report.refused == 1 { "was" } else { "were" };
    let rare = [
        (report.unroutable, "had no other node to go to".to_string()),
        (report.refused, format!("{were} refused by a kernel")),
    ];
    for (n, what) in rare.into_iter().filter(|&(n, _)| n > 0) {
        let _ = writeln!(text, "{} {what}", counted(n, "packet"));
    }
    if report.stalled > 0 {
        let _ = writeln!(
            text,
            "{} the gateway held all that it may, and the devices had to wait",
            counted(report.stalled, "time")
        );
    }
    text
}

/// The median, the 99th percentile and the maximum in microseconds.
fn quantiles(lateness: &Lateness) -> [f64; 3] {
    [0.5, 0.99, 1.0].map(|q| lateness.quantile(q) as f64 / 1000.0)
}

#[derive(Serialize)]
struct Json {
    links: Vec<LinkStats>,
    entered: u64,
    delivered: u64,
    unroutable: u64,
    refused: u64,
    stalled: u64,
    lateness_us: JsonLateness,
}

#[derive(Serialize)]
struct JsonLateness {
    median: f64,
    p99: f64,
    max: f64,
}

impl Json {
    fn new(report: &GatewayReport) -> Json {
        let [median, p99, max] = quantiles(&report.lateness);
        Json {
            links: links(report).collect(),
            entered: report.entered,
            delivered: report.delivered,
            unroutable: report.unroutable,
            refused: report.refused,
            stalled: report.stalled,
            lateness_us: JsonLateness { median, p99, max },
        }
    }
}
