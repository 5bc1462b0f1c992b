//! Distributions of sizes.

use crate::scenario::error::{Checked, fail};
use crate::scenario::model::Distribution;
use crate::scenario::path::{Step, child};
use crate::scenario::units::{Probability, Size};

/// How far shares written in decimal may be from a sum of 1.
const ROUNDING: f64 = 1e-9;

impl Distribution {
    /// Checks the distribution under the key `at`.
    pub(super) fn check(&self, at: &[Step]) -> Checked {
        if self.share.is_some() {
            fail(&child(at, "share"), "a share is for the parts of a `mix`")?;
        }
        self.check_law(at)
    }

    fn check_law(&self, at: &[Step]) -> Checked {
        let laws = [
            ("fixed", self.fixed.is_some()),
            ("exponential", self.exponential.is_some()),
            ("lognormal", self.lognormal.is_some()),
            ("pareto", self.pareto.is_some()),
            ("cdf", self.cdf.is_some()),
            ("mix", self.mix.is_some()),
        ];
        let given: Vec<&str> =
            laws.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
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
                fail(&child(at, key), "at least 1 byte")?;
            }
        }
        if self.lognormal.as_ref().is_some_and(|d| !(0.0..=10.0).contains(&d.sigma)) {
            fail(
                &child(at, "lognormal.sigma"),
                "the standard deviation of a logarithm is 0 to 10 here",
            )?;
        }
        if self.pareto.as_ref().is_some_and(|d| !(d.shape > 1.0 && d.shape <= 1000.0)) {
            fail(
                &child(at, "pareto.shape"),
                "a shape is above 1, where there is a mean, and at most 1000",
            )?;
        }
        if let Some(points) = &self.cdf {
            check_points(points, &child(at, "cdf"))?;
        }
        self.mix.as_deref().map_or(Ok(()), |parts| check_mix(parts, &child(at, "mix")))
    }
}

fn check_points(points: &[(Size, Probability)], at: &[Step]) -> Checked {
    for (i, pair) in points.windows(2).enumerate() {
        let [(size, share), (next, larger)] = pair else { continue };
        if next <= size || larger.get() < share.get() {
            fail(&child(at, i + 1), "sizes rise from point to point, and shares do not fall")?;
        }
    }
    match points.last() {
        Some((_, share)) if share.get() == 1.0 => Ok(()),
        _ => fail(at, "the last point has the largest size and 1: for example `[\"1mb\", 1]`"),
    }
}

/// Without the noise of sums: 0.9 for 0.8999999999999999.
fn rounded(sum: f64) -> f64 {
    (sum * 1e9).round() / 1e9
}

fn check_mix(parts: &[Distribution], at: &[Step]) -> Checked {
    let mut sum = 0.0;
    for (i, part) in parts.iter().enumerate() {
        let at = child(at, i);
        match part.share {
            Some(share) => sum += share.get(),
            None => fail(&at, "which `share` of the mix is this? For example `share = \"12%\"`")?,
        }
        part.check_law(&at)?;
    }
    if (sum - 1.0).abs() > ROUNDING {
        fail(at, format!("the shares add up to {}, not to 1", rounded(sum)))
    } else {
        Ok(())
    }
}
