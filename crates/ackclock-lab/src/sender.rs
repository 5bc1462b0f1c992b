//! Who sends: a kernel, or our stack.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use ackclock_live::{Namespace, Net};
use ackclock_net::scenario::Scenario;
use ackclock_stack::TcpConfig;
use ackclock_tcp::Registry;
use ackclock_tcp::Stats;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::format::Row;
use crate::tcp;
use crate::testbed::{Counters, Testbed};

/// The sender of a row.
pub(crate) enum Sender {
    /// The kernel of this namespace, with this congestion control.
    Kernel(Namespace, String),
    /// Our stack.
    Ours(Net, Box<TcpConfig>),
}

/// A connection of a [`Sender`].
pub(crate) enum Stream {
    Kernel(TcpStream),
    Ours(ackclock_live::TcpStream),
}

impl Sender {
    pub fn new(
        testbed: &Testbed,
        scenario: &Scenario,
        row: &Row,
        registry: &Registry,
    ) -> io::Result<Sender> {
        let Some(strategy) = &row.strategy else {
            return Ok(Sender::Kernel(
                testbed.sender.clone(),
                row.kernel.clone().unwrap_or_default(),
            ));
        };
        // The strategy was checked when the lab was read.
        let config =
            tcp::config(scenario, strategy, row.sack, registry).map_err(io::Error::other)?;
        Ok(Sender::Ours(testbed.stack()?, Box::new(config)))
    }

    /// Opens a connection, and waits until it is open.
    pub fn connect(&self, to: SocketAddr) -> io::Result<Stream> {
        match self {
            Sender::Kernel(namespace, control) => {
                // A sysctl would do for what the system allows everybody only.
                let connect = || -> io::Result<TcpStream> {
                    let socket = rustix::net::socket_with(
                        AddressFamily::INET,
                        SocketType::STREAM,
                        SocketFlags::CLOEXEC,
                        None,
                    )?;
                    rustix::net::sockopt::set_tcp_congestion(&socket, control)?;
                    rustix::net::connect(&socket, &to)?;
                    Ok(TcpStream::from(socket))
                };
                namespace.run(connect)?.map(Stream::Kernel)
            }
            Sender::Ours(net, config) => net.connect(to, config.as_ref().clone()).map(Stream::Ours),
        }
    }
}

impl Stream {
    /// The counters of this connection, if it is ours; the kernel's are those of its namespace.
    pub fn counters(&self) -> io::Result<Counters> {
        let Stream::Ours(stream) = self else { return Ok(Counters::default()) };
        let Stats { retransmissions, timeouts, .. } = stream.info()?.stats;
        Ok(Counters { retransmissions, timeouts })
    }

    /// Bytes written and not yet acknowledged, if it is ours.
    #[cfg(test)]
    pub fn unacked(&self) -> io::Result<usize> {
        match self {
            Stream::Kernel(_) => Ok(0),
            Stream::Ours(stream) => Ok(stream.info()?.unacked),
        }
    }

    /// Another hand on the same connection.
    pub fn try_clone(&self) -> io::Result<Stream> {
        match self {
            Stream::Kernel(stream) => stream.try_clone().map(Stream::Kernel),
            Stream::Ours(stream) => stream.try_clone().map(Stream::Ours),
        }
    }

    /// Ends it at once.
    pub fn abort(&self) {
        match self {
            // What the receiver still gets it answers with a reset. That it is over already is no
            // error.
            Stream::Kernel(stream) => drop(stream.shutdown(Shutdown::Both)),
            Stream::Ours(stream) => stream.abort(),
        }
    }

    /// No more will be written.
    pub fn shutdown(&self) -> io::Result<()> {
        match self {
            Stream::Kernel(stream) => stream.shutdown(Shutdown::Write),
            Stream::Ours(stream) => stream.shutdown(Shutdown::Write),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Kernel(stream) => stream.write(bytes),
            Stream::Ours(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Kernel(stream) => stream.read(bytes),
            Stream::Ours(stream) => stream.read(bytes),
        }
    }
}

#[cfg(test)]
mod tests;
