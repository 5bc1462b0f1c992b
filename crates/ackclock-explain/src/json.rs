//! The JSON document. It is written as it is made: one line for each connection.

use std::io::{self, Write};
use std::sync::LazyLock;

use ackclock_tcp::{Span, Time};
use ackclock_trace::connection::RoundTrip;
use ackclock_trace::{Flow, Jump, Lifetime, Limit, Position};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::clock::Back;
use crate::explained::{Capture, End, Explained, Found};
use crate::names;
use crate::replay::Rescue;

mod events;
mod flow;
mod losses;
mod sums;
mod ways;

use self::events::{RecoveryJson, RetransmissionJson, StallJson, TimeoutJson};
use self::flow::FlowJson;
pub(crate) use self::sums::SummaryJson;
use self::sums::{CountsJson, OverallJson};

/// Writes everything as one JSON object: `captures`, `connections` and `overall`.
///
/// # Errors
/// What writing returns.
pub fn write_json(explained: &Explained, mut out: impl Write) -> io::Result<()> {
    out.write_all(b"{\"captures\":")?;
    lines(&mut out, explained.captures.iter().map(CaptureJson::of))?;
    out.write_all(b",\n\"connections\":")?;
    lines(
        &mut out,
        explained.connections.iter().map(|found| {
            let capture = explained.captures.get(found.capture);
            ConnectionJson::of(found, capture.map_or("", |capture| &capture.path))
        }),
    )?;
    out.write_all(b",\n\"overall\":")?;
    out.write_all(&serde_json::to_vec(&OverallJson::of(explained))?)?;
    out.write_all(b"}\n")?;
    out.flush()
}

/// An array with one element a line.
fn lines<T: Serialize>(out: &mut impl Write, items: impl Iterator<Item = T>) -> io::Result<()> {
    let mut before: &[u8] = b"[\n";
    let mut any = false;
    // Serde writes a few bytes at a time, and each of these would be a call of `out`.
    let mut line = Vec::new();
    for item in items {
        line.clear();
        line.extend_from_slice(before);
        serde_json::to_writer(&mut line, &item)?;
        out.write_all(&line)?;
        before = b",\n";
        any = true;
    }
    out.write_all(if any { b"\n]" } else { b"[]" })
}

/// Seconds since 1970 with all nine decimals, which an `f64` does not hold.
struct Epoch(Time);

impl Serialize for Epoch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let nanos = self.0.nanos();
        let text = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
        RawValue::from_string(text).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

fn seconds(span: Span) -> f64 {
    span.secs_f64()
}

#[derive(Serialize)]
pub(crate) struct CaptureJson<'a> {
    path: &'a str,
    packets: u64,
    segments: u64,
    filtered: u64,
    ignored: &'a std::collections::BTreeMap<&'static str, u64>,
    dropped_by_capture: u64,
    set_back: Option<BackJson>,
    out_of_order: Option<BackJson>,
    jumps: Vec<JumpJson>,
    start: Option<Epoch>,
    damage: Option<DamageJson<'a>>,
    failed: Option<&'a str>,
}

