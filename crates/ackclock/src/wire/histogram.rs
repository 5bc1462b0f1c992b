//! How times are spread, as a histogram of Prometheus.

use ackclock_impair::exposition::Exposition;
use ackclock_tcp::Span;

/// Upper bounds in seconds; what is longer counts in all only.
pub(crate) const BOUNDS: [f64; 15] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 60.0];

/// Times that were observed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Histogram {
    /// How many were at most the bound, and above the one before.
    counts: [u64; BOUNDS.len()],
    /// All, and their sum in seconds.
    pub count: u64,
    pub sum: f64,
}

impl Histogram {
    /// Observes one.
    pub fn add(&mut self, time: Span) {
        let seconds = time.secs_f64();
        if let Some(count) =
            BOUNDS.iter().position(|bound| seconds <= *bound).and_then(|i| self.counts.get_mut(i))
        {
            *count += 1;
        }
        self.count += 1;
        self.sum += seconds;
    }

    /// Adds what another one observed.
    pub fn join(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(other.counts).for_each(|(own, theirs)| *own += theirs);
        self.count += other.count;
        self.sum += other.sum;
    }

    /// Writes it as a metric.
    pub fn write(&self, to: &mut Exposition, name: &str, help: &str) {
        to.histogram(name, help, self.buckets(), (self.count, self.sum));
    }

    /// Each bound, and how many were at most that.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let sums = self.counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        BOUNDS.into_iter().zip(sums)
    }
}

#[cfg(test)]
mod tests;
