//! A connection of the operating system joined to one of our hosts.
//!
//! Nothing waits in between: what one side does not take stays in the buffer of the other, until
//! the window of whoever sends closes. FINs and resets go on to the other side, resets behind what
//! was sent before them: a socket of Linux lets that be read first, too.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::time::{Duration, Instant};

use ackclock_stack::Error as TcpError;
use ackclock_tcp::Time;
use mio::net::TcpStream;
use socket2::SockRef;

use crate::path::{End, Path};

/// Bytes that are moved at once.
pub(crate) const CHUNK: usize = 64 * 1024;

/// Chunks that one connection may move before others get their turn.
const TURN: usize = 8;

/// A connection of the operating system and the socket of a host.
pub(crate) struct Joint {
    pub(crate) stream: TcpStream,
    pub(crate) end: End,
    /// What to do if this address does not answer; of a connection that is being opened.
    pub(crate) next: Option<Attempt>,
    /// Reading may not block; nor may writing.
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// The system says that the connection has failed. It takes nothing more, and what our host
    /// still gets is thrown away; what had come before can still be read.
    pub(crate) failed: bool,
    /// It has said so once, and the end that reading comes to is no FIN.
    cut: bool,
    /// The system's side has sent everything, and our host knows.
    done_in: bool,
    /// Our host has got everything, and the system's side knows.
    done_out: bool,
    /// All that had come before the system's side failed is with our host.
    gone: bool,
    /// When something last moved since one side was reset, and what the other host had not
    /// acknowledged by then.
    moved: Time,
    unacked: usize,
}

/// What is left to try of a server.
#[derive(Debug)]
pub(crate) struct Attempt {
    /// Its further addresses.
    pub(crate) addresses: Vec<SocketAddr>,
    /// Its name was looked up for this client.
    pub(crate) looked_up: bool,
    /// Until when to wait for the one at hand, and for all of them; for ever without.
    pub(crate) until: Option<Instant>,
    pub(crate) give_up: Option<Instant>,
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

/// What is to become of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// One of its sockets has to become ready first.
    Wait,
    /// Others have their turn first.
    Again,
    /// It is done.
    Over,
    /// One side is gone: the other one hears it.
    Reset,
}

/// Why nothing more can be done in one direction at the moment.
enum Stop {
    Wait,
    Over,
    Reset,
}

impl From<TcpError> for Stop {
    fn from(error: TcpError) -> Stop {
        if error == TcpError::WouldBlock { Stop::Wait } else { Stop::Reset }
    }
}

impl Joint {
    /// `next` has what to do if it fails, where `stream` is still being opened.
    pub(crate) fn new(stream: TcpStream, end: End, next: Option<Attempt>) -> Joint {
        Joint {
            stream,
            end,
            next,
            readable: false,
            writable: false,
            failed: false,
            cut: false,
            done_in: false,
            done_out: false,
            gone: false,
            moved: Time::ZERO,
            unacked: 0,
        }
    }

    /// Takes it from those that wait for the address of a server.
    pub(crate) fn stop_waiting(&self, connecting: &mut BTreeSet<(Instant, End)>) {
        if let Some(until) = self.next.as_ref().and_then(|next| next.until) {
            connecting.remove(&(until, self.end));
        }
    }

    /// Takes down that the system's side has failed, which it does not say again. A reset behind a
    /// FIN is a broken pipe (Linux `tcp_reset`): then reading comes to that FIN.
    pub(crate) fn fail(&mut self, error: ErrorKind) {
        self.failed = true;
        self.cut |= error != ErrorKind::BrokenPipe;
    }

    /// Moves what can be moved, both ways. `bytes` counts what comes from clients and from the
    /// server.
    pub(crate) fn go_on(
        &mut self,
        path: &mut Path,
        chunk: &mut [u8],
        bytes: &mut [u64; 2],
    ) -> Next {
        let broken = path.is_broken(self.end);
        if self.next.is_some() {
            // Who resets a connection has the server get what it had sent.
            let rest = broken && path.readable(self.end) == 0;
            return if rest { Next::Reset } else { Next::Wait };
        }
        for _ in 0..TURN {
            self.gone |= self.failed && self.done_in;
            if broken && (self.gone || self.failed || self.done_out) {
                return Next::Reset;
            }
            if self.gone {
                return if path.is_acked(self.end) { Next::Reset } else { Next::Wait };
            }
            let out = self.move_out(path);
            // Nothing reaches the other host any more.
            let come = if broken { Err(Stop::Wait) } else { self.move_in(path, chunk, bytes) };
            // What is thrown away is no movement: who sends for ever may not stay for ever.
            if out.is_ok() && !self.failed || come.is_ok() {
                self.moved = path.now();
            }
            match (out, come) {
                (Err(Stop::Reset), _) if broken => return self.after_reset(),
                (Err(Stop::Reset), _) | (_, Err(Stop::Reset)) => return Next::Reset,
                (Err(Stop::Over), Err(Stop::Over)) => return Next::Over,
                (Err(_), Err(_)) => return Next::Wait,
                _ => {}
            }
        }
        Next::Again
    }

