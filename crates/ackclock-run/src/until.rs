//! How many runs it takes until a mean is known well enough.
//!
//! Chow & Robbins (Annals of Mathematical Statistics 36, 1965, pages 457 to 462): go on until the
//! half-width of the interval of what there is so far is small enough. Alone that stops too early,
//! since it looks until chance makes the variance small. So there is a least number of runs, and
//! the interval has to stay small enough for a while (Hoad, Robinson & Davies, Journal of the
//! Operational Research Society 61, 2010, pages 1632 to 1644: a look ahead by a share of the runs).

use std::str::FromStr;

use ackclock_report::{FlowMeasure, student_t_975};

/// The runs that it takes at least.
pub(crate) const LEAST_RUNS: u32 = 50;

/// The runs that it takes at most, unless said otherwise.
pub const MOST_RUNS: u32 = 1000;

/// How well the mean of a measure is to be known: `goodput=2%`.
#[derive(Clone, Debug)]
pub struct Until {
    /// What is measured.
    pub measure: FlowMeasure,
    /// The half-width of the 95 % confidence interval over the mean, above 0 and below 1.
    pub share: f64,
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (measure, percent) = text
            .split_once('=')
            .filter(|(measure, _)| !measure.trim().is_empty())
            .ok_or_else(|| format!("`{text}` is not MEASURE=PERCENT%, such as `goodput=2%`"))?;
        let (name, percent) = (measure.trim(), percent.trim());
        let number = percent.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        let number = number.filter(|n| *n > 0.0 && *n < 100.0).ok_or_else(|| {
            format!(
                "`{percent}` is not a percentage between 0% and 100%; write for example \
                 `{name}=2%`"
            )
        })?;
        let measure = FlowMeasure::all().find(|m| name == m.name || name == m.key);
        let measure = measure.ok_or_else(|| {
            let names: Vec<String> = FlowMeasure::all().map(|m| format!("`{}`", m.name)).collect();
            format!("there is no measure `{name}`; there are {}", names.join(", "))
        })?;
        Ok(Until { measure, share: number / 100.0 })
    }
}

/// What there is of a measure so far: its mean and its variance by Welford's recurrence.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    n: u32,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.n += 1;
        let off = value - self.mean;
        self.mean += off / f64::from(self.n);
        self.squares += off * (value - self.mean);
    }

    /// The half-width over the mean. It is infinite of fewer than two values and of a mean of zero,
    /// and no number of values of which one is missing.
    fn precision(&self) -> f64 {
        if self.n < 2 || self.mean == 0.0 {
            return if self.mean.is_nan() { f64::NAN } else { f64::INFINITY };
        }
        let n = f64::from(self.n);
        let variance = self.squares / (n - 1.0);
        student_t_975(self.n as usize - 1) * (variance / n).sqrt() / self.mean.abs()
    }
}

/// Follows the runs of a group, and says when there are enough of them.
#[derive(Clone, Debug)]
struct Enough {
    shares: Vec<f64>,
    all: Vec<Moments>,
    /// After how many runs some interval was too wide for the last time.
    too_wide: u32,
}

impl Enough {
    /// For measures whose means are to be known so well.
    fn new(shares: &[f64]) -> Self {
        Enough { all: Vec::new(), shares: shares.to_vec(), too_wide: 0 }
    }

    /// Takes the next run by its values, one for each measure, and so again for each strategy in
    /// it; NaN if there is none, which no further runs mend. Returns whether this is the last run
    /// that it takes. Runs come in pairs: only an even number is enough.
    fn add(&mut self, values: &[f64]) -> bool {
        self.all.resize(values.len(), Moments::default());
        self.all.iter_mut().zip(values).for_each(|(moments, value)| moments.add(*value));
        let n = self.all.first().map_or(0, |moments| moments.n);
        if n % 2 == 1 {
            return false;
        }
        if n >= LEAST_RUNS && self.all.iter().any(|moments| moments.mean.is_nan()) {
            return true;
        }
        let narrow = self.of_shares().all(|(m, share)| m.precision() <= *share);
        if !narrow {
            self.too_wide = n;
        }
        self.is_over()
    }

    fn of_shares(&self) -> impl Iterator<Item = (&Moments, &f64)> {
        self.all.iter().zip(self.shares.iter().cycle())
    }

    /// Whether there are enough: the intervals were narrow throughout the last fifth of the runs.
    fn is_over(&self) -> bool {
        let n = self.all.first().map_or(0, |moments| moments.n);
        n >= LEAST_RUNS && n.is_multiple_of(2) && 5 * u64::from(self.too_wide) < 4 * u64::from(n)
    }

    /// About how many runs it takes in all: the variance so far stays, and so the width falls with
    /// the root of the number.
    fn forecast(&self) -> u32 {
        let of = |(moments, share): (&Moments, &f64)| {
            let times = (moments.precision() / share).powi(2) * 1.25;
            // Not a number turns to 0, infinity to the most.
            (f64::from(moments.n) * times) as u32
        };
        self.of_shares().map(of).max().unwrap_or(0)
    }
}

/// The runs of one group.
pub(crate) struct Settled<R> {
    /// Those that count, in the order of their seeds.
    pub runs: Vec<R>,
    /// The half-width over the mean of each value of a run, where some are too wide.
    pub short: Option<Vec<f64>>,
}

/// Does runs of each group until there are enough for each of the shares, or `most`. Which runs
/// count depends on their values alone, and not on how many were done at a time. `more` does the
/// runs of the groups and numbers that it gets, and returns `None` for one that was cancelled; then
/// no more are done. `values` has the values of a run: one for each share, or as many for each of
/// several strategies.
///
/// # Errors
/// What `more` returns.
pub(crate) fn until_enough<R, E>(
    groups: usize,
    (shares, most): (&[f64], u32),
    values: impl Fn(&R) -> Vec<f64>,
    mut more: impl FnMut(&[(usize, u32)]) -> Result<Vec<Option<R>>, E>,
) -> Result<Vec<Settled<R>>, E> {
    struct Group<R> {
        enough: Enough,
        runs: Vec<R>,
        done: bool,
    }
    let begin = || Group { enough: Enough::new(shares), runs: Vec::new(), done: false };
    let mut all: Vec<Group<R>> = (0..groups).map(|_| begin()).collect();
    let mut cancelled = false;
    while !cancelled {
        let mut wanted = Vec::new();
        for (i, group) in all.iter().enumerate().filter(|(_, group)| !group.done) {
            let there = group.runs.len() as u32;
            let aim = group.enough.forecast().max(there + 2).min(there.saturating_mul(2));
            let aim = aim.max(LEAST_RUNS).next_multiple_of(2).min(most);
            wanted.extend((there..aim).map(|number| (i, number)));
        }
        if wanted.is_empty() {
            break;
        }
        for ((i, number), run) in wanted.iter().zip(more(&wanted)?) {
            let group = &mut all[*i];
            let Some(run) = run else {
                cancelled = true;
                group.done = true;
                continue;
            };
            if group.done {
                continue;
            }
            group.done = group.enough.add(&values(&run)) || number + 1 == most;
            group.runs.push(run);
        }
    }
    let settled = |Group { enough, runs, .. }: Group<R>| {
        let short =
            (!enough.is_over()).then(|| enough.all.iter().map(Moments::precision).collect());
        Settled { runs, short }
    };
    Ok(all.into_iter().map(settled).collect())
}

#[cfg(test)]
mod tests;
