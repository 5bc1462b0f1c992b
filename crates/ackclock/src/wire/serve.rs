//! `ackclock serve`: an HTTP/1.1 file server whose TCP is ours.

mod counted;

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use ackclock_net::scenario::units::Duration;
use ackclock_stack::{Error as TcpError, SocketId};
use ackclock_tcp::connection::TcpState;
use ackclock_tcp::{Registry, Span, Time};
use clap::Args;

use super::daemon::{Again, Daemon, DaemonArgs, Net, Own, Reload, Service};
use super::files::Files;
use super::interrupt::Interrupt;
use super::options::patience;
use super::prefix::Prefix;
use super::split::Split;
use super::strategy;
use crate::error::Error;
use crate::http::{Found, Inbox, Method, Refusal, Request, Response, Status, answer, refuse};
use counted::Counted;

/// How long a client may take at most to send a request once it has begun.
const REQUEST: Span = Span::from_secs(20);

/// How long a client may go on sending, or say nothing, after the last response.
const LINGER: Span = Span::from_secs(5);

/// For how long a client has to be idle, or to have all and FIN, before it makes room for one that
/// waits.
const LEAST_IDLE: Span = Span::from_secs(2);

/// Requests are short: no more is taken ahead of answering.
const RECEIVE_BUFFER: usize = 64 * 1024;

/// Bytes that are read from a file at once.
const CHUNK: usize = 256 * 1024;

/// Bytes of a path that the access log has at most.
const LOGGED_PATH: usize = 256;

/// Steps for one client before others get their turn: many requests may have come at once. The page
/// of a directory takes a turn of its own.
const TURN: usize = 16;

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The directory to serve. Symbolic links that lead out of it are not followed, and neither are
    /// absolute ones.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The port to listen on, on all addresses of our stack.
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 80,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub port: u16,
    /// How long a client may send no request, or read nothing of a response, before the connection
    /// is closed. A request has to arrive within this time as well, and within 20 s.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = patience)]
    pub idle: Duration,
    #[command(flatten)]
    pub daemon: DaemonArgs,
}

pub(crate) fn serve(args: &ServeArgs, registry: &Registry) -> Result<String, Error> {
    let dir = args.dir.clone();
    let open = move || match Files::open(&dir) {
        Ok(files) => Ok(Arc::new(files)),
        Err(error) => Err(Error::Read { path: dir.clone(), error }),
    };
    let files = open()?;
    let wire = &args.daemon.wire;
    let mut config = wire.tcp(&strategy(&args.daemon.strategy, registry)?);
    let split = Split::new(&args.daemon.split, registry)?;
    config.receive_buffer = config.receive_buffer.min(RECEIVE_BUFFER);
    let any =
        |v4| if v4 { IpAddr::from(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
    let families =
        [true, false].into_iter().filter(|&v4| wire.addr.iter().any(|a| a.addr.is_ipv4() == v4));
    let listen: Vec<_> =
        families.map(|v4| (SocketAddr::new(any(v4), args.port), Own::default())).collect();
    let make = || Server {
        files: files.clone(),
        idle: args.idle.0,
        request: args.idle.0.min(REQUEST),
        clients: HashMap::new(),
        counts: Counted::default(),
        chunk: vec![0; CHUNK],
    };
    let daemon =
        Daemon::open(&args.daemon, Interrupt::with_hangup()?, &listen, &config, &split, make)?;
    let said = format!("serving {}", args.dir.display());
    let at = |own: &Prefix| SocketAddr::new(own.addr, args.port);
    let lines = wire.addr.iter().map(|own| format!("{said} at http://{}/", at(own)));
    let lines: Vec<String> = lines.collect();
    // The path may lead elsewhere by now.
    daemon.run(&lines, move |_| {
        let (listen, split, said) = (listen.clone(), split.clone(), said.clone());
        Ok(Again::Reload(Reload { listen, split, plan: open()?, said }))
    })
}

struct Server {
    files: Arc<Files>,
    idle: Span,
    request: Span,
    clients: HashMap<SocketId, Client>,
    counts: Counted,
    chunk: Vec<u8>,
}

/// Responses of one connection that are timed at the same time. More is pipelining of a kind that
/// no client does, and would take memory.
const TIMED: usize = 64;

/// A connection.
struct Client {
    inbox: Inbox,
    phase: Phase,
    /// When its patience ends, or ours.
    deadline: Time,
    /// What it had acknowledged when last looked at.
    acked: u64,
    /// The number of its strategy.
    strategy: usize,
    /// Responses that are written and not yet acknowledged: the position where each ends, and the
    /// time of its request.
    unacked: VecDeque<(u64, Time)>,
}

impl Client {
    /// It has sent nothing, or nothing since its last response.
    fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Reading) && self.inbox.is_empty()
    }
}

