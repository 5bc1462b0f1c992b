//! `ackclock proxy`: clients' connections end at our stack, and go on over the kernel's TCP.

mod counted;
mod origin;
mod pair;

use std::collections::{HashMap, VecDeque};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use ackclock_impair::files::are_used_up;
use ackclock_impair::relay::{CHUNK, Stop};
use ackclock_net::scenario::units::Duration;
use ackclock_stack::SocketId;
use ackclock_tcp::{Registry, Span, Time};
use clap::{ArgGroup, Args};
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::sockopt;
use rustix::thread::CapabilitySet;

use super::daemon::{Daemon, DaemonArgs, Found, Net, Service, Why, in_vain};
use super::interrupt::Interrupt;
use super::keep_alive::KeepAlives;
use super::options::patience;
use super::privileges::permitted;
use super::proxy_protocol::ProxyProtocol;
use super::routes::{self, Listeners, LookUps, Route, Routes, listening};
use super::strategy;
use crate::args::address;
use crate::error::Error;
use crate::overwrite;
use counted::{Counted, Failure};
use origin::{Origin, is_transparent};
use pair::{Attempt, Pair, has_ended, is_lost};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").args(["listen", "listeners"]).required(true)))]
pub(crate) struct ProxyArgs {
    /// Where our stack listens: one of its addresses (see --addr), or 0.0.0.0 for all of them.
    #[arg(
        long,
        value_name = "ADDR:PORT",
        requires = "to",
        value_parser = address
    )]
    pub listen: Option<SocketAddr>,
    /// The backend to forward to. A name is looked up at the start, again at SIGHUP, and once a
    /// second at most while no address of it takes clients.
    #[arg(long, value_name = "HOST:PORT", requires = "listen")]
    pub to: Option<String>,
    /// Listen where this file says, and forward to the backends that it names. The guide has the
    /// format. SIGHUP reads it again: what is open goes on, also where a listener is gone. Names of
    /// backends are looked up as that of --to.
    #[arg(
        long,
        value_name = "FILE.toml",
        conflicts_with_all = ["listen", "to", "proxy_protocol", "transparent", "split"]
    )]
    pub listeners: Option<PathBuf>,
    /// How long connecting to the backend may take. Of several addresses each has an equal part.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = patience)]
    pub connect_timeout: Duration,
    /// How long a connection may rest before both sides are reset.
    #[arg(long, value_name = "TIME", default_value = "600s", value_parser = patience)]
    pub idle: Duration,
    /// The same once one side has sent FIN, or has reset the connection.
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = patience)]
    pub half_closed_idle: Duration,
    /// Ask a client that has said nothing for so long whether it is there (RFC 9293 section 3.8.4),
    /// or `off`. Who does not answer for as long again is reset.
    #[arg(long, value_name = "off|TIME", default_value = "off")]
    pub keep_alive: KeepAlives,
    /// Tell the backend the client's address by a header of the PROXY protocol, which it has to
    /// expect.
    #[arg(long, value_name = "VERSION", value_enum)]
    pub proxy_protocol: Option<ProxyProtocol>,
    /// Connect to the backend from the client's own address. What the backend answers has to come
    /// back through this machine: the guide has the routes. Keeps CAP_NET_RAW.
    #[arg(long)]
    pub transparent: bool,
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

pub(crate) fn proxy(args: &ProxyArgs, registry: &Registry) -> Result<String, Error> {
    overwrite::check(args.listeners.as_deref(), &args.daemon.access_log)?;
    let look_ups = Arc::new(LookUps::default());
    let origin = Origin::of(args, registry, &look_ups)?;
    // Threads that look names up may stay for long, and are to leave signals to this one.
    let mut interrupt = Interrupt::with_hangup()?;
    let Listeners { routes, split, unknown } = interrupt.during(|| origin.read())??;
    let config = ackclock_stack::TcpConfig {
        keep_alive: args.keep_alive.0,
        ..args.daemon.wire.tcp(&strategy(&args.daemon.strategy, registry)?)
    };
    let make = || Proxy {
        routes: routes.clone(),
        connect_timeout: args.connect_timeout.0,
        idle: args.idle.0,
        half_closed_idle: args.half_closed_idle.0,
        pairs: HashMap::new(),
        unopened: VecDeque::new(),
        unnamed: Vec::new(),
        counts: Counted { look_ups: look_ups.clone(), ..Counted::default() },
        chunk: vec![0; CHUNK],
    };
    let daemon = Daemon::open(&args.daemon, interrupt, &listening(&routes), &config, &split, make)?;
    let line = |(listen, route): (&SocketAddr, &Arc<Route>)| {
        let to: Vec<String> = route.to.iter().map(SocketAddr::to_string).collect();
        let to = if to.is_empty() { route.name.clone().into_iter().collect() } else { to };
        format!("forwarding {listen} to {}", to.join(" or "))
    };
    let lines: Vec<String> = unknown.into_iter().chain(routes.iter().map(line)).collect();
    let transparent = is_transparent(&routes);
    // Linux takes either for IP_TRANSPARENT (`do_ip_setsockopt`).
    let either = [CapabilitySet::NET_RAW, CapabilitySet::NET_ADMIN];
    let capabilities = if transparent { permitted(either) } else { CapabilitySet::empty() };
    daemon.keep(capabilities).run(&lines, move |why| match why {
        Why::Hangup => origin.read_again(transparent),
        Why::NoBackend(names) => Ok(origin.look_up(names)),
    })
}

