//! The JSON document. It is written as it is made: one line for each connection.

use std::io::{self, Write};

use ackclock_tcp::wire::Options;
use ackclock_tcp::{Seq, Span, Time, TimeoutClass};
use ackclock_trace::connection::RoundTrip;
use ackclock_trace::{
    Connection, Ecn, Episode, Flow, Kind, Lifetime, Limit, Position, Recovery, Retransmission,
    Spurious, Stall, State, Timeout,
};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::clock::Back;
use crate::explained::{Capture, Counts, End, Explained, Found, sent_by, spurious};
use crate::names;
use crate::overall::{Overall, PaperTable, Point, RescueSum};
use crate::replay::Rescue;
use crate::slow::Rates;
use crate::summary::Summary;

mod losses;
mod ways;

use self::losses::{LossesJson, QueueingJson};
use self::ways::WaysJson;

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
    serde_json::to_writer(&mut out, &OverallJson::of(explained))?;
    out.write_all(b"}\n")?;
    out.flush()
}

/// An array with one element a line.
fn lines<T: Serialize>(out: &mut impl Write, items: impl Iterator<Item = T>) -> io::Result<()> {
    let mut before: &[u8] = b"[\n";
    let mut any = false;
    for item in items {
        out.write_all(before)?;
        serde_json::to_writer(&mut *out, &item)?;
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
    start: Option<Epoch>,
    damage: Option<DamageJson<'a>>,
    failed: Option<&'a str>,
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
struct DamageJson<'a> {
    offset: u64,
    what: &'a str,
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
            start: capture.start.map(Epoch),
            damage: capture.damage.as_ref().map(|d| DamageJson { offset: d.offset, what: &d.what }),
            failed: capture.failed.as_deref(),
        }
    }
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
    begun: bool,
    one_way: bool,
    ended: &'static str,
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

/// The sums, of a connection or of all.
#[derive(Serialize)]
struct CountsJson {
    bytes: u64,
    segments: u64,
    retransmissions: u64,
    fast_retransmissions: u64,
    recovery_retransmissions: u64,
    slow_start_retransmissions: u64,
    timeouts: u64,
    backed_off_timeouts: u64,
    tail_loss_probes: u64,
    spurious_retransmissions: u64,
    lost_retransmissions: u64,
    dsacks: u64,
    recoveries: u64,
    stalls_s: f64,
}

#[derive(Serialize)]
struct RetransmissionJson {
    t: Epoch,
    seq: u32,
    len: u32,
    kind: &'static str,
    probability: Option<f64>,
    spurious: Option<bool>,
    lost: Option<bool>,
    spurious_by: Option<&'static str>,
    from: &'static str,
    frame: u64,
    transmission: u32,
}

#[derive(Serialize)]
struct TimeoutJson<'a> {
    t: Epoch,
    seq: u32,
    class: &'static str,
    state: &'static str,
    flight: u64,
    cwnd: u64,
    spurious: Option<bool>,
    spurious_by: Option<&'static str>,
    from: &'static str,
    waited_s: f64,
    episode: Option<EpisodeJson<'a>>,
}

/// What a replay assumes of the time around a timeout, as it was reconstructed.
#[derive(Serialize)]
struct EpisodeJson<'a> {
    rtt_s: f64,
    rate_bps: Option<f64>,
    cwnd_segments: u32,
    rwnd: u64,
    bytes: u64,
    repaired: u64,
    lost: &'a [u8],
    slow_start: bool,
    delayed_ack: bool,
    took_s: f64,
}

#[derive(Serialize)]
struct PositionJson {
    vantage: &'static str,
    confidence: f64,
    to_client_s: Option<f64>,
    to_server_s: Option<f64>,
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

/// Seconds for which each limit limited a sender.
struct LimitsJson(Lifetime);

impl Serialize for LimitsJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of = |limit: Limit| (format!("{}_s", limit.name()), seconds(self.0.of(limit)));
        serializer.collect_map(Limit::ALL.map(of))
    }
}

#[derive(Serialize)]
struct FlowJson<'a> {
    mss: u32,
    offered: Option<OfferedJson>,
    bytes: u64,
    segments: u64,
    retransmissions: usize,
    timeouts: usize,
    dsacks: u64,
    probes_of_new_data: u64,
    unseen_bytes: u64,
    rtt: Option<RoundTripJson>,
    limits: LimitsJson,
    ways: WaysJson,
    queueing: Option<QueueingJson>,
    losses: LossesJson,
    ecn: EcnJson,
    window: Option<u64>,
    full_window: u64,
    throughput_bps: Option<f64>,
    goodput_bps: Option<f64>,
    retransmission_rate: Option<f64>,
    doubts: &'a [String],
}

/// Marks on one way.
#[derive(Serialize)]
struct EcnJson {
    negotiated: Option<bool>,
    capable: u64,
    marked: u64,
    echoes: u64,
    cwr: u64,
    reductions: usize,
    reduction_list: Vec<Epoch>,
}

