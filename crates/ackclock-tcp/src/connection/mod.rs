//! A whole connection (RFC 9293): what surrounds the [`Sender`] and the [`Receiver`].
//!
//! A [`Connection`] opens and closes, validates what arrives (RFC 9293 section 3.10.7, RFC 5961,
//! PAWS of RFC 7323 section 5), and keeps the timers that are not about loss: retransmission of
//! SYN, keep-alive, user timeout, TIME-WAIT. It follows the same [contract](crate) as its halves.
//! Ports, addresses, checksums and payload bytes are the driver's.
//!
//! **FIN is one byte of the stream.** It takes the position after the last byte of data, so that
//! loss recovery, acknowledgment and the window treat it as what it is, a sequence number.
//!
//! `mod.rs` holds what a driver calls, `handshake.rs` what opens a connection, `input.rs` what a
//! segment does to an open one, `output.rs` what is sent, `timers.rs` what time does,
//! `black_hole.rs` how a path shows that it drops what is big.

mod black_hole;
mod config;
mod handshake;
mod input;
mod output;
mod text;
mod timers;

use core::fmt;

use crate::event::{Event, Sending, TimeoutClass};
use crate::receiver::Receiver;
use crate::sender::{Sender, SenderConfig, Stats};
use crate::seq::Seq;
use crate::strategy::Strategy;
use crate::time::Time;
use crate::wire::{Options, Repr};

use black_hole::BlackHole;
pub use config::{CloseReason, ConnectionConfig, KeepAlive, TcpState};
pub use handshake::RTO_AFTER_LOSS;
use handshake::{Handshake, Negotiated};
use input::Challenges;

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
    /// Why it is sent; `None` for what is neither data nor a window probe.
    pub sent: Option<Sending>,
}

/// One end of a connection. See the [contract](crate).
pub struct Connection {
    config: ConnectionConfig,
    state: TcpState,
    reason: Option<CloseReason>,
    sender: Sender,
    /// Of no meaning before the peer's SYN.
    receiver: Receiver,
    handshake: Handshake,
    negotiated: Negotiated,
    /// Segments that came marked.
    marks: u64,
    /// Bytes of data that the application has written.
    written: u64,
    /// A FIN follows them.
    shut: bool,
    /// The application reads no more.
    closed: bool,
    /// Position of the peer's FIN, as soon as one came that lies in the window.
    peer_fin: Option<u64>,
    /// A reset to send.
    reset: Option<Repr>,
    challenges: Challenges,
    black_hole: BlackHole,
    /// When an acceptable segment last arrived.
    heard: Time,
    /// When what is unacknowledged last made progress, or began to be.
    progress: Time,
    /// Keep-alives sent since, when the last one was, and whether one has to go out.
    keep_alives: u32,
    keep_alive_sent: Time,
    keep_alive_due: bool,
    /// When TIME-WAIT ends, or FIN-WAIT-2 after [`Connection::close`].
    wait_until: Time,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("state", &self.state)
            .field("reason", &self.reason)
            .field("readable", &self.readable())
            .field("read_position", &self.read_position())
            .field("sender", &self.sender)
            .finish_non_exhaustive()
    }
}

impl Connection {
    fn new(now: Time, config: ConnectionConfig, strategy: Strategy, state: TcpState) -> Connection {
        Connection {
            state,
            reason: None,
            // The handshake decides about SACK.
            sender: Sender::before_handshake(
                SenderConfig { sack: true, ..config.sender.clone() },
                strategy,
            ),
            receiver: Receiver::new(config.receiver.clone()),
            handshake: Handshake::new(state),
            negotiated: Negotiated::default(),
            marks: 0,
            written: 0,
            shut: false,
            closed: false,
            peer_fin: None,
            reset: None,
            challenges: Challenges::default(),
            black_hole: BlackHole::new(&config),
            heard: now,
            progress: now,
            keep_alives: 0,
            keep_alive_sent: Time::ZERO,
            keep_alive_due: false,
            wait_until: Time::NEVER,
            config,
        }
    }

