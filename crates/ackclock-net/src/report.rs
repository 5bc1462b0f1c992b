//! Counters of a run.

use ackclock_tcp::{Stats, Time};

/// What became of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct FlowReport {
    /// Payload bytes acknowledged cumulatively; for a CBR stream, bytes that arrived.
    pub bytes_acked: u64,
    /// The sender's counters; for a CBR stream only `segments_sent` and `bytes_sent`.
    pub stats: Stats,
    /// How often the timer of its SYN expired; 0 without a handshake.
    pub syn_timeouts: u32,
    /// When the last byte of a source that ends was acknowledged; `None` before that.
    pub completed: Option<Time>,
    /// When it was complete, was stopped or was looked at, whichever came first; not before its
    /// start.
    pub until: Time,
    /// Data segments (or datagrams) that the network dropped.
    pub drops: u64,
    /// ACKs that the network dropped.
    pub ack_drops: u64,
    /// Data segments that reached the receiver.
    pub arrived: u64,
    /// Retransmissions that reached the receiver and brought no byte that it did not hold.
    pub spurious_retransmissions: u64,
    /// `bytes_acked` in bits per second from the start of the flow to `until`; `None` where that is
    /// no time.
    pub goodput_bps: Option<f64>,
}

/// What became of the packets that were sent into one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LinkReport {
    /// Packets that arrived at the link's entrance.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets dropped since the queue was full.
    pub dropped_queue: u64,
    /// Packets dropped early (RED, FRED, CoDel, FQ-CoDel, PIE).
    pub dropped_early: u64,
    /// Packets marked with CE in place of an early drop (RED, CoDel, FQ-CoDel, PIE).
    pub marked: u64,
    /// Packets dropped by a loss model or an outage.
    pub dropped_loss: u64,
    /// Packets of which the wire flipped a bit.
    pub corrupted: u64,
    /// Packets whose transmission ended.
    pub departed: u64,
    /// The most packets that waited or were in transmission at the same time.
    pub max_queue: u64,
}
