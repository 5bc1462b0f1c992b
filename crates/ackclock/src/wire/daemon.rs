//! The commands that serve: a thread for each queue of the device, and this one for signals and
//! metrics.

mod access;
mod control;
mod counters;
mod log_file;
mod mail;
mod manager;
mod memory;
mod net;
mod notices;
mod room;
mod service;
mod sources;
mod worker;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::thread;

use ackclock_impair::files::raise;
use ackclock_net::scenario::units::{Duration, Size};
use ackclock_report::counted;
use ackclock_stack::TcpConfig;
use clap::Args;
use rustix::thread::CapabilitySet;
use sd_notify::NotifyState;

use super::interrupt::Interrupt;
use super::metrics::{Endpoint, MAX_FETCHES};
use super::privileges::{drop_privileges, user};
use super::split::{Split, SplitArg};
use super::{DEFAULT_STRATEGY, WireArgs, open_hosts};
use crate::args::own_address;
use crate::error::Error;
use crate::output;
use crate::output::say;
use control::{Control, Reread};
use log_file::{LogFile, LogWriter};
use mail::{Bell, Post, mailbox};
use memory::{Budget, default_budget, least};
pub(crate) use net::{Listening, Net, Own, in_vain};
use notices::Notices;
use room::Room;
pub(crate) use service::{Again, Counts, Found, Reload, Service, Why};
pub(crate) use sources::SourceLimits;
use sources::Sources;
use worker::Worker;

/// What the commands that serve have in common.
#[derive(Debug, Args)]
pub(crate) struct DaemonArgs {
    /// The strategy of our sender. `+` adds a mechanism, as in `sack+lt`.
    #[arg(long, value_name = "S", default_value = DEFAULT_STRATEGY)]
    pub strategy: String,
    /// Give another strategy to some of the clients: to a share of the connections (`prr=10%`), or
    /// to a prefix (`prr=198.51.100.0/24`). Repeat the option for more. Prefixes go before shares,
    /// and of several that hold a client the longest. Metrics and access log have the strategy of
    /// each connection.
    #[arg(long, value_name = "S=SHARE|PREFIX")]
    pub split: Vec<SplitArg>,
    /// Serve with so many threads, from 1 to 64: each has a queue of the device, and a stack of its
    /// own for the connections that the kernel leads to it. As many as there are cores make sense.
    #[arg(long, value_name = "N", default_value = "1", value_parser = queues)]
    pub queues: usize,
    /// The most connections at the same time. Further clients wait until one ends.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub max_connections: u32,
    /// Serve metrics for Prometheus at this address, under `/metrics`, with the kernel's TCP.
    /// Anyone who reaches the address can read them: prefer a loopback address.
    #[arg(long, value_name = "ADDR:PORT", value_parser = own_address)]
    pub metrics: Option<SocketAddr>,
    /// How long open connections may take to finish after Ctrl-C or SIGTERM. A second signal ends
    /// them at once.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub drain: Duration,
    /// Append a line of JSON to this file for each connection that ends; `-` is standard output.
    /// The guide has the keys. SIGHUP opens the file anew.
    #[arg(long, value_name = "FILE")]
    pub access_log: Option<PathBuf>,
    /// How much memory to take at most. Buffers get less the more of it is in use, and there are no
    /// more connections than it has room for. Default: a quarter of what the machine has, or of
    /// what its control group may have where that is less.
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<Size>,
    /// The most connections from one address, or from one /64 prefix of IPv6. Further ones are
    /// reset. Default: no limit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_per_source: Option<u32>,
    /// The most new connections a second from one address, or from one /64 prefix of IPv6. As many
    /// may come at once. Further ones are reset. Default: no limit.
    #[arg(
        long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_RATE)),
    )]
    pub max_rate_per_source: Option<u32>,
    /// Serve as this user. Capabilities are given up in any case, once the device is open.
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    #[command(flatten)]
    pub wire: WireArgs,
}