impl<'a> CaptureJson<'a> {
    pub(crate) fn of(capture: &'a Capture) -> Self {
        CaptureJson {
            path: &capture.path,
            packets: capture.packets,
            segments: capture.segments,
            filtered: capture.filtered,
            ignored: &capture.ignored,
            dropped_by_capture: capture.dropped_by_capture,
            set_back: BackJson::of(&capture.set_back),
            out_of_order: BackJson::of(&capture.out_of_order),
            jumps: capture.jumps.iter().map(JumpJson::of).collect(),
            start: capture.start.map(Epoch),
            damage: capture.damage.as_ref().map(|d| DamageJson { offset: d.offset, what: &d.what }),
            failed: capture.failed.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct BackJson {
    times: u64,
    frame: u64,
    by_s: f64,
}

impl BackJson {
    fn of(back: &Back) -> Option<Self> {
        let Back { times, frame, by } = *back;
        (times > 0).then(|| BackJson { times, frame, by_s: seconds(by) })
    }
}

#[derive(Serialize)]
struct JumpJson {
    frame: u64,
    by_s: f64,
    stood_still: Option<String>,
}

impl JumpJson {
    fn of(jump: &Jump) -> Self {
        let Jump { frame, by, stood_still, .. } = *jump;
        JumpJson { frame, by_s: seconds(by), stood_still: stood_still.map(|host| host.to_string()) }
    }
}

#[derive(Serialize)]
struct DamageJson<'a> {
    offset: u64,
    what: &'a str,
}

#[derive(Serialize)]
pub(crate) struct ConnectionJson<'a> {
    client: String,
    server: String,
    start: Epoch,
    duration_s: f64,
    #[serde(flatten)]
    counts: CountsJson,
    retransmission_list: Vec<RetransmissionJson>,
    timeout_list: Vec<TimeoutJson<'a>>,
    number: usize,
    capture: &'a str,
    packets: u64,
    copies: u64,
    same_as: Option<usize>,
    begun: bool,
    one_way: bool,
    unanswered: bool,
    whole_seconds: bool,
    no_answer_s: Option<f64>,
    longest_answer_s: f64,
    ended: &'static str,
    reset_by: Option<&'static str>,
    cut_off: bool,
    position: PositionJson,
    options: OptionsJson,
    rtt: Option<RoundTripJson>,
    from_client: FlowJson<'a>,
    from_server: FlowJson<'a>,
    stall_list: Vec<StallJson>,
    recovery_list: Vec<RecoveryJson>,
    saved_by: Vec<SavedJson<'a>>,
    sender: &'static str,
    limited_by: Option<&'static str>,
}

impl<'a> ConnectionJson<'a> {
    pub(crate) fn of(found: &'a Found, capture: &'a str) -> Self {
        let connection = &found.connection;
        let timeouts = found.timeouts();
        let saved = timeouts.iter().enumerate().flat_map(|(place, (end, timeout, _))| {
            found
                .rescues(*end, *timeout)
                .iter()
                .map(move |rescue| SavedJson { timeout: place, rescue })
        });
        let either = |of: fn(&Flow) -> bool| found.flows().any(|(_, flow)| of(flow));
        ConnectionJson {
            client: connection.client.to_string(),
            server: connection.server.to_string(),
            start: Epoch(connection.start),
            duration_s: seconds(connection.end.since(connection.start)),
            counts: CountsJson::of(&found.counts()),
            retransmission_list: each(found.retransmissions(), RetransmissionJson::of),
            saved_by: saved.collect(),
            timeout_list: timeouts
                .iter()
                .map(|(end, _, t)| TimeoutJson::of(*end, t, found.flow(*end)))
                .collect(),
            number: found.number,
            capture,
            packets: connection.packets,
            copies: connection.copies,
            same_as: found.same_as,
            begun: connection.begun,
            one_way: connection.one_way,
            unanswered: connection.unanswered,
            whole_seconds: connection.whole_seconds,
            no_answer_s: connection.no_answer.map(seconds),
            longest_answer_s: seconds(found.longest_answer()),
            ended: names::ended(connection.ended),
            reset_by: names::reset_by(connection.ended),
            cut_off: names::cut_off(connection.ended),
            position: PositionJson::of(&connection.position),
            options: OptionsJson { sack: either(|f| f.sack), timestamps: either(|f| f.timestamps) },
            rtt: found.rtt().map(RoundTripJson::of),
            from_client: FlowJson::of(connection, &connection.from_client),
            from_server: FlowJson::of(connection, &connection.from_server),
            stall_list: each(found.stalls(), StallJson::of),
            recovery_list: each(found.recoveries(), RecoveryJson::of),
            sender: found.sender().name(),
            limited_by: found.main().map(Limit::name),
        }
    }
}

#[derive(Serialize)]
struct PositionJson {
    vantage: &'static str,
    confidence: f64,
    to_client_s: Option<f64>,
    to_server_s: Option<f64>,
    lost_before_from_client: bool,
    lost_before_from_server: bool,
}

impl PositionJson {
    fn of(p: &Position) -> Self {
        PositionJson {
            vantage: names::vantage(p.vantage),
            confidence: p.confidence,
            to_client_s: p.to_client.map(seconds),
            to_server_s: p.to_server.map(seconds),
            lost_before_from_client: p.lost_before[0],
            lost_before_from_server: p.lost_before[1],
        }
    }
}

/// What was negotiated, or is in use.
#[derive(Serialize)]
struct OptionsJson {
    sack: bool,
    timestamps: bool,
}

#[derive(Serialize)]
struct RoundTripJson {
    min_s: f64,
    mean_s: f64,
    median_s: f64,
    p99_s: f64,
    max_s: f64,
    samples: u64,
}

impl RoundTripJson {
    fn of(r: RoundTrip) -> Self {
        RoundTripJson {
            min_s: seconds(r.min),
            mean_s: seconds(r.mean),
            median_s: seconds(r.median),
            p99_s: seconds(r.p99),
            max_s: seconds(r.max),
            samples: r.samples,
        }
    }
}

/// Seconds for which each limit limited a sender.
struct LimitsJson(Lifetime);

impl Serialize for LimitsJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        static KEYS: LazyLock<[String; Limit::ALL.len()]> =
            LazyLock::new(|| Limit::ALL.map(|limit| format!("{}_s", limit.name())));
        let seconds = Limit::ALL.map(|limit| seconds(self.0.of(limit)));
        serializer.collect_map(KEYS.iter().zip(seconds))
    }
}

/// What one strategy would have made of a timeout.
#[derive(Serialize)]
struct SavedJson<'a> {
    /// Which of `timeout_list`.
    timeout: usize,
    #[serde(flatten)]
    rescue: &'a Rescue,
}

fn each<T, J>(list: Vec<(End, &T)>, of: fn(End, &T) -> J) -> Vec<J> {
    list.into_iter().map(|(end, item)| of(end, item)).collect()
}
