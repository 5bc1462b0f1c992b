//! What path, receiver and application do in one recording.
//!
//! A scenario says all of it explicitly, so that one that fails can be shrunk. Segments are counted
//! in the order of their first transmission, ACKs in the order in which the receiver sends them,
//! both from 0.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// Its family.
    pub family: String,
    /// What it was drawn from.
    pub seed: u64,
    /// The congestion control of the socket.
    pub congestion: String,
    /// Sysctls below `net.ipv4` that are not as they are by default.
    pub settings: BTreeMap<String, i64>,
    /// The device takes super-segments.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub offload: bool,
    /// The MSS option of the receiver.
    pub mss: u16,
    /// The receiver agrees to SACK.
    pub sack: bool,
    /// It reports duplicates.
    pub dsack: bool,
    /// It agrees to ECN, for which the kernel asks.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub ecn: bool,
    /// It agrees to timestamps.
    pub timestamps: bool,
    /// Its buffer in bytes.
    pub buffer: u64,
    /// How many bytes its application reads, and how often in milliseconds; `None` for at once.
    pub reads: Option<(u64, u64)>,
    /// How long an ACK may wait, in milliseconds; 0 for none.
    pub delayed_ack: u64,
    /// The link's rate in kbit/s.
    pub rate: u64,
    /// Its delay one way, in microseconds.
    pub delay: u64,
    /// Its queue in packets.
    pub queue: usize,
    /// When how many bytes are written: milliseconds after the handshake.
    pub writes: Vec<(u64, u64)>,
    /// Segments that are lost: number and transmission.
    pub drop: Vec<(u64, u32)>,
    /// Segments that come marked with CE, if they are ECN-capable.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mark: Vec<(u64, u32)>,
    /// Segments that come later by so many milliseconds.
    pub late: Vec<(u64, u32, u64)>,
    /// Segments that come twice, the second time later by so many milliseconds.
    pub twice: Vec<(u64, u32, u64)>,
    /// ACKs that are lost.
    pub drop_acks: Vec<u64>,
    /// ACKs that come later by so many milliseconds. With timestamps those behind them wait.
    pub late_acks: Vec<(u64, u64)>,
    /// From when to when nothing arrives at the receiver: milliseconds after the handshake.
    pub holds: Vec<(u64, u64)>,
}

impl Scenario {
    /// Payload bytes of a full segment.
    pub fn payload(&self) -> u64 {
        u64::from(self.mss) - if self.timestamps { 12 } else { 0 }
    }

    /// All that is written.
    pub fn bytes(&self) -> u64 {
        self.writes.iter().map(|(_, bytes)| bytes).sum()
    }
}
