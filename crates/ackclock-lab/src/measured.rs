//! What runs leave.

use ackclock_report::FlowSummary;
use serde::Serialize;

/// What a run on the wire measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Measured {
    /// The seed of the gateway.
    pub seed: u64,
    /// How long it took.
    pub seconds: f64,
    /// Payload bytes that the receiving applications got.
    pub bytes: u64,
    /// The same in bits per second.
    pub goodput_bps: f64,
    /// Full segments that there were to send.
    pub segments: u64,
    /// Retransmissions of data.
    pub retransmissions: u64,
    /// Timeouts of data.
    pub timeouts: u64,
    /// Packets that the sender sent into the gateway.
    pub packets: u64,
    /// Of those, dropped by a queue that was full.
    pub dropped_queue: u64,
    /// Dropped early by a queue.
    pub dropped_early: u64,
    /// Dropped by a loss model or an outage.
    pub dropped_loss: u64,
    /// How long packets of the sender waited in queues that arrived, in the mean, in milliseconds.
    pub queue_ms: f64,
    /// How late the gateway was with a packet, quantile of 99 %, in microseconds.
    pub late_p99_us: f64,
    /// Of short transfers, from the end of the handshake to the last byte, in seconds, in
    /// ascending order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub completions_s: Vec<f64>,
    /// From the call to connect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub completions_with_handshake_s: Vec<f64>,
}

impl Measured {
    /// Packets of the sender that the gateway dropped.
    pub(crate) fn drops(&self) -> u64 {
        self.dropped_queue + self.dropped_early + self.dropped_loss
    }
}

/// The runs of a row in a cell.
pub(crate) struct RowRuns {
    /// On the wire.
    pub measured: Vec<Measured>,
    /// In simulation.
    pub simulated: Vec<FlowSummary>,
}
