//! The command: options, Ctrl-C, and the line at the end.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use ackclock_net::scenario::deployable;
use ackclock_net::scenario::units::{Duration, Probability, Rate};
use ackclock_tcp::strategy::Composition;
use ackclock_tcp::{Registry, Span};
use clap::{ArgGroup, Args};

use crate::address::{check_server, listen_address, server_addresses};
use crate::api::{Api, Condition, NewProxy, Problem, Proxies};
use crate::{Error, Late, Proxy, ProxyConfig, ProxyReport, files, names};

/// The options of the command.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("what").args(["listen", "api"]).required(true).multiple(true)))]
pub struct ImpairArgs {
    /// Where to listen. `:8080` is port 8080 of all addresses, IPv6 and IPv4; `0.0.0.0:8080` is
    /// that of all IPv4 addresses.
    #[arg(long, value_name = "ADDR:PORT", requires = "to")]
    pub listen: Vec<String>,
    /// The server to forward to. A name is looked up at the start, and again where no address of it
    /// takes a client.
    #[arg(long, value_name = "HOST:PORT", requires = "listen")]
    pub to: Option<String>,
    /// Serve an HTTP API there, by which proxies and their conditions are made, changed and
    /// removed while they run. A port alone is one of 127.0.0.1. What --listen and --to say is the
    /// proxy `default` then.
    #[arg(long, value_name = "[ADDR:]PORT")]
    pub api: Option<String>,
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
    /// How long connecting to the server may take, and before that the way through the network.
    /// Then the client is reset. Of several addresses each has an equal part.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = some_time)]
    pub connect_timeout: Duration,
    /// How long open connections may take to finish after Ctrl-C or SIGTERM. A second signal ends
    /// them at once.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub drain: Duration,
}

/// Runs proxies until Ctrl-C or SIGTERM. Returns what they did, in a line.
///
/// # Errors
/// What is wrong with the options or the scenario, and what the system refuses.
pub fn impair(args: &ImpairArgs, registry: &Registry) -> Result<String, Error> {
    let strategy = deployable(&args.strategy, registry)
        .map_err(|error| Error::Usage(format!("--strategy: {error}")))?;
    if let Some(warning) = files::make_room(args.max_connections, args.api.is_some())? {
        say(&warning);
    }
    match &args.api {
        Some(api) => with_api(args, api, strategy, registry),
        None => alone(args, strategy, registry),
    }
}

/// Runs the proxy of the options.
fn alone(args: &ImpairArgs, strategy: Composition, registry: &Registry) -> Result<String, Error> {
    let conditions = args.condition()?.links(args.seed, registry)?;
    let mut listen = Vec::new();
    for text in &args.listen {
        listen.push(listen_address("--listen", text)?);
    }
    let to = args.to.as_deref().unwrap_or_default();
    let addresses = server_addresses("--to", to)?;
    for &listen in &listen {
        check_server("--to", to, &addresses, listen)?;
    }
    let server = names::name(to);
    let config = ProxyConfig { listen, to: addresses, server, ..args.proxy_config(strategy) };
    let interrupts = interrupts()?;
    let seed = conditions.seed();
    let proxy = Proxy::start(&config, &[conditions])?;
    for address in proxy.addresses() {
        say(&format!("forwarding {address} to {to} with seed {seed}; Ctrl-C ends it"));
    }
    // The other end is never dropped.
    let _ = interrupts.recv();
    cut_at_the_next(interrupts, vec![Box::new(proxy.cutter())]);
    Ok(line(&[proxy.finish(drain(args))?]))
}

/// Runs the proxies that an API makes.
fn with_api(
    args: &ImpairArgs,
    api: &str,
    strategy: Composition,
    registry: &Registry,
) -> Result<String, Error> {
    let host = match api.parse::<u16>() {
        Ok(_) => "127.0.0.1:",
        Err(_) if api.contains(':') => "",
        Err(_) => {
            return Err(Error::Usage(format!(
                "--api {api}: write a port such as 8474, or an address with one such as \
                 127.0.0.1:8474"
            )));
        }
    };
    let address = listen_address("--api", &format!("{host}{api}"))?;
    let seed = args.seed.unwrap_or(1);
    let mut proxies = Proxies::new(args.proxy_config(strategy), seed);
    let first = match (args.listen.as_slice(), &args.to) {
        ([listen], Some(to)) => {
            server_addresses("--to", to)?;
            let condition = args.condition()?;
            let seed = condition.links(args.seed, registry)?.seed();
            let new = NewProxy {
                name: "default".into(),
                listen: listen.clone(),
                upstream: to.clone(),
                enabled: true,
                seed: Some(seed),
                conditions: vec![Condition { name: Some("options".into()), ..condition }],
                toxics: (),
            };
            Some((new.found(registry).map_err(Error::from)?, to))
        }
        ([], _) if args.condition()? == Condition::default() => None,
        ([], _) => {
            let text =
                "the options of conditions need --listen; other proxies get theirs by the API";
            return Err(Error::Usage(text.into()));
        }
        _ => return Err(Error::Usage("--listen: one beside --api, which makes others".into())),
    };
    // Names are looked up before, so that signals end that.
    let interrupts = interrupts()?;
    if let Some((wanted, to)) = first {
        let shown = proxies.add(wanted).map_err(Error::from)?;
        let listen = shown["listen"].as_str().unwrap_or_default();
        say(&format!("forwarding {listen} to {to} as the proxy `default`"));
    }
    let proxies = Arc::new(Mutex::new(proxies));
    let name = api.rsplit_once(':').map_or("", |(host, _)| host);
    let api = Api::start(address, name, proxies.clone(), registry.clone())?;
    say(&format!("the API is at http://{}; Ctrl-C ends it", api.address()));
    // The other end is never dropped.
    let _ = interrupts.recv();
    drop(api);
    let mut proxies = proxies.lock().unwrap_or_else(PoisonError::into_inner);
    cut_at_the_next(interrupts, proxies.cutters());
    Ok(line(&proxies.finish(drain(args))?))
}