/// The options of a SYN.
#[derive(Serialize)]
struct OfferedJson {
    mss: Option<u16>,
    window_scale: Option<u8>,
    sack: bool,
    timestamps: bool,
}

#[derive(Serialize)]
struct StallJson {
    t: Epoch,
    duration_s: f64,
    cause: &'static str,
    class: Option<&'static str>,
    from: &'static str,
    frame: u64,
}

#[derive(Serialize)]
struct RecoveryJson {
    t: Epoch,
    duration_s: Option<f64>,
    exit: &'static str,
    flight: u64,
    retransmissions: u32,
    spurious: bool,
    from: &'static str,
}

/// What one strategy would have made of a timeout.
#[derive(Serialize)]
struct SavedJson<'a> {
    /// Which of `timeout_list`.
    timeout: usize,
    #[serde(flatten)]
    rescue: &'a Rescue,
}

impl CountsJson {
    fn of(c: &Counts) -> CountsJson {
        CountsJson {
            bytes: c.bytes,
            segments: c.segments,
            retransmissions: c.all_retransmissions(),
            fast_retransmissions: c.of(Kind::FastRetransmit),
            recovery_retransmissions: c.of(Kind::Recovery),
            slow_start_retransmissions: c.of(Kind::SlowStart),
            timeouts: c.all_timeouts(),
            backed_off_timeouts: c.timeouts_of(TimeoutClass::BackedOff),
            tail_loss_probes: c.tail_loss_probes(),
            spurious_retransmissions: c.spurious,
            lost_retransmissions: c.lost,
            dsacks: c.dsacks,
            recoveries: c.recoveries,
            stalls_s: seconds(c.stalled),
        }
    }
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
            begun: connection.begun,
            one_way: connection.one_way,
            ended: names::ended(connection.ended),
            position: PositionJson::of(&connection.position),
            options: OptionsJson { sack: either(|f| f.sack), timestamps: either(|f| f.timestamps) },
            rtt: found.rtt().map(RoundTripJson::of),
            from_client: FlowJson::of(connection, &connection.from_client),
            from_server: FlowJson::of(connection, &connection.from_server),
            stall_list: each(found.stalls(), StallJson::of),
            recovery_list: each(found.recoveries(), RecoveryJson::of),
            sender: found.sender().name(),
            limited_by: found.lifetime().main().map(Limit::name),
        }
    }
}

fn each<T, J>(list: Vec<(End, &T)>, of: fn(End, &T) -> J) -> Vec<J> {
    list.into_iter().map(|(end, item)| of(end, item)).collect()
}

impl RetransmissionJson {
    fn of(from: End, r: &Retransmission) -> Self {
        let Seq(seq) = r.seq;
        RetransmissionJson {
            t: Epoch(r.at),
            seq,
            len: r.len,
            kind: r.kind.name(),
            probability: r.probability,
            spurious: spurious(r),
            lost: r.lost,
            spurious_by: r.spurious.map(names::spurious),
            from: from.name(),
            frame: r.frame,
            transmission: r.transmission,
        }
    }
}

impl<'a> TimeoutJson<'a> {
    fn of(from: End, t: &'a Timeout, flow: &Flow) -> Self {
        let by: Option<Spurious> = t.spurious;
        let known = by.map(|_| true).or_else(|| sent_by(flow, t).and_then(spurious));
        TimeoutJson {
            t: Epoch(t.at),
            seq: t.seq.0,
            class: t.class.name(),
            state: t.state.name(),
            flight: t.flight,
            cwnd: t.cwnd,
            spurious: known,
            spurious_by: by.map(names::spurious),
            from: from.name(),
            waited_s: seconds(t.waited),
            episode: t.episode.as_ref().map(EpisodeJson::of),
        }
    }
}

impl<'a> EpisodeJson<'a> {
    fn of(e: &'a Episode) -> Self {
        EpisodeJson {
            rtt_s: seconds(e.rtt),
            rate_bps: e.rate_bps,
            cwnd_segments: e.cwnd,
            rwnd: e.rwnd,
            bytes: e.bytes,
            repaired: e.repaired,
            lost: &e.lost,
            slow_start: e.slow_start,
            delayed_ack: e.delayed_ack,
            took_s: seconds(e.took),
        }
    }
}

