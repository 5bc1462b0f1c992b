//! A Web server on a persistent connection. It writes a response and waits until that is
//! acknowledged in full. After the user's think time it writes the next one. Requests are not
//! simulated: they would cross the network against the data.

use super::Write;
use crate::config::Web;
use crate::rng::Rng;

/// A Web source at work.
#[derive(Debug)]
pub(crate) struct Responses {
    config: Web,
    /// Responses that are still to be written.
    left: u64,
    /// Bytes written.
    pub(super) written: u64,
    rng: Rng,
}

impl Responses {
    pub(super) fn new(config: Web, mut rng: Rng) -> Self {
        let left = number(&config, &mut rng);
        Responses { config, left, written: 0, rng }
    }

    /// The next response, in one write.
    pub(super) fn write(&mut self) -> Write {
        let bytes = self.config.size.draw(&mut self.rng);
        self.written = self.written.saturating_add(bytes);
        self.left = self.left.saturating_sub(1);
        Write { bytes, last: self.left == 0, next: u64::MAX }
    }

    /// The last response is acknowledged in full. Returns when the next one is due, if there is
    /// one.
    pub(super) fn acknowledged(&mut self, now: u64) -> Option<u64> {
        (self.left > 0).then(|| now.saturating_add(self.rng.exponential(self.config.think).0))
    }
}

/// How many responses: exactly the mean, or geometrically distributed on 1, 2, ... with that mean.
/// The whole part of an exponential draw is geometrically distributed.
fn number(config: &Web, rng: &mut Rng) -> u64 {
    if config.exactly || config.responses <= 1.0 {
        return config.responses as u64;
    }
    1 + (rng.standard_exponential() / -libm::log(1.0 - 1.0 / config.responses)) as u64
}

#[cfg(test)]
mod tests;
