//! The thread of a proxy: sockets of the operating system, and the path between them.

mod resets;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use ackclock_net::TRIM;
use ackclock_tcp::{Span, Time};
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Socket, Type};

use crate::joint::{self, Attempt, Joint, is_the_clients_fault};
use crate::look_up::LookUp;
use crate::path::{CLIENTS, End, Path};
use crate::relay::{CHUNK, Host, Stop};
use crate::{Conditions, Error, ProxyConfig, ProxyReport, files};

pub(crate) const WAKER: Token = Token(0);

/// Sleeping until a socket is ready takes whole milliseconds. What is due before is slept for in
/// pieces of this, with a look at the sockets after each.
const NAP: Duration = Duration::from_micros(100);

/// How often to look whether there are files again, or ports.
const FILES: Duration = Duration::from_millis(20);

/// The most that clients are waited for, 100 years: a [`Duration`] may be more than is left of an
/// [`Instant`].
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// What a proxy's thread is asked for.
pub(crate) enum Command {
    Report(Sender<ProxyReport>),
    Set(u32, Option<Box<Conditions>>, Sender<Result<(), Error>>),
    /// Take no more clients, and end when there are none or this has passed.
    Drain(Duration),
}

pub(crate) struct EventLoop {
    poll: Poll,
    start: Instant,
    /// They have the tokens after the waker's.
    listeners: Vec<TcpListener>,
    /// Somebody may wait at a listener.
    waiting: bool,
    to: Vec<SocketAddr>,
    /// Of a server that has a name.
    look_up: Option<LookUp>,
    connect_timeout: Duration,
    /// How long connections may rest that one side has reset.
    rest: Span,
    /// Those that wait for an address of the server, by when that ends.
    connecting: BTreeSet<(Instant, End)>,
    /// Clients whose connection has begun its way through the network, by when that is to be over.
    opening: VecDeque<(Instant, End)>,
    /// For the servers of clients that have been taken, by the ports of these on the links: a file
    /// each, so that no client is taken for whose server there is none.
    reserves: HashMap<u16, Socket>,
    /// Those for which there was no file in spite of that, as somebody else was faster, with the
    /// addresses to try.
    unopened: VecDeque<(End, Attempt)>,
    /// Those that no address took, and for which the server's name is being looked up.
    unnamed: Vec<End>,
    /// There are no more files.
    out_of_files: bool,
    /// A client for which there is no port on the links, and behind which the others wait.
    without_port: Option<TcpStream>,
    most: usize,
    path: Path,
    /// By token.
    joints: HashMap<Token, Joint>,
    tokens: HashMap<End, Token>,
    next_token: usize,
    /// Those that let others go first.
    again: VecDeque<Token>,
    clients: usize,
    /// There may be memory to give back.
    to_trim: bool,
    chunk: Vec<u8>,
    commands: Receiver<Command>,
    /// When to end, once it has been asked for.
    end: Option<Instant>,
    counts: ProxyReport,
}

impl EventLoop {
    pub(crate) fn new(
        config: &ProxyConfig,
        poll: Poll,
        mut listeners: Vec<TcpListener>,
        path: Path,
        commands: Receiver<Command>,
        look_up: Option<LookUp>,
    ) -> Result<EventLoop, Error> {
        for (listener, number) in listeners.iter_mut().zip(1..) {
            poll.registry()
                .register(listener, Token(number), Interest::READABLE)
                .map_err(Error::system("sockets"))?;
        }
        Ok(EventLoop {
            poll,
            start: Instant::now(),
            next_token: listeners.len() + 1,
            listeners,
            waiting: false,
            to: config.to.clone(),
            look_up,
            connect_timeout: config.connect_timeout,
            rest: Span(u64::try_from(config.rest_after_reset.as_nanos()).unwrap_or(u64::MAX)),
            connecting: BTreeSet::new(),
            opening: VecDeque::new(),
            reserves: HashMap::new(),
            unopened: VecDeque::new(),
            unnamed: Vec::new(),
            out_of_files: false,
            without_port: None,
            most: config.max_connections as usize,
            path,
            joints: HashMap::new(),
            tokens: HashMap::new(),
            again: VecDeque::new(),
            clients: 0,
            to_trim: false,
            chunk: vec![0; CHUNK],
            commands,
            end: None,
            counts: ProxyReport::default(),
        })
    }