enum Phase {
    /// A request is to come.
    Reading,
    /// A response is on its way.
    Writing(Transfer),
    /// All responses are written, and FIN; what the client still sends is read, since a reset for
    /// it could destroy what is on its way (RFC 9112 section 9.6).
    Lingering,
}

/// A response, and how far it is.
struct Transfer {
    bytes: Vec<u8>,
    written: usize,
    file: Option<File>,
    rest: Range<u64>,
    keep_alive: bool,
    since: Time,
}

/// Why nothing more can be done for a client at the moment.
enum Stop {
    /// It has to do something first.
    Wait,
    /// Others have their turn first.
    Again,
    /// The connection is over, or has to be.
    End,
}

impl From<TcpError> for Stop {
    fn from(error: TcpError) -> Stop {
        if error == TcpError::WouldBlock { Stop::Wait } else { Stop::End }
    }
}

impl Server {
    /// Does what can be done for a client now.
    fn go_on(&mut self, net: &mut Net, socket: SocketId, mut client: Client) {
        let stop = (0..TURN).find_map(|_| self.step(net, socket, &mut client).err());
        self.time(net, socket, &mut client);
        match stop.unwrap_or(Stop::Again) {
            Stop::Wait => {}
            Stop::Again => net.again(socket),
            Stop::End => return net.drop(socket, "reset_by_server"),
        }
        self.clients.insert(socket, client);
    }

    /// Takes the times of responses that the client has acknowledged, and has the stack say when it
    /// has acknowledged the next.
    fn time(&mut self, net: &mut Net, socket: SocketId, client: &mut Client) {
        if client.unacked.is_empty() {
            return;
        }
        let Some(status) = net.status(socket) else { return };
        let acked = status.acked();
        while let Some(&(end, since)) = client.unacked.front() {
            if end > acked {
                return net.await_acked(socket, end);
            }
            client.unacked.pop_front();
            self.counts.of(client.strategy).times.add(net.now().since(since));
        }
    }

    fn step(&mut self, net: &mut Net, socket: SocketId, client: &mut Client) -> Result<(), Stop> {
        match &mut client.phase {
            Phase::Reading => self.read(net, socket, client),
            Phase::Writing(transfer) => {
                write(net, socket, transfer, &mut self.chunk)?;
                if client.unacked.len() < TIMED
                    && let Some(status) = net.status(socket)
                {
                    client.unacked.push_back((status.written, transfer.since));
                }
                if transfer.keep_alive && !net.draining {
                    client.phase = Phase::Reading;
                    client.deadline =
                        net.now() + if client.inbox.is_empty() { self.idle } else { self.request };
                } else {
                    self.linger(net, socket, client);
                }
                Ok(())
            }
            Phase::Lingering => match net.read(socket, &mut self.chunk)? {
                0 if net.is_over(socket) => Err(Stop::End),
                0 => Err(Stop::Wait),
                _ => Ok(()),
            },
        }
    }

    /// Reads until there is a request, and begins to answer it.
    fn read(&mut self, net: &mut Net, socket: SocketId, client: &mut Client) -> Result<(), Stop> {
        match client.inbox.next_request() {
            Some(Ok(mut request)) => {
                request.keep_alive &= !net.draining;
                let (found, file) = self.files.find(&request);
                let response = answer(&request, &found, SystemTime::now());
                note(net, socket, Some(&request), response.status);
                self.respond(net, client, response, file);
                if matches!(found, Found::Listing(..)) {
                    return Err(Stop::Again);
                }
            }
            Some(Err(refusal)) => self.refuse(net, socket, client, refusal),
            None => {
                let (first, room) = (client.inbox.is_empty(), client.inbox.room());
                let n = net.read(socket, &mut self.chunk[..room])?;
                client.inbox.push(&self.chunk[..n]);
                if n == 0 {
                    self.linger(net, socket, client);
                } else if first {
                    client.deadline = net.now() + self.request;
                }
            }
        }
        Ok(())
    }