    /// Moves a chunk from our host to the system. `Ok` means that there may be more to do.
    fn move_out(&mut self, path: &mut Path) -> Result<(), Stop> {
        if self.done_out {
            return Err(Stop::Over);
        }
        if self.failed {
            self.done_out = path.read_with(self.end, |[a, b]| a.len() + b.len())? == 0;
            return Ok(());
        }
        if !self.writable {
            return Err(Stop::Wait);
        }
        let mut written = None;
        path.read_with(self.end, |[first, rest]| {
            let first = &first[..first.len().min(CHUNK)];
            let rest = &rest[..rest.len().min(CHUNK - first.len())];
            let result = retry(|| self.stream.write_vectored(&[first, rest].map(IoSlice::new)));
            *written.insert(result).as_ref().unwrap_or(&0)
        })?;
        match written {
            Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => {
                self.writable = false;
                return Err(Stop::Wait);
            }
            Some(Err(error)) => self.fail(error.kind()),
            Some(Ok(_)) => {}
            None => {
                // Where that fails, reading says so too.
                let _ = self.stream.shutdown(Shutdown::Write);
                self.done_out = true;
            }
        }
        Ok(())
    }

    /// Moves a chunk from the system to our host. `Ok` means that there may be more to do.
    fn move_in(
        &mut self,
        path: &mut Path,
        chunk: &mut [u8],
        bytes: &mut [u64; 2],
    ) -> Result<(), Stop> {
        if self.done_in {
            return Err(Stop::Over);
        }
        if !self.readable {
            return Err(Stop::Wait);
        }
        let room = path.room(self.end)?.min(chunk.len());
        match retry(|| self.stream.read(&mut chunk[..room])) {
            Ok(0) if self.cut => self.gone = true,
            Ok(0) => {
                path.shutdown(self.end)?;
                self.done_in = true;
            }
            Ok(n) => {
                bytes[self.end.0] += n as u64;
                path.write(self.end, &chunk[..n])?;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                return Err(Stop::Wait);
            }
            Err(_) => self.gone = true,
        }
        Ok(())
    }

    /// Since when nothing has moved, where one side was reset and the other one still has to take
    /// what was sent before. To be asked now and then.
    pub(crate) fn rests_since(&mut self, path: &Path) -> Option<Time> {
        let is_reset = self.failed || path.is_broken(self.end);
        let unacked = path.unacked(self.end);
        if !is_reset || self.next.is_some() || unacked != self.unacked {
            (self.moved, self.unacked) = (path.now(), unacked);
        }
        is_reset.then_some(self.moved)
    }

    /// Resets the system's side once the system has sent what our host had got: closing with a
    /// reset throws the rest away.
    #[cfg(target_os = "linux")]
    fn after_reset(&self) -> Next {
        if has_unsent(&self.stream) { Next::Wait } else { Next::Reset }
    }

    /// Other systems do not say when they have sent everything.
    #[cfg(not(target_os = "linux"))]
    fn after_reset(&self) -> Next {
        Next::Reset
    }
}

/// Has the system send a reset when the stream is dropped. Where that fails the peer is gone
/// already.
pub(crate) fn reset(stream: &TcpStream) {
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}

/// Whether a connection is open; an error if it cannot be opened.
pub(crate) fn opened(stream: &TcpStream) -> io::Result<bool> {
    if let Some(error) = stream.take_error()? {
        return Err(error);
    }
    match stream.peer_addr() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a connection failed that was open.
pub(crate) fn is_reset(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

/// Whether a client went before it was taken.
pub(crate) fn is_the_clients_fault(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::Interrupted
    )
}

/// Calls again where a signal has interrupted it, as may happen to what does not block.
///
/// # Errors
/// What the call says otherwise.
#[doc(hidden)]
pub fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_signal_interrupts_is_called_again() {
        let mut results =
            [Err(ErrorKind::Interrupted.into()), Err(ErrorKind::Interrupted.into()), Ok(3), Ok(4)]
                .into_iter();
        assert_eq!(retry(|| results.next().unwrap()).unwrap(), 3);
        assert_eq!(results.len(), 1);
        let fails = || Err(ErrorKind::WouldBlock.into());
        assert_eq!(retry(fails).unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}
