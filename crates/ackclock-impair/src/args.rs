//! The command: options, Ctrl-C, and the line at the end.

use std::fs;
use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::mpsc;

use ackclock_net::scenario::check_strategy;
use ackclock_net::scenario::units::{Duration, Probability, Rate};
use ackclock_tcp::Registry;
use clap::Args;

use crate::{Conditions, Error, Late, Proxy, ProxyConfig, ProxyReport, Simple, Way};

/// The options of the command.
#[derive(Clone, Debug, Args)]
pub struct ImpairArgs {
    /// Where to listen. `:8080` is port 8080 of all IPv4 addresses.
    #[arg(long, value_name = "ADDR:PORT", required = true)]
    pub listen: Vec<String>,
    /// The server to forward to.
    #[arg(long, value_name = "HOST:PORT")]
    pub to: String,
    /// The network between clients and server: nodes and links of this scenario. Its flows play no
    /// part, except that the n-th connection stands for the n-th flow where a loss names one.
    #[arg(
        long,
        value_name = "FILE.toml",
        conflicts_with_all = ["rate", "delay", "jitter", "loss", "burst", "reorder", "queue"]
    )]
    pub scenario: Option<PathBuf>,
    /// The node of the scenario where the clients are. Default: client.
    #[arg(long, value_name = "NODE", requires = "scenario")]
    pub client: Option<String>,
    /// The node of the scenario where the server is. Default: server.
    #[arg(long, value_name = "NODE", requires = "scenario")]
    pub server: Option<String>,
    /// The rate in each direction. Default: no limit.
    #[arg(long, value_name = "RATE")]
    pub rate: Option<Rate>,
    /// The delay of each direction.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub delay: Duration,
    /// Delay each packet further by a random time up to this. Packets keep their order.
    #[arg(long, value_name = "TIME")]
    pub jitter: Option<Duration>,
    /// The share of packets that is lost in each direction. ACKs without data are not lost; a
    /// scenario can lose these too.
    #[arg(long, value_name = "P")]
    pub loss: Option<Probability>,
    /// How many packets are lost in a row, on average.
    #[arg(long, value_name = "PACKETS", requires = "loss")]
    pub burst: Option<f64>,
    /// The share of packets that others overtake, and how much later these arrive. Default: 10 ms
    /// later.
    #[arg(long, value_name = "P[:TIME]")]
    pub reorder: Option<Late>,
    /// How many packets may wait for the link. Default: 1000.
    #[arg(long, value_name = "PACKETS", requires = "rate")]
    pub queue: Option<u32>,
    /// The seed of the random numbers. Default: the seed of the scenario, or 1.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The strategy of the senders at both ends of the network.
    #[arg(long, value_name = "S", default_value = "linux")]
    pub strategy: String,
    /// The most clients at the same time. Further ones wait until one is done.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..=20_000)
    )]
    pub max_connections: u32,
    /// How long open connections may take to finish after Ctrl-C. A second Ctrl-C ends them at once.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub drain: Duration,
}

/// Runs a proxy until Ctrl-C or SIGTERM. Returns what it did, in a line.
///
/// # Errors
/// What is wrong with the options or the scenario, and what the system refuses.
pub fn impair(args: &ImpairArgs, registry: &Registry) -> Result<String, Error> {
    let conditions = args.conditions(registry)?;
    let usage = |option: &str, error: String| Error::Usage(format!("{option}: {error}"));
    let strategy = check_strategy(&args.strategy, registry)
        .and_then(|()| registry.parse(&args.strategy).map_err(|e| e.to_string()))
        .map_err(|error| usage("--strategy", error))?;
    let mut listen = Vec::new();
    for text in &args.listen {
        let all = text.strip_prefix(':').map(|port| format!("0.0.0.0:{port}"));
        listen.extend(resolve("--listen", all.as_deref().unwrap_or(text))?.first());
    }
    let to = resolve("--to", &args.to)?;
    let config = ProxyConfig {
        strategy,
        max_connections: args.max_connections,
        ..ProxyConfig::new(listen, to)
    };
    let interrupts = interrupts()?;
    let seed = conditions.seed();
    let proxy = Proxy::start(&config, &[conditions])?;
    for address in proxy.addresses() {
        let _ = writeln!(
            io::stderr(),
            "forwarding {address} to {} with seed {seed}; Ctrl-C ends it",
            args.to
        );
    }
    // The other end is never dropped.
    let _ = interrupts.recv();
    let cut = proxy.cutter();
    std::thread::spawn(move || {
        while interrupts.recv().is_ok() {
            cut();
        }
    });
    Ok(line(&proxy.finish(std::time::Duration::from_nanos(args.drain.0.nanos()))?))
}

impl ImpairArgs {
    fn conditions(&self, registry: &Registry) -> Result<Conditions, Error> {
        let Some(path) = &self.scenario else {
            let simple = Simple {
                direction: Way::Both,
                rate: self.rate,
                delay: self.delay,
                jitter: self.jitter,
                loss: self.loss,
                burst: self.burst,
                reorder: self.reorder,
                queue: self.queue,
            };
            return Conditions::simple(&simple, self.seed.unwrap_or(1));
        };
        let text =
            fs::read_to_string(path).map_err(|error| Error::Read { path: path.clone(), error })?;
        let (client, server) = (self.client.as_deref(), self.server.as_deref());
        let file = path.display().to_string();
        Conditions::from_toml(&text, &file, self.seed, client, server, registry)
    }
}

fn resolve(option: &str, text: &str) -> Result<Vec<SocketAddr>, Error> {
    let found = text.to_socket_addrs().map_err(|error| {
        Error::Usage(format!("{option} {text}: {error}; write for example 127.0.0.1:8080"))
    })?;
    Ok(found.collect())
}

/// Gets a message for each Ctrl-C and SIGTERM.
fn interrupts() -> Result<mpsc::Receiver<()>, Error> {
    let (sender, receiver) = mpsc::channel();
    ctrlc::set_handler(move || {
        // Whoever waited has gone.
        let _ = sender.send(());
    })
    .map_err(|error| Error::system("signals")(io::Error::other(error)))?;
    Ok(receiver)
}

fn line(report: &ProxyReport) -> String {
    let ProxyReport { accepted, reset, unreachable, bytes: [up, down], links, .. } = report;
    let packets: u64 = links.iter().map(|link| link.counts.packets).sum();
    let lost: u64 = links
        .iter()
        .map(|link| {
            let c = &link.counts;
            c.dropped_loss + c.dropped_queue + c.dropped_early
        })
        .sum();
    format!(
        "{accepted} connections, {reset} reset, {unreachable} not taken by the server; {up} bytes \
         up, {down} down; {packets} packets, {lost} lost\n"
    )
}