struct Proxy {
    routes: Routes,
    connect_timeout: Span,
    idle: Span,
    half_closed_idle: Span,
    pairs: HashMap<SocketId, Pair>,
    /// Clients for whose backend there is no open file, in the order in which they came.
    unopened: VecDeque<(SocketId, Attempt)>,
    /// Clients for which the name of the backend is looked up.
    unnamed: Vec<(SocketId, Attempt)>,
    counts: Counted,
    chunk: Vec<u8>,
}

impl Proxy {
    fn go_on(&mut self, net: &mut Net, socket: SocketId) {
        let Some(pair) = self.pairs.get_mut(&socket) else { return };
        match pair.go_on(net, socket, &mut self.chunk) {
            Ok(()) => net.again(socket),
            Err(Stop::Wait) => {}
            Err(end) => self.end(net, socket, end == Stop::Reset, "reset_by_backend"),
        }
    }

    /// Lets both sides go, `reset` or closed.
    fn end(&mut self, net: &mut Net, socket: SocketId, reset: bool, why: &str) {
        let pair = self.pairs.remove(&socket);
        if let Some(pair) = pair.filter(|_| reset) {
            // Closed like this, a socket of the kernel sends a reset. Where that fails the peer is
            // gone already.
            let _ = sockopt::set_socket_linger(&pair.backend, Some(std::time::Duration::ZERO));
        }
        net.drop(socket, why);
        self.open_again(net);
    }

    /// Connects to the first address of a backend, or as [`Proxy::connect`].
    fn begin(&mut self, net: &mut Net, socket: SocketId, route: Arc<Route>) {
        let give_up = net.now() + self.connect_timeout;
        let attempt = Attempt { route, address: 0, give_up, error: ErrorKind::NotFound };
        self.connect(net, socket, attempt);
    }

    /// Connects to the first address that can be tried, or resets the client. Where there are no
    /// more open files it waits for one.
    fn connect(&mut self, net: &mut Net, socket: SocketId, attempt: Attempt) {
        if let Err(attempt) = self.try_to_connect(net, socket, attempt) {
            net.warn_of_files(self.unopened.len() + 1);
            self.unopened.push_back((socket, attempt));
        }
    }

    /// Connects, has the client wait for a look-up of the backend's name, or resets it; gives the
    /// attempt back where there are no more open files.
    fn try_to_connect(
        &mut self,
        net: &mut Net,
        socket: SocketId,
        mut attempt: Attempt,
    ) -> Result<(), Attempt> {
        let Some(status) = net.status(socket).filter(|_| !is_lost(net, socket)) else {
            self.leave(net, socket, &attempt);
            return Ok(());
        };
        let version = attempt.route.proxy_protocol;
        let header = version.map(|version| version.header(status.remote, status.local));
        let client = attempt.route.transparent.then_some(status.remote.ip());
        match Pair::connect(net, socket, &attempt, client, header.unwrap_or_default()) {
            Ok(pair) => drop(self.pairs.insert(socket, pair)),
            Err(error) if are_used_up(&error) => return Err(attempt),
            Err(error) => {
                attempt.error = error.kind();
                match &attempt.route.name {
                    Some(name) => {
                        net.look_up(name);
                        self.unnamed.push((socket, attempt));
                    }
                    None => self.give_up(net, socket, &attempt),
                }
            }
        }
        Ok(())
    }

    /// None of the backend's addresses takes a client.
    fn give_up(&mut self, net: &mut Net, socket: SocketId, attempt: &Attempt) {
        let last = attempt.route.to.last().copied();
        let failure = Failure::of(attempt.error);
        let why = match failure {
            Failure::Other => attempt.error.to_string(),
            _ => String::new(),
        };
        self.fail(net, socket, last, failure, &why);
    }

