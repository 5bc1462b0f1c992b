//! A whole connection (RFC 9293): what surrounds the [`Sender`](crate::Sender) and the [`Receiver`](crate::Receiver).
//!
//! A [`Connection`] opens and closes, validates what arrives (RFC 9293 section 3.10.7, RFC 5961, PAWS of RFC 7323
//! section 5), and keeps the timers that are not about loss: retransmission of SYN, keep-alive, user timeout, TIME-WAIT.
//! It follows the same [contract](crate) as its halves. Ports, addresses, checksums and payload bytes are the driver's.
//!
//! **FIN is one byte of the stream.** It takes the position after the last byte of data, so that loss recovery,
//! acknowledgment and the window treat it as what it is, a sequence number.

use crate::event::{Cause, Event};
use crate::receiver::ReceiverConfig;
use crate::sender::{Sender, SenderConfig};
use crate::seq::Seq;
use crate::strategy::Strategy;
use crate::time::{Span, Time};
use crate::wire::Repr;

/// The state of a connection (RFC 9293 section 3.3.2). LISTEN belongs to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TcpState {
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Data flows.
    Established,
    /// A FIN was sent.
    FinWait1,
    /// It was acknowledged.
    FinWait2,
    /// The peer sent a FIN.
    CloseWait,
    /// Both sent a FIN, and ours is not acknowledged.
    Closing,
    /// Ours, the second, is not acknowledged.
    LastAck,
    /// The peer may still send its FIN again.
    TimeWait,
    /// It is over.
    Closed,
}

/// Why a connection is [`TcpState::Closed`] other than by FINs both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// The peer answered our SYN with a reset.
    Refused,
    /// The peer reset it.
    Reset,
    /// [`Connection::abort`].
    Aborted,
    /// The peer acknowledged nothing for the user timeout, or answered no SYN or keep-alive.
    TimedOut,
    /// The network says that the peer cannot be reached (ICMP), while the connection was being opened.
    Unreachable,
}

/// Keep-alives (RFC 9293 section 3.8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// How long nothing has arrived before the first.
    pub idle: Span,
    /// From one to the next.
    pub interval: Span,
    /// So many without an answer end the connection.
    pub count: u32,
}

/// How a connection behaves, apart from its strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionConfig {
    /// Our initial sequence number (that of the SYN).
    pub iss: Seq,
    /// The MSS that we announce: the largest IP packet that we take, less its fixed headers (RFC 6691).
    pub local_mss: u16,
    /// The largest TCP payload that the path takes without TCP options, as far as known: MTU less fixed headers. With the
    /// peer's MSS and the options that each segment carries this gives SMSS.
    pub path_mss: u16,
    /// Offer SACK.
    pub sack: bool,
    /// Offer timestamps.
    pub timestamps: bool,
    /// Our window scale shift, offered on the SYN; `None` offers none.
    pub wscale: Option<u8>,
    /// The sender. What the handshake finds out (sequence numbers, `mss`, `initial_rwnd`, `wscale`, `sack`, `timestamps`)
    /// is overwritten.
    pub sender: SenderConfig,
    /// The receiver, as above; `buffer` counts.
    pub receiver: ReceiverConfig,
    /// SYNs or SYN/ACKs sent again before the connection is given up.
    pub syn_retries: u32,
    /// Keep-alives; off by default, as RFC 9293 section 3.8.4 has it.
    pub keep_alive: Option<KeepAlive>,
    /// How long data, a FIN or a window probe may stay unacknowledged (RFC 5482, RFC 9293 section 3.8.3); `None` for ever.
    pub user_timeout: Option<Span>,
    /// How long TIME-WAIT lasts: 2 MSL.
    pub time_wait: Span,
    /// How long FIN-WAIT-2 may last after [`Connection::close`], when nobody reads any more.
    pub fin_wait_2: Span,
}

/// Where the payload of a segment that arrived belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Stream position of the first byte to keep.
    pub position: u64,
    /// How many bytes of the payload come before it.
    pub offset: u32,
    /// How many bytes to keep; above 0. Some may be held already.
    pub len: u32,
}

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Its header; the ports are zero, for the driver to fill in.
    pub header: Repr,
    /// Stream position of the first payload byte.
    pub position: u64,
    /// Payload bytes, a FIN not counted.
    pub len: u32,
    /// Why, and which transmission of this segment it is; `None` for what is neither data nor a window probe.
    pub sent: Option<(Cause, u32)>,
}

/// One end of a connection. See the [contract](crate).
pub struct Connection {
    sender: Sender,
}

