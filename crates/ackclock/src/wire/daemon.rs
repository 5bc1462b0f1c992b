//! The event loop of the commands that serve: our stack, the kernel's sockets, signals, the
//! metrics. One thread.

mod access;
mod counters;
mod memory;
mod net;
mod notices;
mod service;
mod sources;

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;

use ackclock_net::scenario::units::{Duration, Size};
use ackclock_stack::{ListenerId, Ready, SocketId, TcpConfig};
use ackclock_tcp::{Span, Time};
use clap::Args;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sd_notify::NotifyState;

use super::interrupt::Interrupt;
use super::metrics::Endpoint;
use super::privileges::drop_privileges;
use super::split::{Split, SplitArg};
use super::{DEFAULT_STRATEGY, WireArgs, open_host};
use crate::error::Error;
use access::AccessLog;
use counters::text;
use memory::{Budget, default_budget};
pub(crate) use net::Net;
use net::{Arm, SERVICE};
use notices::Notices;
pub(crate) use service::{Listen, Listening, Service};
use sources::{SourceLimits, Sources};

/// What the commands that serve have in common.
#[derive(Debug, Args)]
pub(crate) struct DaemonArgs {
    /// The strategy of our sender. `+` adds a mechanism, as in `sack+lt`.
    #[arg(long, value_name = "S", default_value = DEFAULT_STRATEGY)]
    pub strategy: String,
    /// Give another strategy to some of the clients: to a share of the connections (`prr=10%`), or
    /// to a prefix (`prr=198.51.100.0/24`). Repeat the option for more. Metrics and access log have
    /// the strategy of each connection.
    #[arg(long, value_name = "S=SHARE|PREFIX")]
    pub split: Vec<SplitArg>,
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
    #[arg(long, value_name = "ADDR:PORT")]
    pub metrics: Option<SocketAddr>,
    /// How long open connections may take to finish after Ctrl-C or SIGTERM. A second signal ends
    /// them at once.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub drain: Duration,
    /// Append a line of JSON to this file for each connection that ends; `-` is standard output. The
    /// guide has the keys. SIGHUP opens the file anew.
    #[arg(long, value_name = "FILE")]
    pub access_log: Option<PathBuf>,
    /// How much memory to take at most. Buffers get less the more of it is in use, and there are no
    /// more connections than it has room for. Default: a quarter of what the machine has.
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<Size>,
    /// The most connections from one address, or from one /64 prefix of IPv6. Further ones are
    /// reset. Default: no limit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_per_source: Option<u32>,
    /// The most new connections a second from one address, or from one /64 prefix of IPv6. As many
    /// may come at once. Further ones are reset. Default: no limit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_rate_per_source: Option<u32>,
    /// Serve as this user. Capabilities are given up in any case, once the device is open.
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    #[command(flatten)]
    pub wire: WireArgs,
}

const HOST: u64 = 0;
const SIGNALS: u64 = 1;
const METRICS: u64 = 2;
/// Fetches of metrics have this bit.
const FETCH: u64 = 1 << 63;

/// Everything that a command needs before it can serve.
pub(crate) struct Daemon {
    net: Net,
    listeners: Vec<(Listening, ListenerId)>,
    /// How connections of listeners behave.
    config: TcpConfig,
    interrupt: Interrupt,
    endpoint: Option<Endpoint>,
    notices: Notices,
    user: Option<String>,
    drain: Span,
    /// When to end if a signal has come.
    end: Time,
}

