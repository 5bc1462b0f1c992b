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
    pub(crate) fn up_to(&mut self, span: Span) -> Span {
        Span((self.unit() * (span.0 as f64 + 1.0)) as u64)
    }

    /// Exponentially distributed with mean 1. The logarithm is `libm`'s, since that of the platform may differ from machine
    /// to machine in its last bit.
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
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_id_alone() {
        let draw = |seed, id| Rng::new(seed, id).0.next_u64();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
    }

    #[test]
    fn fnv1a_matches_its_published_vectors() {
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn certain_and_impossible_chances() {
        let mut rng = Rng::new(7, "x");
        assert!((0..1000).all(|_| rng.chance(1.0) && !rng.chance(0.0)));
    }

    #[test]
    fn uniform_covers_its_range_and_no_more() {
        let mut rng = Rng::new(7, "x");
        let mut seen = [0; 4];
        for _ in 0..4000 {
            seen[rng.up_to(Span(3)).0 as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (900..1100).contains(&n)), "{seen:?}");
    }

    #[test]
    fn exponential_has_its_mean() {
        let mut rng = Rng::new(7, "x");
        let mean = (0..100_000).map(|_| rng.exponential(Span(1_000_000)).0).sum::<u64>() / 100_000;
        assert!((990_000..1_010_000).contains(&mean), "{mean}");
    }
}
