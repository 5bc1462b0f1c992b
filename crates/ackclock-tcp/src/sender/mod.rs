//! The sending half.

use crate::event::{Cause, Event};
use crate::segment::Segment;
use crate::seq::Seq;
use crate::time::{Span, Time};

/// How a sender behaves, apart from its strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct SenderConfig {
    /// Sequence number of the first data byte (the one after the SYN).
    pub isn: Seq,
    /// What our data segments acknowledge.
    pub remote_seq: Seq,
    /// SMSS: payload bytes of a full segment.
    pub mss: u32,
    /// Initial window in segments, 1 to 10 (RFC 5681, RFC 6928).
    pub initial_window: u32,
    /// Initial slow start threshold in bytes; `None` leaves it unset (RFC 5681 section 3.1: arbitrarily high).
    pub initial_ssthresh: Option<u64>,
    /// The receive window known before the first ACK arrives, in bytes.
    pub initial_rwnd: u64,
    /// An upper bound on cwnd in bytes (a send buffer); `None` for no bound.
    pub max_cwnd: Option<u64>,
    /// The peer's window scale shift (RFC 7323 section 2).
    pub wscale: u8,
    /// SACK was negotiated.
    pub sack: bool,
    /// Timestamps were negotiated: every segment carries one, and every ACK that echoes one gives an RTT sample.
    pub timestamps: bool,
    /// Nagle's algorithm (RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// Most new segments that one input may release (exit-burst control, RFC 6582 section 3.2); `None` for no limit.
    pub max_burst: Option<u32>,
    /// Record events.
    pub events: bool,
    /// Phase of coarse timers: the first tick comes this long after the origin of time.
    pub tick_phase: Span,
}

/// Counters of one sender; they only grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Stats {
    /// Segments sent, retransmissions included, zero-window probes without data not.
    pub segments_sent: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Segments sent again, for whatever cause.
    pub retransmissions: u64,
    /// Of those, the ones that began a recovery.
    pub fast_retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Of those, by class in the order of [`TimeoutClass`](crate::TimeoutClass).
    pub timeouts_by_class: [u64; 3],
    /// Recoveries entered by other than a timeout.
    pub recoveries: u64,
    /// ACKs received.
    pub acks: u64,
}

/// A segment to send: its header, and which bytes of the stream it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The header.
    pub segment: Segment,
    /// Stream position of the first payload byte; the length is `segment.len`.
    pub position: u64,
    /// Why.
    pub cause: Cause,
    /// 1 for the first transmission of this segment.
    pub transmission: u32,
}

/// The sending half of an established connection.
pub struct Sender {}

impl Sender {
    // new(config: SenderConfig, strategy: Strategy) -> Sender   (Strategy::parse("sack+lt")?.build())

    /// The application makes `bytes` more bytes available to send.
    pub fn write(&mut self, _now: Time, _bytes: u64) {
        todo!()
    }

    /// The application has no more to write (Nagle then lets a short last segment go).
    pub fn close(&mut self, _now: Time) {
        todo!()
    }

    /// A segment arrived from the peer; only its acknowledgment, window and options count here.
    pub fn on_segment(&mut self, _now: Time, _segment: &Segment) {
        todo!()
    }

    /// The next segment to send now, or `None`.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Transmit> {
        todo!()
    }

    /// When to call [`Sender::on_deadline`]; [`Time::NEVER`] if no timer runs.
    pub fn next_deadline(&self) -> Time {
        todo!()
    }

    /// A deadline has come.
    pub fn on_deadline(&mut self, _now: Time) {
        todo!()
    }

    /// The oldest event not yet taken; always `None` unless `SenderConfig::events`.
    pub fn poll_event(&mut self) -> Option<Event> {
        todo!()
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        todo!()
    }

    /// Bytes acknowledged cumulatively.
    pub fn acked(&self) -> u64 {
        todo!()
    }

    /// Whether everything written has been acknowledged.
    pub fn is_idle(&self) -> bool {
        todo!()
    }
}
