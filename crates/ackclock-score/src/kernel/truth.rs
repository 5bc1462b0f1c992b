//! What was true of a capture, by the sender's own trace, the gateway's log of drops, and
//! the packets themselves.

mod path;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::SocketAddr;

use ackclock_tcp::Time;
use serde::{Deserialize, Serialize};

use super::pcap;
use super::plan::Planned;

pub(super) use path::connections;

/// A packet that the gateway has dropped.
pub(super) struct Drop {
    pub at: Time,
    /// Whether the sender sent it.
    pub from_sender: bool,
    /// Whether that was between the sender and the middle.
    pub near_sender: bool,
    pub why: &'static str,
    pub packet: Vec<u8>,
}

/// The truth beside a capture: `NAME.json`. Times are nanoseconds since 1970, sequence numbers
/// those on the wire.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Truth {
    /// What was planned.
    pub plan: Planned,
    /// What is not known, and why.
    pub missing: Vec<String>,
    /// Whether there was a trace: without one neither kinds nor timeouts are known.
    #[serde(default = "yes")]
    pub traced: bool,
    /// Whether captures were taken in the middle and at the receiver, too.
    #[serde(default)]
    pub away: bool,
    /// The sender's counters, of those that are not 0 (`/proc/net/snmp` and `netstat`; its
    /// namespace had no other connections).
    pub counters: BTreeMap<String, u64>,
    /// The receiver's.
    #[serde(default)]
    pub receiver_counters: BTreeMap<String, u64>,
    /// What the sender's kernel said of each connection when all was acknowledged, before its FIN.
    #[serde(default)]
    pub tcp_info: Vec<Info>,
    /// What the sender did, by connection.
    pub connections: Vec<Connection>,
    /// What the gateway dropped.
    #[serde(default)]
    pub drops: Vec<Dropped>,
    /// How late the gateway was with packets, quantile of 99 %, in microseconds.
    pub late_p99_us: f64,
}

/// Of one connection, `TCP_INFO` (Linux `include/uapi/linux/tcp.h`), as `ss` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// When it had answered.
    pub t_ns: u64,
    /// The end that was asked.
    pub sender: SocketAddr,
    /// The other one.
    pub receiver: SocketAddr,
    /// Bytes that were not acknowledged yet.
    pub queued: u64,
    /// `tcpi_busy_time`, in milliseconds.
    pub busy_ms: u64,
    /// `tcpi_rwnd_limited`, in milliseconds.
    pub receive_window_ms: u64,
    /// `tcpi_sndbuf_limited`, in milliseconds.
    pub send_buffer_ms: u64,
    /// All of it.
    pub line: String,
}

impl Info {
    /// A line of `ss -tinOH`: state, bytes received and to be sent, both ends, then words such as
    /// `busy:12ms` and `rwnd_limited:5ms(41.7%)`, of which those of 0 are left out.
    pub(super) fn parse(line: &str, t_ns: u64) -> Option<Info> {
        let mut words = line.split_whitespace().skip(2);
        let queued = words.next()?.parse().ok()?;
        let (sender, receiver) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let ms = |name: &str| {
            let value = words.clone().find_map(|word| word.strip_prefix(name)?.strip_prefix(':'));
            value.and_then(|value| value.split("ms").next()?.parse().ok()).unwrap_or(0)
        };
        Some(Info {
            t_ns,
            sender,
            receiver,
            queued,
            busy_ms: ms("busy"),
            receive_window_ms: ms("rwnd_limited"),
            send_buffer_ms: ms("sndbuf_limited"),
            line: line.into(),
        })
    }
}

impl Truth {
    /// Whether it says what came to this one of [`PLACES`](crate::places::PLACES): those of old
    /// captures know the sender alone.
    pub(super) fn has(&self, place: usize) -> bool {
        place == 0 || self.away
    }
}

impl Retransmission {
    /// Its frame in the capture at this one of [`PLACES`](crate::places::PLACES), if it came there.
    pub(super) fn frame(&self, place: usize) -> Option<u64> {
        match place.checked_sub(1) {
            Some(away) => self.away[away],
            None => Some(self.frame),
        }
    }
}

fn yes() -> bool {
    true
}

/// What the sender sent on one connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Connection {
    /// The end whose sending this is about.
    pub sender: SocketAddr,
    /// The other one.
    pub receiver: SocketAddr,
    /// When its first packet was captured.
    pub t_ns: u64,
    /// Bytes of a full segment.
    pub mss: u32,
    /// Segments of SMSS with data, SYN or FIN, retransmissions included.
    pub segments: u64,
    /// Each segment that was retransmitted, in order.
    pub retransmissions: Vec<Retransmission>,
    /// Each expiry of the retransmission timer, in order.
    pub timeouts: Vec<Timeout>,
}

/// A segment that was retransmitted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Retransmission {
    /// Its frame in the sender's capture.
    pub frame: u64,
    /// When.
    pub t_ns: u64,
    /// First byte.
    pub seq: u32,
    /// Bytes of payload.
    pub len: u32,
    /// As in the output of `ackclock explain`; `None` without a trace.
    pub kind: Option<String>,
    /// Whether an earlier transmission of each of its bytes came through.
    pub spurious: bool,
    /// Whether the gateway dropped it.
    pub lost: bool,
    /// Its frames in the captures in the middle and at the receiver; `None` where it was lost
    /// before, or no capture was taken.
    #[serde(default)]
    pub away: [Option<u64>; 2],
    /// Whether the receiver's ACKs, as far as they came back, said that it was spurious: by
    /// D-SACK, or by an older time stamp.
    pub reported: bool,
}

/// An expiry of the retransmission timer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Timeout {
    /// When.
    pub t_ns: u64,
    /// First byte of what it retransmitted.
    pub seq: u32,
    /// As in the output of `ackclock explain`: Lin & Kung's class (section 4.1). A segment counts
    /// as retransmitted in this period if what was outstanding then is not yet acknowledged as a
    /// whole.
    pub class: String,
    /// The sender's state before it (`disorder`, ...); CWR counts as open.
    pub state: String,
    /// Whether what it retransmitted was spurious.
    pub spurious: bool,
}

/// A packet that the gateway dropped.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Dropped {
    /// When.
    pub t_ns: u64,
    /// Whether it came from the sender.
    pub from_sender: bool,
    /// Whether that was between the sender and the middle.
    #[serde(default)]
    pub near_sender: bool,
    /// `queue`, `early`, or a loss model.
    pub why: String,
    /// First byte.
    pub seq: u32,
    /// Bytes of payload.
    pub len: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Identification in the IPv4 header.
    pub ip_id: Option<u16>,
}

/// The gateway's log.
pub(super) fn drops(drops: &[Drop]) -> Vec<Dropped> {
    let of = |drop: &Drop| {
        let packet = pcap::packet(&drop.packet, 0, drop.at)?;
        Some(Dropped {
            t_ns: drop.at.0,
            from_sender: drop.from_sender,
            near_sender: drop.near_sender,
            why: drop.why.into(),
            seq: packet.seq.0,
            len: packet.len,
            ack: packet.ack.0,
            ip_id: packet.ip_id,
        })
    };
    drops.iter().filter_map(of).collect()
}