impl Daemon {
    /// Opens the device, and listens.
    pub fn open(
        args: &DaemonArgs,
        listen: &[Listening],
        config: &TcpConfig,
        split: &Split,
    ) -> Result<Daemon, Error> {
        raise_open_files();
        let interrupt = Interrupt::with_hangup()?;
        let epoll =
            epoll::create(CreateFlags::CLOEXEC).map_err(|e| Error::system("epoll")(e.into()))?;
        let memory = args.memory.map_or_else(default_budget, |size| size.0 as usize);
        let budget = Budget::new(memory, args.max_connections as usize);
        let mut net = Net {
            host: open_host(&args.wire, budget.buffers, budget.waiting)?,
            budget,
            epoll,
            bytes: [0; 2],
            again: VecDeque::new(),
            draining: false,
            clients: HashMap::new(),
            sources: Sources::new(SourceLimits {
                connections: args.max_per_source,
                rate: args.max_rate_per_source,
            }),
            arms: vec![Arm::new(config.strategy.clone())],
            access: args
                .access_log
                .as_deref()
                .map(|path| AccessLog::open(path).map_err(Error::write(path)))
                .transpose()?,
        };
        let mut listeners = Vec::new();
        net.listen(&mut listeners, config, listen)?;
        net.split(&listeners, split);
        let endpoint = match args.metrics {
            None => None,
            Some(address) => Some(
                Endpoint::listen(address).map_err(Error::system(format!("--metrics {address}")))?,
            ),
        };
        let register = |source: &dyn AsFd, number, flags| {
            epoll::add(&net.epoll, source, EventData::new_u64(number), flags)
                .map_err(|e| Error::system("epoll")(e.into()))
        };
        register(&net.host, HOST, EventFlags::IN)?;
        register(&interrupt, SIGNALS, EventFlags::IN)?;
        if let Some(endpoint) = &endpoint {
            // Where no more files can be opened, a fetch waits for the next one instead of waking
            // us again and again.
            register(&endpoint.listener, METRICS, EventFlags::IN | EventFlags::ET)?;
        }
        Ok(Daemon {
            net,
            listeners,
            config: config.clone(),
            interrupt,
            endpoint,
            notices: Notices::default(),
            user: args.user.clone(),
            drain: args.drain.0,
            end: Time::NEVER,
        })
    }