    /// An active open: a SYN is due.
    pub fn connect(now: Time, config: ConnectionConfig, strategy: Strategy) -> Connection {
        Connection::new(now, config, strategy, TcpState::SynSent)
    }

    /// A passive open by a SYN that came for a listener: a SYN/ACK is due.
    pub fn accept(
        now: Time,
        config: ConnectionConfig,
        strategy: Strategy,
        syn: &Repr,
    ) -> Connection {
        let mut c = Connection::new(now, config, strategy, TcpState::SynReceived);
        handshake::learn(&mut c, syn.seq, &syn.options, handshake::offers_ecn(syn));
        c
    }

    /// An established connection whose handshake left no state behind (SYN cookies). `config.iss`
    /// is the sequence number of our SYN/ACK, `irs` that of the peer's SYN, `offered` what the
    /// peer's SYN offered, as far as the cookie could hold it, and `ack` the segment that
    /// completed the handshake: hand it to [`Connection::on_segment`] afterwards.
    pub fn established(
        now: Time,
        config: ConnectionConfig,
        strategy: Strategy,
        irs: Seq,
        offered: &Options,
        ack: &Repr,
    ) -> Connection {
        let mut c = Connection::new(now, config, strategy, TcpState::SynReceived);
        // A cookie does not remember ECN.
        handshake::learn(&mut c, irs, offered, false);
        // The timestamp of the SYN may be forgotten.
        c.receiver.set_ts_recent(ack.options.timestamps.map(|t| t.val));
        let shift = c.negotiated.their_shift();
        // What a cookie's timestamp echoes is no time.
        handshake::complete(&mut c, now, ack.wnd, shift, None);
        c
    }

    /// A segment arrived, with `len` bytes of payload; its checksum and ports are right. Returns
    /// where to keep the payload, which must happen before the next call: what it completes is
    /// readable from now on.
    ///
    /// If the connection is [`TcpState::Closed`] afterwards and the segment is a SYN without ACK,
    /// the SYN asks for a new connection in the place of this one: hand it to the listener.
    pub fn on_segment(&mut self, now: Time, header: &Repr, len: u32) -> Option<Placement> {
        match self.state {
            TcpState::Closed => None,
            TcpState::SynSent => handshake::on_segment(self, now, header, len),
            _ => input::on_segment(self, now, header, len),
        }
    }

    /// The application has `bytes` more bytes to send, at positions from [`Connection::written`]
    /// on. Ignored unless [`Connection::can_write`]: after [`Connection::shutdown`] or
    /// [`Connection::close`], and when the connection is over.
    pub fn write(&mut self, now: Time, bytes: u64) {
        if !self.can_write() {
            return;
        }
        let written = self.written.saturating_add(bytes).min(u64::MAX / 4);
        let bytes = written - self.written;
        self.written = written;
        if self.is_synchronized() {
            self.send(now, bytes);
        }
    }

    /// Gives the sender more of the stream.
    fn send(&mut self, now: Time, bytes: u64) {
        if !self.is_pending() {
            self.progress = now;
        }
        self.sender.write(now, bytes);
    }

    /// The application has read `bytes` more bytes in order, at most [`Connection::readable`].
    pub fn read(&mut self, now: Time, bytes: u64) {
        let bytes = bytes.min(self.readable());
        if self.fin_received() {
            // The window is of no use to the peer any more, which may have forgotten the connection
            // and answer with a reset.
            self.receiver.read_quietly(bytes);
        } else {
            self.receiver.read(now, bytes);
        }
    }

    /// Changes the size of the receive buffer, which must hold what is there: as
    /// [`Receiver::set_buffer`](crate::Receiver::set_buffer). It should not be less than a unit
    /// of the window, 2^[`wscale`](ConnectionConfig::wscale) bytes.
    pub fn set_receive_buffer(&mut self, bytes: u64) {
        self.receiver.set_buffer(bytes);
    }

    /// The application has no more to write: FIN follows the data. What arrives can still be read.
    pub fn shutdown(&mut self, now: Time) {
        if self.shut || self.state == TcpState::Closed {
            return;
        }
        self.shut = true;
        if self.is_synchronized() {
            self.send_fin(now);
        }
    }

