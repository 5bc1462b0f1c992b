//! The event loop of the commands that serve: our stack, the kernel's sockets, signals, the metrics. One thread.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use ackclock_live::Host;
use ackclock_net::scenario::units::Duration;
use ackclock_stack::{Error as TcpError, ListenerId, Ready, SocketId, Status, TcpConfig};
use ackclock_tcp::connection::TcpState;
use ackclock_tcp::{Composition, Span, Stats, Time};
use clap::Args;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::interrupt::Interrupt;
use super::metrics::{Endpoint, Exposition, add};
use super::{DEFAULT_STRATEGY, WireArgs, open_host, strategy};
use crate::error::Error;

/// What the commands that serve have in common.
#[derive(Debug, Args)]
pub(crate) struct DaemonArgs {
    /// The strategy of the sender; `+` joins mechanisms: `sack+lt`.
    #[arg(long, value_name = "S", value_parser = strategy, default_value = DEFAULT_STRATEGY)]
    pub strategy: Composition,
    /// Most connections at the same time; more wait until one ends.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_connections: u32,
    /// Where the kernel's TCP serves metrics for Prometheus, at `/metrics`: best an address of the loopback device.
    #[arg(long, value_name = "ADDR:PORT")]
    pub metrics: Option<SocketAddr>,
    /// How long connections may take to end after Ctrl-C or SIGTERM; a second one ends them at once.
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub drain: Duration,
    #[command(flatten)]
    pub wire: WireArgs,
}

/// What is done with connections.
pub(crate) trait Service {
    /// A client has connected.
    fn opened(&mut self, net: &mut Net, socket: SocketId);

    /// A client's socket may do more than before.
    fn ready(&mut self, net: &mut Net, socket: SocketId);

    /// So may a socket of the kernel, with the number under which [`Net::watch`] had it.
    fn kernel_ready(&mut self, _net: &mut Net, _number: u64, _flags: EventFlags) {}

    /// A second has passed: time for what has waited too long.
    fn sweep(&mut self, net: &mut Net);

    /// The end is near: what is idle ends now.
    fn drain(&mut self, net: &mut Net);

    /// The sockets that it has, each until [`Net::drop`].
    fn sockets(&self) -> Vec<SocketId>;

    /// How many they are.
    fn open(&self) -> usize;

    /// Metrics of its own.
    fn metrics(&self, to: &mut Exposition);
}

/// What a service works with.
pub(crate) struct Net {
    host: Host,
    epoll: OwnedFd,
    /// Bytes read from clients and written to them.
    pub bytes: [u64; 2],
    accepted: u64,
    /// What the senders of closed sockets counted.
    gone: Stats,
    /// Sockets that could do more at once, but let others go first.
    again: VecDeque<SocketId>,
    /// A signal has come.
    pub draining: bool,
}

const HOST: u64 = 0;
const SIGNALS: u64 = 1;
const METRICS: u64 = 2;
/// Numbers of the service come after these.
const SERVICE: u64 = 3;
/// Fetches of metrics have this bit.
const FETCH: u64 = 1 << 63;

impl Net {
    /// Our time.
    pub fn now(&self) -> Time {
        self.host.now()
    }

    /// Reads from a client.
    pub fn read(&mut self, socket: SocketId, bytes: &mut [u8]) -> Result<usize, TcpError> {
        let now = self.host.now();
        let n = self.host.stack().read(now, socket, bytes)?;
        self.bytes[0] += n as u64;
        Ok(n)
    }

    /// Writes to a client.
    pub fn write(&mut self, socket: SocketId, bytes: &[u8]) -> Result<usize, TcpError> {
        let now = self.host.now();
        let n = self.host.stack().write(now, socket, bytes)?;
        self.bytes[1] += n as u64;
        Ok(n)
    }

    /// How much can be written to a client, above 0; where nothing can, the service hears when that changes.
    pub fn room(&mut self, socket: SocketId) -> Result<usize, TcpError> {
        let now = self.host.now();
        let stack = self.host.stack();
        match stack.status(socket)?.writable {
            // A write that finds no room is what tells the stack that somebody waits for it.
            0 => Err(stack.write(now, socket, &[0]).err().unwrap_or(TcpError::ShutDown)),
            room => Ok(room),
        }
    }

