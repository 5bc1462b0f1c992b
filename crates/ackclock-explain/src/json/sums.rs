//! Sums, of a connection or of all.

use ackclock_tcp::TimeoutClass;
use ackclock_trace::{Kind, State};
use serde::{Serialize, Serializer};

use super::{LimitsJson, seconds};
use crate::explained::{Counts, Explained};
use crate::overall::{Overall, PaperTable, Point, RescueSum};
use crate::summary::Summary;

#[derive(Serialize)]
pub(super) struct CountsJson {
    bytes: u64,
    segments: u64,
    retransmissions: u64,
    fast_retransmissions: u64,
    recovery_retransmissions: u64,
    slow_start_retransmissions: u64,
    timeouts: u64,
    backed_off_timeouts: u64,
    tail_loss_probes: u64,
    packet_too_big_retransmissions: u64,
    spurious_retransmissions: u64,
    lost_retransmissions: u64,
    dsacks: u64,
    recoveries: u64,
    stalls_s: f64,
}

impl CountsJson {
    pub(super) fn of(c: &Counts) -> CountsJson {
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
            packet_too_big_retransmissions: c.of(Kind::TooBig),
            spurious_retransmissions: c.spurious,
            lost_retransmissions: c.lost,
            dsacks: c.dsacks,
            recoveries: c.recoveries,
            stalls_s: seconds(c.stalled),
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
            held_s: seconds(summary.held),
            limits: LimitsJson(summary.lifetime),
        }
    }
}

#[derive(Serialize)]
pub(super) struct OverallJson {
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

impl OverallJson {
    pub(super) fn of(explained: &Explained) -> Self {
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
