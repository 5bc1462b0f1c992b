//! The access log: a line of JSON for each connection of a client, when it is over.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use ackclock_stack::{Limit, Limits, Status};
use ackclock_tcp::connection::{CloseReason, TcpState};
use ackclock_tcp::{Span, Stats, TimeoutClass};
use serde::Serialize;

use super::Shared;

/// Bytes of lines that wait before they are written.
const BUFFER: usize = 8 << 10;

/// A connection that is over.
#[derive(Serialize)]
struct Entry<'a> {
    /// When it ended, in seconds since 1970.
    ended_at_s: f64,
    client: SocketAddr,
    server: SocketAddr,
    strategy: &'a str,
    /// From the SYN until it was taken: the handshake, and the wait for others to end.
    until_taken_s: f64,
    /// From then on until it ended; `limited_s` adds up to it.
    duration_s: f64,
    bytes_received: u64,
    /// What the client has acknowledged: what else was written for it lay in our buffer, or on its
    /// way.
    bytes_sent: u64,
    segments_sent: u64,
    retransmissions: u64,
    recoveries: u64,
    /// Whether ECN was negotiated; segments that came marked with CE, ACKs with ECN-Echo, and how
    /// often our sender answered those.
    ecn: bool,
    ecn_marks: u64,
    ecn_echoes: u64,
    ecn_reductions: u64,
    timeouts: u64,
    timeouts_by_class: BTreeMap<&'a str, u64>,
    least_rtt_s: Option<f64>,
    smoothed_rtt_s: Option<f64>,
    /// What our sender waited for longest, and for how long for each.
    limited_by: &'a str,
    limited_s: BTreeMap<&'a str, f64>,
    ended: &'a str,
    #[serde(flatten)]
    about: &'a About,
}

/// What a service knows of a connection. Keys without a value are left out.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct About {
    /// The backend, and how long connecting to it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_s: Option<f64>,
    /// Why no backend took the client: what the last address said that was tried, `backend`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_failure: Option<&'static str>,
    /// Clients that the line stands for: the one that is refused, and those before it since the
    /// last such line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<u64>,
    /// Responses begun, and what the last of them answered, if that was a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responses: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

/// What is known of a connection when it ends.
pub(super) struct Ended<'a> {
    pub status: Status,
    pub stats: &'a Stats,
    /// What it waited for before it was taken, and since.
    pub before: Limits,
    pub limits: Limits,
    /// Why we end it, if we do.
    pub why: &'a str,
    pub about: &'a About,
}

/// The lines of one thread.
pub(super) struct AccessLog {
    to: Arc<Shared>,
    /// Whole lines that are to be written.
    lines: Vec<u8>,
}

impl AccessLog {
    /// The lines of a thread, if there is a file for them.
    pub fn new(shared: &Arc<Shared>) -> Option<AccessLog> {
        shared.log.as_ref()?;
        Some(AccessLog { to: shared.clone(), lines: Vec::new() })
    }

    /// Writes the line of a connection.
    pub fn write(&mut self, strategy: &str, ended: &Ended<'_>) {
        let Ended { status, stats, before, limits, why, about } = ended;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let classes = TimeoutClass::ALL.into_iter().zip(stats.timeouts_by_class);
        let seconds = |span: Span| (span > Span::ZERO).then(|| span.secs_f64());
        let entry = Entry {
            ended_at_s: now.as_millis() as f64 / 1e3,
            client: status.remote,
            server: status.local,
            strategy,
            until_taken_s: before.total().secs_f64(),
            duration_s: limits.total().secs_f64(),
            bytes_received: status.read,
            bytes_sent: status.acked(),
            segments_sent: stats.segments_sent,
            retransmissions: stats.retransmissions,
            recoveries: stats.recoveries,
            ecn: status.ecn,
            ecn_marks: status.marks,
            ecn_echoes: stats.ecn_echoes,
            ecn_reductions: stats.ecn_reductions,
            timeouts: stats.timeouts,
            timeouts_by_class: classes.map(|(class, n)| (class.name(), n)).collect(),
            least_rtt_s: seconds(stats.rtt_least),
            smoothed_rtt_s: seconds(stats.rtt_smoothed),
            limited_by: limits.most().name(),
            limited_s: Limit::ALL.map(|limit| (limit.name(), limits.time(limit).secs_f64())).into(),
            ended: match (status.reason, status.state) {
                (Some(CloseReason::Reset | CloseReason::Refused), _) => "reset_by_client",
                (Some(CloseReason::TimedOut), _) => "timed_out",
                (Some(CloseReason::Unreachable), _) => "unreachable",
                (Some(CloseReason::Aborted), _) => why,
                (None, TcpState::Closed | TcpState::TimeWait) => "closed",
                (None, _) => why,
            },
            about,
        };
        // All keys are texts, and memory takes what is written.
        if serde_json::to_writer(&mut self.lines, &entry).is_ok() {
            self.lines.push(b'\n');
        }
        if self.lines.len() >= BUFFER {
            self.flush();
        }
    }

    /// Whether nothing waits to be handed over.
    pub fn is_flushed(&self) -> bool {
        self.lines.is_empty()
    }

    /// Hands over what has been written so far.
    pub fn flush(&mut self) {
        let lines = std::mem::take(&mut self.lines);
        if let (Some(log), false) = (&self.to.log, lines.is_empty()) {
            log.append(lines);
        }
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.flush();
    }
}
