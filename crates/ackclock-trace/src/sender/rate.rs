//! The bottleneck's rate, from trains of ACKs that came one upon the other.

use ackclock_tcp::{Span, Time};

/// Fewest bytes, in segments, of a train that measures a rate.
const TRAIN: u64 = 6;

#[derive(Debug, Default)]
pub(crate) struct AckTrain {
    start: Time,
    from: u64,
    bits_per_second: Option<f64>,
}

impl AckTrain {
    /// An ACK has advanced to `ack` at `at`, after one at `before`. A pause of an eighth of a round
    /// trip ends a train: something else clocked what follows.
    #[inline]
    pub fn advanced(&mut self, at: Time, ack: u64, before: Time, una: u64, srtt: Span, mss: u32) {
        if at.since(before).0 > srtt.0 / 8 {
            self.end(before, una.min(ack), mss);
            (self.start, self.from) = (at, ack);
        }
    }

    /// The train ends with the ACK of `ack` at `last`.
    pub fn end(&mut self, last: Time, ack: u64, mss: u32) {
        let took = last.since(self.start);
        let bytes = ack.saturating_sub(self.from);
        if bytes >= TRAIN * u64::from(mss) && took > Span::ZERO {
            let rate = bytes as f64 * 8.0 / took.secs_f64();
            self.bits_per_second =
                Some(self.bits_per_second.map_or(rate, |r| r + (rate - r) / 4.0));
        }
    }

    /// The mean, with more weight on what was measured last; `None` if nothing was.
    pub fn bits_per_second(&self) -> Option<f64> {
        self.bits_per_second
    }
}
