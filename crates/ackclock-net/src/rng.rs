//! Random numbers: one stream for each component that draws any, named by a stable id.

use ackclock_tcp::Span;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The random numbers of one component, the same on every machine.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream of the component `id` in the run `seed`. No draw from one stream moves another.
    pub fn new(seed: u64, id: &str) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&fnv1a(id).to_le_bytes());
        Rng(ChaCha8Rng::from_seed(key))
    }

    /// Uniform on [0, 1), a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with this probability; 0 is never and 1 is always.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Uniform on [0, `span`], in whole nanoseconds.
    pub fn up_to(&mut self, span: Span) -> Span {
        Span((self.unit() * (span.0 as f64 + 1.0)) as u64)
    }

    /// Exponentially distributed with mean 1. The logarithm is `libm`'s, since the platform's may
    /// differ from machine to machine in its last bit.
    pub(crate) fn standard_exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// Exponentially distributed with this mean.
    pub(crate) fn exponential(&mut self, mean: Span) -> Span {
        Span((self.standard_exponential() * mean.0 as f64) as u64)
    }
}

/// FNV-1a, 64 bits.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