/// What the threads share. No packet needs any of it: connections do when they begin and end.
struct Shared {
    budget: Budget,
    room: Room,
    sources: Mutex<Sources>,
    /// Of listeners that have none of their own.
    limits: SourceLimits,
    log: Option<LogFile>,
    notices: Notices,
    /// Whether SIGHUP could read its file when it last came.
    reloaded: AtomicBool,
    /// Workers that have no connection left after a signal.
    drained: AtomicUsize,
    /// A worker has ended, or cannot go on.
    ended: AtomicBool,
    /// Names of backends that take no client: they may stand for other addresses by now.
    look_up: Mutex<Vec<String>>,
    /// Rings when one of these has changed.
    bell: Bell,
}

/// Everything that a command needs before it can serve.
pub(crate) struct Daemon<S: Service> {
    workers: Vec<Worker<S>>,
    control: Control<S>,
    user: Option<String>,
    /// Capabilities that it needs while it serves.
    capabilities: CapabilitySet,
    /// The access log, and where it goes: `-` is standard output.
    log: Option<LogWriter>,
    log_path: Option<PathBuf>,
}

impl<S: Service> Daemon<S> {
    /// Opens the device, and listens; `make` makes the service of each queue.
    pub fn open(
        args: &DaemonArgs,
        interrupt: Interrupt,
        listen: &[Listening],
        config: &TcpConfig,
        split: &Split,
        mut make: impl FnMut() -> S,
    ) -> Result<Daemon<S>, Error> {
        let memory = args.memory.map_or_else(default_budget, |size| size.0 as usize);
        let (queues, least) = (args.queues, least(args.queues));
        if queues > 1 && memory < least {
            let least = least >> 20;
            let text = format!("--memory: {queues} queues (--queues) take at least {least}mb");
            return Err(Error::Usage(text));
        }
        let most = most_by_files(args, S::FILES);
        let budget = Budget::new(memory, most as usize, args.queues);
        if budget.connections < most as usize {
            warn_of_memory(memory, budget.connections, args.max_connections);
        }
        // Buffers are of one stack each, and know nothing of those of others.
        let hosts = open_hosts(&args.wire, args.queues, budget.buffers(0), budget.waiting)?;
        let limits =
            SourceLimits { connections: args.max_per_source, rate: args.max_rate_per_source };
        let log = args.access_log.as_deref();
        let log = log.map(|path| LogFile::open(path).map_err(Error::write(path))).transpose()?;
        let (log, writer) = log.unzip();
        let bells: Vec<Bell> = hosts.iter().map(|_| Bell::new()).collect::<Result<_, _>>()?;
        let shared = Arc::new(Shared {
            budget,
            room: Room::new(budget.connections, bells.clone()),
            sources: Mutex::default(),
            limits,
            log,
            notices: Notices::default(),
            reloaded: AtomicBool::new(true),
            drained: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            look_up: Mutex::default(),
            bell: Bell::new()?,
        });
        let (posts, boxes): (Vec<Post<Worker<S>>>, Vec<_>) = bells.into_iter().map(mailbox).unzip();
        let mut workers = Vec::new();
        for (queue, (host, mail)) in hosts.into_iter().zip(boxes).enumerate() {
            let net = Net::new(host, shared.clone(), config)?;
            let mut worker = Worker::new(queue, net, config.clone(), make(), mail)?;
            worker.listen(listen, split)?;
            if posts.len() > 1 {
                worker.hand_over(posts.len(), posts[(queue + 1) % posts.len()].clone());
            }
            workers.push(worker);
        }
        let endpoint = args.metrics.map(|address| {
            Endpoint::listen(address).map_err(Error::system(format!("--metrics {address}")))
        });
        let control = Control::new(posts, shared, interrupt, endpoint.transpose()?, args.drain.0)?;
        let (user, capabilities) = (args.user.clone(), CapabilitySet::empty());
        let log_path = args.access_log.clone();
        Ok(Daemon { workers, control, user, capabilities, log: writer, log_path })
    }

    /// Keeps these capabilities while it serves; without this it has none.
    pub fn keep(self, capabilities: CapabilitySet) -> Daemon<S> {
        Daemon { capabilities, ..self }
    }