impl From<Problem> for Error {
    fn from(Problem { status, text }: Problem) -> Error {
        match status {
            409 | 503 => Error::system("the proxy `default`")(io::Error::other(text)),
            _ => Error::Usage(text),
        }
    }
}

fn drain(args: &ImpairArgs) -> std::time::Duration {
    system_time(args.drain)
}

fn system_time(time: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(time.0.nanos())
}

/// The next interrupts cut connections off.
fn cut_at_the_next(interrupts: mpsc::Receiver<()>, cutters: Vec<Box<dyn Fn() + Send>>) {
    std::thread::spawn(move || {
        while interrupts.recv().is_ok() {
            cutters.iter().for_each(|cut| cut());
        }
    });
}

fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

impl ImpairArgs {
    /// What all proxies have in common.
    fn proxy_config(&self, strategy: Composition) -> ProxyConfig {
        ProxyConfig {
            strategy,
            max_connections: self.max_connections,
            connect_timeout: system_time(self.connect_timeout),
            ..ProxyConfig::new(Vec::new(), Vec::new())
        }
    }

    /// The condition that the options describe.
    fn condition(&self) -> Result<Condition, Error> {
        let read = |path: &PathBuf| {
            fs::read_to_string(path).map_err(|error| Error::Read { path: path.clone(), error })
        };
        Ok(Condition {
            rate: self.rate,
            delay: Some(self.delay).filter(|delay| delay.0 > Span::ZERO),
            jitter: self.jitter,
            loss: self.loss,
            burst: self.burst,
            reorder: self.reorder,
            queue: self.queue,
            scenario: self.scenario.as_ref().map(read).transpose()?,
            file: self.scenario.as_ref().map(|path| path.display().to_string()),
            client: self.client.clone(),
            server: self.server.clone(),
            ..Condition::default()
        })
    }
}

fn some_time(text: &str) -> Result<Duration, String> {
    match text.parse::<Duration>() {
        Ok(Duration(Span::ZERO)) => {
            Err(format!("`{text}` is no time; for hardly any limit write 1000000s"))
        }
        parsed => parsed.map_err(|error| error.to_string()),
    }
}

/// Gets a message for each SIGINT and SIGTERM. SIGHUP is as this process got it: `nohup` has it
/// ignored. To be called before any thread is there, which would take the signals otherwise.
#[cfg(unix)]
fn interrupts() -> Result<mpsc::Receiver<()>, Error> {
    use nix::sys::signal::{SigSet, Signal};
    let both: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    both.thread_block().map_err(|error| Error::system("signals")(error.into()))?;
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new()
        .name("impair-signals".into())
        // Whoever waited has gone.
        .spawn(move || while both.wait().is_ok() && sender.send(()).is_ok() {})
        .map_err(Error::system("thread"))?;
    Ok(receiver)
}

/// Gets a message for each Ctrl-C, and where a console is closed.
#[cfg(not(unix))]
fn interrupts() -> Result<mpsc::Receiver<()>, Error> {
    let (sender, receiver) = mpsc::channel();
    ctrlc::set_handler(move || {
        // Whoever waited has gone.
        let _ = sender.send(());
    })
    .map_err(|error| Error::system("signals")(io::Error::other(error)))?;
    Ok(receiver)
}

fn line(reports: &[ProxyReport]) -> String {
    let sum = |count: fn(&ProxyReport) -> u64| reports.iter().map(count).sum::<u64>();
    let (accepted, reset) = (sum(|r| r.accepted), sum(|r| r.reset));
    let (unreachable, up, down) =
        (sum(|r| r.unreachable), sum(|r| r.bytes[0]), sum(|r| r.bytes[1]));
    let (packets, lost) = (sum(|r| r.passed.packets), sum(|r| r.passed.lost));
    let counted = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    format!(
        "{}, {reset} reset, {unreachable} not taken by the server; {} up, {down} down; {}, {lost} \
         lost\n",
        counted(accepted, "connection"),
        counted(up, "byte"),
        counted(packets, "packet")
    )
}

#[cfg(test)]
mod tests;
