//! A connection of the operating system joined to one of our hosts.
//!
//! Nothing waits in between: what one side does not take stays in the buffer of the other, until
//! the window of whoever sends closes. FINs and resets go on to the other side.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::time::Duration;

use ackclock_stack::Error as TcpError;
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
    /// Addresses to try if this one does not answer; of a connection that is being opened.
    pub(crate) next: Option<Vec<SocketAddr>>,
    /// Reading may not block; nor may writing.
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// The system says that the connection has failed.
    pub(crate) failed: bool,
    /// The system's side has sent everything, and our host knows.
    done_in: bool,
    /// Our host has got everything, and the system's side knows.
    done_out: bool,
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

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        match error.kind() {
            ErrorKind::WouldBlock => Stop::Wait,
            _ => Stop::Reset,
        }
    }
}

impl Joint {
    /// `next` has the addresses to try afterwards if `stream` is still being opened.
    pub(crate) fn new(stream: TcpStream, end: End, next: Option<Vec<SocketAddr>>) -> Joint {
        Joint {
            stream,
            end,
            next,
            readable: false,
            writable: false,
            failed: false,
            done_in: false,
            done_out: false,
        }
    }

    /// Moves what can be moved, both ways. `bytes` counts what comes from clients and from the
    /// server.
    pub(crate) fn go_on(
        &mut self,
        path: &mut Path,
        chunk: &mut [u8],
        bytes: &mut [u64; 2],
    ) -> Next {
        // A reset after the end finds nobody who reads. Before that it comes behind what was sent.
        if path.is_broken(self.end) || self.failed && self.done_in {
            return Next::Reset;
        }
        if self.next.is_some() {
            return Next::Wait;
        }
        for _ in 0..TURN {
            match (self.move_out(path), self.move_in(path, chunk, bytes)) {
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
            Some(result) => _ = possible(result, &mut self.writable)?,
            None => {
                self.stream.shutdown(Shutdown::Write)?;
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
        let read = retry(|| self.stream.read(&mut chunk[..room]));
        match possible(read, &mut self.readable)? {
            0 => {
                path.shutdown(self.end)?;
                self.done_in = true;
            }
            n => {
                bytes[self.end.0] += n as u64;
                path.write(self.end, &chunk[..n])?;
            }
        }
        Ok(())
    }

    /// Has the system send a reset when the stream is dropped. Where that fails the peer is gone
    /// already.
    pub(crate) fn reset(&self) {
        let _ = SockRef::from(&self.stream).set_linger(Some(Duration::ZERO));
    }
}

/// A signal may interrupt what does not block.
fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Takes down that a socket of the system would block; it says when that changes.
fn possible(result: io::Result<usize>, flag: &mut bool) -> io::Result<usize> {
    if result.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
        *flag = false;
    }
    result
}
