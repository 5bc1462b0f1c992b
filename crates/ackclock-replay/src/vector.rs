//! A vector: what went into a sender, and what it sent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The value of `format` in a header.
pub const FORMAT: &str = "ackclock-vector/1";

/// The ssthresh of a kernel that has none yet.
pub const NO_SSTHRESH: u32 = 0x7fff_ffff;

/// One recorded connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector {
    /// What was so from its beginning to its end.
    pub header: Header,
    /// What happened, in the order of time.
    pub steps: Vec<Step>,
}

/// What was so from the beginning of a connection to its end: the first line of a vector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// The kernel's version, such as `6.18.44`.
    pub kernel: String,
    /// Ticks of its clock a second. Time 0 is a tick.
    pub hz: u32,
    /// Its congestion control: `cubic` or `reno`.
    pub congestion: String,
    /// Its sysctls below `net.ipv4` that decide about loss recovery.
    pub settings: BTreeMap<String, i64>,
    /// Payload bytes of a full segment.
    pub mss: u32,
    /// Segments of the first flight; 1 where lost SYNs leave no more.
    pub initial_window: u32,
    /// SACK was negotiated.
    pub sack: bool,
    /// ECN was negotiated (RFC 3168). Then the steps say which ACKs had ECN-Echo and which segments
    /// CWR.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub ecn: bool,
    /// Timestamps were negotiated.
    pub timestamps: bool,
    /// The receiver's window scale.
    pub window_scale: u8,
    /// The window that the SYN/ACK offered, in bytes.
    pub window: u64,
    /// Nagle's algorithm was on.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub nagle: bool,
    /// When the SYN left, in microseconds.
    pub syn_at: u64,
    /// The round trip that the handshake measured, in microseconds: how long after the SYN the
    /// SYN/ACK came. `None` where the SYN was retransmitted, unless a timestamp says which one was
    /// answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<u64>,
    /// How often the SYN was retransmitted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub syn_retransmissions: u32,
    /// The timestamp of the first one came back: it was not lost.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub syn_spurious: bool,
    /// Several segments could leave as one, to be cut by the device (segmentation offload). Then
    /// the steps say which segments had PSH.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub offload: bool,
    /// The family of the scenario.
    pub family: String,
    /// Its seed.
    pub seed: u64,
    /// What the path and the receiver did, for information.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub scenario: Value,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Header {
    /// A sysctl, or what it is by default.
    pub fn setting(&self, name: &str, default: i64) -> i64 {
        self.settings.get(name).copied().unwrap_or(default)
    }
}

/// Something that happened, and what the sender sent then.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// When, in microseconds.
    pub at: u64,
    /// What happened.
    pub what: What,
    /// What left before the next step.
    pub sent: Vec<Sent>,
    /// The sender's state afterwards.
    pub info: Info,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The application wrote so many bytes.
    Write(u64),
    /// The application closed: a FIN takes the position after the last byte.
    Close,
    /// ICMP said that the path has room for so many bytes of payload.
    Mss(u32),
    /// An ACK came in.
    Ack(Ack),
    /// A timer of the sender expired: no input, but an answer to the one before.
    Timer,
}

/// An ACK as it came in. Positions count from the first byte of data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// All before this position has arrived.
    pub to: u64,
    /// The window in bytes.
    pub window: u64,
    /// SACK blocks: first position, and the one after the last.
    pub sack: Vec<(u64, u64)>,
    /// The time whose timestamp is echoed, in milliseconds.
    pub echo: Option<u32>,
    /// It has ECN-Echo.
    pub ece: bool,
}

/// A segment that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u32, u32)", into = "(u64, u32, u32)")]
pub struct Sent {
    /// Position of its first byte.
    pub position: u64,
    /// Its bytes.
    pub len: u32,
    /// 1 for the first transmission of this position; 0 for a window probe without data.
    pub transmission: u32,
    /// It had PSH; `false` if that was not recorded.
    pub push: bool,
    /// It had CWR; `false` without ECN.
    pub cwr: bool,
}

impl From<(u64, u32, u32)> for Sent {
    fn from((position, len, transmission): (u64, u32, u32)) -> Sent {
        Sent { position, len, transmission, push: false, cwr: false }
    }
}

impl From<Sent> for (u64, u32, u32) {
    fn from(s: Sent) -> (u64, u32, u32) {
        (s.position, s.len, s.transmission)
    }
}

/// `tcpi_ca_state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaState {
    /// No loss is being repaired.
    #[default]
    Open,
    /// Open, with SACKs or duplicates.
    Disorder,
    /// The window is being lowered, without a loss.
    Cwr,
    /// A recovery that an ACK or a timer of RACK began.
    Recovery,
    /// After a timeout.
    Loss,
}

/// What `TCP_INFO` says, without the `tcpi_` of its names; lengths of time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// The state.
    pub state: CaState,
    /// cwnd in segments.
    pub cwnd: u32,
    /// ssthresh in segments; [`NO_SSTHRESH`] while there is none.
    pub ssthresh: u32,
    /// Segments that are SACKed; without SACK, duplicates.
    pub sacked: u32,
    /// Segments that are marked lost.
    pub lost: u32,
    /// Segments that were retransmitted and are not acknowledged.
    pub retrans: u32,
    /// Back-offs of the retransmission timer.
    pub backoff: u32,
    /// Segments by which the path reorders, as it was seen.
    pub reordering: u32,
    /// The retransmission timeout.
    pub rto: u32,
    /// The smoothed round trip.
    pub rtt: u32,
    /// Its mean deviation.
    pub rttvar: u32,
    /// The shortest round trip of the last minutes.
    pub min_rtt: u32,
}

/// What of an [`Info`] is not as it was after the step before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Changed {
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<CaState>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwnd: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssthresh: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sacked: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retrans: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    backoff: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reordering: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rto: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rtt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rttvar: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_rtt: Option<u32>,
}

/// Calls a macro with every field of [`Info`].
macro_rules! fields {
    ($with:ident, $a:expr, $b:expr) => {
        $with!(
            $a, $b, state cwnd ssthresh sacked lost retrans backoff reordering rto rtt
            rttvar min_rtt
        )
    };
}

impl Changed {
    pub(crate) fn between(before: &Info, after: &Info) -> Changed {
        macro_rules! changed {
            ($a:expr, $b:expr, $($field:ident)*) => {
                Changed { $($field: ($a.$field != $b.$field).then_some($b.$field)),* }
            };
        }
        fields!(changed, before, after)
    }

    pub(crate) fn apply(&self, info: &mut Info) {
        macro_rules! apply {
            ($a:expr, $b:expr, $($field:ident)*) => {
                $($b.$field = $a.$field.unwrap_or($b.$field);)*
            };
        }
        fields!(apply, self, info);
    }
}
