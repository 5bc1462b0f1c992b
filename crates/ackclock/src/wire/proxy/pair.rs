//! A client and its backend: two sockets. FINs and resets go on to the other side. What one side
//! has sent before its reset reaches the other one first, as it would from the buffer of a socket
//! of the kernel.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;

use ackclock_impair::files::are_used_up;
use ackclock_impair::relay::{Host, Relay, Stop, TURN, has_unsent};
use ackclock_stack::{Error as TcpError, SocketId};
use ackclock_tcp::{Span, Time};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::IpBindAddressNoPort;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::super::daemon::Net;
use super::super::routes::Route;

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
    pub relay: Relay,
    /// How much the client had not acknowledged when something last moved.
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

impl Host for Net {
    type Socket = SocketId;

    fn now(&self) -> Time {
        self.now()
    }

    fn read_with(
        &mut self,
        socket: SocketId,
        take: impl FnOnce([&[u8]; 2]) -> usize,
    ) -> Result<usize, TcpError> {
        self.read_with(socket, take)
    }

    fn room(&mut self, socket: SocketId) -> Result<usize, TcpError> {
        self.room(socket)
    }

    fn write(&mut self, socket: SocketId, bytes: &[u8]) -> Result<usize, TcpError> {
        self.write(socket, bytes)
    }

    /// Of a socket that is over the next call says so.
    fn shutdown(&mut self, socket: SocketId) -> Result<(), TcpError> {
        self.shutdown(socket);
        Ok(())
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
            // Nobody can connect to it from there, which says nothing of the others.
            if client.is_some_and(|client| client.is_ipv4() != to.is_ipv4()) {
                continue;
            }
            let connected = connect(to, client).and_then(|backend| {
                net.watch(&backend, socket.0)?;
                Ok(backend)
            });
            let backend = match connected {
                Ok(backend) => backend,
                Err(e) if are_used_up(&e) => return Err(e),
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
                relay: Relay::new(net.now(), header),
                unacked: 0,
            });
        }
        Err(error)
    }

    /// Moves what can be moved, both ways; `Ok` means that others have their turn first.
    pub fn go_on(&mut self, net: &mut Net, socket: SocketId, chunk: &mut [u8]) -> Result<(), Stop> {
        let Some(status) = net.status(socket) else { return Err(Stop::Reset) };
        let reset = status.reason.is_some();
        if reset && status.readable == 0 {
            return Err(self.after_reset());
        }
        if self.is_connecting() {
            return Err(Stop::Wait);
        }
        for _ in 0..TURN {
            let Pair { backend, relay, .. } = self;
            // A reset that comes after the backend's FIN, and says nothing that could be read.
            relay.gone |= relay.failed && relay.done_in && !net.is_over(socket);
            if reset && relay.gone {
                return Err(Stop::Reset);
            }
            let up = relay.move_out(net, socket, backend);
            if relay.gone && up.is_err() {
                // A reset could destroy what the backend had sent, FIN included.
                return Err(if net.await_all_acked(socket) { Stop::Reset } else { Stop::Wait });
            }
            // Who has reset the connection reads no more.
            let over = reset || relay.gone;
            let down =
                if over { Err(Stop::Wait) } else { relay.move_in(net, socket, backend, chunk) };
            match (up, down) {
                (Err(Stop::Reset), _) if reset => return Err(self.after_reset()),
                (Err(Stop::Reset), _) | (_, Err(Stop::Reset)) => return Err(Stop::Reset),
                (Err(Stop::Over), Err(Stop::Over)) if net.is_over(socket) => {
                    return Err(Stop::Over);
                }
                (Err(_), Err(_)) if !relay.gone => return Err(Stop::Wait),
                _ => {}
            }
        }
        Ok(())
    }

    /// Resets the backend once the kernel has sent what the client had sent: closing with a reset
    /// throws the rest away.
    fn after_reset(&self) -> Stop {
        let waits = !(self.is_connecting() || self.relay.failed || self.relay.gone);
        if waits && has_unsent(&self.backend) { Stop::Wait } else { Stop::Reset }
    }

    /// Since when it rests. What the client acknowledges is a movement too: it may take long to
    /// read what lies in our buffer.
    pub fn rests_since(&mut self, net: &mut Net, socket: SocketId) -> Time {
        let unacked = net.status(socket).map_or(0, |s| s.unacked);
        if unacked != self.unacked {
            (self.unacked, self.relay.moved) = (unacked, net.now());
        }
        self.relay.moved
    }

    pub fn is_half_closed(&self) -> bool {
        let relay = &self.relay;
        relay.done_out || relay.done_in || relay.failed || relay.gone
    }

    /// The backend's address.
    pub fn to(&self) -> SocketAddr {
        self.route.to[self.address]
    }

    pub fn is_connecting(&self) -> bool {
        self.deadline < Time::NEVER
    }
}

/// Whether a client's connection ended before its time.
pub(super) fn has_ended(net: &mut Net, socket: SocketId) -> bool {
    net.status(socket).is_none_or(|status| status.reason.is_some())
}

/// The same, and nothing is left of what had come.
pub(super) fn is_lost(net: &mut Net, socket: SocketId) -> bool {
    net.status(socket).is_none_or(|status| status.reason.is_some() && status.readable == 0)
}

fn connect(to: SocketAddr, from: Option<IpAddr>) -> io::Result<TcpStream> {
    let family = if to.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    if let Some(from) = from {
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