    /// Serves until a signal ends it, and says so by `lines` once nothing of that can fail any
    /// more. SIGHUP has `reread` read again what there is to be read. Returns what it did, in a
    /// line; where standard output has the access log, standard error gets that instead.
    pub fn run(
        self,
        lines: &[String],
        reread: impl Fn(Why) -> Result<Again<S::Plan>, Error> + Send + Sync + 'static,
    ) -> Result<String, Error> {
        let Daemon { workers, mut control, user: name, capabilities, log, log_path } = self;
        let user = name.as_deref().map(user).transpose()?;
        if let (Some(user), Some(log), Some(path)) = (&user, &log, &log_path) {
            log.give_to(user).map_err(Error::write(path))?;
        }
        drop_privileges(user.as_ref(), capabilities)?;
        log.map_or(Ok(()), LogWriter::start).map_err(Error::system("threads"))?;
        let mut threads = Vec::new();
        for worker in workers {
            let thread = thread::Builder::new().name(format!("queue {}", worker.queue()));
            threads.push(thread.spawn(|| worker.run()).map_err(Error::system("threads"))?);
        }
        lines.iter().for_each(|line| say(line));
        manager::tell(&[NotifyState::Ready]);
        let said = control.run(&(Arc::new(reread) as Reread<_>));
        control.stop();
        // A panic is a mistake of ours, and ends the command like any other.
        let join = |thread: thread::JoinHandle<_>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let ended = threads.into_iter().map(join).fold(Ok(()), Result::and);
        // Also when the device is gone: what ended before has its lines.
        control.finish_log();
        let mut said = said?;
        if log_path.is_some_and(|path| path == Path::new("-")) {
            say(std::mem::take(&mut said).trim_end());
        }
        if ended.is_err() {
            // What there was until then is told all the same.
            output::print(&said)?;
        }
        ended.map(|()| said)
    }
}

/// From 1 to [`MOST_QUEUES`].
fn queues(text: &str) -> Result<usize, String> {
    let wrong = || format!("write a number from 1 to {MOST_QUEUES}, at most one for each core");
    text.parse().ok().filter(|n| (1..=MOST_QUEUES).contains(n)).ok_or_else(wrong)
}

const MOST_QUEUES: usize = 64;

/// The largest rate by source.
pub(crate) const MOST_RATE: u32 = 1_000_000;

/// At least what has room for a hundred connections.
fn memory(text: &str) -> Result<Size, String> {
    match text.parse::<Size>() {
        Ok(size) if size.0 < least(1) as u64 => Err("it takes at least 32mb".into()),
        parsed => parsed.map_err(|e| e.to_string()),
    }
}

/// Files that are open.
fn open_files() -> u64 {
    // That of the directory itself is one.
    fs::read_dir("/proc/self/fd").map_or(0, |all| all.count() as u64 - 1)
}

/// Files that are still to be opened, but for those of connections.
fn more_files(args: &DaemonArgs) -> u64 {
    // Of the control, a bell and an epoll.
    let control = 2;
    // A queue of the device and its counters, a bell, an epoll.
    let queues = 4 * args.queues as u64;
    let metrics = args.metrics.map_or(0, |_| 1 + MAX_FETCHES as u64);
    let log = u64::from(args.access_log.is_some());
    // For a moment: what SIGHUP reads or a name's look-up, the log anew, a word to the service
    // manager, and the memory that the process has.
    control + queues + metrics + log + 4
}

/// The most connections, each of which takes so many open files; says so if that is less than
/// wanted.
fn most_by_files(args: &DaemonArgs, each: u64) -> u32 {
    let (wanted, others) = (args.max_connections, open_files() + more_files(args));
    // What the system does not allow shows itself where a file is opened.
    let files = raise(others + each * u64::from(wanted));
    let Some(files) = files.filter(|_| each > 0) else { return wanted };
    let most = u32::try_from(files.saturating_sub(others) / each).unwrap_or(u32::MAX);
    let most = most.min(wanted).max(1);
    if most < wanted {
        warn_of_files(files, most, wanted);
    }
    most
}

fn warn_of_files(files: u64, most: u32, wanted: u32) {
    say(&format!(
        "warning: {files} open files are allowed, which is room for {}, not for \
         --max-connections {wanted}; further clients wait; `ulimit -Hn` is the limit",
        counted(most.into(), "connection")
    ));
}

fn warn_of_memory(memory: usize, most: usize, wanted: u32) {
    say(&format!(
        "warning: {}mb of memory may be taken, which is room for {} at most, not for \
         --max-connections {wanted}; further clients wait; --memory is the limit",
        memory >> 20,
        counted(most as u64, "connection")
    ));
}