impl PositionJson {
    fn of(p: &Position) -> Self {
        PositionJson {
            vantage: names::vantage(p.vantage),
            confidence: p.confidence,
            to_client_s: p.to_client.map(seconds),
            to_server_s: p.to_server.map(seconds),
        }
    }
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

impl<'a> FlowJson<'a> {
    fn of(connection: &'a Connection, flow: &'a Flow) -> Self {
        let Rates { throughput, goodput, retransmitted } = Rates::of(connection, flow);
        let offered = |o: &Options| OfferedJson {
            mss: o.mss,
            window_scale: o.wscale,
            sack: o.sack_permitted,
            timestamps: o.timestamps.is_some(),
        };
        FlowJson {
            mss: flow.mss,
            offered: flow.offered.as_ref().map(offered),
            bytes: flow.bytes,
            segments: flow.segments,
            retransmissions: flow.retransmissions.len(),
            timeouts: flow.timeouts.len(),
            dsacks: flow.dsacks,
            probes_of_new_data: flow.probes_of_new_data,
            unseen_bytes: flow.unseen,
            rtt: flow.rtt.map(RoundTripJson::of),
            limits: LimitsJson(flow.lifetime),
            ways: WaysJson::of(&flow.ways),
            queueing: flow.rtt.map(QueueingJson::of),
            losses: LossesJson::of(&flow.losses),
            ecn: EcnJson::of(&flow.ecn),
            window: flow.window,
            full_window: flow.full_window,
            throughput_bps: throughput,
            goodput_bps: goodput,
            retransmission_rate: retransmitted,
            doubts: &flow.doubts,
        }
    }
}

impl EcnJson {
    fn of(ecn: &Ecn) -> Self {
        EcnJson {
            negotiated: ecn.negotiated,
            capable: ecn.capable,
            marked: ecn.marked,
            echoes: ecn.echoes,
            cwr: ecn.cwr,
            reductions: ecn.reductions.len(),
            reduction_list: ecn.reductions.iter().map(|at| Epoch(*at)).collect(),
        }
    }
}

impl StallJson {
    fn of(from: End, s: &Stall) -> Self {
        StallJson {
            t: Epoch(s.start),
            duration_s: seconds(s.end.since(s.start)),
            cause: names::cause(s.cause),
            class: names::cause_class(s.cause),
            from: from.name(),
            frame: s.frame,
        }
    }
}

impl RecoveryJson {
    fn of(from: End, r: &Recovery) -> Self {
        RecoveryJson {
            t: Epoch(r.start),
            duration_s: r.end.map(|end| seconds(end.since(r.start))),
            exit: match (r.end, r.by_timeout) {
                (None, _) => "open",
                (_, true) => "timeout",
                (_, false) => "ack",
            },
            flight: r.flight,
            retransmissions: r.retransmissions,
            spurious: r.spurious,
            from: from.name(),
        }
    }
}

/// Sums over connections.
#[derive(Serialize)]
pub(crate) struct SummaryJson {
    connections: u64,
    #[serde(flatten)]
    counts: CountsJson,
    retransmission_rate: Option<f64>,
    lost_s: f64,
    held_s: f64,
    limits: LimitsJson,
}

impl SummaryJson {
    pub(crate) fn of(summary: &Summary) -> SummaryJson {
        SummaryJson {
            connections: summary.connections,
            counts: CountsJson::of(&summary.counts),
            retransmission_rate: summary.retransmitted(),
            lost_s: seconds(summary.counts.lost_time()),
            held_s: seconds(summary.held()),
            limits: LimitsJson(summary.lifetime),
        }
    }
}

#[derive(Serialize)]
struct OverallJson {
    connections: u64,
    #[serde(flatten)]
    counts: CountsJson,
    retransmissions_by_kind: Named,
    timeouts_by_class: Named,
    timeouts_by_state: Named,
    stalls_by_cause: Vec<CauseJson>,
    lin_kung_figure_1: Vec<Point>,
    prr_tables: [PaperTable; 3],
    replayable_timeouts: usize,
    replayed_timeouts: usize,
    saved_by: Vec<RescueSum>,
    limits: LimitsJson,
}

#[derive(Serialize)]
struct CauseJson {
    cause: &'static str,
    class: Option<&'static str>,
    stalls: u64,
    duration_s: f64,
}

/// Counts under their names.
struct Named(Vec<(&'static str, u64)>);

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

impl OverallJson {
    fn of(explained: &Explained) -> Self {
        let all = Overall::of(explained);
        let cause = |(&(cause, class), &(stalls, long)): (&(_, _), &(_, _))| CauseJson {
            cause,
            class,
            stalls,
            duration_s: seconds(long),
        };
        OverallJson {
            connections: all.connections,
            counts: CountsJson::of(&all.counts),
            retransmissions_by_kind: Named(
                Kind::ALL.map(|k| (k.name(), all.counts.of(k))).to_vec(),
            ),
            timeouts_by_class: Named(
                TimeoutClass::ALL.map(|c| (c.name(), all.counts.timeouts_of(c))).to_vec(),
            ),
            timeouts_by_state: Named(
                State::ALL.map(|s| (s.name(), all.counts.timeouts_in(s))).to_vec(),
            ),
            stalls_by_cause: all.stalls.iter().map(cause).collect(),
            lin_kung_figure_1: all.figure_1(),
            prr_tables: all.prr_tables(),
            replayable_timeouts: explained.replayable,
            replayed_timeouts: explained.replayed,
            saved_by: all.rescues,
            limits: LimitsJson(explained.summary().lifetime),
        }
    }
}
