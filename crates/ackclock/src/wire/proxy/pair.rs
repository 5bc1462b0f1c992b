//! A client and its backend: two sockets. What comes from one is written to the other as far as
//! that takes it; while it does not, no more is read, so that the window of the side that sends
//! closes. FINs and resets go on to the other side. What one side has sent before its reset reaches
//! the other one first, as it would from the buffer of a socket of the kernel.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

use ackclock_impair::{has_unsent, retry};
use ackclock_stack::{Error as TcpError, SocketId, Status};
use ackclock_tcp::connection::TcpState;
use ackclock_tcp::{Span, Time};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::IpBindAddressNoPort;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::super::daemon::Net;
use super::super::routes::Route;

/// Bytes that are moved at once. Nothing waits here between the two sides of a connection: what one
/// does not take stays in the buffer of the other.
pub(super) const CHUNK: usize = 64 * 1024;

/// Chunks that one connection may move before others get their turn.
const TURN: usize = 8;

/// A client and its connection to the backend.
pub(super) struct Pair {
    pub backend: TcpStream,
    pub route: Arc<Route>,
    /// Which of the backend's addresses that is.
    pub address: usize,
    /// When connecting to this address has to be done; never once it is.
    pub deadline: Time,
    /// The same of all addresses.
    pub give_up: Time,
    /// Reading from the backend may not block; nor may writing to it.
    pub readable: bool,
    pub writable: bool,
    /// What the backend gets before anything that the client sends.
    header: Vec<u8>,
    /// The client has sent everything, and the backend knows.
    client_done: bool,
    /// The backend has sent everything, and the client knows.
    backend_done: bool,
    /// The backend takes no more; what the client still sends is thrown away.
    pub deaf: bool,
    /// The backend's connection broke, and nothing more will come of it; and once all that had come
    /// is written for the client.
    broken: bool,
    gone: bool,
    /// When something last moved, and how much the client had not acknowledged by then.
    pub moved: Time,
    unacked: usize,
}

/// What is left to try for a client.
pub(super) struct Attempt {
    pub route: Arc<Route>,
    /// The first of the backend's addresses to try.
    pub address: usize,
    /// When connecting has to be done.
    pub give_up: Time,
    /// What the address before said.
    pub error: ErrorKind,
}

/// Why nothing more can be done for a connection at the moment.
pub(super) enum End {
    /// One of its sockets has to become ready first.
    Wait,
    /// This direction is done; or both.
    Over,
    /// One side is gone, and the other one has what it had sent: it hears of the reset.
    Reset,
}

impl From<TcpError> for End {
    fn from(error: TcpError) -> End {
        if error == TcpError::WouldBlock { End::Wait } else { End::Reset }
    }
}

impl Pair {
    /// Begins to connect to the first address from `address` on that can be tried. Each has an
    /// equal part of the time that is left, so that a silent one does not keep from the others. The
    /// backend sees the address of `client`, if that is given.
    ///
    /// # Errors
    /// Of the last address that was tried, or of the first for which there was no open file.
    pub fn connect(
        net: &Net,
        socket: SocketId,
        attempt: &Attempt,
        client: Option<IpAddr>,
        header: Vec<u8>,
    ) -> io::Result<Pair> {
        let Attempt { route, give_up, .. } = attempt;
        let mut error = attempt.error.into();
        for (address, &to) in route.to.iter().enumerate().skip(attempt.address) {
            let connected = connect(to, client).and_then(|backend| {
                net.watch(&backend, socket.0)?;
                Ok(backend)
            });
            let backend = match connected {
                Ok(backend) => backend,
                Err(e) if are_files_used_up(&e) => return Err(e),
                Err(e) => {
                    error = e;
                    continue;
                }
            };
            let left = (route.to.len() - address) as u64;
            return Ok(Pair {
                backend,
                route: route.clone(),
                address,
                deadline: net.now() + Span(give_up.since(net.now()).0 / left),
                give_up: *give_up,
                readable: false,
                writable: false,
                header,
                client_done: false,
                backend_done: false,
                deaf: false,
                broken: false,
                gone: false,
                moved: net.now(),
                unacked: 0,
            });
        }
        Err(error)
    }

    /// Moves what can be moved, both ways.
    pub fn go_on(&mut self, net: &mut Net, socket: SocketId, chunk: &mut [u8]) -> End {
        let Some(status) = net.status(socket) else { return End::Reset };
        let reset = status.reason.is_some();
        if reset && status.readable == 0 {
            return self.after_reset();
        }
        if self.is_connecting() {
            return End::Wait;
        }
        for _ in 0..TURN {
            // A reset that comes after the backend's FIN, and says nothing that could be read.
            self.gone |= self.deaf && self.backend_done && !net.is_over(socket);
            if reset && self.gone {
                return End::Reset;
            }
            let up = self.up(net, socket);
            if self.gone && up.is_err() {
                return self.await_acks(net, socket);
            }
            // Who has reset the connection reads no more.
            let over = reset || self.gone;
            let down = if over { Err(End::Wait) } else { self.down(net, socket, chunk) };
            match (up, down) {
                (Err(End::Reset), _) if reset => return self.after_reset(),
                (Err(End::Reset), _) | (_, Err(End::Reset)) => return End::Reset,
                (Err(End::Over), Err(End::Over)) if net.is_over(socket) => return End::Over,
                (Err(_), Err(_)) if !self.gone => return End::Wait,
                _ => {}
            }
        }
        net.again(socket);
        End::Wait
    }

