//! Distributions of sizes as a scenario has them: `{ exponential = { mean = "512kb" } }`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scenario::units::{Probability, Size};

/// A distribution of sizes: exactly one of `fixed`, `exponential`, `lognormal`, `pareto`, `cdf` and
/// `mix`. Draws are whole bytes, at least 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Distribution {
    /// Always this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed: Option<Size>,
    /// Exponential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exponential: Option<Exponential>,
    /// Log-normal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lognormal: Option<Lognormal>,
    /// Pareto, whose tail is a power law.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pareto: Option<Pareto>,
    /// Measured: sizes, and which share of all is at most as large; `[["10kb", "50%"], ["1mb",
    /// 1]]`. Both rise, up to 1. Between two points sizes are uniform, and none is below the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cdf: Option<Vec<(Size, Probability)>>,
    /// One of several distributions, each with its `share`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Vec<Distribution>>,
    /// Only in a `mix`, where the shares add up to 1: the probability of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Probability>,
    /// Larger sizes are cut off to this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Size>,
}

/// An exponential distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exponential {
    /// The mean, at least 1 byte.
    pub mean: Size,
}

/// A log-normal distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lognormal {
    /// The mean of the size, not of its logarithm; at least 1 byte.
    pub mean: Size,
    /// Standard deviation of the natural logarithm of the size, 0 to 10.
    pub sigma: f64,
}

/// A Pareto distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pareto {
    /// The mean, at least 1 byte. The least size is `mean * (shape - 1) / shape`.
    pub mean: Size,
    /// The exponent of the tail, above 1 and at most 1000; below 2 the variance is infinite.
    pub shape: f64,
}

impl Distribution {
    /// The mean in bytes, before `max` cuts off.
    pub fn mean(&self) -> f64 {
        let share = |part: &Distribution| part.share.map_or(0.0, Probability::get) * part.mean();
        let mean = match self {
            Distribution { cdf: Some(points), .. } => return mean_of(points),
            Distribution { mix: Some(parts), .. } => return parts.iter().map(share).sum(),
            Distribution { exponential: Some(law), .. } => law.mean,
            Distribution { lognormal: Some(law), .. } => law.mean,
            Distribution { pareto: Some(law), .. } => law.mean,
            Distribution { fixed, .. } => fixed.unwrap_or(Size(0)),
        };
        mean.0 as f64
    }
}

/// The mean of a distribution that is linear between points.
fn mean_of(points: &[(Size, Probability)]) -> f64 {
    let mut before = points.first().map_or((0.0, 0.0), |(size, _)| (size.0 as f64, 0.0));
    let mut mean = 0.0;
    for (size, share) in points {
        let at = (size.0 as f64, share.get());
        mean += (at.1 - before.1) * (before.0 + at.0) / 2.0;
        before = at;
    }
    mean
}
