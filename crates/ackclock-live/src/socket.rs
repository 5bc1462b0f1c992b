//! Blocking sockets, as `std::net` has them.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use ackclock_stack::{Error, ListenerId, Ready, SocketId};
use ackclock_tcp::connection::TcpState;
use ackclock_tcp::{Span, Stats};
use parking_lot::Condvar;

use crate::shared::Handle;

/// A connection, as [`std::net::TcpStream`]; `Read` and `Write` are there for `&TcpStream` too.
/// When the last clone is dropped, the connection is closed: what was written is still delivered,
/// while the [`Net`](crate::Net) lives.
///
/// Unlike the kernel's sockets, one that the peer has reset says so each time.
#[derive(Clone)]
pub struct TcpStream {
    inner: Arc<Inner>,
}

struct Inner {
    handle: Arc<Handle>,
    socket: SocketId,
    condvar: Arc<Condvar>,
    local: SocketAddr,
    remote: SocketAddr,
    nonblocking: AtomicBool,
    /// `shutdown(Shutdown::Read)` was called.
    read_shut: AtomicBool,
    /// In nanoseconds; 0 for none.
    read_timeout: AtomicU64,
    write_timeout: AtomicU64,
}

/// What a connection's sending half has seen and done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// The state of the connection.
    pub state: TcpState,
    /// Bytes written and not yet acknowledged.
    pub unacked: usize,
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow start threshold in bytes; `u64::MAX` while unset.
    pub ssthresh: u64,
    /// Smoothed round-trip time; zero before its first sample.
    pub srtt: Span,
    /// Counters.
    pub stats: Stats,
}

impl TcpStream {
    pub(crate) fn new(handle: Arc<Handle>, socket: SocketId) -> io::Result<TcpStream> {
        let status = handle.attempt(|stack, _| stack.status(socket))?;
        let condvar = handle.register(Ready::Socket(socket));
        Ok(TcpStream {
            inner: Arc::new(Inner {
                handle,
                socket,
                condvar,
                local: status.local,
                remote: status.remote,
                nonblocking: AtomicBool::new(false),
                read_shut: AtomicBool::new(false),
                read_timeout: AtomicU64::new(0),
                write_timeout: AtomicU64::new(0),
            }),
        })
    }

    pub(crate) fn condvar(&self) -> Arc<Condvar> {
        self.inner.condvar.clone()
    }

    /// The stack's name for it.
    pub fn id(&self) -> SocketId {
        self.inner.socket
    }

    /// The peer's address.
    ///
    /// # Errors
    /// None; it is a `Result` as in `std::net`.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.inner.remote)
    }

    /// Our address.
    ///
    /// # Errors
    /// None; it is a `Result` as in `std::net`.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.inner.local)
    }

    /// Another handle of the same connection, with the same options.
    ///
    /// # Errors
    /// None; it is a `Result` as in `std::net`.
    pub fn try_clone(&self) -> io::Result<TcpStream> {
        Ok(self.clone())
    }

    /// Counters and windows.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotConnected`] after [`TcpStream::abort`].
    pub fn info(&self) -> io::Result<Info> {
        let socket = self.inner.socket;
        self.inner.handle.attempt(|stack, _| {
            let status = stack.status(socket)?;
            let sender = stack.sender(socket)?;
            let state = sender.state();
            Ok(Info {
                state: status.state,
                unacked: status.unacked,
                cwnd: state.cwnd,
                ssthresh: state.ssthresh,
                srtt: state.srtt,
                stats: stack.counted(socket)?,
            })
        })
    }

    /// Whether reads and writes that would block return [`io::ErrorKind::WouldBlock`] instead.
    ///
    /// # Errors
    /// None; it is a `Result` as in `std::net`.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.inner.nonblocking.store(nonblocking, Relaxed);
        Ok(())
    }

    /// How long a read may wait before it returns [`io::ErrorKind::WouldBlock`]; `None` for ever.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if it is zero.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        set_timeout(&self.inner.read_timeout, timeout)
    }

    /// How long a write may wait before it returns [`io::ErrorKind::WouldBlock`]; `None` for ever.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if it is zero.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        set_timeout(&self.inner.write_timeout, timeout)
    }

    /// Shuts down one or both directions: reads return 0 when they would block, writes fail, and
    /// the peer sees the end of the stream.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotConnected`] after [`TcpStream::abort`].
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let socket = self.inner.socket;
        if how != Shutdown::Write {
            self.inner.read_shut.store(true, Relaxed);
        }
        self.inner.handle.attempt(|stack, now| match how {
            Shutdown::Read => stack.status(socket).map(|_| ()),
            _ => stack.shutdown(now, socket),
        })?;
        self.inner.condvar.notify_all();
        Ok(())
    }

    /// Ends the connection at once, with a reset.
    pub fn abort(&self) {
        let socket = self.inner.socket;
        // If the network is down, nobody can be told.
        let _ = self.inner.handle.attempt(|stack, now| {
            stack.abort(now, socket);
            Ok(())
        });
        self.inner.condvar.notify_all();
    }

    /// Does `work` as often as it takes, as the options have it.
    fn block<T>(
        &self,
        timeout: &AtomicU64,
        work: impl FnMut(&mut ackclock_stack::Stack, ackclock_tcp::Time) -> Result<T, Error>,
    ) -> io::Result<T> {
        if self.inner.nonblocking.load(Relaxed) {
            return self.inner.handle.attempt(work);
        }
        let timeout = match timeout.load(Relaxed) {
            0 => None,
            nanos => Some(Duration::from_nanos(nanos)),
        };
        self.inner.handle.wait(&self.inner.condvar, timeout, work)
    }
}

