//! The receiving half: what to acknowledge, and when.

use crate::segment::Segment;
use crate::seq::Seq;
use crate::time::{Span, Time};

/// When an ACK for in-order data may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every segment is acknowledged at once.
    Off,
    /// Every second full segment, or after this delay (RFC 5681 section 4.2: at most 500 ms).
    After(Span),
}

/// How a receiver behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Sequence number of the first data byte that will arrive.
    pub isn: Seq,
    /// Sequence number that our ACKs carry in their `seq` field.
    pub local_seq: Seq,
    /// Largest segment expected, for "every second full segment".
    pub mss: u32,
    /// Delayed ACKs.
    pub delayed_ack: DelayedAck,
    /// Send SACK blocks (RFC 2018).
    pub sack: bool,
    /// Report duplicates in a D-SACK block (RFC 2883); only with `sack`.
    pub dsack: bool,
    /// Echo timestamps (RFC 7323).
    pub timestamps: bool,
    /// Receive buffer in bytes.
    pub buffer: u64,
    /// Our window scale shift, 0 to 14 (RFC 7323 section 2).
    pub wscale: u8,
    /// Whether the application reads at once (`true`), or only by [`Receiver::read`].
    pub auto_read: bool,
}

impl Default for ReceiverConfig {
    fn default() -> Self {
        ReceiverConfig {
            isn: Seq(0),
            local_seq: Seq(0),
            mss: 1460,
            delayed_ack: DelayedAck::After(Span::from_millis(200)),
            sack: true,
            dsack: true,
            timestamps: false,
            buffer: 1 << 20,
            wscale: 7,
            auto_read: true,
        }
    }
}

/// The receiving half of an established connection.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: ReceiverConfig,
}

impl Receiver {
    /// A receiver that has received nothing yet.
    pub fn new(config: ReceiverConfig) -> Self {
        Receiver { config }
    }

    /// A data segment arrived. Returns whether it brought any byte that was not held yet.
    pub fn on_segment(&mut self, _now: Time, _segment: &Segment) -> bool {
        todo!()
    }

    /// The next ACK to send, if one is due.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Segment> {
        todo!()
    }

    /// When to call [`Receiver::on_deadline`]; [`Time::NEVER`] if no timer runs.
    pub fn next_deadline(&self) -> Time {
        todo!()
    }

    /// The deadline has come.
    pub fn on_deadline(&mut self, _now: Time) {
        todo!()
    }

    /// The application reads up to `bytes` of in-order data; returns how many there were. May make a window update due.
    pub fn read(&mut self, _now: Time, _bytes: u64) -> u64 {
        todo!()
    }

    /// In-order bytes received but not read yet.
    pub fn readable(&self) -> u64 {
        todo!()
    }

    /// Position of the next byte expected in order: how many bytes have arrived without a hole.
    pub fn rcv_nxt(&self) -> u64 {
        todo!()
    }
}