    fn send_fin(&mut self, now: Time) {
        self.send(now, 1);
        self.sender.close_with_fin(now);
        self.state =
            if self.state == TcpState::CloseWait { TcpState::LastAck } else { TcpState::FinWait1 };
    }

    /// The application neither writes nor reads any more: as [`Connection::shutdown`]; data that
    /// arrives from now on, or was not read, is answered with a reset (RFC 9293 section 3.6.1,
    /// RFC 2525 section 2.17). What is not acknowledged ends the connection after
    /// [`ConnectionConfig::user_timeout`], or 100 s (R2 of RFC 9293 section 3.8.3): nobody is left
    /// who could.
    pub fn close(&mut self, now: Time) {
        if self.closed || self.state == TcpState::Closed {
            return;
        }
        self.closed = true;
        if self.readable() > 0 && self.state != TcpState::TimeWait {
            self.send_reset(now);
            return self.end(Some(CloseReason::Aborted));
        }
        if self.state == TcpState::SynSent && self.written == 0 {
            return self.end(Some(CloseReason::Aborted));
        }
        self.shutdown(now);
        if self.config.user_timeout.is_none() {
            self.progress = now;
        }
        if self.state == TcpState::FinWait2 {
            self.wait_until = now + self.config.fin_wait_2;
        }
    }

    /// Ends the connection at once, with a reset where the peer knows of it.
    pub fn abort(&mut self, now: Time) {
        use TcpState::*;
        match self.state {
            Closed => return,
            SynReceived | Established | FinWait1 | FinWait2 | CloseWait => self.send_reset(now),
            // The FIN waits behind data, so that the peer does not know that we have closed (RFC
            // 9293 section 3.10.4; Linux's `tcp_disconnect`).
            Closing | LastAck if !self.fin_is_sent() => self.send_reset(now),
            // RFC 9293 section 3.10.5: both sides have closed, or the peer knows of nothing.
            SynSent | Closing | LastAck | TimeWait => {}
        }
        self.end(Some(CloseReason::Aborted));
    }

    fn fin_is_sent(&self) -> bool {
        self.sender.state().snd_max > self.written
    }

    fn end(&mut self, reason: Option<CloseReason>) {
        self.state = TcpState::Closed;
        self.reason = reason;
    }

    /// A deadline has come. Harmless if none has.
    pub fn on_deadline(&mut self, now: Time) {
        timers::on_deadline(self, now);
    }

    /// When to call [`Connection::on_deadline`]; [`Time::NEVER`] if no timer runs.
    pub fn next_deadline(&self) -> Time {
        timers::next(self)
    }