    /// Serves until a signal ends it. Returns what it did, in a line.
    pub fn run(mut self, mut service: impl Service) -> Result<String, Error> {
        drop_privileges(self.user.as_deref())?;
        tell_manager(NotifyState::Ready);
        let mut events = Vec::with_capacity(256);
        let mut ready = VecDeque::new();
        let mut next_sweep = self.net.now() + SWEEP;
        loop {
            let busy = service.open() > 0
                || self.net.access.as_ref().is_some_and(|a| !a.is_flushed())
                || self.endpoint.as_ref().is_some_and(|e| !e.is_idle());
            let at_once = !ready.is_empty() || !self.net.again.is_empty();
            let timeout =
                self.timeout(at_once, if busy { next_sweep.min(self.end) } else { self.end });
            events.clear();
            match epoll::wait(
                &self.net.epoll,
                rustix::buffer::spare_capacity(&mut events),
                timeout.as_ref(),
            ) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Error::system("epoll")(error.into())),
            }
            let mut due = self.net.host.timeout().is_some_and(|t| t.is_zero());
            for event in &events {
                due |= self.dispatch(event.data.u64(), event.flags, &mut service);
            }
            if due {
                self.net.host.turn().map_err(Error::system("TUN device"))?;
            }
            self.collect(&mut ready);
            // Those that let others go first have their turn now, once.
            ready.extend(self.net.again.drain(..));
            for socket in ready.drain(..) {
                service.ready(&mut self.net, socket);
            }
            if self.net.now() >= next_sweep {
                next_sweep = self.net.now() + SWEEP;
                service.sweep(&mut self.net);
                let now = self.net.now();
                self.net.sources.sweep(now);
                self.net.host.stack().trim();
                if let Some(access) = &mut self.net.access {
                    access.flush();
                    if let Some(error) = access.error() {
                        self.notices.access_log(self.net.now(), &error);
                    }
                }
                if let Some(endpoint) = &mut self.endpoint {
                    endpoint.sweep();
                }
            }
            // What has just gone may have made room for those that wait.
            self.accept(&mut service);
            self.net.host.flush();
            self.collect(&mut ready);
            if self.net.draining && (service.open() == 0 || self.net.now() >= self.end) {
                return Ok(self.finish(&service));
            }
        }
    }

    /// Does what an event asks for. Returns whether the host has something to do.
    fn dispatch(&mut self, number: u64, flags: EventFlags, service: &mut impl Service) -> bool {
        match number {
            HOST => return true,
            SIGNALS => {
                let taken = self.interrupt.taken();
                if self.interrupt.hangups() > 0 {
                    self.reload(service);
                }
                if taken > 0 && !self.net.draining {
                    self.begin_to_drain(service);
                }
                if taken > 1 {
                    self.end = Time::ZERO;
                }
            }
            METRICS => self.accept_fetches(),
            number if number & FETCH != 0 => {
                if let Some(endpoint) = &mut self.endpoint {
                    endpoint.ready(number & !FETCH, || text(&mut self.net, service));
                }
            }
            number => service.kernel_ready(&mut self.net, number - SERVICE, flags),
        }
        false
    }

    /// Opens the access log anew, and has the service read its file again.
    fn reload(&mut self, service: &mut impl Service) {
        let reopened = self.net.access.as_mut().map(AccessLog::reopen);
        // Whoever waits at a listener that goes is taken first.
        self.accept(service);
        let Daemon { net, listeners, config, .. } = self;
        let mut listen = |addresses: &[Listening], split: &Split| {
            net.listen(listeners, config, addresses)?;
            net.split(listeners, split);
            Ok(())
        };
        self.notices.hangup(reopened, service.reload(&mut listen));
    }

    /// Takes no more connections; those there are may finish until `end`.
    fn begin_to_drain(&mut self, service: &mut impl Service) {
        tell_manager(NotifyState::Stopping);
        self.end = self.net.now() + self.drain;
        self.net.draining = true;
        self.accept(service);
        for (_, listener) in self.listeners.drain(..) {
            let now = self.net.host.now();
            self.net.host.stack().unlisten(now, listener);
        }
        service.drain(&mut self.net);
    }

    /// Resets what is left, and says what there was.
    fn finish(mut self, service: &impl Service) -> String {
        let left = service.sockets();
        for &socket in &left {
            self.net.drop(socket, "cut_off");
        }
        if let Some(access) = &mut self.net.access {
            access.flush();
        }
        self.net.host.flush();
        let Net { bytes: [read, written], arms, .. } = &self.net;
        let sum = |count: fn(&Arm) -> u64| arms.iter().map(count).sum::<u64>();
        let accepted = sum(|arm| arm.accepted);
        format!(
            "{accepted} connections, {} cut off; {read} bytes in, {written} out; {} segments sent, \
             {} again, {} timeouts\n",
            left.len(),
            sum(|arm| arm.gone.segments_sent),
            sum(|arm| arm.gone.retransmissions),
            sum(|arm| arm.gone.timeouts)
        )
    }

    /// How long to wait: until `until` or what the stack has due, and not at all if there is
    /// something to do.
    fn timeout(&self, at_once: bool, until: Time) -> Option<Timespec> {
        if at_once {
            return Some(Timespec::default());
        }
        let until = (until < Time::NEVER)
            .then(|| std::time::Duration::from_nanos(until.since(self.net.now()).nanos()));
        let least = [until, self.net.host.timeout()].into_iter().flatten().min()?;
        Timespec::try_from(least).ok()
    }

    /// Takes what the stack says changed.
    fn collect(&mut self, ready: &mut VecDeque<SocketId>) {
        while let Some(change) = self.net.host.stack().poll_ready() {
            if let Ready::Socket(socket) = change {
                ready.push_back(socket);
            }
        }
    }

    /// Takes the clients that wait, as long as there may be more.
    fn accept(&mut self, service: &mut impl Service) {
        for &((address, _), listener) in &self.listeners {
            while service.open() < self.net.budget.connections {
                let Ok(socket) = self.net.host.stack().accept(listener) else { break };
                match self.net.admit(socket) {
                    Ok(()) => service.opened(&mut self.net, socket, address),
                    Err((source, why)) => self.notices.refused(self.net.now(), source, why),
                }
            }
        }
        let waiting = self.net.host.stack().waiting();
        if waiting > 0 && !self.net.draining {
            self.notices.waiting(self.net.now(), waiting, self.net.budget.connections);
        }
    }

    fn accept_fetches(&mut self) {
        let epoll = &self.net.epoll;
        if let Some(endpoint) = &mut self.endpoint {
            let both = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
            endpoint.accept(|stream, number| {
                Ok(epoll::add(epoll, stream, EventData::new_u64(number | FETCH), both)?)
            });
        }
    }
}

/// At least what has room for a hundred connections.
fn memory(text: &str) -> Result<Size, String> {
    match text.parse::<Size>() {
        Ok(size) if size.0 < LEAST_MEMORY => Err("it takes at least 32mb".into()),
        parsed => parsed.map_err(|e| e.to_string()),
    }
}

const LEAST_MEMORY: u64 = 32 << 20;

/// How often a service looks for what has waited too long.
const SWEEP: Span = Span::from_secs(1);

/// Tells a service manager that waits for it (sd_notify(3)).
fn tell_manager(state: NotifyState<'_>) {
    // A manager that cannot be reached cannot be told so.
    let _ = sd_notify::notify(&[state]);
}

/// Thousands of connections need as many files.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    // What the system does not allow shows itself where a file is opened.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
