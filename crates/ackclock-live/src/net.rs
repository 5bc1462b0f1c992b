//! A host in a thread of its own, used through blocking sockets.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use ackclock_stack::{Error, Stack, TcpConfig};
use ackclock_tcp::Time;
use ackclock_tcp::connection::TcpState;

use crate::host::Host;
use crate::shared::Handle;
use crate::socket::{TcpListener, TcpStream};

/// A [`Host`] that a thread drives, shared by blocking sockets. When the last of them has been
/// dropped, the thread stays until what they wrote has been acknowledged, and then goes with the
/// device; [`Net::shutdown`] waits for that.
#[derive(Clone)]
pub struct Net {
    handle: Arc<Handle>,
}

impl Net {
    /// Starts the thread.
    ///
    /// # Errors
    /// What making it returns.
    pub fn start(host: Host) -> io::Result<Net> {
        Ok(Net { handle: Arc::new(Handle::start(host)?) })
    }

    /// Opens a connection and waits until it is established.
    ///
    /// # Errors
    /// As [`std::net::TcpStream::connect`].
    pub fn connect(&self, remote: SocketAddr, config: TcpConfig) -> io::Result<TcpStream> {
        self.open(remote, config, None)
    }

    /// As [`Net::connect`], for at most `timeout`.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] when it has passed.
    pub fn connect_timeout(
        &self,
        remote: SocketAddr,
        config: TcpConfig,
        timeout: Duration,
    ) -> io::Result<TcpStream> {
        self.open(remote, config, Some(timeout))
    }

    fn open(
        &self,
        remote: SocketAddr,
        config: TcpConfig,
        timeout: Option<Duration>,
    ) -> io::Result<TcpStream> {
        let socket = self.handle.attempt(|stack, now| stack.connect(now, remote, config))?;
        let stream = TcpStream::new(self.handle.clone(), socket)?;
        let opened = self.handle.wait(&stream.condvar(), timeout, |stack, _| {
            let status = stack.status(socket)?;
            match (status.state, status.reason) {
                (TcpState::SynSent | TcpState::SynReceived, _) => Err(Error::WouldBlock),
                (TcpState::Closed, Some(reason)) => Err(Error::Closed(reason)),
                _ => Ok(()),
            }
        });
        match opened {
            Ok(()) => Ok(stream),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                stream.abort();
                Err(io::ErrorKind::TimedOut.into())
            }
            Err(error) => Err(error),
        }
    }

    /// Listens.
    ///
    /// # Errors
    /// As [`std::net::TcpListener::bind`].
    pub fn listen(
        &self,
        local: SocketAddr,
        config: TcpConfig,
        backlog: usize,
    ) -> io::Result<TcpListener> {
        let listener = self.handle.attempt(|stack, _| stack.listen(local, config, backlog))?;
        TcpListener::new(self.handle.clone(), listener)
    }

    /// Uses the stack, and sends what that made due. `work` must not use sockets of this net: it
    /// has them locked.
    pub fn with_stack<T>(&self, work: impl FnOnce(&mut Stack, Time) -> T) -> T {
        self.handle.with_stack(work)
    }

    /// Uses the host, as to count or capture its packets; as for [`Net::with_stack`].
    pub fn with_host<T>(&self, work: impl FnOnce(&mut Host) -> T) -> T {
        self.handle.with_host(work)
    }

    /// Waits until all that was written to connections now dropped has been acknowledged, and ends
    /// the thread. Connections that are still held fail from now on; the device goes with the
    /// last of them.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if that is not so within `timeout`; the thread has ended all the
    /// same.
    pub fn shutdown(self, timeout: Duration) -> io::Result<()> {
        self.handle.shutdown(timeout)
    }
}