    fn refuse(&mut self, net: &mut Net, socket: SocketId, client: &mut Client, refusal: Refusal) {
        note(net, socket, None, refusal.status);
        self.respond(net, client, refuse(refusal, SystemTime::now()), None);
    }

    fn respond(
        &mut self,
        net: &mut Net,
        client: &mut Client,
        response: Response,
        file: Option<File>,
    ) {
        *self.counts.of(client.strategy).begun.entry(response.status).or_default() += 1;
        let Response { bytes, file: rest, keep_alive, .. } = response;
        let since = net.now();
        let transfer = Transfer { bytes, written: 0, file, rest, keep_alive, since };
        client.phase = Phase::Writing(transfer);
        client.deadline = net.now() + self.idle;
    }

    /// Resets at most `most` of those that have acknowledged all and FIN, and do not close: what
    /// they have not read yet stays theirs. Returns how many.
    fn reset_lingering(&mut self, net: &mut Net, most: usize) -> usize {
        let soon = net.now() + LINGER;
        let until = net.now() + Span(LINGER.0 - LEAST_IDLE.0);
        let mut late = Vec::new();
        for (socket, client) in &mut self.clients {
            if matches!(client.phase, Phase::Lingering)
                && net.status(*socket).is_none_or(|s| s.state == TcpState::FinWait2)
            {
                // It had longer for what was on its way then.
                client.deadline = client.deadline.min(soon);
                if client.deadline <= until {
                    late.push((client.deadline, *socket));
                }
            }
        }
        late.sort_unstable();
        late.truncate(most);
        for (_, socket) in &late {
            self.clients.remove(socket);
            net.drop(*socket, "idle");
        }
        late.len()
    }

    fn end_idle(&mut self, net: &mut Net, socket: SocketId) {
        if let Some(mut client) = self.clients.remove(&socket) {
            self.linger(net, socket, &mut client);
            self.go_on(net, socket, client);
        }
    }

    /// As long as a client takes some of what is on its way, it may have the rest. The stack tells
    /// of room only where there is much of it.
    fn see_progress(&mut self, net: &mut Net) {
        for (socket, client) in &mut self.clients {
            let Some(status) = net.status(*socket) else { continue };
            if status.acked() == client.acked {
                continue;
            }
            client.acked = status.acked();
            match client.phase {
                // What of a request has come has a time of its own.
                Phase::Reading if !client.inbox.is_empty() => {}
                // Then it has a moment to close.
                Phase::Lingering if status.unacked == 0 => client.deadline = net.now() + LINGER,
                _ => client.deadline = net.now() + self.idle,
            }
        }
    }

    /// A client's time is up.
    fn late(&mut self, net: &mut Net, socket: SocketId, mut client: Client) {
        let takes_nothing = net.status(socket).is_some_and(|s| s.unacked > 0);
        match client.phase {
            Phase::Reading if !client.inbox.is_empty() => {
                self.refuse(net, socket, &mut client, Status::RequestTimeout.into());
            }
            Phase::Reading if !takes_nothing => self.linger(net, socket, &mut client),
            _ => return net.drop(socket, "idle"),
        }
        self.go_on(net, socket, client);
    }

    /// No more will be written.
    fn linger(&self, net: &mut Net, socket: SocketId, client: &mut Client) {
        net.shutdown(socket);
        let all_is_acked = net.status(socket).is_none_or(|status| status.unacked == 0);
        client.phase = Phase::Lingering;
        client.deadline = net.now() + if all_is_acked { LINGER } else { self.idle };
    }
}

/// Has the access log know of a response.
fn note(net: &mut Net, socket: SocketId, request: Option<&Request>, status: Status) {
    net.note(socket, |about| {
        *about.responses.get_or_insert_default() += 1;
        about.status = Some(status.code());
        about.method = request.map(|request| match request.method {
            Method::Get => "GET",
            Method::Head => "HEAD",
        });
        about.path = request.map(|Request { path, directory, .. }| {
            let path = &path[..path.len().min(LOGGED_PATH)];
            let end = if *directory && !path.is_empty() { "/" } else { "" };
            format!("/{}{end}", String::from_utf8_lossy(path))
        });
    });
}

