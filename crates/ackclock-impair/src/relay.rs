//! What passes between a connection of the operating system and one of our hosts: the part that a
//! proxy needs whatever lies behind that host. `ackclock proxy` has it, too.
//!
//! Nothing waits in between: what one side does not take stays in the buffer of the other, until
//! the window of whoever sends closes. When a side may be reset is up to the proxy.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::Shutdown;

use ackclock_stack::Error as TcpError;
use ackclock_tcp::Time;
#[cfg(target_os = "linux")]
use socket2::SockRef;

/// Bytes that are moved at once.
pub const CHUNK: usize = 64 * 1024;

/// Chunks that one connection may move before others get their turn.
pub const TURN: usize = 8;

/// The host, with as much of its sockets as a relay needs.
pub trait Host {
    /// Which of its sockets.
    type Socket: Copy;

    /// The present.
    fn now(&self) -> Time;

    /// As [`Stack::read_with`](ackclock_stack::Stack::read_with).
    ///
    /// # Errors
    /// As there.
    fn read_with(
        &mut self,
        socket: Self::Socket,
        take: impl FnOnce([&[u8]; 2]) -> usize,
    ) -> Result<usize, TcpError>;

    /// As [`Stack::room`](ackclock_stack::Stack::room).
    ///
    /// # Errors
    /// As there.
    fn room(&mut self, socket: Self::Socket) -> Result<usize, TcpError>;

    /// As [`Stack::write`](ackclock_stack::Stack::write).
    ///
    /// # Errors
    /// As there.
    fn write(&mut self, socket: Self::Socket, bytes: &[u8]) -> Result<usize, TcpError>;

    /// As [`Stack::shutdown`](ackclock_stack::Stack::shutdown).
    ///
    /// # Errors
    /// As there.
    fn shutdown(&mut self, socket: Self::Socket) -> Result<(), TcpError>;
}

/// A connection of the operating system; reading and writing may not block.
pub trait Stream: Read + Write {
    /// Sends FIN. Where that fails, reading says so too.
    fn end(&self);
}

impl Stream for mio::net::TcpStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

impl Stream for std::net::TcpStream {
    fn end(&self) {
        let _ = self.shutdown(Shutdown::Write);
    }
}

/// Why nothing more can be done at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// One of the sockets has to become ready first.
    Wait,
    /// This direction is done; or both.
    Over,
    /// One side is gone: the other one hears it.
    Reset,
}

impl From<TcpError> for Stop {
    fn from(error: TcpError) -> Stop {
        if error == TcpError::WouldBlock { Stop::Wait } else { Stop::Reset }
    }
}

/// What is known of both directions.
#[derive(Debug)]
pub struct Relay {
    /// Reading from the system may not block.
    pub readable: bool,
    /// Nor may writing to it.
    pub writable: bool,
    /// The system says that its connection has failed. It takes nothing more, and what our host
    /// still gets is thrown away; what had come before can still be read.
    pub failed: bool,
    /// It has said so once, and the end that reading comes to is no FIN.
    cut: bool,
    /// The system's side has sent everything, and our host knows.
    pub done_in: bool,
    /// Our host has got everything, and the system's side knows.
    pub done_out: bool,
    /// All that had come before the system's side failed is with our host.
    pub gone: bool,
    /// When something last moved. What is thrown away is no movement: who sends for ever may not
    /// stay for ever.
    pub moved: Time,
    /// What the system gets before anything of our host.
    first: Vec<u8>,
}

impl Relay {
    /// The system gets `first` before anything that comes from the host.
    pub fn new(now: Time, first: Vec<u8>) -> Relay {
        Relay {
            readable: false,
            writable: false,
            failed: false,
            cut: false,
            done_in: false,
            done_out: false,
            gone: false,
            moved: now,
            first,
        }
    }

    /// Takes down that the system's side has failed, which it does not say again. A reset behind a
    /// FIN is a broken pipe (Linux `tcp_reset`): then reading comes to that FIN.
    pub fn fail(&mut self, error: ErrorKind) {
        self.failed = true;
        self.cut |= error != ErrorKind::BrokenPipe;
    }

    /// Moves a chunk from our host to the system. `Ok` means that there may be more to do.
    ///
    /// # Errors
    /// Why nothing could be moved.
    pub fn move_out<H: Host>(
        &mut self,
        host: &mut H,
        socket: H::Socket,
        stream: &mut impl Stream,
    ) -> Result<(), Stop> {
        if self.done_out {
            return Err(Stop::Over);
        }
        if self.failed || self.gone {
            self.done_out = host.read_with(socket, |[a, b]| a.len() + b.len())? == 0;
            return Ok(());
        }
        if !self.writable {
            return Err(Stop::Wait);
        }
        if !self.first.is_empty() {
            let result = retry(|| stream.write(&self.first));
            let n = self.written(result)?;
            self.first.drain(..n);
            return Ok(());
        }
        let mut written = None;
        host.read_with(socket, |[first, rest]| {
            let first = &first[..first.len().min(CHUNK)];
            let rest = &rest[..rest.len().min(CHUNK - first.len())];
            let result = retry(|| stream.write_vectored(&[first, rest].map(IoSlice::new)));
            *written.insert(result).as_ref().unwrap_or(&0)
        })?;
        match written {
            Some(result) => _ = self.written(result)?,
            None => {
                stream.end();
                self.done_out = true;
            }
        }
        self.moved = host.now();
        Ok(())
    }

    /// What became of writing to the system.
    fn written(&mut self, result: io::Result<usize>) -> Result<usize, Stop> {
        result.or_else(|error| {
            if error.kind() == ErrorKind::WouldBlock {
                self.writable = false;
                return Err(Stop::Wait);
            }
            self.fail(error.kind());
            Ok(0)
        })
    }

    /// Moves a chunk from the system to our host; returns its bytes. `Ok` means that there may be
    /// more to do.
    ///
    /// # Errors
    /// Why nothing could be moved.
    pub fn move_in<H: Host>(
        &mut self,
        host: &mut H,
        socket: H::Socket,
        stream: &mut impl Stream,
        chunk: &mut [u8],
    ) -> Result<usize, Stop> {
        if self.done_in {
            return Err(Stop::Over);
        }
        if !self.readable {
            return Err(Stop::Wait);
        }
        let room = host.room(socket)?.min(chunk.len());
        let mut moved = 0;
        match retry(|| stream.read(&mut chunk[..room])) {
            Ok(0) if self.cut => self.gone = true,
            Ok(0) => {
                host.shutdown(socket)?;
                self.done_in = true;
            }
            Ok(n) => moved = host.write(socket, &chunk[..n])?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                return Err(Stop::Wait);
            }
            Err(_) => self.gone = true,
        }
        self.moved = host.now();
        Ok(moved)
    }
}

/// Whether the system holds what this socket was given and it has not sent yet. It tells by making
/// the socket writable.
#[cfg(target_os = "linux")]
pub fn has_unsent(socket: &impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    // A socket with this bound is writable where nothing waits to be sent (Linux
    // `tcp_stream_memory_free`), and whoever has found it full hears when it is.
    let bounded = SockRef::from(socket).set_tcp_notsent_lowat(1);
    let mut writable = [PollFd::new(socket, PollFlags::OUT)];
    bounded.is_ok() && poll(&mut writable, Some(&Timespec::default())) == Ok(0)
}

/// Other systems do not say when they have sent everything.
#[cfg(not(target_os = "linux"))]
pub fn has_unsent<S>(_: &S) -> bool {
    false
}

/// Calls again where a signal has interrupted it, as may happen to what does not block.
fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests;
