//! A client and its backend: two sockets. What comes from one is written to the other as far as that
//! takes it; while it does not, no more is read, so that the window of the side that sends closes.
//! FINs and resets go on to the other side.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;

use ackclock_stack::{Error as TcpError, SocketId};
use ackclock_tcp::{Span, Time};
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
    /// The client has sent everything; the backend knows.
    client_done: bool,
    told_backend: bool,
    /// The backend has sent everything, and the client knows.
    backend_done: bool,
    /// When something last moved, and how much the client had not acknowledged by then.
    pub moved: Time,
    unacked: usize,
}

/// Why nothing more can be done for a connection at the moment.
pub(super) enum End {
    /// One of its sockets has to become ready first.
    Wait,
    /// This direction is done; or both.
    Over,
    /// One side is gone: the other one hears it.
    Reset,
}

impl From<TcpError> for End {
    fn from(error: TcpError) -> End {
        if error == TcpError::WouldBlock { End::Wait } else { End::Reset }
    }
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> End {
        if error.kind() == ErrorKind::WouldBlock { End::Wait } else { End::Reset }
    }
}

impl Pair {
    /// Begins to connect to the first address from `address` on that can be tried. Each has an
    /// equal part of the time that is left, so that a silent one does not keep from the others.
    pub fn connect(
        net: &Net,
        socket: SocketId,
        route: &Arc<Route>,
        address: usize,
        give_up: Time,
        header: Vec<u8>,
    ) -> Option<Pair> {
        let tries = route.to.iter().enumerate().skip(address);
        let (address, backend) =
            tries.filter_map(|(i, &to)| Some((i, connect(to).ok()?))).next()?;
        net.watch(&backend, socket.0).ok()?;
        let left = (route.to.len() - address) as u64;
        let deadline = net.now() + Span(give_up.since(net.now()).0 / left);
        Some(Pair {
            backend,
            route: route.clone(),
            address,
            deadline,
            give_up,
            readable: false,
            writable: false,
            header,
            client_done: false,
            told_backend: false,
            backend_done: false,
            moved: net.now(),
            unacked: 0,
        })
    }

    /// Moves what can be moved, both ways.
    pub fn go_on(&mut self, net: &mut Net, socket: SocketId, chunk: &mut [u8]) -> End {
        if let Some(reason) = net.status(socket).and_then(|s| s.reason) {
            return TcpError::Closed(reason).into();
        }
        if self.is_connecting() {
            return End::Wait;
        }
        for _ in 0..TURN {
            match (self.up(net, socket), self.down(net, socket, chunk)) {
                (Err(End::Reset), _) | (_, Err(End::Reset)) => return End::Reset,
                (Err(End::Over), Err(End::Over)) if net.is_over(socket) => return End::Over,
                (Err(_), Err(_)) => return End::Wait,
                _ => {}
            }
        }
        net.again(socket);
        End::Wait
    }

    /// Moves a chunk from the client to the backend. `Ok` means that there may be more to do.
    fn up(&mut self, net: &mut Net, socket: SocketId) -> Result<(), End> {
        if self.told_backend {
            return Err(End::Over);
        }
        if !self.writable {
            return Err(End::Wait);
        }
        if !self.header.is_empty() {
            let n = blocking(self.backend.write(&self.header), &mut self.writable)?;
            self.header.drain(..n);
            return Ok(());
        }
        let mut written = None;
        net.read_with(socket, |[first, rest]| {
            let first = &first[..first.len().min(CHUNK)];
            let rest = &rest[..rest.len().min(CHUNK - first.len())];
            let result = self.backend.write_vectored(&[first, rest].map(IoSlice::new));
            *written.insert(result).as_ref().unwrap_or(&0)
        })?;
        match written {
            Some(result) => _ = blocking(result, &mut self.writable)?,
            None => {
                self.client_done = true;
                self.backend.shutdown(Shutdown::Write)?;
                self.told_backend = true;
            }
        }
        self.moved = net.now();
        Ok(())
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
        match blocking(self.backend.read(&mut chunk[..room]), &mut self.readable)? {
            0 => {
                net.shutdown(socket);
                self.backend_done = true;
            }
            n => _ = net.write(socket, &chunk[..n])?,
        }
        self.moved = net.now();
        Ok(())
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
        self.client_done || self.backend_done
    }

    pub fn is_connecting(&self) -> bool {
        self.deadline < Time::NEVER
    }
}

/// Takes down that a socket of the kernel would block; it says when that changes.
fn blocking(result: io::Result<usize>, possible: &mut bool) -> io::Result<usize> {
    if result.as_ref().is_err_and(|e| e.kind() == ErrorKind::WouldBlock) {
        *possible = false;
    }
    result
}

fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &to) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    Ok(stream)
}