/// Writes as much of a response as there is room for.
fn write(
    net: &mut Net,
    socket: SocketId,
    transfer: &mut Transfer,
    chunk: &mut [u8],
) -> Result<(), Stop> {
    while transfer.written < transfer.bytes.len() {
        transfer.written += net.write(socket, &transfer.bytes[transfer.written..])?;
    }
    while let (Some(file), false) = (&transfer.file, transfer.rest.is_empty()) {
        let left = usize::try_from(transfer.rest.end - transfer.rest.start).unwrap_or(usize::MAX);
        let most = net.room(socket)?.min(left).min(chunk.len());
        // A file that got shorter cannot be answered as promised any more.
        let n = file
            .read_at(&mut chunk[..most], transfer.rest.start)
            .ok()
            .filter(|&n| n > 0)
            .ok_or(Stop::End)?;
        let written = net.write(socket, &chunk[..n])?;
        transfer.rest.start += written as u64;
    }
    Ok(())
}

impl Service for Server {
    type Counts = Counted;
    type Plan = Arc<Files>;

    // A file that cannot be opened is answered with 503; connections that rest need none.
    const FILES: u64 = 0;

    fn opened(&mut self, net: &mut Net, socket: SocketId, _listener: SocketAddr) {
        let client = Client {
            inbox: Inbox::default(),
            phase: Phase::Reading,
            deadline: net.now() + self.idle,
            acked: 0,
            strategy: net.status(socket).map_or(0, |status| status.strategy),
            unacked: VecDeque::new(),
        };
        self.go_on(net, socket, client);
    }

    fn follow(&mut self, files: &Arc<Files>) {
        self.files.clone_from(files);
    }

    fn ready(&mut self, net: &mut Net, socket: SocketId) {
        if let Some(client) = self.clients.remove(&socket) {
            self.go_on(net, socket, client);
        }
    }

    fn sweep(&mut self, net: &mut Net) {
        self.see_progress(net);
        let now = net.now();
        for (socket, client) in
            self.clients.extract_if(|_, c| c.deadline <= now).collect::<Vec<_>>()
        {
            self.late(net, socket, client);
        }
    }

    /// Those that have been idle for longest, as nginx does (`ngx_drain_connections`). They have
    /// FIN first, and their places only once they answer, or for as long again do not: without a
    /// place they would be without number. Where there are too few, those that have taken nothing
    /// of a response for R2 are reset.
    fn make_room(&mut self, net: &mut Net, clients: usize) -> usize {
        let reset = self.reset_lingering(net, clients);
        let clients = clients - reset;
        let idle_until = net.now() + self.idle;
        // The deadline of an idle one says since when it is; that of half a request does not.
        let idle = self.clients.iter().filter(|(_, c)| c.is_idle());
        let idle = idle.filter(|(_, c)| c.deadline + LEAST_IDLE <= idle_until);
        let mut idle: Vec<(Time, SocketId)> = idle.map(|(s, c)| (c.deadline, *s)).collect();
        idle.sort_unstable();
        let mut leave = |(socket, c): &(&SocketId, &Client)| {
            matches!(c.phase, Phase::Lingering)
                && net.status(**socket).is_none_or(|status| status.unacked == 0)
        };
        let leaving = self.clients.iter().filter(&mut leave).count();
        idle.truncate(clients.saturating_sub(leaving));
        let mut room = leaving + idle.len();
        idle.into_iter().for_each(|(_, socket)| self.end_idle(net, socket));
        let since = |c: &Client| Time::ZERO + c.deadline.since(Time::ZERO + self.idle);
        let is_timed = |c: &Client| c.inbox.is_empty() || !matches!(c.phase, Phase::Reading);
        let timed = self.clients.iter().filter(|(_, c)| is_timed(c));
        let stalled = net.stalled(timed.map(|(socket, c)| (since(c), *socket)));
        let missing = clients.saturating_sub(room);
        for socket in stalled.into_iter().take(missing) {
            if net.has_room(missing) {
                break;
            }
            self.clients.remove(&socket);
            net.drop(socket, "displaced");
            room += 1;
        }
        reset + room
    }

    fn drain(&mut self, net: &mut Net) {
        let idle = self.clients.iter().filter(|(_, c)| c.is_idle()).map(|(socket, _)| *socket);
        for socket in idle.collect::<Vec<_>>() {
            self.end_idle(net, socket);
        }
    }

    fn sockets(&self) -> Vec<SocketId> {
        self.clients.keys().copied().collect()
    }

    fn open(&self) -> usize {
        self.clients.len()
    }

    fn counts(&self) -> Counted {
        self.counts.clone()
    }
}
