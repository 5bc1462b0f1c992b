//! Distributions of sizes as a scenario has them: `{ exponential = { mean = "512kb" } }`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Checked, fail, sub};
use super::error::Step;
use super::units::{Probability, Size};
use crate::distribution::Law;

/// A distribution of sizes: exactly one of `fixed`, `exponential`, `lognormal`, `pareto` and `mix`. Draws are whole
/// bytes, at least 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
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

/// How far shares written in decimal may be from a sum of 1.
const ROUNDING: f64 = 1e-9;

impl Distribution {
    /// The mean in bytes, before `max` cuts off.
    pub fn mean(&self) -> f64 {
        let share = |part: &Distribution| part.share.map_or(0.0, Probability::get) * part.mean();
        let mean = match self {
            Distribution { mix: Some(parts), .. } => return parts.iter().map(share).sum(),
            Distribution { exponential: Some(law), .. } => law.mean,
            Distribution { lognormal: Some(law), .. } => law.mean,
            Distribution { pareto: Some(law), .. } => law.mean,
            Distribution { fixed, .. } => fixed.unwrap_or(Size(0)),
        };
        mean.0 as f64
    }

    /// Checks the distribution under the key `at`.
    pub(super) fn check(&self, at: &[Step]) -> Checked {
        if self.share.is_some() {
            fail(&sub(at, "share"), "a share is for the parts of a `mix`")?;
        }
        self.check_law(at)
    }

    fn check_law(&self, at: &[Step]) -> Checked {
        let laws = [
            ("fixed", self.fixed.is_some()),
            ("exponential", self.exponential.is_some()),
            ("lognormal", self.lognormal.is_some()),
            ("pareto", self.pareto.is_some()),
            ("mix", self.mix.is_some()),
        ];
        let given: Vec<&str> = laws.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
        match given[..] {
            [_] => {}
            [first, second, ..] => fail(at, format!("either `{first}` or `{second}`, not both"))?,
            [] => fail(at, "which distribution? For example `exponential = { mean = \"512kb\" }`")?,
        }
        for (key, size) in [
            ("fixed", self.fixed),
            ("exponential.mean", self.exponential.as_ref().map(|d| d.mean)),
            ("lognormal.mean", self.lognormal.as_ref().map(|d| d.mean)),
            ("pareto.mean", self.pareto.as_ref().map(|d| d.mean)),
            ("max", self.max),
        ] {
            if size == Some(Size(0)) {
                fail(&sub(at, key), "at least 1 byte")?;
            }
        }
        if self.lognormal.as_ref().is_some_and(|d| !(0.0..=10.0).contains(&d.sigma)) {
            fail(&sub(at, "lognormal.sigma"), "the standard deviation of a logarithm is 0 to 10 here")?;
        }
        if self.pareto.as_ref().is_some_and(|d| !(d.shape > 1.0 && d.shape <= 1000.0)) {
            fail(&sub(at, "pareto.shape"), "a shape is above 1, where there is a mean, and at most 1000")?;
        }
        self.mix.as_deref().map_or(Ok(()), |parts| check_mix(parts, &sub(at, "mix")))
    }

    /// The distribution to draw from; of one that [`Distribution::check`] refuses, a fixed byte.
    pub(super) fn build(&self) -> crate::Distribution {
        let mean = |Size(bytes): Size| bytes as f64;
        let law = match self {
            Distribution { fixed: Some(Size(bytes)), .. } => Law::Fixed(*bytes),
            Distribution { exponential: Some(d), .. } => Law::Exponential(mean(d.mean)),
            Distribution { lognormal: Some(d), .. } => Law::Lognormal { mean: mean(d.mean), sigma: d.sigma },
            Distribution { pareto: Some(d), .. } => Law::Pareto { mean: mean(d.mean), shape: d.shape },
            Distribution { mix: Some(parts), .. } => {
                Law::Mix(parts.iter().map(|part| (part.share.unwrap_or_default().get(), part.build())).collect())
            }
            _ => Law::Fixed(1),
        };
        crate::Distribution { law, max: self.max.map(|Size(bytes)| bytes) }
    }
}

fn check_mix(parts: &[Distribution], at: &[Step]) -> Checked {
    let mut sum = 0.0;
    for (i, part) in parts.iter().enumerate() {
        let mut at = at.to_vec();
        at.push(i.into());
        match part.share {
            Some(share) => sum += share.get(),
            None => fail(&at, "which `share` of the mix is this? For example `share = \"12%\"`")?,
        }
        part.check_law(&at)?;
    }
    if (sum - 1.0).abs() > ROUNDING { fail(at, format!("the shares add up to {sum}, not to 1")) } else { Ok(()) }
}

#[cfg(test)]
#[path = "distribution_tests.rs"]
mod tests;