    /// No backend takes a client, which may have gone meanwhile. Of several addresses, `last` was
    /// tried last.
    fn fail(
        &mut self,
        net: &mut Net,
        socket: SocketId,
        last: Option<SocketAddr>,
        failure: Failure,
        why: &str,
    ) {
        self.counts.failures[failure as usize] += 1;
        net.note(socket, |about| {
            (about.backend, about.backend_failure) = (last, Some(failure.name()));
        });
        net.warn_of_backend(socket, failure.name(), why);
        net.drop(socket, "no_backend");
    }

    /// Who is gone waits for no file, and for no name; `most` of them at most. Returns how many.
    fn let_go(
        &mut self,
        net: &mut Net,
        most: usize,
        is_gone: fn(&mut Net, SocketId) -> bool,
    ) -> usize {
        let mut left = most;
        let mut goes = |&(socket, _): &(SocketId, Attempt)| {
            let goes = left > 0 && is_gone(net, socket);
            left -= usize::from(goes);
            goes
        };
        let unopened = std::mem::take(&mut self.unopened).into_iter();
        let (mut gone, stay): (VecDeque<_>, VecDeque<_>) = unopened.partition(&mut goes);
        self.unopened = stay;
        gone.extend(self.unnamed.extract_if(.., |waiting| goes(waiting)));
        for (socket, attempt) in &gone {
            self.leave(net, *socket, attempt);
        }
        gone.len()
    }

    /// A client has gone. What its backend's addresses have said until then counts all the same.
    fn leave(&mut self, net: &mut Net, socket: SocketId, attempt: &Attempt) {
        // So it was before the first of them.
        if attempt.error == ErrorKind::NotFound {
            net.drop(socket, "no_backend");
        } else {
            self.give_up(net, socket, attempt);
        }
    }

    /// Connects for those for which there was no open file, as long as there are.
    fn open_again(&mut self, net: &mut Net) {
        while let Some((socket, mut attempt)) = self.unopened.pop_front() {
            attempt.give_up = net.now() + self.connect_timeout;
            if let Err(attempt) = self.try_to_connect(net, socket, attempt) {
                return self.unopened.push_front((socket, attempt));
            }
        }
    }

    /// This address of the backend does not take the connection. Its socket is closed first: the
    /// next one may need the room.
    fn connect_to_next(&mut self, net: &mut Net, socket: SocketId, error: ErrorKind) {
        let Some(pair) = self.pairs.remove(&socket) else { return };
        let Pair { route, address, give_up, backend, .. } = pair;
        drop(backend);
        self.connect(net, socket, Attempt { route, address: address + 1, give_up, error });
    }
}

impl Service for Proxy {
    type Counts = Counted;
    type Plan = Routes;

    const FILES: u64 = 1;

    fn opened(&mut self, net: &mut Net, socket: SocketId, listener: SocketAddr) {
        match self.routes.get(&listener).cloned() {
            Some(route) => self.begin(net, socket, route),
            None => self.fail(net, socket, None, Failure::NoListener, ""),
        }
    }

    /// A name that is not found now has the addresses that it had.
    fn follow(&mut self, routes: &Routes) {
        let known = std::mem::replace(&mut self.routes, routes.clone());
        for route in self.routes.values_mut().filter(|route| route.to.is_empty()) {
            if let Some(old) =
                known.values().find(|old| old.name == route.name && !old.to.is_empty())
            {
                *route = Arc::new(Route { to: old.to.clone(), ..Route::clone(route) });
            }
        }
    }

    /// Tries again for who has waited for that, where the backend has other addresses by now. This
    /// route has no name: it is looked up for each client once.
    fn looked_up(&mut self, net: &mut Net, found: &[Found]) -> Vec<(String, String)> {
        let said = routes::follow(&mut self.routes, found);
        let is_of = |a: &Attempt| found.iter().any(|(name, _)| a.route.name.as_ref() == Some(name));
        let waited = self.unnamed.extract_if(.., |(_, attempt)| is_of(attempt));
        for (socket, attempt) in waited.collect::<Vec<_>>() {
            let old = &attempt.route;
            let moved = |route: &&Arc<Route>| route.name == old.name && route.to != old.to;
            match self.routes.values().find(moved) {
                Some(new) => {
                    let route = Route { to: new.to.clone(), name: None, ..Route::clone(old) };
                    self.begin(net, socket, Arc::new(route));
                }
                None => self.give_up(net, socket, &attempt),
            }
        }
        said
    }

