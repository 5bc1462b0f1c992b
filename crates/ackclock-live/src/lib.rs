//! ackclock's TCP on the wire.
//!
//! - [`Tun`]: a TUN device with `vnet_hdr` and segmentation offload.
//! - [`Host`]: a `Stack` on a TUN device, driven by its owner's event loop; non-blocking.
//! - [`Net`]: a [`Host`] in a thread of its own, with blocking sockets ([`TcpStream`], [`TcpListener`]).
//! - [`Namespace`]: a network namespace that lives as long as somebody holds it.
//! - [`RealTimeGateway`]: the simulated network's links in real time, between TUN devices.

mod namespace;
mod tun;

pub use namespace::Namespace;
pub use tun::{Frame, Gso, Tun, TunConfig};

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use ackclock_stack::{Stack, StackConfig, TcpConfig};
use ackclock_tcp::Time;

/// A stack on a TUN device. Its owner's loop waits until [`Host::as_fd`](AsFd) is readable or [`Host::timeout`] has passed,
/// and then calls [`Host::turn`]; after using [`Host::stack`] it calls [`Host::flush`].
pub struct Host {}

#[allow(unused_variables)]
impl Host {
    /// A host on a device. `config.offload` and `config.mtu` have to be the device's.
    pub fn new(tun: Tun, config: StackConfig) -> Host {
        todo!()
    }

    /// The time now, as the stack counts it: since the host was made.
    pub fn now(&self) -> Time {
        todo!()
    }

    /// The stack.
    pub fn stack(&mut self) -> &mut Stack {
        todo!()
    }

    /// How long until the next deadline; `None` if there is none.
    pub fn timeout(&self) -> Option<Duration> {
        todo!()
    }

    /// Takes the packets that wait (a bounded number), does what is due, and sends what there is to send.
    ///
    /// # Errors
    /// What reading the device returns, other than that nothing waits.
    pub fn turn(&mut self) -> io::Result<()> {
        todo!()
    }

    /// Sends what there is to send.
    pub fn flush(&mut self) {
        todo!()
    }
}

impl AsFd for Host {
    fn as_fd(&self) -> BorrowedFd<'_> {
        todo!()
    }
}

/// A [`Host`] that a thread drives, shared by blocking sockets; the thread ends with the last of them.
#[derive(Clone)]
pub struct Net {}

#[allow(unused_variables)]
impl Net {
    /// Starts the thread.
    ///
    /// # Errors
    /// What making it returns.
    pub fn start(host: Host) -> io::Result<Net> {
        todo!()
    }

    /// Opens a connection and waits until it is established.
    ///
    /// # Errors
    /// As [`std::net::TcpStream::connect`].
    pub fn connect(&self, remote: SocketAddr, config: TcpConfig) -> io::Result<TcpStream> {
        todo!()
    }

    /// Listens.
    ///
    /// # Errors
    /// As [`std::net::TcpListener::bind`].
    pub fn listen(&self, local: SocketAddr, config: TcpConfig, backlog: usize) -> io::Result<TcpListener> {
        todo!()
    }

    /// Uses the stack, and sends what that made due.
    pub fn with_stack<T>(&self, work: impl FnOnce(&mut Stack, Time) -> T) -> T {
        todo!()
    }
}

/// A connection; `Read` and `Write` as for [`std::net::TcpStream`]. Dropping it closes it.
pub struct TcpStream {}

/// A listener.
pub struct TcpListener {}