    /// The next segment to send now, or `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        output::poll(self, now)
    }

    /// ICMP says that a segment of ours with this sequence number could not be delivered, for a
    /// reason that `hard` tells to be lasting. Only opening connections end by it (RFC 5927
    /// section 5, RFC 9293 section 3.9.2.2); others ignore it.
    pub fn on_unreachable(&mut self, _now: Time, seq: Seq, hard: bool) {
        if hard && self.is_opening() && seq == self.config.iss {
            self.end(Some(CloseReason::Unreachable));
        }
    }

    /// ICMP says that a segment of ours with this sequence number was too big for a path that takes
    /// TCP payloads of `path_mss` bytes without options. Ignored unless the segment is
    /// outstanding (RFC 5927 section 7) and the path was taken for wider.
    pub fn on_path_mss(&mut self, now: Time, seq: Seq, path_mss: u16) {
        let outstanding = if self.is_opening() {
            seq == self.config.iss
        } else {
            u64::from(seq.distance_from(self.snd_una())) < self.sender.state().flight()
        };
        if !outstanding || path_mss >= self.config.path_mss {
            return;
        }
        black_hole::narrow(self, now, path_mss);
    }

    /// The largest TCP payload that the path takes without TCP options, once the connection has
    /// found out that larger ones vanish and no ICMP tells of it
    /// ([`ConnectionConfig::least_path_mss`]).
    pub fn found_path_mss(&self) -> Option<u16> {
        self.black_hole.found
    }

    /// The state.
    pub fn state(&self) -> TcpState {
        self.state
    }

    /// Why it is over; `None` as long as it is not, and if both sides closed it.
    pub fn reason(&self) -> Option<CloseReason> {
        self.reason
    }

    /// Bytes that can be read in order, a FIN not counted, also when the connection is over. They
    /// lie at positions from [`Connection::read_position`] on.
    pub fn readable(&self) -> u64 {
        let end = self.receiver.rcv_nxt().min(self.peer_fin.unwrap_or(u64::MAX));
        end - self.read_position()
    }

    /// Position of the next byte to read.
    pub fn read_position(&self) -> u64 {
        self.receiver.read_position()
    }

    /// Whether the `len` bytes from `position` on have arrived. A FIN is a byte.
    pub fn holds(&self, position: u64, len: u32) -> bool {
        self.receiver.holds(position, position.saturating_add(len.into()))
    }

    /// Whether everything up to the peer's FIN has been read.
    pub fn at_end(&self) -> bool {
        self.fin_received() && self.readable() == 0
    }

    /// Position after the last byte written.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Bytes of data that the peer has acknowledged: those below need not be kept.
    pub fn acked(&self) -> u64 {
        self.sender.acked().min(self.written)
    }

    /// Whether [`Connection::write`] is allowed.
    pub fn can_write(&self) -> bool {
        use TcpState::*;
        !self.shut && matches!(self.state, SynSent | SynReceived | Established | CloseWait)
    }

    /// How often the timer of the SYN, or of the SYN/ACK, has expired. No sender counts them.
    pub fn syn_timeouts(&self) -> u32 {
        self.handshake.expiries
    }

    /// What the sender has counted, and the timeouts of the SYN or SYN/ACK, of which it does not
    /// know, with class `handshake`.
    pub fn stats(&self) -> Stats {
        let mut stats = *self.sender.stats();
        stats.timeouts += u64::from(self.syn_timeouts());
        stats.timeouts_by_class[TimeoutClass::Handshake as usize] += u64::from(self.syn_timeouts());
        stats
    }

    /// The sending half, for its counters and state; made anew when the handshake completes.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// Whether ECN was negotiated (RFC 3168 section 6.1.1); not before the peer's SYN came.
    pub fn ecn(&self) -> bool {
        self.negotiated.ecn
    }

    /// Segments with data that came marked with CE, with ECN. What a device merged into one counts
    /// once.
    pub fn marks(&self) -> u64 {
        self.marks
    }

    /// The oldest event of the sender not yet taken.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.sender.poll_event()
    }

    fn is_opening(&self) -> bool {
        matches!(self.state, TcpState::SynSent | TcpState::SynReceived)
    }

    /// Both know each other's sequence numbers.
    fn is_synchronized(&self) -> bool {
        !self.is_opening() && self.state != TcpState::Closed
    }

    /// The peer's FIN and everything before it have arrived.
    fn fin_received(&self) -> bool {
        self.peer_fin.is_some_and(|fin| self.receiver.rcv_nxt() > fin)
    }

    fn fin_acked(&self) -> bool {
        self.shut && self.sender.acked() > self.written
    }

    /// Whether something has not been acknowledged, sent or not.
    fn is_pending(&self) -> bool {
        !self.sender.is_idle()
    }

    /// Sequence number of the first byte of our stream.
    fn isn(&self) -> Seq {
        self.config.iss + 1
    }

    fn snd_una(&self) -> Seq {
        Seq::at(self.isn(), self.sender.acked())
    }

    /// SND.NXT; where the sender has gone back, the sequence number after all that it ever sent.
    fn snd_nxt(&self) -> Seq {
        Seq::at(self.isn(), self.sender.state().snd_max)
    }

    /// RFC 9293 section 3.7.1: Eff.snd.MSS.
    fn smss(&self) -> u32 {
        self.negotiated.smss(self.config.path_mss)
    }
}

#[cfg(test)]
mod tests;
