//! A connection with its buffers.

use ackclock_tcp::connection::{Connection, Outgoing, TcpState};
use ackclock_tcp::wire::Repr;
use ackclock_tcp::wire::ip::v4::LEAST_PATH_MTU;
use ackclock_tcp::{Seq, Span, Time};

use crate::buffer::Ring;
use crate::limits::Limits;
use crate::output::Class;
use crate::said::Said;
use crate::tuple::Tuple;
use crate::{Error, ListenerId, SocketId, Status, Timeouts};

/// Who waits for a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A listener, for its handshake.
    HalfOpen(ListenerId),
    /// A listener's accept queue.
    Queued(ListenerId),
    /// The application.
    Application,
    /// Nobody: it closes by itself.
    Nobody,
}

/// Segments of a socket that leave as one packet, and that may become more.
pub(crate) struct Gathered {
    pub(crate) first: Outgoing,
    pub(crate) header: Repr,
    pub(crate) len: u32,
}

/// A connection with its buffers.
pub(crate) struct Socket {
    pub(crate) id: SocketId,
    pub(crate) tuple: Tuple,
    pub(crate) connection: Connection,
    /// The number of its strategy, as [`Status::strategy`] has it.
    pub(crate) strategy: usize,
    pub(crate) owner: Owner,
    /// Bytes not yet acknowledged, and bytes not yet read.
    pub(crate) send: Ring,
    pub(crate) receive: Ring,
    /// What these and the scoreboard took when that was last counted.
    pub(crate) counted: usize,
    /// What has kept it from sending since it is here, handshake included.
    pub(crate) limits: Limits,
    /// Sequence number of our SYN.
    pub(crate) iss: Seq,
    /// What it last said to the peer.
    pub(crate) said: Said,
    /// 2 MSL, whether timestamps were offered, and what ours have beyond the clock.
    pub(crate) time_wait: Span,
    pub(crate) timestamps: bool,
    pub(crate) ts_offset: u32,
    /// What the IP headers of its packets say.
    pub(crate) class: Class,
    /// The state when it was last looked at.
    pub(crate) state: TcpState,
    /// The application found nothing to read, or no room to write, and wants to hear of it.
    pub(crate) wants_read: bool,
    pub(crate) wants_write: bool,
    /// It wants to hear of it when everything before this position is acknowledged.
    pub(crate) wants_acked: Option<u64>,
    /// It stands in the list of sockets to look at for the application, or to send from.
    pub(crate) in_ready: bool,
    pub(crate) in_transmit: bool,
    /// A segment that the connection has let out and that did not fit to those before it.
    pub(crate) held_back: Option<Outgoing>,
    /// What waits for more to leave with it.
    pub(crate) gathered: Option<Gathered>,
    /// The application will write no more.
    pub(crate) shut: bool,
    /// The table of connections leads to it.
    pub(crate) mapped: bool,
    pub(crate) events: bool,
    /// The number of the next packet that routers may fragment, if they may.
    pub(crate) next_id: Option<u16>,
}

/// Whether data flows, or did, and the application may write.
fn is_open(state: TcpState) -> bool {
    matches!(state, TcpState::Established | TcpState::CloseWait)
}

impl Socket {
    /// Room for the application to write, if buffers may grow to `grant`; 0 where it may not.
    pub(crate) fn writable(&self, grant: usize) -> usize {
        if is_open(self.connection.state()) && !self.shut { self.send.room(grant) } else { 0 }
    }

    /// Bytes of memory that its buffers and the list of what is outstanding take.
    pub(crate) fn memory(&self) -> usize {
        self.send.capacity() + self.receive.capacity() + self.connection.sender().memory()
    }

    /// Lets so much of what arrives wait.
    pub(crate) fn grant_receive(&mut self, grant: usize) {
        self.connection.set_receive_buffer(self.receive.limit(grant) as u64);
    }

    /// Whether nobody waits for it and the peer has not acknowledged everything.
    pub(crate) fn is_lingering(&self) -> bool {
        use TcpState::*;
        self.owner == Owner::Nobody
            && !matches!(self.connection.state(), FinWait2 | TimeWait | Closed)
    }

