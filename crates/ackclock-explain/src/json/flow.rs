//! One direction of a connection.

use ackclock_tcp::wire::Options;
use ackclock_trace::{AskedShorter, Connection, Ecn, Flow};
use serde::Serialize;

use super::losses::{LossesJson, QueueingJson};
use super::ways::WaysJson;
use super::{Epoch, LimitsJson, RoundTripJson};
use crate::slow::Rates;

#[derive(Serialize)]
pub(super) struct FlowJson<'a> {
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
    asked_shorter: Option<AskedShorterJson>,
    window: Option<u64>,
    full_window: u64,
    throughput_bps: Option<f64>,
    goodput_bps: Option<f64>,
    retransmission_rate: Option<f64>,
    doubts: &'a [String],
}

impl<'a> FlowJson<'a> {
    pub(super) fn of(connection: &'a Connection, flow: &'a Flow) -> Self {
        let Rates { throughput, goodput, busy: _, retransmitted } = Rates::of(connection, flow);
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
            asked_shorter: flow.asked_shorter.as_deref().map(AskedShorterJson::of),
            window: flow.window,
            full_window: flow.full_window,
            throughput_bps: throughput,
            goodput_bps: goodput,
            retransmission_rate: retransmitted,
            doubts: &flow.doubts,
        }
    }
}

/// Marks on one way.
#[derive(Serialize)]
struct EcnJson {
    negotiated: Option<bool>,
    accurate: bool,
    capable: u64,
    marked: u64,
    echoes: Option<u64>,
    cwr: Option<u64>,
    reductions: Option<usize>,
    reduction_list: Vec<Epoch>,
}

impl EcnJson {
    fn of(ecn: &Ecn) -> Self {
        let classic = !ecn.accurate;
        EcnJson {
            negotiated: ecn.negotiated,
            accurate: ecn.accurate,
            capable: ecn.capable,
            marked: ecn.marked,
            echoes: classic.then_some(ecn.echoes),
            cwr: classic.then_some(ecn.cwr),
            reductions: classic.then_some(ecn.reductions.len()),
            reduction_list: ecn.reductions.iter().map(|at| Epoch(*at)).collect(),
        }
    }
}

/// What routers have asked for.
#[derive(Serialize)]
struct AskedShorterJson {
    t: Epoch,
    messages: u32,
    mtu: Option<u32>,
    router: String,
    ignored: bool,
}

impl AskedShorterJson {
    fn of(asked: &AskedShorter) -> Self {
        let &AskedShorter { messages, first, mtu, router, ignored } = asked;
        AskedShorterJson { t: Epoch(first), messages, mtu, router: router.to_string(), ignored }
    }
}

/// The options of a SYN.
#[derive(Serialize)]
struct OfferedJson {
    mss: Option<u16>,
    window_scale: Option<u8>,
    sack: bool,
    timestamps: bool,
}
