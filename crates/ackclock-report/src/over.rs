//! How the flows of a run make one number.

use std::fmt;
use std::str::FromStr;

use crate::flow::FlowSummary;

/// A number of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowMeasure {
    /// What options call it.
    pub name: &'static str,
    /// Its key in JSON and CSV, which has the unit.
    pub key: &'static str,
    /// Its value; `None` if this flow has none.
    pub of: fn(&FlowSummary) -> Option<f64>,
    /// A value that a flow does not have is still to come: later than all others.
    pub is_to_come: bool,
}

macro_rules! counts {
    ($($name:ident)*) => {
        [$(FlowMeasure {
            name: stringify!($name),
            key: stringify!($name),
            of: |flow| Some(flow.$name as f64),
            is_to_come: false,
        }),*]
    };
}

const COUNTS: [FlowMeasure; 10] = counts!(
    bytes_acked segments_sent retransmissions fast_retransmissions timeouts timeouts_non_trigger
    timeouts_multiple_losses timeouts_lost_retransmission timeouts_backed_off
    syn_timeouts
);

const OTHERS: [FlowMeasure; 7] = [
    other("recoveries", "recoveries", |f| Some(f.recoveries as f64)),
    other("ecn_reductions", "ecn_reductions", |f| Some(f.ecn_reductions as f64)),
    other("drops", "drops", |f| f.drops.map(|n| n as f64)),
    other("spurious_retransmissions", "spurious_retransmissions", |f| {
        f.spurious_retransmissions.map(|n| n as f64)
    }),
    other("goodput", "goodput_bps", |f| f.goodput_bps),
    FlowMeasure { is_to_come: true, ..other("completion", "completion_s", |f| f.completion_s) },
    other("mean_rtt", "mean_rtt_s", |f| f.mean_rtt_s),
];

const fn other(
    name: &'static str,
    key: &'static str,
    of: fn(&FlowSummary) -> Option<f64>,
) -> FlowMeasure {
    FlowMeasure { name, key, of, is_to_come: false }
}

impl FlowMeasure {
    /// All of them, in the order of [`FlowSummary`].
    pub fn all() -> impl Iterator<Item = FlowMeasure> {
        COUNTS.into_iter().chain(OTHERS)
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<FlowMeasure> {
        FlowMeasure::all().find(|measure| measure.name == name)
    }

    /// One number of the flows that have a value; `None` if there is none. An unfinished flow
    /// counts in completions ([`FlowMeasure::is_to_come`]), so that their mean does not exist.
    pub fn over<'a>(
        &self,
        over: Over,
        flows: impl IntoIterator<Item = &'a FlowSummary>,
    ) -> Option<f64> {
        let values = flows.into_iter().map(self.of);
        if self.is_to_come {
            over.of(values.collect())
        } else {
            over.of(values.filter(Option::is_some).collect())
        }
    }
}

/// Of values in ascending order, the smallest that at least this percentage of them does not
/// exceed: an observed value, never one between two. 0 gives the least, 100 the greatest.
pub fn percentile<T: Copy>(sorted: &[T], percent: f64) -> Option<T> {
    let rank = (percent * sorted.len() as f64 / 100.0).ceil().max(1.0);
    sorted.get(rank as usize - 1).copied()
}

/// How several flows make one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Over {
    /// The mean.
    Mean,
    /// The least.
    Min,
    /// The percentile 50.
    Median,
    /// The greatest.
    Max,
    /// The smallest value that at least this percentage of the flows does not exceed: 0 gives the
    /// least, 100 the greatest.
    Percentile(f64),
}

impl Over {
    /// What is missing is greater than all values.
    fn of(self, mut values: Vec<Option<f64>>) -> Option<f64> {
        let percent = match self {
            Over::Mean => {
                let known: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
                return (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64);
            }
            Over::Min => 0.0,
            Over::Median => 50.0,
            Over::Max => 100.0,
            Over::Percentile(percent) => percent,
        };
        let or_last = |value: &Option<f64>| value.unwrap_or(f64::INFINITY);
        values.sort_by(|a, b| or_last(a).total_cmp(&or_last(b)));
        percentile(&values, percent).flatten()
    }
}

impl FromStr for Over {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "mean" => return Ok(Over::Mean),
            "min" => return Ok(Over::Min),
            "median" => return Ok(Over::Median),
            "max" => return Ok(Over::Max),
            _ => {}
        }
        let percent = text.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok());
        match percent.filter(|percent| (0.0..=100.0).contains(percent)) {
            Some(percent) => Ok(Over::Percentile(percent)),
            None => Err(format!(
                "`{text}` is none of mean, min, median, max and percentiles such as p99"
            )),
        }
    }
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Over::Mean => f.write_str("mean"),
            Over::Min => f.write_str("min"),
            Over::Median => f.write_str("median"),
            Over::Max => f.write_str("max"),
            Over::Percentile(percent) => write!(f, "p{percent}"),
        }
    }
}

#[cfg(test)]
mod tests;
