//! Distributions of sizes.
//!
//! Logarithm, exponential and cosine are `libm`'s, since the platform's may differ from machine to
//! machine in their last bit.

use std::f64::consts::TAU;

use crate::rng::Rng;

/// A distribution of sizes in bytes. Draws are whole bytes, at least 1.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Distribution {
    /// The law that sizes follow.
    pub law: Law,
    /// Larger ones are cut off to this.
    pub max: Option<u64>,
}

/// A law that sizes follow; means are in bytes, above 0 and finite.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Law {
    /// Always the same.
    Fixed(u64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Log-normal.
    Lognormal {
        /// The mean of the size, not of its logarithm.
        mean: f64,
        /// Standard deviation of the natural logarithm of the size; finite and not negative.
        sigma: f64,
    },
    /// Pareto, from its least value on.
    Pareto {
        /// The mean, from which the least value follows: `mean * (shape - 1) / shape`.
        mean: f64,
        /// The exponent of the tail, above 1 (there is no mean below) and finite; below 2 the
        /// variance is infinite.
        shape: f64,
    },
    /// Measured: sizes, and the probability of sizes up to each, both rising, the last one 1.
    /// Between two points sizes are uniform, and none is below the first.
    Points(Vec<(f64, f64)>),
    /// One of these, each with its share. The last one takes what the others leave.
    Mix(Vec<MixPart>),
}

/// A part of a mix of distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct MixPart {
    /// The probability of this part.
    pub share: f64,
    /// What it draws.
    pub distribution: Distribution,
}

impl Distribution {
    /// Sizes that follow this law, however large.
    pub fn new(law: Law) -> Self {
        Distribution { law, max: None }
    }

    /// A size.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let bytes = match &self.law {
            Law::Fixed(bytes) => *bytes,
            Law::Exponential(mean) => to_bytes(mean * rng.standard_exponential()),
            Law::Lognormal { mean, sigma } => {
                to_bytes(mean * libm::exp(sigma * standard_normal(rng) - sigma * sigma / 2.0))
            }
            Law::Pareto { mean, shape } => {
                // A power of 1/U is an exponential of the exponential draw -ln U.
                to_bytes(
                    mean * (shape - 1.0) / shape * libm::exp(rng.standard_exponential() / shape),
                )
            }
            Law::Points(points) => to_bytes(size_at(points, rng.unit())),
            Law::Mix(parts) => {
                let mut left = rng.unit();
                let chosen = parts.iter().find(|part| {
                    left -= part.share;
                    left < 0.0
                });
                chosen.or(parts.last()).map_or(0, |part| part.distribution.draw(rng))
            }
        };
        bytes.min(self.max.unwrap_or(u64::MAX)).max(1)
    }
}

/// The size up to which this share of all is.
fn size_at(points: &[(f64, f64)], share: f64) -> f64 {
    let i = points.partition_point(|(_, up_to)| *up_to <= share);
    match (i.checked_sub(1).map(|i| points[i]), points.get(i)) {
        (Some((low, from)), Some((high, to))) => low + (high - low) * (share - from) / (to - from),
        (None, Some((first, _))) => *first,
        (last, None) => last.map_or(0.0, |(size, _)| size),
    }
}

/// To the nearest byte; what does not fit is cut off.
fn to_bytes(bytes: f64) -> u64 {
    libm::round(bytes) as u64
}

/// Normal with mean 0 and variance 1 (Box & Muller 1958). The second number of each pair is not
/// used, so that nothing is kept between draws.
fn standard_normal(rng: &mut Rng) -> f64 {
    let radius = libm::sqrt(2.0 * rng.standard_exponential());
    radius * libm::cos(TAU * rng.unit())
}

#[cfg(test)]
mod tests;