    /// Moves a chunk from the client to the backend. `Ok` means that there may be more to do.
    fn up(&mut self, net: &mut Net, socket: SocketId) -> Result<(), End> {
        if self.client_done {
            return Err(End::Over);
        }
        if self.deaf || self.gone {
            // It is no movement: a client that sends for ever may not stay for ever.
            self.client_done = net.read_with(socket, |[a, b]| a.len() + b.len())? == 0;
            return Ok(());
        }
        if !self.writable {
            return Err(End::Wait);
        }
        if !self.header.is_empty() {
            let result = retry(|| self.backend.write(&self.header));
            let n = self.written(result)?;
            self.header.drain(..n);
            return Ok(());
        }
        let mut written = None;
        net.read_with(socket, |[first, rest]| {
            let first = &first[..first.len().min(CHUNK)];
            let rest = &rest[..rest.len().min(CHUNK - first.len())];
            let result = retry(|| self.backend.write_vectored(&[first, rest].map(IoSlice::new)));
            *written.insert(result).as_ref().unwrap_or(&0)
        })?;
        match written {
            Some(result) => _ = self.written(result)?,
            None => {
                self.client_done = true;
                // Where that fails, reading from it says so too.
                let _ = self.backend.shutdown(Shutdown::Write);
            }
        }
        self.moved = net.now();
        Ok(())
    }

    /// What became of writing to the backend.
    fn written(&mut self, result: io::Result<usize>) -> Result<usize, End> {
        result.or_else(|error| {
            if error.kind() == ErrorKind::WouldBlock {
                self.writable = false;
                return Err(End::Wait);
            }
            self.fail(error.kind());
            Ok(0)
        })
    }

    /// The backend's connection has failed, which the kernel does not say again. What it sent
    /// before can still be read. Linux says EPIPE of a reset after a FIN (`tcp_reset`): then
    /// reading comes to that FIN.
    pub fn fail(&mut self, error: ErrorKind) {
        self.deaf = true;
        self.broken |= error != ErrorKind::BrokenPipe;
    }

    /// Moves a chunk from the backend to the client. `Ok` means that there may be more to do.
    fn down(&mut self, net: &mut Net, socket: SocketId, chunk: &mut [u8]) -> Result<(), End> {
        if self.backend_done {
            return Err(End::Over);
        }
        if !self.readable {
            return Err(End::Wait);
        }
        let room = net.room(socket)?.min(chunk.len());
        match retry(|| self.backend.read(&mut chunk[..room])) {
            Ok(0) if self.broken => self.gone = true,
            Ok(0) => {
                net.shutdown(socket);
                self.backend_done = true;
            }
            Ok(n) => _ = net.write(socket, &chunk[..n])?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                return Err(End::Wait);
            }
            Err(_) => self.gone = true,
        }
        self.moved = net.now();
        Ok(())
    }

    /// Resets the client once it has what the backend had sent, FIN included: a reset could destroy
    /// that.
    fn await_acks(&mut self, net: &mut Net, socket: SocketId) -> End {
        match net.status(socket) {
            Some(status) if status.unacked > 0 => {
                net.await_acked(socket, status.written);
                End::Wait
            }
            // RFC 9293 section 3.3.2: our FIN is sent, and not acknowledged.
            Some(Status {
                state: TcpState::FinWait1 | TcpState::Closing | TcpState::LastAck,
                ..
            }) => End::Wait,
            _ => End::Reset,
        }
    }

    /// Resets the backend once the kernel has sent what the client had sent: closing with a reset
    /// throws the rest away.
    fn after_reset(&self) -> End {
        let waits = !(self.is_connecting() || self.deaf || self.gone);
        if waits && has_unsent(&self.backend) { End::Wait } else { End::Reset }
    }

    /// Since when it rests. What the client acknowledges is a movement too: it may take long to
    /// read what lies in our buffer.
    pub fn rests_since(&mut self, net: &mut Net, socket: SocketId) -> Time {
        let unacked = net.status(socket).map_or(0, |s| s.unacked);
        if unacked != self.unacked {
            (self.unacked, self.moved) = (unacked, net.now());
        }
        self.moved
    }

    pub fn is_half_closed(&self) -> bool {
        self.client_done || self.backend_done || self.deaf || self.gone
    }

    /// The backend's address.
    pub fn to(&self) -> SocketAddr {
        self.route.to[self.address]
    }

    pub fn is_connecting(&self) -> bool {
        self.deadline < Time::NEVER
    }
}

/// Whether a client's connection ended before its time, and nothing is left of what had come.
pub(super) fn is_lost(net: &mut Net, socket: SocketId) -> bool {
    net.status(socket).is_none_or(|status| status.reason.is_some() && status.readable == 0)
}

/// Whether it is this process, or all of them together, that can open no more: no fault of the
/// backend.
pub(super) fn are_files_used_up(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

fn connect(to: SocketAddr, from: Option<IpAddr>) -> io::Result<TcpStream> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    if let Some(from) = from {
        if from.is_ipv4() != to.is_ipv4() {
            return Err(ErrorKind::AddrNotAvailable.into());
        }
        // The bit is the same for IPv6 (Linux `net/ipv4/ip_sockglue.c`). The port is the kernel's
        // choice: the client's own may still be in TIME-WAIT.
        socket2::SockRef::from(&socket).set_ip_transparent_v4(true)?;
        // The port only when it connects: bound before, it would be one for all backends (ip(7)).
        setsockopt(&socket, IpBindAddressNoPort, &true)?;
        rustix::net::bind(&socket, &SocketAddr::new(from, 0))?;
    }
    match rustix::net::connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    Ok(stream)
}
