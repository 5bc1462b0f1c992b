//! The measures of a lab: their names, their headings, and how each is computed.

use std::collections::BTreeMap;

use ackclock_report::{Estimate, FlowSummary, percentile};
use serde::{Deserialize, Serialize};

use crate::measured::Measured;

/// A number of a row in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Payload that the receiving application got, in kbit/s.
    Goodput,
    /// The same as simulated.
    Simulation,
    /// How far the wire is above the simulation, in percent: the mean over the seeds that both
    /// have, since a seed has the same losses in both.
    Difference,
    /// Half of the width of the 95 % interval of that mean.
    DifferenceInterval,
    /// Goodput over that of the row it is held against, seed by seed.
    GoodputRatio,
    /// Half of the width of the 95 % interval of its mean over the seeds.
    GoodputInterval,
    /// How long packets waited in queues on the way there, in the mean, in ms.
    Queue,
    /// The same over that of the row it is held against.
    QueueRatio,
    /// Half of the width of the 95 % interval of its mean over the seeds.
    QueueInterval,
    /// Retransmissions over packets that the gateway dropped on the way there.
    PerDrop,
    /// Timeouts of data.
    Timeouts,
    /// The same as simulated, in the mean of the runs.
    SimulatedTimeouts,
    /// Packets dropped over packets sent, in percent.
    LossRate,
    /// Retransmissions over the segments that there are to send, in percent.
    Retransmitted,
    /// The same over that of the row it is held against.
    RetransmittedRatio,
    /// Median of the completion times, from the end of the handshake to the last byte, in ms.
    P50,
    /// Quantile of 90 %.
    P90,
    /// Quantile of 99 %.
    P99,
    /// Quantile of 99.9 %.
    P999,
    /// P99 over that of the row it is held against.
    P99Ratio,
    /// P99 from the call to connect on, in ms.
    P99Handshake,
    /// How late the gateway was with a packet, quantile of 99 %, in microseconds.
    Late,
}

impl Measure {
    pub(crate) const ALL: [Measure; 22] = [
        Measure::Goodput,
        Measure::Simulation,
        Measure::Difference,
        Measure::DifferenceInterval,
        Measure::GoodputRatio,
        Measure::GoodputInterval,
        Measure::Queue,
        Measure::QueueRatio,
        Measure::QueueInterval,
        Measure::P50,
        Measure::P90,
        Measure::P99,
        Measure::P999,
        Measure::P99Ratio,
        Measure::P99Handshake,
        Measure::PerDrop,
        Measure::Retransmitted,
        Measure::RetransmittedRatio,
        Measure::Timeouts,
        Measure::SimulatedTimeouts,
        Measure::LossRate,
        Measure::Late,
    ];

    /// The heading of its column.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Measure::Goodput => "wire (kbit/s)",
            Measure::Simulation => "simulation",
            Measure::Difference => "apart (%)",
            Measure::GoodputRatio => "of kernel",
            Measure::DifferenceInterval | Measure::GoodputInterval | Measure::QueueInterval => "±",
            Measure::Queue => "queue (ms)",
            Measure::QueueRatio => "queue of kernel",
            Measure::P50 => "p50 (ms)",
            Measure::P90 => "p90",
            Measure::P99 => "p99",
            Measure::P999 => "p99.9",
            Measure::P99Ratio => "p99 of kernel",
            Measure::P99Handshake => "p99 from SYN",
            Measure::PerDrop => "rexmit/drop",
            Measure::Retransmitted => "rexmit (%)",
            Measure::RetransmittedRatio => "rexmit of kernel",
            Measure::Timeouts => "timeouts",
            Measure::SimulatedTimeouts => "simulated",
            Measure::LossRate => "loss (%)",
            Measure::Late => "late (us)",
        }
    }

    /// What an axis says, which has no table around it.
    pub(crate) fn axis(self) -> &'static str {
        match self {
            Measure::GoodputRatio => "goodput over that of the kernel (ratio)",
            Measure::QueueRatio => "wait in queues over that of the kernel (ratio)",
            Measure::P99Ratio => "p99 of completion over that of the kernel (ratio)",
            Measure::RetransmittedRatio => "retransmissions over those of the kernel (ratio)",
            Measure::P90 => "p90 of completion (ms)",
            Measure::P99 => "p99 of completion (ms)",
            Measure::P999 => "p99.9 of completion (ms)",
            other => other.heading(),
        }
    }
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|v| v.is_finite());
    values.sort_by(f64::total_cmp);
    let n = values.len();
    Some((values.get(n.checked_sub(1)? / 2)? + values.get(n / 2)?) / 2.0)
}

