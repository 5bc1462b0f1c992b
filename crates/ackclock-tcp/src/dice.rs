//! Random numbers of tests.

/// A linear congruential generator (Knuth's MMIX).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// From 0 to `n` - 1.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    pub(crate) fn is_one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}
