//! A connection of the operating system joined to one of our hosts.
//!
//! Nothing waits in between: what one side does not take stays in the buffer of the other, until
//! the window of whoever sends closes. FINs and resets go on to the other side, resets behind what
//! was sent before them: a socket of Linux lets that be read first, too.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use ackclock_tcp::Time;
use mio::net::TcpStream;
use socket2::SockRef;

use crate::path::{End, Path};
use crate::relay::{Host, Relay, Stop, TURN, has_unsent};

/// A connection of the operating system and the socket of a host.
pub(crate) struct Joint {
    pub(crate) stream: TcpStream,
    pub(crate) end: End,
    /// What to do if this address does not answer; of a connection that is being opened.
    pub(crate) next: Option<Attempt>,
    /// When it last moved counts since one side was reset.
    pub(crate) relay: Relay,
    /// What the other host had not acknowledged when something last moved.
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

impl Joint {
    /// `next` has what to do if it fails, where `stream` is still being opened.
    pub(crate) fn new(stream: TcpStream, end: End, next: Option<Attempt>) -> Joint {
        Joint { stream, end, next, relay: Relay::new(Time::ZERO, Vec::new()), unacked: 0 }
    }

    /// Takes it from those that wait for the address of a server.
    pub(crate) fn stop_waiting(&self, connecting: &mut BTreeSet<(Instant, End)>) {
        if let Some(until) = self.next.as_ref().and_then(|next| next.until) {
            connecting.remove(&(until, self.end));
        }
    }

    /// Moves what can be moved, both ways; `Ok` means that others have their turn first. `bytes`
    /// counts what comes from clients and from the server.
    pub(crate) fn go_on(
        &mut self,
        path: &mut Path,
        chunk: &mut [u8],
        bytes: &mut [u64; 2],
    ) -> Result<(), Stop> {
        let broken = path.is_broken(self.end);
        if self.next.is_some() {
            // Who resets a connection has the server get what it had sent.
            let rest = broken && path.readable(self.end) == 0;
            return Err(if rest { Stop::Reset } else { Stop::Wait });
        }
        let Joint { stream, end, relay, .. } = self;
        for _ in 0..TURN {
            relay.gone |= relay.failed && relay.done_in;
            if broken && (relay.gone || relay.failed || relay.done_out) {
                return Err(Stop::Reset);
            }
            if relay.gone {
                return Err(if path.is_acked(*end) { Stop::Reset } else { Stop::Wait });
            }
            let out = relay.move_out(path, *end, stream);
            // Nothing reaches the other host any more.
            let come =
                if broken { Err(Stop::Wait) } else { relay.move_in(path, *end, stream, chunk) };
            bytes[end.0] += *come.as_ref().unwrap_or(&0) as u64;
            match (out, come) {
                // Closing with a reset throws away what the system has not sent yet.
                (Err(Stop::Reset), _) if broken && has_unsent(stream) => return Err(Stop::Wait),
                (Err(Stop::Reset), _) | (_, Err(Stop::Reset)) => return Err(Stop::Reset),
                (Err(Stop::Over), Err(Stop::Over)) => return Err(Stop::Over),
                (Err(_), Err(_)) => return Err(Stop::Wait),
                _ => {}
            }
        }
        Ok(())
    }

    /// Since when nothing has moved, where one side was reset and the other one still has to take
    /// what was sent before. To be asked now and then.
    pub(crate) fn rests_since(&mut self, path: &Path) -> Option<Time> {
        let is_reset = self.relay.failed || path.is_broken(self.end);
        let unacked = path.unacked(self.end);
        if !is_reset || self.next.is_some() || unacked != self.unacked {
            (self.relay.moved, self.unacked) = (path.now(), unacked);
        }
        is_reset.then_some(self.relay.moved)
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
