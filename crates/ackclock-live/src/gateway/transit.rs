//! How long packets were on their way.

/// How long links took with packets, from when they were read to when they were due at the other
/// end. What the gateway was late does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transit {
    packets: u64,
    nanos: u64,
}

impl Transit {
    /// One more packet.
    pub(super) fn add(&mut self, nanos: u64) {
        self.packets += 1;
        self.nanos += nanos;
    }

    /// How many packets, duplicates included.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// The mean, in nanoseconds; 0 of none.
    pub fn mean(&self) -> u64 {
        self.nanos.checked_div(self.packets).unwrap_or(0)
    }
}
