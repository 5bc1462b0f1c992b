//! A proxy: the handle on its thread.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use mio::net::TcpListener;
use mio::{Poll, Waker};
use socket2::{Domain, Socket, Type};

use crate::event_loop::{Command, EventLoop, WAKER};
use crate::look_up::LookUp;
use crate::path::Path;
use crate::{Conditions, Error, ProxyConfig, ProxyReport};

/// How many clients may wait to be taken (as mio and the standard library have it).
const BACKLOG: i32 = 1024;

/// Listens without blocking. At `[::]` it takes clients of IPv4 too, whatever the system does by
/// itself: Windows and a Linux with `net.ipv6.bindv6only` would not.
pub(crate) fn listen(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if matches!(address, SocketAddr::V6(v6) if v6.ip().is_unspecified()) {
        socket.set_only_v6(false)?;
    }
    // Elsewhere it would allow two listeners at one port.
    if cfg!(unix) {
        socket.set_reuse_address(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// A proxy in a thread of its own. Dropped, it ends at once: connections are reset.
pub struct Proxy {
    addresses: Vec<SocketAddr>,
    commands: Sender<Command>,
    waker: Arc<Waker>,
    thread: Option<JoinHandle<Result<ProxyReport, Error>>>,
}

impl Proxy {
    /// Listens, and starts the thread. The time of the conditions begins now.
    ///
    /// Conditions stand in a row, at the places from 0 on. What clients send crosses the links of
    /// one after the other, what the server sends in the reverse order: delays add up, the lowest
    /// rate holds, and each loses its share. Without any, packets arrive at once.
    ///
    /// # Errors
    /// [`Error::System`] if the system refuses an address or a thread; [`Error::Usage`] and
    /// [`Error::Scenario`] for conditions that make no sense.
    pub fn start(config: &ProxyConfig, conditions: &[Conditions]) -> Result<Proxy, Error> {
        Proxy::start_on(config, Path::new(config, conditions)?)
    }

    fn start_on(config: &ProxyConfig, path: Path) -> Result<Proxy, Error> {
        let poll = Poll::new().map_err(Error::system("sockets"))?;
        let waker = Waker::new(poll.registry(), WAKER).map_err(Error::system("sockets"))?;
        let waker = Arc::new(waker);
        let bind = |&address: &SocketAddr| {
            listen(address)
                .map(TcpListener::from_std)
                .map_err(Error::system(format!("listen at {address}")))
        };
        let listeners = config.listen.iter().map(bind).collect::<Result<Vec<_>, _>>()?;
        let addresses = listeners.iter().map(TcpListener::local_addr);
        let addresses: Vec<_> =
            addresses.collect::<io::Result<_>>().map_err(Error::system("sockets"))?;
        let (commands, receiver): (_, Receiver<Command>) = mpsc::channel();
        let name = config.server.clone();
        let look_up = name.map(|name| LookUp::new(name, addresses.clone(), waker.clone()));
        let mut event_loop = EventLoop::new(config, poll, listeners, path, receiver, look_up)?;
        let thread = std::thread::Builder::new()
            .name("impair".into())
            .spawn(move || event_loop.run())
            .map_err(Error::system("thread"))?;
        Ok(Proxy { addresses, commands, waker, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What it has done so far; `None` once it has ended.
    pub fn report(&self) -> Option<ProxyReport> {
        self.ask().recv().ok()
    }

    /// Asks for what [`Proxy::report`] waits for.
    pub(crate) fn ask(&self) -> Receiver<ProxyReport> {
        let (answer, answered) = mpsc::channel();
        self.tell(Command::Report(answer));
        answered
    }

    /// From now on packets meet these conditions at this place, in the stead of those that were
    /// there, or none. The time of the conditions begins now. Connections stay, and packets that
    /// are on the links go on as they were.
    ///
    /// # Errors
    /// As [`Proxy::start`] for the conditions; then the ones before stay in force.
    pub fn set(&self, place: u32, conditions: Option<&Conditions>) -> Result<(), Error> {
        let (answer, answered) = mpsc::channel();
        self.tell(Command::Set(place, conditions.cloned().map(Box::new), answer));
        answered.recv().unwrap_or_else(|_| Err(Error::Usage("the proxy has ended".into())))
    }

    /// Takes no more clients, and waits until those there are have finished, for at most `drain`;
    /// then it resets them. Returns what the proxy did. [`Proxy::cutter`] makes it end at once.
    ///
    /// # Errors
    /// What the system refused while it ran.
    pub fn finish(mut self, drain: Duration) -> Result<ProxyReport, Error> {
        self.drain(drain);
        self.join()
    }

    /// Whether its thread has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Begins what [`Proxy::finish`] waits for.
    pub(crate) fn drain(&self, drain: Duration) {
        self.tell(Command::Drain(drain));
    }

    /// Ends it, in the middle of [`Proxy::finish`] too, from any thread.
    pub fn cutter(&self) -> impl Fn() + Send + 'static {
        let (commands, waker) = (self.commands.clone(), self.waker.clone());
        move || {
            let _ = commands.send(Command::Drain(Duration::ZERO));
            let _ = waker.wake();
        }
    }

    fn join(&mut self) -> Result<ProxyReport, Error> {
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        ended.unwrap_or_else(|| Err(Error::Usage("the proxy has ended".into())))
    }

    /// Whoever has ended hears nothing.
    fn tell(&self, command: Command) {
        let _ = self.commands.send(command);
        let _ = self.waker.wake();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.tell(Command::Drain(Duration::ZERO));
            let _ = self.join();
        }
    }
}

#[cfg(test)]
mod tests;