    fn ready(&mut self, net: &mut Net, socket: SocketId) {
        self.go_on(net, socket);
    }

    fn kernel_ready(&mut self, net: &mut Net, number: u64, flags: EventFlags) {
        let socket = SocketId(number);
        let Some(pair) = self.pairs.get_mut(&socket) else { return };
        let gone = EventFlags::ERR | EventFlags::HUP;
        if pair.is_connecting() {
            match sockopt::socket_error(&pair.backend).and_then(|result| result) {
                Ok(()) => {}
                // It was open: a SYN that is reset is refused (Linux `tcp_reset`).
                Err(error @ (Errno::CONNRESET | Errno::PIPE)) => pair.relay.fail(error.kind()),
                Err(error) => return self.connect_to_next(net, socket, error.kind()),
            }
            if flags.intersects(EventFlags::OUT) {
                pair.deadline = Time::NEVER;
                let took = net.now().since(pair.relay.moved);
                self.counts.connects.add(took);
                net.note(socket, |about| {
                    about.backend = Some(pair.to());
                    about.connect_s = Some(took.secs_f64());
                });
            }
        }
        let relay = &mut pair.relay;
        relay.failed |= flags.intersects(EventFlags::ERR);
        relay.readable |= flags.intersects(EventFlags::IN | EventFlags::RDHUP | gone);
        relay.writable |= flags.intersects(EventFlags::OUT | gone);
        self.go_on(net, socket);
    }

    fn sweep(&mut self, net: &mut Net) {
        let now = net.now();
        let (mut silent, mut idle) = (Vec::new(), Vec::new());
        for (&socket, pair) in &mut self.pairs {
            let reset = net.status(socket).is_none_or(|status| status.reason.is_some());
            let half_closed = reset || pair.is_half_closed();
            let limit = if half_closed { self.half_closed_idle } else { self.idle };
            if pair.deadline <= now {
                silent.push(socket);
            } else if !pair.is_connecting() && pair.rests_since(net, socket) + limit <= now {
                self.counts.rested[usize::from(half_closed)] += 1;
                idle.push(socket);
            }
        }
        for socket in silent {
            self.connect_to_next(net, socket, ErrorKind::TimedOut);
        }
        for socket in idle {
            self.end(net, socket, true, "idle");
        }
        self.let_go(net, usize::MAX, is_lost);
        self.open_again(net);
    }

    /// Those that are gone themselves; then, where nothing has moved for R2, those that have never
    /// sent anything, and last those that take nothing of what their backend has sent. Who has sent
    /// something and has nothing to read may be waiting for that, and keeps its place.
    fn make_room(&mut self, net: &mut Net, clients: usize) -> usize {
        let mut room = self.let_go(net, clients, has_ended);
        let since = |net: &mut Net, (&socket, pair): (&SocketId, &mut Pair)| {
            (pair.rests_since(net, socket), socket)
        };
        let mut rest: Vec<_> = self.pairs.iter_mut().map(|pair| since(net, pair)).collect();
        let gone: Vec<_> = rest.extract_if(.., |&mut (_, s)| has_ended(net, s)).collect();
        let is_silent = |&mut (_, socket): &mut (Time, SocketId)| {
            net.status(socket).is_some_and(|s| s.read == 0 && s.readable == 0)
        };
        let silent: Vec<_> = rest.extract_if(.., is_silent).collect();
        let displaced = in_vain(net.now(), silent.into_iter()).into_iter();
        let displaced = displaced.chain(net.stalled(rest.into_iter())).map(|s| (s, "displaced"));
        let gone = gone.into_iter().map(|(_, socket)| (socket, "no_backend"));
        for (socket, why) in gone.chain(displaced).take(clients - room) {
            if net.has_room(clients) {
                break;
            }
            self.end(net, socket, true, why);
            room += 1;
        }
        room
    }

    /// Nobody but the two ends knows when a connection is done.
    fn drain(&mut self, _net: &mut Net) {}

    fn sockets(&self) -> Vec<SocketId> {
        let waiting = self.unopened.iter().chain(&self.unnamed).map(|(socket, _)| *socket);
        self.pairs.keys().copied().chain(waiting).collect()
    }

    fn open(&self) -> usize {
        self.pairs.len() + self.unopened.len() + self.unnamed.len()
    }

    fn counts(&self) -> Counted {
        let waiting = [self.unopened.len() as u64, self.unnamed.len() as u64];
        Counted { waiting, ..self.counts.clone() }
    }
}
