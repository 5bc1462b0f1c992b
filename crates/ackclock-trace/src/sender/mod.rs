//! What a sender did, told from what went out and what came back: the cause of each retransmission, timeouts with class and
//! state, recoveries, and what was needless or lost.
//!
//! The input is in the *sender's* frame of time: whoever feeds a [`SenderModel`] has delayed the ACKs by the round trip between
//! the capture and the sender, unwrapped the sequence numbers into positions, and cut super-segments into segments of SMSS. So one
//! model serves every vantage; what it must not assume is that it sees every transmission ([`Sight`]).

use ackclock_tcp::SackRanges;
use ackclock_tcp::{Event, Seq, Span, Time};

use crate::connection::{Recovery, Retransmission, Stall, Timeout};

/// What can be seen of the transmissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// All of them: the capture was taken at the sender.
    Sent,
    /// Those that came as far as the capture, which lies between the ends.
    Arrived,
    /// Those that reached the receiver: the capture was taken there. What passes it has arrived.
    Received,
}

/// A segment on its way: at most SMSS of payload, or a FIN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub frame: u64,
    /// When, in the sender's frame of time (at the capture).
    pub at: Time,
    /// First byte.
    pub position: u64,
    /// Sequence number of the same.
    pub seq: Seq,
    /// Bytes of sequence space: payload, and 1 for FIN. Never 0.
    pub len: u32,
    /// Whether the last byte of `len` is a FIN.
    pub fin: bool,
    pub tsval: Option<u32>,
    pub ip_id: Option<u16>,
}

/// An ACK as it reaches the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    pub frame: u64,
    /// When it reaches the sender, in the frame of time in which the sender's segments pass the capture.
    pub at: Time,
    pub ack: u64,
    /// Offered window in bytes, scaled.
    pub window: u64,
    /// SACK blocks as positions, D-SACK included.
    pub sack: SackRanges,
    pub sacks: u8,
    /// The first block is a D-SACK.
    pub dsack: bool,
    pub tsecr: Option<u32>,
    /// It carries data, so it is no duplicate ACK (RFC 5681 section 2).
    pub with_data: bool,
}

/// What is known of the connection when its first data goes out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub mss: u32,
    pub sack: bool,
    pub timestamps: bool,
    pub sight: Sight,
    /// The round trip measured by the handshake (whole path); `None` if not seen.
    pub handshake_rtt: Option<Span>,
    /// Keep events.
    pub events: bool,
}

/// What the model found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub retransmissions: Vec<Retransmission>,
    pub timeouts: Vec<Timeout>,
    pub recoveries: Vec<Recovery>,
    pub stalls: Vec<Stall>,
    pub probes_of_new_data: u64,
    pub segments: u64,
    pub bytes: u64,
    pub dsacks: u64,
    pub unseen: u64,
    pub rtt: Option<crate::connection::RoundTrip>,
    pub events: Vec<Event>,
    pub doubts: Vec<String>,
}

/// One sender, reconstructed.
pub(crate) struct SenderModel {
    _terms: Terms,
}

impl SenderModel {
    pub fn new(terms: Terms) -> SenderModel {
        SenderModel { _terms: terms }
    }

    /// A SYN or SYN/ACK of this end, each time that it is sent: its retransmissions are timeouts like any other.
    pub fn syn(&mut self, _frame: u64, _at: Time, _seq: Seq) {
        todo!()
    }

    /// In order of time with [`SenderModel::acked`].
    pub fn sent(&mut self, _sent: &Sent) {
        todo!()
    }

    pub fn acked(&mut self, _acked: &Acked) {
        todo!()
    }

    /// The capture has a gap that ends now.
    pub fn gap(&mut self, _until: Time) {
        todo!()
    }

    /// The connection, or the capture, ended at `end`.
    pub fn finish(self, _end: Time) -> Found {
        todo!()
    }
}