    /// Numbers that many packets of `size` bytes if routers may fragment them: returns the first.
    pub(crate) fn number(&mut self, size: usize, packets: u32) -> Option<u16> {
        let next = self.next_id.as_mut().filter(|_| size <= usize::from(LEAST_PATH_MTU))?;
        let first = *next;
        *next = first.wrapping_add(packets as u16);
        Some(first)
    }

    /// Adds its retransmission timeouts to those of others.
    pub(crate) fn add_timeouts(&self, sum: &mut Timeouts) {
        let own = self.connection.stats().timeouts_by_class;
        sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
    }

    /// A moment of it.
    pub(crate) fn status(&self, grant: usize) -> Status {
        Status {
            state: self.connection.state(),
            reason: self.connection.reason(),
            readable: self.connection.readable() as usize,
            at_end: self.connection.at_end(),
            writable: self.writable(grant),
            unacked: (self.send.end() - self.send.begin()) as usize,
            written: self.connection.written(),
            read: self.connection.read_position(),
            local: self.tuple.local(),
            remote: self.tuple.remote(),
            strategy: self.strategy,
            ecn: self.connection.ecn(),
            marks: self.connection.marks(),
        }
    }

    /// What the application writes.
    pub(crate) fn write(&mut self, now: Time, bytes: &[u8], grant: usize) -> Result<usize, Error> {
        if let Some(reason) = self.connection.reason() {
            return Err(Error::Closed(reason));
        }
        let opening = matches!(self.connection.state(), TcpState::SynSent | TcpState::SynReceived);
        if self.shut || !(opening || is_open(self.connection.state())) {
            return Err(Error::ShutDown);
        }
        let len = self.writable(grant).min(bytes.len());
        self.wants_write |= len < bytes.len();
        if len == 0 && !bytes.is_empty() {
            return Err(Error::WouldBlock);
        }
        self.send.put(self.send.end(), &bytes[..len]);
        self.connection.write(now, len as u64);
        Ok(len)
    }

    /// What the application reads: `take` says how much.
    pub(crate) fn read_with(
        &mut self,
        now: Time,
        take: impl FnOnce([&[u8]; 2]) -> usize,
    ) -> Result<usize, Error> {
        let readable = self.connection.readable();
        if readable == 0 {
            if self.connection.at_end() {
                return Ok(0);
            }
            if let Some(reason) = self.connection.reason() {
                return Err(Error::Closed(reason));
            }
            if self.connection.state() == TcpState::Closed {
                return Ok(0);
            }
            self.wants_read = true;
            return Err(Error::WouldBlock);
        }
        let position = self.connection.read_position();
        let len = take(self.receive.slices(position, readable as usize)).min(readable as usize);
        self.receive.release(position + len as u64);
        self.connection.read(now, len as u64);
        self.wants_read |= readable == len as u64;
        Ok(len)
    }

    /// Whether the application, having found nothing to read or no room, would now find some, or
    /// has asked for an acknowledgment that has come. A full buffer counts as writable again when a
    /// quarter of it is free: otherwise each ACK would wake the writer.
    pub(crate) fn has_news(&mut self, grant: usize) -> bool {
        let readable =
            self.wants_read && (self.connection.readable() > 0 || self.connection.at_end());
        let writable = self.wants_write && self.writable(grant) > self.send.limit(grant) / 4;
        let acked = self.wants_acked.is_some_and(|position| position <= self.send.begin());
        self.wants_read &= !readable;
        self.wants_write &= !writable;
        self.wants_acked.take_if(|_| acked);
        readable || writable || acked
    }

    /// Whether a segment with this sequence number is on its way (RFC 5927 section 4.1).
    pub(crate) fn is_outstanding(&self, seq: Seq) -> bool {
        let una = match self.connection.state() {
            TcpState::SynSent | TcpState::SynReceived => self.iss,
            _ => self.iss + 1 + self.connection.acked() as u32,
        };
        seq.distance_from(una) < self.said.snd_max.distance_from(una)
    }
}