#[allow(unused_variables)]
impl Connection {
    /// An active open: a SYN is due.
    pub fn connect(now: Time, config: ConnectionConfig, strategy: Strategy) -> Connection {
        todo!()
    }

    /// A passive open by a SYN that came for a listener: a SYN/ACK is due.
    pub fn accept(now: Time, config: ConnectionConfig, strategy: Strategy, syn: &Repr) -> Connection {
        todo!()
    }

    /// An established connection whose handshake left no state behind (SYN cookies). `config.iss` is the sequence number of our
    /// SYN/ACK, `irs` that of the peer's SYN, `offered` what the peer's SYN offered, as far as the cookie could hold it, and
    /// `ack` the segment that completed the handshake, with `len` bytes of payload: hand it to
    /// [`Connection::on_segment`] afterwards.
    pub fn established(
        now: Time,
        config: ConnectionConfig,
        strategy: Strategy,
        irs: Seq,
        offered: &crate::wire::Options,
        ack: &Repr,
    ) -> Connection {
        todo!()
    }

    /// A segment arrived, with `len` bytes of payload; its checksum and ports are right. Returns where to keep the payload,
    /// which must happen before the next call: what it completes is readable from now on.
    pub fn on_segment(&mut self, now: Time, header: &Repr, len: u32) -> Option<Placement> {
        todo!()
    }

    /// The application has `bytes` more bytes to send, at positions from [`Connection::written`] on. Ignored after
    /// [`Connection::close`] or when the connection is over.
    pub fn write(&mut self, now: Time, bytes: u64) {
        todo!()
    }

    /// The application has read `bytes` more bytes in order, at most [`Connection::readable`].
    pub fn read(&mut self, now: Time, bytes: u64) {
        todo!()
    }

    /// The application has no more to write: FIN follows the data. What arrives can still be read.
    pub fn shutdown(&mut self, now: Time) {
        todo!()
    }

    /// The application neither writes nor reads any more: as [`Connection::shutdown`]; data that arrives from now on, or was
    /// not read, is answered with a reset (RFC 9293 section 3.6.1, RFC 2525 section 2.17).
    pub fn close(&mut self, now: Time) {
        todo!()
    }

    /// Ends the connection at once, with a reset where the peer knows of it.
    pub fn abort(&mut self, now: Time) {
        todo!()
    }

    /// A deadline has come. Harmless if none has.
    pub fn on_deadline(&mut self, now: Time) {
        todo!()
    }

    /// When to call [`Connection::on_deadline`]; [`Time::NEVER`] if no timer runs.
    pub fn next_deadline(&self) -> Time {
        todo!()
    }

    /// The next segment to send now, or `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        todo!()
    }

    /// ICMP says that a segment of ours with this sequence number could not be delivered, for a reason that `hard` tells to be
    /// lasting. Only opening connections end by it (RFC 5927 section 5, RFC 9293 section 3.9.2.2); others ignore it.
    pub fn on_unreachable(&mut self, now: Time, seq: Seq, hard: bool) {
        todo!()
    }

    /// ICMP says that a segment of ours with this sequence number was too big for a path that takes TCP payloads of `path_mss`
    /// bytes without options. Ignored unless the segment is outstanding (RFC 5927 section 7) and the path was taken for wider.
    pub fn on_path_mss(&mut self, now: Time, seq: Seq, path_mss: u16) {
        todo!()
    }

    /// The state.
    pub fn state(&self) -> TcpState {
        todo!()
    }

    /// Why it is over; `None` as long as it is not, and if both sides closed it.
    pub fn reason(&self) -> Option<CloseReason> {
        todo!()
    }

    /// Bytes that can be read in order, a FIN not counted. They lie at positions from [`Connection::read_position`] on.
    pub fn readable(&self) -> u64 {
        todo!()
    }

    /// Position of the next byte to read.
    pub fn read_position(&self) -> u64 {
        todo!()
    }

    /// Whether everything up to the peer's FIN has been read.
    pub fn at_end(&self) -> bool {
        todo!()
    }

    /// Position after the last byte written.
    pub fn written(&self) -> u64 {
        todo!()
    }

    /// Bytes of data that the peer has acknowledged: those below need not be kept.
    pub fn acked(&self) -> u64 {
        todo!()
    }

    /// Whether [`Connection::write`] is allowed.
    pub fn can_write(&self) -> bool {
        todo!()
    }

    /// The sending half, for its counters and state; made anew when the handshake completes.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The oldest event of the sender not yet taken.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.sender.poll_event()
    }
}
