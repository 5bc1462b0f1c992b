//! The catalogue of measures: the name of each, its unit, and how it is computed.
//!
//! `papers/README.md` explains them.

use ackclock_report::{FlowSummary, RecoveryStats, recovery_measures};
use ackclock_tcp::TimeoutClass::{LostRetransmission, MultipleLosses, NonTrigger};

use crate::sequence::unit_of_aspect;
use crate::timeouts::{CLASSES, Tally};

/// A measure of a run.
#[derive(Clone, Copy)]
pub(crate) struct Measure {
    pub name: &'static str,
    pub unit: &'static str,
    pub value: Value,
}

/// How a measure is computed.
#[derive(Clone, Copy)]
pub(crate) enum Value {
    /// From the counters of flows: over all of a run, and over each group of them.
    Flows(FlowValue),
    /// How far the completion exceeds that with this oracle and the same seed, in percent.
    OverOracle(&'static str),
    /// From the statistics of recovery, which take the events of all flows.
    Recovery(fn(&RecoveryStats) -> f64),
    /// From the timeouts of all transfers; measured of populations only.
    Timeouts(fn(&Tally) -> f64),
    /// The same as captures at the senders' hosts show them.
    Captured(fn(&Tally) -> f64),
}

/// A number of one flow, and how several flows make one number.
#[derive(Clone, Copy)]
pub(crate) struct FlowValue {
    of_one: OfFlow,
    of_several: OfSeveral,
}

type OfFlow = fn(&FlowSummary) -> f64;

/// How several flows make one number.
#[derive(Clone, Copy)]
enum OfSeveral {
    Sum,
    /// The largest, if all have one.
    Last,
    /// In percent of the sum of another number.
    ShareOf(OfFlow),
    /// Per second, from the first start to the last end.
    Rate,
    /// Over the flows that have one.
    Mean,
}

const fn flows(name: &'static str, unit: &'static str, of_one: OfFlow, of: OfSeveral) -> Measure {
    Measure { name, unit, value: Value::Flows(FlowValue { of_one, of_several: of }) }
}

const fn count(name: &'static str, of_one: OfFlow) -> Measure {
    flows(name, "", of_one, OfSeveral::Sum)
}

const fn share(name: &'static str, part: OfFlow, whole: OfFlow) -> Measure {
    flows(name, "%", part, OfSeveral::ShareOf(whole))
}

const fn mean(name: &'static str, unit: &'static str, of_one: OfFlow) -> Measure {
    flows(name, unit, of_one, OfSeveral::Mean)
}

const fn over_oracle(name: &'static str, oracle: &'static str) -> Measure {
    Measure { name, unit: "%", value: Value::OverOracle(oracle) }
}

const fn timeouts(name: &'static str, unit: &'static str, value: fn(&Tally) -> f64) -> Measure {
    Measure { name, unit, value: Value::Timeouts(value) }
}

/// Lin & Kung count a repeated timeout in this class.
fn lost_retransmission(s: &FlowSummary) -> f64 {
    (s.timeouts_lost_retransmission + s.timeouts_backed_off) as f64
}

const OF_FLOWS: [Measure; 20] = [
    count("timeouts", |s| s.timeouts as f64),
    count("timeouts-non-trigger", |s| s.timeouts_non_trigger as f64),
    count("timeouts-multiple-losses", |s| s.timeouts_multiple_losses as f64),
    count("timeouts-lost-retransmission", lost_retransmission),
    share("share-non-trigger", |s| s.timeouts_non_trigger as f64, |s| s.timeouts as f64),
    share("share-multiple-losses", |s| s.timeouts_multiple_losses as f64, |s| s.timeouts as f64),
    share("share-lost-retransmission", lost_retransmission, |s| s.timeouts as f64),
    count("losses", |s| s.drops.unwrap_or_default() as f64),
    share("loss-rate", |s| s.drops.unwrap_or_default() as f64, |s| s.segments_sent as f64),
    count("segments", |s| s.segments_sent as f64),
    count("retransmissions", |s| s.retransmissions as f64),
    count("spurious", |s| s.spurious_retransmissions.unwrap_or_default() as f64),
    count("fast-retransmissions", |s| s.fast_retransmissions as f64),
    count("recoveries", |s| s.recoveries as f64),
    flows("goodput", "kbit/s", |s| s.bytes_acked as f64 * 8.0, OfSeveral::Rate),
    flows("goodput-sum", "kbit/s", |s| s.goodput_bps.unwrap_or(0.0) / 1000.0, OfSeveral::Sum),
    flows("completion", "s", completion, OfSeveral::Last),
    mean("bandwidth", "kbit/s", |s| s.bytes_acked as f64 * 8.0 / 1000.0 / completion(s)),
    mean("timeouts-per-transfer", "", |s| s.completion_s.map_or(f64::NAN, |_| s.timeouts as f64)),
    mean("rtt", "ms", |s| s.mean_rtt_s.unwrap_or(f64::NAN) * 1000.0),
];

const OVER_ORACLE: [Measure; 2] =
    [over_oracle("over-oracle", "oracle"), over_oracle("over-oracle-drop", "oracle-drop")];

/// Lin & Kung section 4.1 and figure 1.
const OF_TIMEOUTS: [Measure; 7] = [
    timeouts("share-repeated", "%", Tally::share_repeated),
    timeouts("share-of-first-non-trigger", "%", |t| t.share_of_first(NonTrigger)),
    timeouts("share-of-first-multiple-losses", "%", |t| t.share_of_first(MultipleLosses)),
    timeouts("share-of-first-lost-retransmission", "%", |t| t.share_of_first(LostRetransmission)),
    timeouts("share-window-above-10", "%", |t| t.share(&CLASSES, |window, _| window > 10)),
    timeouts("share-outstanding-above-10", "%", |t| t.share(&CLASSES, |_, flight| flight > 10)),
    timeouts("mean-window", "segments", Tally::mean_window),
];

const fn captured(name: &'static str, unit: &'static str, value: fn(&Tally) -> f64) -> Measure {
    Measure { name, unit, value: Value::Captured(value) }
}

const OF_CAPTURES: [Measure; 7] = [
    captured("captured-timeouts", "", Tally::count),
    captured("captured-non-trigger", "%", |t| t.share(&[NonTrigger], |_, _| true)),
    captured("captured-multiple-losses", "%", |t| t.share(&[MultipleLosses], |_, _| true)),
    captured("captured-lost-retransmission", "%", |t| t.share(&[LostRetransmission], |_, _| true)),
    captured("captured-unknown", "%", Tally::share_unknown),
    captured("captured-repeated", "%", Tally::share_repeated),
    captured("captured-window-above-10", "%", |t| t.share(&CLASSES, |window, _| window > 10)),
];

fn completion(flow: &FlowSummary) -> f64 {
    flow.completion_s.unwrap_or(f64::NAN)
}

/// All measures.
pub(crate) fn measures() -> impl Iterator<Item = Measure> {
    let recovery = recovery_measures().map(|m| Measure {
        name: m.name,
        unit: m.unit,
        value: Value::Recovery(m.value),
    });
    OF_FLOWS.into_iter().chain(OVER_ORACLE).chain(recovery).chain(OF_TIMEOUTS).chain(OF_CAPTURES)
}

/// The measures that each group of flows has.
pub(crate) fn flow_measures() -> impl Iterator<Item = (&'static str, FlowValue)> {
    OF_FLOWS.iter().filter_map(|m| match m.value {
        Value::Flows(value) => Some((m.name, value)),
        _ => None,
    })
}

/// The measures that compare with an oracle: their names, and the oracles.
pub(crate) fn over_oracles() -> impl Iterator<Item = (&'static str, &'static str)> {
    OVER_ORACLE.iter().filter_map(|m| match m.value {
        Value::OverOracle(oracle) => Some((m.name, oracle)),
        _ => None,
    })
}

/// The unit of a measurement, which may be an aspect of a step, or of a measure.
pub(crate) fn unit(name: &str) -> &'static str {
    let mut parts = name.split('/');
    let measure = parts.next().unwrap_or_default();
    match measures().find(|m| m.name == measure) {
        Some(m) => m.unit,
        None => parts.nth(1).map_or("", unit_of_aspect),
    }
}

