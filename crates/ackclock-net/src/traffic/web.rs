//! A Web server on a persistent connection: it writes a response, waits until that has been acknowledged in full, and
//! after the user's think time writes the next one. Requests go unseen: they would cross the network against the data.

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

    /// The last response has been acknowledged in full: when the next one is due, if there is one.
    pub(super) fn acknowledged(&mut self, now: u64) -> Option<u64> {
        (self.left > 0).then(|| now.saturating_add(self.rng.exponential(self.config.think).0))
    }
}

/// How many responses: on 1, 2, ... geometric with the mean, as the whole part of an exponential draw, or exactly the mean.
fn number(config: &Web, rng: &mut Rng) -> u64 {
    if config.exactly || config.responses <= 1.0 {
        return config.responses as u64;
    }
    1 + (rng.standard_exponential() / -libm::log(1.0 - 1.0 / config.responses)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{Distribution, Law};
    use ackclock_tcp::Span;

    fn web(responses: f64, exactly: bool) -> Web {
        let size = Distribution { law: Law::Fixed(1000), max: None };
        Web { responses, exactly, size, think: Span::from_millis(100) }
    }

    #[test]
    fn exactly_so_many_responses_follow_each_other() {
        let mut responses = Responses::new(web(2.0, true), Rng::new(7, "x"));
        let write = |last| Write { bytes: 1000, last, next: u64::MAX };
        assert_eq!(responses.write(), write(false));
        // The first exponential draw of this stream.
        assert_eq!(responses.acknowledged(5), Some(5 + Rng::new(7, "x").exponential(Span::from_millis(100)).0));
        assert_eq!(responses.write(), write(true));
        assert_eq!((responses.acknowledged(9), responses.written), (None, 2000));
    }

    /// P(n) = (1 - 1/m)^(n - 1) / m has the mean m; its first two values are 1/4 and 3/16 for m = 4.
    #[test]
    fn the_number_of_responses_is_geometric() {
        let n = 100_000;
        let mut rng = Rng::new(7, "x");
        let config = web(4.0, false);
        let numbers: Vec<u64> = (0..n).map(|_| number(&config, &mut rng)).collect();
        let share = |k| numbers.iter().filter(|&&number| number == k).count() as f64 / f64::from(n);
        let mean = numbers.iter().sum::<u64>() as f64 / f64::from(n);
        // Four standard errors: the standard deviation is sqrt(m (m - 1)), that of a share at most 0.5.
        assert!((mean - 4.0).abs() < 4.0 * (12.0 / f64::from(n)).sqrt(), "{mean}");
        let tolerance = 2.0 / f64::from(n).sqrt();
        assert_eq!(share(0), 0.0);
        assert!((share(1) - 0.25).abs() < tolerance && (share(2) - 0.1875).abs() < tolerance);
        assert_eq!(number(&web(1.0, false), &mut rng), 1);
    }
}