    /// Runs until it is asked to end, and returns what it did.
    pub(crate) fn run(&mut self) -> Result<ProxyReport, Error> {
        let mut events = Events::with_capacity(256);
        let mut trim_at = Time::ZERO + TRIM;
        loop {
            let timeout = self.timeout();
            match self.poll.poll(&mut events, timeout) {
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    return Err(Error::system("sockets")(error));
                }
                _ => {}
            }
            self.path.advance(Time(self.start.elapsed().as_nanos() as u64));
            for event in &events {
                self.dispatch(event);
            }
            // Once: who says that it has more to do comes again after the next look at the sockets.
            for token in std::mem::take(&mut self.again) {
                self.go_on(token);
            }
            if let Some(found) = self.look_up.as_mut().and_then(LookUp::poll) {
                self.take_addresses(found);
            }
            self.out_of_files = false;
            self.open_again();
            self.accept();
            loop {
                self.take_connections();
                let Some(end) = self.path.poll_ready() else { break };
                if let Some(&token) = self.tokens.get(&end) {
                    self.go_on(token);
                }
            }
            self.give_up();
            self.reset_in_time();
            self.path.flush();
            self.to_trim |= !self.joints.is_empty();
            if trim_at <= self.path.now() {
                trim_at = self.path.now() + TRIM;
                // The last ones that end leave something, too.
                self.to_trim = self.path.trim() != Time::NEVER || !self.joints.is_empty();
                self.end_resets();
            }
            if self.obey() {
                let streams = self.joints.values().map(|joint| &joint.stream);
                streams.chain(&self.without_port).for_each(joint::reset);
                self.counts.reset += self.clients as u64;
                return Ok(self.report());
            }
        }
    }

    /// How long to wait for sockets. Takes a nap before if something is due within a millisecond.
    fn timeout(&mut self) -> Option<Duration> {
        if !self.again.is_empty() {
            return Some(Duration::ZERO);
        }
        let due = match self.path.next_deadline().min(self.path.next_reset()) {
            Time::NEVER => None,
            due => Some(self.start + Duration::from_nanos(due.nanos())),
        };
        let trim = self.to_trim.then(|| Instant::now() + Duration::from_nanos(TRIM.nanos()));
        let connecting = self.connecting.first().map(|(until, _)| *until);
        let short = self.out_of_files || self.without_port.is_some();
        let files = short.then(|| Instant::now() + FILES);
        let opening = self.opening.front().map(|(until, _)| *until);
        let left = [due, trim, self.end, connecting, opening, files].into_iter().flatten().min()?;
        let left = left.saturating_duration_since(Instant::now());
        let millis = Duration::from_millis(left.as_millis() as u64);
        if millis.is_zero() && !left.is_zero() {
            thread::sleep(left.min(NAP));
        }
        Some(millis)
    }

    fn dispatch(&mut self, event: &Event) {
        let token = event.token();
        if token == WAKER {
            return;
        }
        if token.0 <= self.listeners.len() {
            self.waiting = true;
            return;
        }
        let Some(joint) = self.joints.get_mut(&token) else { return };
        if joint.next.is_some() {
            match joint::opened(&joint.stream) {
                Ok(false) => return,
                Ok(true) => {
                    joint.stop_waiting(&mut self.connecting);
                    joint.next = None;
                }
                // It was open: a SYN that is reset is refused (Linux `tcp_reset`).
                Err(error) if joint::is_reset(&error) => {
                    joint.stop_waiting(&mut self.connecting);
                    joint.next = None;
                    joint.relay.fail(error.kind());
                }
                Err(_) => return self.try_next(token),
            }
        }
        joint.relay.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        joint.relay.failed |= event.is_error();
        joint.relay.writable |= event.is_writable() || event.is_write_closed() || event.is_error();
        self.go_on(token);
    }

    /// The client that has waited for a port, unless it has gone: a reset with nothing before it
    /// is all that it leaves. Its end alone may be half of a connection.
    fn waiting_client(&mut self) -> Option<TcpStream> {
        let stream = self.without_port.take()?;
        match stream.peek(&mut [0]) {
            Err(error) if error.kind() != ErrorKind::WouldBlock => None,
            _ => Some(stream),
        }
    }

    /// Takes clients as long as there is room, and a file for the server of each.
    fn accept(&mut self) {
        let is_full = self.clients >= self.most || self.out_of_files;
        let none = !self.waiting && self.without_port.is_none();
        if none || self.end.is_some() || is_full {
            return;
        }
        let Ok(_left_over) = files::left_over() else { return self.out_of_files = true };
        let mut reserve = None;
        for number in 0..self.listeners.len() {
            loop {
                if self.clients >= self.most {
                    return;
                }
                if reserve.is_none() {
                    let Ok(file) = self.file() else { return self.out_of_files = true };
                    reserve = file;
                }
                let first = self.waiting_client().map(Ok);
                let next = || self.listeners[number].accept().map(|(stream, _)| stream);
                let stream = match first.unwrap_or_else(next) {
                    Ok(stream) => stream,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if is_the_clients_fault(&error) => continue,
                    // No more files: a connection that ends makes room, here or elsewhere.
                    Err(_) => return self.out_of_files = true,
                };
                // Those of connections that are over are free after TIME-WAIT.
                let Ok(end) = self.path.connect() else {
                    return self.without_port = Some(stream);
                };
                self.counts.accepted += 1;
                self.join(stream, end, None);
                let until = Instant::now().checked_add(self.connect_timeout);
                self.opening.extend(until.map(|until| (until, end)));
                if self.tokens.contains_key(&end)
                    && let (Some(reserve), Some(port)) = (reserve.take(), self.path.port(end))
                {
                    self.reserves.insert(port, reserve);
                }
            }
        }
        self.waiting = false;
    }

    /// A file that can make room for another one; an error if there are no more.
    fn file(&self) -> io::Result<Option<Socket>> {
        let domain = self.to.first().map_or(Domain::IPV4, |&to| Domain::for_address(to));
        match Socket::new(domain, Type::STREAM, None) {
            Err(error) if files::are_used_up(&error) => Err(error),
            // If it is something else, connecting will show it.
            socket => Ok(socket.ok()),
        }
    }

    /// Takes the connections that have come to the servers' host.
    fn take_connections(&mut self) {
        while let Some(end) = self.path.accept() {
            // It makes room for the one that follows.
            drop(self.path.port(end).and_then(|port| self.reserves.remove(&port)));
            let (addresses, looked_up) = (self.to.clone(), false);
            self.begin(end, Attempt { addresses, looked_up, until: None, give_up: None });
        }
    }

    /// Begins to connect to the server, unless the client has gone.
    fn begin(&mut self, end: End, attempt: Attempt) {
        if self.path.is_broken(end) && self.path.readable(end) == 0 {
            return self.path.abort(end);
        }
        let give_up = Instant::now().checked_add(self.connect_timeout);
        self.open(end, Attempt { give_up, ..attempt });
    }

    /// Connects for those for which there was no file.
    fn open_again(&mut self) {
        while !self.out_of_files
            && let Some((end, attempt)) = self.unopened.pop_front()
        {
            self.begin(end, attempt);
        }
    }

    /// Where the server is by now, if its name was found. Who has waited is tried once more if it
    /// has an address that it did not have.
    fn take_addresses(&mut self, found: Option<Vec<SocketAddr>>) {
        let others = found.filter(|found| found.iter().any(|address| !self.to.contains(address)));
        let retry = others.is_some();
        self.to = others.unwrap_or_else(|| std::mem::take(&mut self.to));
        for end in std::mem::take(&mut self.unnamed) {
            let addresses = if retry { self.to.clone() } else { Vec::new() };
            self.begin(end, Attempt { addresses, looked_up: true, until: None, give_up: None });
        }
    }

    /// Turns to the next address where one has taken too long. Resets clients whose connection has
    /// not come through the network for as long.
    fn give_up(&mut self) {
        let now = Instant::now();
        while let Some(&(until, end)) = self.opening.front() {
            if self.path.is_opening(end) {
                if until > now {
                    break;
                } else if let Some(&token) = self.tokens.get(&end) {
                    self.counts.unreachable += 1;
                    self.reset(token);
                }
            }
            self.opening.pop_front();
        }
        while let Some(&(_, end)) = self.connecting.first().filter(|(until, _)| *until <= now) {
            self.connecting.pop_first();
            if let Some(&token) = self.tokens.get(&end) {
                self.try_next(token);
            }
        }
    }

    /// Opens a connection to the first of these addresses that can be tried. Each has an equal part
    /// of the time that is left, so that a silent one does not keep from the others.
    fn open(&mut self, end: End, mut attempt: Attempt) {
        while let Some(&address) = attempt.addresses.first() {
            match TcpStream::connect(address) {
                Err(error) if files::are_used_up(&error) => {
                    self.out_of_files = true;
                    return self.unopened.push_back((end, attempt));
                }
                opened => {
                    let parts = attempt.addresses.len() as u32;
                    attempt.addresses.remove(0);
                    let Ok(stream) = opened else { continue };
                    let now = Instant::now();
                    attempt.until =
                        attempt.give_up.map(|at| now + at.saturating_duration_since(now) / parts);
                    return self.join(stream, end, Some(attempt));
                }
            }
        }
        if !attempt.looked_up && self.look_up.as_mut().is_some_and(LookUp::begin) {
            return self.unnamed.push(end);
        }
        self.counts.unreachable += 1;
        self.path.abort(end);
    }

    /// The server does not take the connection at this address.
    fn try_next(&mut self, token: Token) {
        let Some(Joint { stream, end, next: Some(next), .. }) = self.remove(token) else { return };
        // It makes room for the next one.
        drop(stream);
        self.open(end, next);
    }

    fn join(&mut self, mut stream: TcpStream, end: End, next: Option<Attempt>) {
        let token = Token(self.next_token);
        self.next_token += 1;
        let interest = Interest::READABLE | Interest::WRITABLE;
        if self.poll.registry().register(&mut stream, token, interest).is_err() {
            return self.path.abort(end);
        }
        // What the client writes at once leaves at once; it is our hosts that make segments of it.
        let _ = stream.set_nodelay(true);
        self.clients += usize::from(end.0 == CLIENTS);
        self.connecting.extend(next.as_ref().and_then(|next| Some((next.until?, end))));
        self.tokens.insert(end, token);
        self.joints.insert(token, Joint::new(stream, end, next));
    }

    fn remove(&mut self, token: Token) -> Option<Joint> {
        let mut joint = self.joints.remove(&token)?;
        self.tokens.remove(&joint.end);
        joint.stop_waiting(&mut self.connecting);
        if joint.end.0 == CLIENTS {
            self.clients -= 1;
            // Unless its connection has come to the servers' host.
            drop(self.path.port(joint.end).and_then(|port| self.reserves.remove(&port)));
        }
        let _ = self.poll.registry().deregister(&mut joint.stream);
        Some(joint)
    }

    fn go_on(&mut self, token: Token) {
        let Some(joint) = self.joints.get_mut(&token) else { return };
        match joint.go_on(&mut self.path, &mut self.chunk, &mut self.counts.bytes) {
            Ok(()) => self.again.push_back(token),
            Err(Stop::Wait) => {}
            Err(Stop::Over) => {
                if let Some(joint) = self.remove(token) {
                    self.path.close(joint.end);
                }
            }
            Err(Stop::Reset) => self.reset(token),
        }
    }

    fn reset(&mut self, token: Token) {
        let Some(joint) = self.remove(token) else { return };
        self.counts.reset += u64::from(joint.end.0 == CLIENTS);
        joint::reset(&joint.stream);
        self.path.abort(joint.end);
    }

    /// Does what it is asked for. Returns whether it is to end now.
    fn obey(&mut self) -> bool {
        while let Ok(command) = self.commands.try_recv() {
            // Whoever asked may have gone.
            match command {
                Command::Report(answer) => drop(answer.send(self.report())),
                Command::Set(place, conditions, answer) => {
                    let _ = answer.send(self.path.set(place, conditions.as_deref()));
                }
                Command::Drain(drain) => {
                    self.listeners.clear();
                    // Nobody takes it any more.
                    self.without_port.take().iter().for_each(joint::reset);
                    self.end = Some(Instant::now() + drain.min(LONGEST));
                }
            }
        }
        self.end.is_some_and(|end| self.joints.is_empty() || end <= Instant::now())
    }

    fn report(&mut self) -> ProxyReport {
        // What links have dropped at once leaves them now.
        self.path.advance(self.path.now());
        let open = self.clients as u64;
        let (links, passed) = (self.path.report(), self.path.passed());
        let timeouts = self.path.timeouts();
        ProxyReport { open, links, passed, timeouts, ..self.counts.clone() }
    }
}