fn set_timeout(to: &AtomicU64, timeout: Option<Duration>) -> io::Result<()> {
    if timeout == Some(Duration::ZERO) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a timeout has to be above zero"));
    }
    to.store(
        timeout.map_or(0, |timeout| timeout.as_nanos().try_into().unwrap_or(u64::MAX)),
        Relaxed,
    );
    Ok(())
}

impl Read for &TcpStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let Inner { socket, read_shut, .. } = &*self.inner;
        self.block(&self.inner.read_timeout, |stack, now| match stack.read(now, *socket, bytes) {
            Err(Error::WouldBlock) if read_shut.load(Relaxed) => Ok(0),
            result => result,
        })
    }
}

impl Write for &TcpStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let socket = self.inner.socket;
        self.block(&self.inner.write_timeout, |stack, now| stack.write(now, socket, bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for TcpStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        (&*self).read(bytes)
    }
}

impl Write for TcpStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.handle.close(self.socket);
    }
}

/// A listener, as [`std::net::TcpListener`]. When it is dropped, connections that were not accepted
/// are reset.
pub struct TcpListener {
    handle: Arc<Handle>,
    listener: ListenerId,
    condvar: Arc<Condvar>,
    local: SocketAddr,
    nonblocking: AtomicBool,
}

impl TcpListener {
    pub(crate) fn new(handle: Arc<Handle>, listener: ListenerId) -> io::Result<TcpListener> {
        let local = handle.attempt(|stack, _| stack.listener_address(listener))?;
        let condvar = handle.register(Ready::Accept(listener));
        Ok(TcpListener { handle, listener, condvar, local, nonblocking: AtomicBool::new(false) })
    }

    /// The stack's name for it.
    pub fn id(&self) -> ListenerId {
        self.listener
    }

    /// The address that it listens at.
    ///
    /// # Errors
    /// None; it is a `Result` as in `std::net`.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.local)
    }

    /// Waits for a connection.
    ///
    /// # Errors
    /// [`io::ErrorKind::NetworkDown`] if the device is gone, [`io::ErrorKind::WouldBlock`] if it
    /// must not wait.
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let accept = |stack: &mut ackclock_stack::Stack, _| stack.accept(self.listener);
        let socket = match self.nonblocking.load(Relaxed) {
            true => self.handle.attempt(accept)?,
            false => self.handle.wait(&self.condvar, None, accept)?,
        };
        let stream = TcpStream::new(self.handle.clone(), socket)?;
        let remote = stream.inner.remote;
        Ok((stream, remote))
    }

    /// Connections, one after the other, without end.
    pub fn incoming(&self) -> impl Iterator<Item = io::Result<TcpStream>> {
        std::iter::from_fn(|| Some(self.accept().map(|(stream, _)| stream)))
    }

    /// Whether [`TcpListener::accept`] returns [`io::ErrorKind::WouldBlock`] instead of waiting.
    ///
    /// # Errors
    /// None; it is a `Result` as in `std::net`.
    pub fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.nonblocking.store(nonblocking, Relaxed);
        Ok(())
    }
}

impl Drop for TcpListener {
    fn drop(&mut self) {
        self.handle.unlisten(self.listener);
    }
}
