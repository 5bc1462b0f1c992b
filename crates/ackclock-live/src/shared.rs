//! A host that one thread drives and others use.
//!
//! One lock guards the host. Whoever uses a socket also sends what that makes due, in its own
//! thread; the host's thread takes what arrives and what is due by time, and wakes those who wait
//! for it.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ackclock_stack::{Error, ListenerId, Ready, SocketId, Stack};
use ackclock_tcp::Time;
use ackclock_tcp::connection::CloseReason;
use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use crate::host::Host;

/// Dropped with the last socket.
pub(crate) struct Handle {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    /// `parking_lot`'s lock is fair now and then, without which a bulk transfer could keep others
    /// from theirs.
    state: Mutex<State>,
    /// The thread has had a turn.
    turned: Condvar,
    /// Wakes the thread.
    wake: OwnedFd,
}

struct State {
    host: Host,
    /// Who may wait for what.
    waiters: HashMap<Ready, Arc<Condvar>>,
    /// When the thread means to wake up by itself.
    sleeps_until: Time,
    /// No handle is left.
    abandoned: bool,
    /// The device is gone, or [`Handle::shutdown`] has been called.
    over: bool,
}

impl Handle {
    /// Starts the thread.
    pub(crate) fn start(host: Host) -> io::Result<Handle> {
        let device = rustix::io::fcntl_dupfd_cloexec(&host, 0)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let state = State {
            host,
            waiters: HashMap::new(),
            sleeps_until: Time::ZERO,
            abandoned: false,
            over: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), turned: Condvar::new(), wake });
        let driven = shared.clone();
        let thread = thread::Builder::new()
            .name("ackclock-net".into())
            .spawn(move || driven.drive(device))?;
        Ok(Handle { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Uses the stack, and lets everybody who waits look again.
    pub(crate) fn with_stack<T>(&self, work: impl FnOnce(&mut Stack, Time) -> T) -> T {
        let mut state = self.shared.lock();
        let result = state.use_stack(&self.shared, work);
        // What it did to sockets, such as abort them, need not show otherwise.
        state.notify_all();
        result
    }

    /// Uses the host.
    pub(crate) fn with_host<T>(&self, work: impl FnOnce(&mut Host) -> T) -> T {
        work(&mut self.shared.lock().host)
    }

    /// Waits until nothing lingers, and ends the thread.
    pub(crate) fn shutdown(&self, timeout: Duration) -> io::Result<()> {
        let shared = &self.shared;
        let mut state = shared.lock();
        let (begin, mut left) = (Instant::now(), timeout);
        while !state.over && state.host.stack().lingering() > 0 && !left.is_zero() {
            shared.turned.wait_for(&mut state, left);
            left = timeout.saturating_sub(begin.elapsed());
        }
        let undelivered = state.host.stack().lingering();
        state.end();
        drop(state);
        shared.wake();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        if undelivered > 0 { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }

    /// Uses the stack once.
    pub(crate) fn attempt<T>(
        &self,
        work: impl FnOnce(&mut Stack, Time) -> Result<T, Error>,
    ) -> io::Result<T> {
        let mut state = self.shared.lock();
        if state.over {
            return Err(io::ErrorKind::NetworkDown.into());
        }
        state.use_stack(&self.shared, work).map_err(io_error)
    }

    /// Uses the stack until that has a result other than [`Error::WouldBlock`]; waits in between
    /// for news on `condvar`, in all for at most `timeout`.
    pub(crate) fn wait<T>(
        &self,
        condvar: &Condvar,
        timeout: Option<Duration>,
        mut work: impl FnMut(&mut Stack, Time) -> Result<T, Error>,
    ) -> io::Result<T> {
        let begin = Instant::now();
        let mut state = self.shared.lock();
        loop {
            if state.over {
                return Err(io::ErrorKind::NetworkDown.into());
            }
            match state.use_stack(&self.shared, &mut work) {
                Err(Error::WouldBlock) => {}
                result => return result.map_err(io_error),
            }
            match timeout.map(|timeout| timeout.saturating_sub(begin.elapsed())) {
                Some(Duration::ZERO) => return Err(io::ErrorKind::WouldBlock.into()),
                Some(left) => drop(condvar.wait_for(&mut state, left)),
                None => condvar.wait(&mut state),
            }
        }
    }

    /// News of `ready` will be told on what this returns.
    pub(crate) fn register(&self, ready: Ready) -> Arc<Condvar> {
        self.shared.lock().waiters.entry(ready).or_default().clone()
    }

    pub(crate) fn close(&self, socket: SocketId) {
        let mut state = self.shared.lock();
        state.waiters.remove(&Ready::Socket(socket));
        state.use_stack(&self.shared, |stack, now| stack.close(now, socket));
    }

    pub(crate) fn unlisten(&self, listener: ListenerId) {
        let mut state = self.shared.lock();
        state.waiters.remove(&Ready::Accept(listener));
        state.use_stack(&self.shared, |stack, now| stack.unlisten(now, listener));
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.lock().abandoned = true;
        self.shared.wake();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn wake(&self) {
        // It can only fail where it would block, and then the thread is about to wake up anyway.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    /// The thread.
    fn drive(&self, device: OwnedFd) {
        loop {
            let mut state = self.lock();
            if state.host.turn().is_err() {
                state.end();
            }
            state.notify();
            self.turned.notify_all();
            if state.over || state.abandoned && state.host.stack().lingering() == 0 {
                return;
            }
            state.sleeps_until = state.host.deadline();
            let timeout = state.host.timeout().and_then(|timeout| Timespec::try_from(timeout).ok());
            let wanted = if state.host.rests() { PollFlags::empty() } else { PollFlags::IN };
            drop(state);
            let mut fds = [PollFd::new(&device, wanted), PollFd::new(&self.wake, PollFlags::IN)];
            // Interrupted, or woken for nothing: a turn does no harm.
            let _ = poll(&mut fds, timeout.as_ref());
            if fds[1].revents().contains(PollFlags::IN) {
                let _ = rustix::io::read(&self.wake, &mut [0; 8]);
            }
        }
    }
}

impl State {
    /// Uses the stack, sends what that made due, and tells the thread if it has to wake up earlier
    /// than it means to.
    fn use_stack<T>(&mut self, shared: &Shared, work: impl FnOnce(&mut Stack, Time) -> T) -> T {
        let now = self.host.now();
        let result = work(self.host.stack(), now);
        self.host.flush();
        self.notify();
        let deadline = self.host.deadline();
        if deadline < self.sleeps_until {
            self.sleeps_until = deadline;
            shared.wake();
        }
        result
    }

    /// Tells those who wait what has become possible.
    fn notify(&mut self) {
        while let Some(ready) = self.host.stack().poll_ready() {
            if let Some(condvar) = self.waiters.get(&ready) {
                condvar.notify_all();
            }
        }
    }

    fn notify_all(&self) {
        for condvar in self.waiters.values() {
            condvar.notify_all();
        }
    }

    fn end(&mut self) {
        self.over = true;
        self.notify_all();
    }
}

/// An error as `std::net` has it.
fn io_error(error: Error) -> io::Error {
    let kind = match error {
        Error::WouldBlock => io::ErrorKind::WouldBlock,
        Error::Closed(CloseReason::Refused) => io::ErrorKind::ConnectionRefused,
        Error::Closed(CloseReason::Reset) => io::ErrorKind::ConnectionReset,
        Error::Closed(CloseReason::Aborted) => io::ErrorKind::ConnectionAborted,
        Error::Closed(CloseReason::TimedOut) => io::ErrorKind::TimedOut,
        Error::Closed(CloseReason::Unreachable) => io::ErrorKind::HostUnreachable,
        Error::ShutDown => io::ErrorKind::BrokenPipe,
        Error::NoSocket => io::ErrorKind::NotConnected,
        Error::InUse => io::ErrorKind::AddrInUse,
        Error::NoAddress => io::ErrorKind::AddrNotAvailable,
    };
    kind.into()
}