/// By how much the first are above the second, pair by pair, in percent.
pub(crate) fn above(own: &[f64], other: &[f64]) -> Option<Estimate> {
    let ratios = own.iter().zip(other).map(|(own, other)| 100.0 * (own / other - 1.0));
    Estimate::of(&ratios.filter(|ratio| ratio.is_finite()).collect::<Vec<_>>())
}

/// How far the wire is above the simulation. A single run on the wire is held against the mean of
/// the simulations.
fn difference(own: &[Measured], simulated: &[FlowSummary]) -> Option<Estimate> {
    let wire: Vec<f64> = own.iter().map(|m| m.goodput_bps).collect();
    if own.len() == 1 {
        let all: Vec<f64> = simulated.iter().filter_map(|s| s.goodput_bps).collect();
        return above(&wire, &[Estimate::of(&all)?.mean]);
    }
    let of_seed = |m: &Measured| {
        simulated.iter().find(|s| s.seed == m.seed).and_then(|s| s.goodput_bps).unwrap_or(f64::NAN)
    };
    above(&wire, &own.iter().map(of_seed).collect::<Vec<_>>())
}

/// All numbers of a row. Those that compare with another row take the median over the seeds that
/// both have; what does not exist is left out.
pub(crate) fn measures(
    own: &[Measured],
    other: &[Measured],
    simulated: &[FlowSummary],
) -> BTreeMap<Measure, f64> {
    let share =
        |part: u64, whole: u64| if whole == 0 { f64::NAN } else { part as f64 / whole as f64 };
    let ms = |of: &[f64], percent| 1e3 * percentile(of, percent).unwrap_or(f64::NAN);
    let p99 = |m: &Measured| ms(&m.completions_s, 99.0);
    let retransmitted = |m: &Measured| 100.0 * share(m.retransmissions, m.segments);
    let each = |value: &dyn Fn(&Measured) -> f64| median(own.iter().map(value).collect());
    let ratios = |value: &dyn Fn(&Measured) -> f64| -> Vec<f64> {
        let with = |m: &Measured| {
            other.iter().find(|o| o.seed == m.seed).map_or(f64::NAN, |o| value(m) / value(o))
        };
        own.iter().map(with).filter(|ratio| ratio.is_finite()).collect()
    };
    let paired = |value: &dyn Fn(&Measured) -> f64| median(ratios(value));
    let interval = |value: &dyn Fn(&Measured) -> f64| Estimate::of(&ratios(value))?.half_width;
    let of_simulated = |value: &dyn Fn(&FlowSummary) -> Option<f64>| {
        let all: Vec<f64> = simulated.iter().filter_map(value).collect();
        Estimate::of(&all).map(|estimate| estimate.mean)
    };
    let short = own.iter().any(|m| !m.completions_s.is_empty());
    let goodput = each(&|m| m.goodput_bps / 1e3).filter(|_| !short);
    let simulation = of_simulated(&|s| Some(s.goodput_bps? / 1e3));
    let difference = difference(own, simulated).filter(|_| !short);
    let all = [
        (Measure::Goodput, goodput),
        (Measure::Simulation, simulation),
        (Measure::Difference, difference.map(|estimate| estimate.mean)),
        (Measure::DifferenceInterval, difference.and_then(|estimate| estimate.half_width)),
        (Measure::GoodputRatio, paired(&|m| m.goodput_bps).filter(|_| !short)),
        (Measure::GoodputInterval, interval(&|m| m.goodput_bps).filter(|_| !short)),
        (Measure::Queue, each(&|m| m.queue_ms).filter(|_| !short)),
        (Measure::QueueRatio, paired(&|m| m.queue_ms).filter(|_| !short)),
        (Measure::QueueInterval, interval(&|m| m.queue_ms).filter(|_| !short)),
        (Measure::P50, each(&|m| ms(&m.completions_s, 50.0))),
        (Measure::P90, each(&|m| ms(&m.completions_s, 90.0))),
        (Measure::P99, each(&p99)),
        (Measure::P999, each(&|m| ms(&m.completions_s, 99.9))),
        (Measure::P99Ratio, paired(&p99)),
        (Measure::P99Handshake, each(&|m| ms(&m.completions_with_handshake_s, 99.0))),
        (Measure::PerDrop, each(&|m| share(m.retransmissions, m.drops())).filter(|_| !short)),
        (Measure::Retransmitted, each(&retransmitted)),
        (Measure::RetransmittedRatio, paired(&retransmitted)),
        (Measure::Timeouts, each(&|m| m.timeouts as f64)),
        (Measure::SimulatedTimeouts, of_simulated(&|s| Some(s.timeouts as f64))),
        (Measure::LossRate, each(&|m| 100.0 * share(m.drops(), m.packets))),
        (Measure::Late, each(&|m| m.late_p99_us)),
    ];
    all.into_iter().filter_map(|(measure, value)| Some((measure, value?))).collect()
}

#[cfg(test)]
mod tests;
