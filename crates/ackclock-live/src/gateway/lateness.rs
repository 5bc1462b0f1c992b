//! A distribution of times.

#[cfg(test)]
mod tests;

/// Each power of two is divided into so many.
const STEPS: u64 = 8;

/// How late packets were: quantiles with an error of at most an eighth, in little memory.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Box<[u64]>,
    total: u64,
    max: u64,
}

impl Default for Lateness {
    fn default() -> Self {
        Lateness { counts: vec![0; 64 * STEPS as usize].into(), total: 0, max: 0 }
    }
}

impl Lateness {
    /// One more, in nanoseconds.
    pub(super) fn add(&mut self, nanos: u64) {
        self.counts[bucket(nanos)] += 1;
        self.total += 1;
        self.max = self.max.max(nanos);
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The largest, in nanoseconds.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The time in nanoseconds that the share `q`, 0 to 1, of all do not exceed, or up to an eighth
    /// more; 0 if there are none.
    pub fn quantile(&self, q: f64) -> u64 {
        let wanted = (q * self.total as f64).ceil() as u64;
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted.max(1)
        });
        found.map_or(0, |at| upper(at as u64).min(self.max))
    }
}

fn bucket(nanos: u64) -> usize {
    let exponent = u64::from((nanos / STEPS).checked_ilog2().map_or(0, |log| log + 1));
    let step = if exponent == 0 { nanos } else { (nanos >> (exponent - 1)) - STEPS };
    (exponent * STEPS + step) as usize
}

/// The largest time in a bucket.
fn upper(bucket: u64) -> u64 {
    let (exponent, step) = (bucket / STEPS, bucket % STEPS);
    if exponent == 0 { step } else { ((STEPS + step + 1) << (exponent - 1)) - 1 }
}
