//! What is measured of a run: numbers under names such as `timeouts/newreno`.

use std::collections::BTreeMap;

use ackclock_report::{FlowSummary, RecoveryStats, recovery_measures};

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

/// A counter of a flow, or a ratio of two.
pub(crate) struct Measure {
    pub name: &'static str,
    pub unit: &'static str,
    value: fn(&FlowSummary) -> f64,
    /// What `value` is a share of, if it is one.
    whole: Option<fn(&FlowSummary) -> f64>,
}

const fn measure(name: &'static str, unit: &'static str, value: fn(&FlowSummary) -> f64) -> Measure {
    Measure { name, unit, value, whole: None }
}

const fn share(name: &'static str, value: fn(&FlowSummary) -> f64, whole: fn(&FlowSummary) -> f64) -> Measure {
    Measure { name, unit: "%", value, whole: Some(whole) }
}

pub(crate) const MEASURES: [Measure; 16] = [
    measure("timeouts", "", |s| s.timeouts as f64),
    measure("timeouts-non-trigger", "", |s| s.timeouts_non_trigger as f64),
    measure("timeouts-multiple-losses", "", |s| s.timeouts_multiple_losses as f64),
    measure("timeouts-lost-retransmission", "", |s| s.timeouts_lost_retransmission as f64),
    share("share-non-trigger", |s| s.timeouts_non_trigger as f64, |s| s.timeouts as f64),
    share("share-multiple-losses", |s| s.timeouts_multiple_losses as f64, |s| s.timeouts as f64),
    share("share-lost-retransmission", |s| s.timeouts_lost_retransmission as f64, |s| s.timeouts as f64),
    measure("losses", "", |s| s.drops as f64),
    share("loss-rate", |s| s.drops as f64, |s| s.segments_sent as f64),
    measure("segments", "", |s| s.segments_sent as f64),
    measure("retransmissions", "", |s| s.retransmissions as f64),
    measure("needless", "", |s| s.spurious_retransmissions as f64),
    measure("fast-retransmissions", "", |s| s.fast_retransmissions as f64),
    measure("recoveries", "", |s| s.recoveries as f64),
    measure("goodput", "kb/s", |s| s.goodput_bps / 1000.0),
    measure("completion", "s", |s| s.completion_s.unwrap_or(f64::NAN)),
];

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
    /// Over flows of a run: the sum, the share of it, or of completions the last one.
    fn total(&self, flows: &[FlowSummary]) -> f64 {
        let values = flows.iter().map(self.value);
        match (self.name, self.whole) {
            ("completion", _) => {
                values.fold(0.0, |a: f64, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
            }
            (_, Some(whole)) => 100.0 * values.sum::<f64>() / flows.iter().map(whole).sum::<f64>(),
            _ => values.sum(),
        }
    }
}

/// `measure/strategy` over all flows and `measure/strategy/flow` for each; `runs` holds the flows of each run.
pub(crate) fn statistics(strategy: &str, flows: &[String], runs: &[&[FlowSummary]], into: &mut Measurements) {
    for m in &MEASURES {
        let total = runs.iter().map(|flows| m.total(flows)).collect();
        into.insert(format!("{}/{strategy}", m.name), Measurement::Samples(total));
        for (i, flow) in flows.iter().enumerate() {
            let values = runs.iter().filter_map(|run| run.get(i..=i)).map(|flow| m.total(flow)).collect();
            into.insert(format!("{}/{strategy}/{flow}", m.name), Measurement::Samples(values));
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