    /// Whether nothing more can happen to a socket, but for segments that come late.
    pub fn is_over(&mut self, socket: SocketId) -> bool {
        self.status(socket).is_none_or(|s| matches!(s.state, TcpState::Closed | TcpState::TimeWait))
    }

    /// Sends a client FIN after what was written.
    pub fn shutdown(&mut self, socket: SocketId) {
        let now = self.host.now();
        // Of a socket that is over the next call says so.
        let _ = self.host.stack().shutdown(now, socket);
    }

    /// A socket at this moment; `None` if it is not there.
    pub fn status(&mut self, socket: SocketId) -> Option<Status> {
        self.host.stack().status(socket).ok()
    }

    /// Lets a socket go, with a reset unless it is over.
    pub fn drop(&mut self, socket: SocketId) {
        if let Ok(sender) = self.host.stack().sender(socket) {
            add(&mut self.gone, sender.stats());
        }
        let now = self.host.now();
        if self.is_over(socket) {
            self.host.stack().close(now, socket);
        } else {
            self.host.stack().abort(now, socket);
        }
    }

    /// Calls the service for this socket again once others had their turn.
    pub fn again(&mut self, socket: SocketId) {
        self.again.push_back(socket);
    }

    /// Tells the service of changes of a socket of the kernel, until that is closed.
    pub fn watch(&self, source: impl AsFd, number: u64) -> rustix::io::Result<()> {
        let both = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, source, EventData::new_u64(number + SERVICE), both)
    }
}

/// Everything that a command needs before it can serve.
pub(crate) struct Daemon {
    net: Net,
    listeners: Vec<ListenerId>,
    interrupt: Interrupt,
    endpoint: Option<Endpoint>,
    strategy: String,
    most: usize,
    drain: Span,
    /// When to end if a signal has come.
    end: Time,
}

impl Daemon {
    /// Opens the device, and listens.
    pub fn open(args: &DaemonArgs, listen: &[SocketAddr], config: &TcpConfig) -> Result<Daemon, Error> {
        raise_open_files();
        let interrupt = Interrupt::new()?;
        let epoll = epoll::create(CreateFlags::CLOEXEC).map_err(|e| Error::system("epoll")(e.into()))?;
        let mut net = Net {
            host: open_host(&args.wire)?,
            epoll,
            bytes: [0; 2],
            accepted: 0,
            gone: Stats::default(),
            again: VecDeque::new(),
            draining: false,
        };
        let listeners = listen.iter().map(|&address| {
            net.host.stack().listen(address, config.clone(), BACKLOG).map_err(|error| {
                Error::Usage(format!("{address}: {error}; our stack has the addresses that --addr gives it"))
            })
        });
        let listeners = listeners.collect::<Result<_, _>>()?;
        let endpoint = match args.metrics {
            None => None,
            Some(address) => Some(Endpoint::listen(address).map_err(Error::system(format!("--metrics {address}")))?),
        };
        let register = |source: &dyn AsFd, number, flags| {
            epoll::add(&net.epoll, source, EventData::new_u64(number), flags)
                .map_err(|e| Error::system("epoll")(e.into()))
        };
        register(&net.host, HOST, EventFlags::IN)?;
        register(&interrupt, SIGNALS, EventFlags::IN)?;
        if let Some(endpoint) = &endpoint {
            // Where no more files can be opened, a fetch waits for the next one instead of waking us again and again.
            register(&endpoint.listener, METRICS, EventFlags::IN | EventFlags::ET)?;
        }
        Ok(Daemon {
            net,
            listeners,
            interrupt,
            endpoint,
            strategy: args.strategy.name().to_string(),
            most: args.max_connections as usize,
            drain: args.drain.0,
            end: Time::NEVER,
        })
    }