/// A name with its unit, as headings and axes have it.
pub(crate) fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_string() } else { format!("{name} ({unit})") }
}

/// 95 of `recovery-time-p95`, if that is a quantile of `recovery-time`.
pub(crate) fn quantile(name: &str, of: &str) -> Option<f64> {
    let percent: u8 = name.strip_prefix(of)?.strip_prefix("-p")?.parse().ok()?;
    (percent <= 100).then_some(percent.into())
}

impl FlowValue {
    /// Over flows of one run.
    pub fn over(&self, flows: &[FlowSummary]) -> f64 {
        let values = flows.iter().map(self.of_one);
        match self.of_several {
            OfSeveral::Sum => values.sum(),
            OfSeveral::Last => values
                .fold(0.0, |a: f64, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }),
            OfSeveral::Rate => {
                // A flow that the end of the run kept from starting takes no time.
                let began = || flows.iter().map(|f| f.active).filter(|[start, end]| start < end);
                let starts = began().map(|[start, _]| start).min();
                let ends = began().map(|[_, end]| end).max();
                match starts.zip(ends).map(|(start, end)| end.since(start).secs_f64()) {
                    Some(seconds) if seconds > 0.0 => values.sum::<f64>() / seconds / 1000.0,
                    _ => 0.0,
                }
            }
            OfSeveral::ShareOf(whole) => {
                100.0 * values.sum::<f64>() / flows.iter().map(whole).sum::<f64>()
            }
            OfSeveral::Mean => {
                let (sum, n) = values
                    .filter(|v| !v.is_nan())
                    .fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
                sum / n
            }
        }
    }
}

#[cfg(test)]
mod tests;
