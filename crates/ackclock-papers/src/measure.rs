//! What is measured of a run: numbers under names such as `timeouts/newreno`.

use std::collections::BTreeMap;
use std::{array, iter};

use ackclock_report::{FlowSummary, RecoveryStats, recovery_measures};

use crate::plan::Group;
use crate::{bound, timeouts};

/// Something measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Measurement {
    /// One number for each run, in the order of the seeds; NaN where it does not exist, as the completion of a transfer
    /// that is not complete, or the share of none.
    Samples(Vec<f64>),
    /// A sequence, or a word for what did not happen.
    Text(String),
}

pub(crate) type Measurements = BTreeMap<String, Measurement>;

/// A number of a flow, and what several flows have.
pub(crate) struct Measure {
    pub name: &'static str,
    pub unit: &'static str,
    value: fn(&FlowSummary) -> f64,
    together: Together,
}

/// What several flows have.
enum Together {
    Sum,
    Last,
    /// In percent of the sum of this.
    Share(fn(&FlowSummary) -> f64),
    /// Of those flows that have a value.
    Mean,
}

type Value = fn(&FlowSummary) -> f64;

const fn measure(name: &'static str, unit: &'static str, value: Value) -> Measure {
    Measure { name, unit, value, together: Together::Sum }
}

const fn share(name: &'static str, value: Value, whole: Value) -> Measure {
    Measure { name, unit: "%", value, together: Together::Share(whole) }
}

const fn mean(name: &'static str, unit: &'static str, value: Value) -> Measure {
    Measure { name, unit, value, together: Together::Mean }
}

pub(crate) const MEASURES: [Measure; 19] = [
    measure("timeouts", "", |s| s.timeouts as f64),
    measure("timeouts-non-trigger", "", |s| s.timeouts_non_trigger as f64),
    measure("timeouts-multiple-losses", "", |s| s.timeouts_multiple_losses as f64),
    measure("timeouts-lost-retransmission", "", |s| s.timeouts_lost_retransmission as f64),
    share("share-non-trigger", |s| s.timeouts_non_trigger as f64, |s| s.timeouts as f64),
    share("share-multiple-losses", |s| s.timeouts_multiple_losses as f64, |s| s.timeouts as f64),
    share("share-lost-retransmission", |s| s.timeouts_lost_retransmission as f64, |s| s.timeouts as f64),
    measure("losses", "", |s| s.drops.unwrap_or_default() as f64),
    share("loss-rate", |s| s.drops.unwrap_or_default() as f64, |s| s.segments_sent as f64),
    measure("segments", "", |s| s.segments_sent as f64),
    measure("retransmissions", "", |s| s.retransmissions as f64),
    measure("needless", "", |s| s.spurious_retransmissions.unwrap_or_default() as f64),
    measure("fast-retransmissions", "", |s| s.fast_retransmissions as f64),
    measure("recoveries", "", |s| s.recoveries as f64),
    measure("goodput", "kb/s", |s| s.goodput_bps / 1000.0),
    Measure { name: "completion", unit: "s", value: completion, together: Together::Last },
    mean("bandwidth", "kb/s", |s| s.bytes_acked as f64 * 8.0 / 1000.0 / completion(s)),
    mean("timeouts-per-transfer", "", |s| s.completion_s.map_or(f64::NAN, |_| s.timeouts as f64)),
    mean("rtt", "ms", |s| s.mean_rtt_s.unwrap_or(f64::NAN) * 1000.0),
];

fn completion(flow: &FlowSummary) -> f64 {
    flow.completion_s.unwrap_or(f64::NAN)
}

/// The unit of a measurement.
pub(crate) fn unit(name: &str) -> &'static str {
    let counters = MEASURES.iter().map(|m| (m.name, m.unit));
    let of_timeouts = timeouts::MEASURES.iter().map(|m| (m.name, m.unit));
    let distances = bound::MEASURES.iter().map(|(name, _)| (*name, "%"));
    let mut units = counters.chain(of_timeouts).chain(distances).chain(recovery_measures().map(|m| (m.name, m.unit)));
    let measure = name.split('/').next().unwrap_or_default();
    units.find(|(name, _)| *name == measure).map_or("", |(_, unit)| unit)
}

impl Measure {
    /// Over flows of a run.
    fn total(&self, flows: &[FlowSummary]) -> f64 {
        let values = flows.iter().map(self.value);
        match self.together {
            Together::Sum => values.sum(),
            Together::Last => values.fold(0.0, |a: f64, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }),
            Together::Share(whole) => 100.0 * values.sum::<f64>() / flows.iter().map(whole).sum::<f64>(),
            Together::Mean => {
                let (sum, n) = values.filter(|v| !v.is_nan()).fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
                sum / n
            }
        }
    }
}

/// Every measure over all flows of a run, then over each group of them.
pub(crate) type Totals = Vec<[f64; MEASURES.len()]>;

/// The totals of a run.
pub(crate) fn totals(flows: &[FlowSummary], groups: &[Group]) -> Totals {
    let groups = groups.iter().filter_map(|group| flows.get(group.flows.clone()));
    iter::once(flows).chain(groups).map(|flows| array::from_fn(|m| MEASURES[m].total(flows))).collect()
}

/// `measure/strategy` over all flows and `measure/strategy/flow` for each group.
pub(crate) fn statistics(strategy: &str, groups: &[Group], runs: &[&Totals], into: &mut Measurements) {
    let names = iter::once(strategy.to_string()).chain(groups.iter().map(|group| format!("{strategy}/{}", group.name)));
    for (i, name) in names.enumerate() {
        for (m, measure) in MEASURES.iter().enumerate() {
            let values = runs.iter().filter_map(|run| run.get(i)).map(|totals| totals[m]).collect();
            into.insert(format!("{}/{name}", measure.name), Measurement::Samples(values));
        }
    }
}

/// `measure/strategy` for the statistics of recovery, of all flows of a run together.
pub(crate) fn recovery<'a>(
    strategy: &str,
    runs: impl Iterator<Item = &'a RecoveryStats> + Clone,
    into: &mut Measurements,
) {
    for m in recovery_measures() {
        into.insert(format!("{}/{strategy}", m.name), Measurement::Samples(runs.clone().map(m.value).collect()));
    }
}