    /// Serves until a signal ends it. Returns what it did, in a line.
    pub fn run(mut self, mut service: impl Service) -> Result<String, Error> {
        let mut events = Vec::with_capacity(256);
        let mut ready = VecDeque::new();
        let mut next_sweep = self.net.now() + SWEEP;
        loop {
            let busy = service.open() > 0 || self.endpoint.as_ref().is_some_and(|e| !e.is_idle());
            let at_once = !ready.is_empty() || !self.net.again.is_empty();
            let timeout = self.timeout(at_once, if busy { next_sweep.min(self.end) } else { self.end });
            events.clear();
            match epoll::wait(&self.net.epoll, rustix::buffer::spare_capacity(&mut events), timeout.as_ref()) {
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
                if !self.net.draining {
                    self.begin_to_drain(service);
                }
                if taken > 1 {
                    self.end = Time::ZERO;
                }
            }
            METRICS => self.accept_fetches(),
            number if number & FETCH != 0 => {
                if let Some(endpoint) = &mut self.endpoint {
                    endpoint.ready(number & !FETCH, || text(&mut self.net, &self.strategy, service));
                }
            }
            number => service.kernel_ready(&mut self.net, number - SERVICE, flags),
        }
        false
    }

    /// Takes no more connections; those there are may finish until `end`.
    fn begin_to_drain(&mut self, service: &mut impl Service) {
        self.end = self.net.now() + self.drain;
        self.net.draining = true;
        self.accept(service);
        for listener in self.listeners.drain(..) {
            let now = self.net.host.now();
            self.net.host.stack().unlisten(now, listener);
        }
        service.drain(&mut self.net);
    }

    /// Resets what is left, and says what there was.
    fn finish(mut self, service: &impl Service) -> String {
        let left = service.sockets();
        for &socket in &left {
            self.net.drop(socket);
        }
        self.net.host.flush();
        let Net { accepted, bytes: [read, written], gone, .. } = &self.net;
        format!(
            "{accepted} connections, {} cut off; {read} bytes in, {written} out; {} segments sent, {} again, {} timeouts\n",
            left.len(),
            gone.segments_sent,
            gone.retransmissions,
            gone.timeouts
        )
    }

    /// How long to wait: until `until` or what the stack has due, and not at all if there is something to do.
    fn timeout(&self, at_once: bool, until: Time) -> Option<Timespec> {
        if at_once {
            return Some(Timespec::default());
        }
        let until = (until < Time::NEVER).then(|| std::time::Duration::from_nanos(until.since(self.net.now()).nanos()));
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
        for &listener in &self.listeners {
            while service.open() < self.most {
                let Ok(socket) = self.net.host.stack().accept(listener) else { break };
                self.net.accepted += 1;
                service.opened(&mut self.net, socket);
            }
        }
    }

    fn accept_fetches(&mut self) {
        let epoll = &self.net.epoll;
        if let Some(endpoint) = &mut self.endpoint {
            let both = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
            endpoint.accept(|stream, number| Ok(epoll::add(epoll, stream, EventData::new_u64(number | FETCH), both)?));
        }
    }
}

/// The metrics.
fn text(net: &mut Net, strategy: &str, service: &impl Service) -> String {
    let mut to = Exposition::new(strategy);
    let mut senders = net.gone;
    for socket in service.sockets() {
        if let Ok(sender) = net.host.stack().sender(socket) {
            add(&mut senders, sender.stats());
        }
    }
    to.gauge("ackclock_connections_open", "Client connections that are open.", service.open() as u64);
    to.counter("ackclock_connections_total", "Client connections taken.", net.accepted);
    to.counters(
        "ackclock_bytes_total",
        "Payload read from clients and written for them.",
        "direction",
        &[("received", net.bytes[0]), ("sent", net.bytes[1])],
    );
    to.senders(&senders);
    let stack = net.host.stack();
    let stats = *stack.stats();
    to.gauge("ackclock_half_open_connections", "Connections whose handshake is not done.", stack.half_open() as u64);
    to.counter("ackclock_syn_cookies_total", "SYNs answered by a cookie.", stats.cookies_sent);
    to.counter("ackclock_syn_cookies_accepted_total", "Connections made by a cookie.", stats.cookies_accepted);
    to.counter("ackclock_malformed_packets_total", "Packets that were none.", stats.malformed);
    to.counter("ackclock_bad_checksums_total", "Segments with a wrong checksum.", stats.bad_checksums);
    to.counter("ackclock_resets_sent_total", "Resets sent for segments of no connection.", stats.resets_out);
    service.metrics(&mut to);
    to.finish()
}

/// Connections that are established and wait to be taken.
const BACKLOG: usize = 1024;

/// How often a service looks for what has waited too long.
const SWEEP: Span = Span::from_secs(1);

/// Thousands of connections need as many files.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    // What the system does not allow shows itself where a file is opened.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}
