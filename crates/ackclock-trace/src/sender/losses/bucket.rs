//! Does a token bucket explain the losses? That is: is there a rate and a burst with which the
//! bucket is empty whenever a packet is lost, and not at other times?
//!
//! After Flach et al., "An Internet-Wide Analysis of Traffic Policing" (SIGCOMM 2016), section 3.1:
//! the rate is what arrives between losses, and what is lost has to find an empty bucket, what
//! arrives one with tokens. Departures: the paper takes the rate from the first loss to the last;
//! here each pair of losses gives a candidate, since a bucket that overflows between two losses
//! lets less through than its rate. The paper compares means and medians of the tokens; here how
//! much likelier the losses are with a bucket than at random is asked of each episode, so that few
//! episodes do not suffice. And the bucket may be full between losses, which yields its size.
//!
//! A queue that drops what comes when it is full loses the same packets as a bucket with its rate
//! and its size. What sets them apart is delay (`verdict.rs`).

use super::delay::median;
use super::timeline::{Moment, Timeline};

/// The bucket is empty if it has tokens for no more packets than this.
const EMPTY: f64 = 2.0;
/// Pairs of losses that are tried.
const MOST_PAIRS: usize = 48;
/// From so many packets on that arrived after a loss, the next one speaks for itself.
const FAR: f64 = 8.0;
/// What has to have arrived between losses that a bucket was not full between, in packets: so the
/// rate is known to a few percent.
const LEAST_STEADY: f64 = 40.0;
/// Of losses that a bucket explains, how many it explains as measured: some are lost elsewhere.
const EXPLAINED: f64 = 0.95;
/// An episode that finds tokens speaks against a bucket as much as so many losses that do.
const MISSED: f64 = 3.0;
/// With fewer episodes explained, no bucket is looked for any closer.
const HALF: f64 = 0.5;

/// A bucket, and how well it explains the losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    /// Bytes a second.
    pub rate: f64,
    /// Bytes.
    pub burst: f64,
    /// The bucket was seen full, or else `burst` is the most that it was seen to hold.
    pub full: bool,
    /// Natural logarithm of how much likelier the episodes are with it than at random, once
    /// weighed.
    pub evidence: f64,
    /// How near to empty it is at all losses, to choose between buckets.
    fits: f64,
    /// Episodes, and those that find it empty.
    episodes: (u32, u32),
    /// The part of what arrived that found it empty, once weighed.
    pub empty_share: f64,
    /// Another rate, twice as high or more, explains as many.
    pub ambiguous: bool,
    /// What arrived between losses between which it was never full, and in how many seconds.
    steady: (f64, f64),
}

/// From one loss to the next.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// Tokens at its end if the bucket has not overflown, from an empty one.
    left: f64,
    /// What arrived in it, in so many seconds.
    steady: (f64, f64),
    /// Tokens that its end takes beyond what comes in, from the fullest moment on.
    excess: f64,
    /// What it ends with is not a consequence of what it began with.
    speaks: bool,
}

/// The bucket that explains the losses best.
pub(super) fn best(line: &Timeline) -> Option<Bucket> {
    let (runs, mut gaps) = (line.runs_to_losses(), Vec::new());
    let mut of = |rate: f64| Bucket::of(line, &runs, rate, &mut gaps);
    let mut all: Vec<Bucket> = candidates(line).into_iter().filter_map(&mut of).collect();
    all.sort_by(|a, b| b.fits.total_cmp(&a.fits));
    all.truncate(4);
    let mut best = *all.first()?;
    // The rate of a bucket is known from one loss to another to a few packets. So what explains few
    // of the losses explains no more of them at a rate nearby.
    if best.explained() < HALF {
        return Some(best.weighed(line));
    }
    for bucket in all {
        for step in -12..=12 {
            best = better(best, of(bucket.rate * (1.0 + 0.0025 * f64::from(step))));
        }
    }
    for width in [0.0005, 0.0001] {
        let middle = best.rate;
        for step in -5..=5 {
            best = better(best, of(middle * (1.0 + width * f64::from(step))));
        }
    }
    // The ends of a chain of losses are known to a packet each, so that the chain as one is exact.
    for _ in 0..3 {
        let (bytes, time) = best.steady;
        if bytes < LEAST_STEADY * line.size || time <= 0.0 {
            best.ambiguous = true;
            return Some(best.weighed(line));
        }
        let Some(settled) = of(bytes / time) else { break };
        if settled.explained() < best.explained() {
            break;
        }
        best = settled;
    }
    let mut best = best.weighed(line);
    let others = [2.0, 4.0, 16.0].map(|times| Some(of(best.rate * times)?.weighed(line)));
    let as_well =
        |b: Bucket| b.explained() >= 0.9 * best.explained() && b.evidence >= 0.5 * best.evidence;
    best.ambiguous = others.into_iter().flatten().any(as_well);
    Some(best)
}

fn better(a: Bucket, b: Option<Bucket>) -> Bucket {
    b.filter(|b| b.fits > a.fits).unwrap_or(a)
}

/// Rates at which data arrived from one loss to another.
fn candidates(line: &Timeline) -> Vec<f64> {
    let lost: Vec<_> = line.moments.iter().filter(|m| m.lost).collect();
    let mut all = Vec::new();
    let mut apart = 1;
    while apart < lost.len() {
        let step = (lost.len() * 16 / MOST_PAIRS).max(1);
        for (from, to) in lost.iter().zip(&lost[apart..]).step_by(step) {
            let (bytes, time) = (to.before - from.before, to.at - from.at);
            if bytes > 4.0 * line.size && time > 0.0 {
                all.push(bytes / time);
            }
        }
        apart *= 2;
    }
    // All that arrived while episodes went on.
    let within = lost.windows(2).filter(|pair| !pair[1].begins);
    let (bytes, time) = within.fold((0.0, 0.0), |(bytes, time), pair| {
        (bytes + pair[1].before - pair[0].before, time + pair[1].at - pair[0].at)
    });
    if bytes > 0.0 && time > 0.0 {
        all.push(bytes / time);
    }
    all
}

impl Bucket {
    /// One with this rate. `runs`: the moments up to each loss.
    fn of(line: &Timeline, runs: &[&[Moment]], rate: f64, gaps: &mut Vec<Gap>) -> Option<Bucket> {
        if !rate.is_finite() || rate <= 0.0 {
            return None;
        }
        let empty = EMPTY * line.size;
        // Until the first loss the bucket is known to be full only at the beginning.
        let known = line.complete;
        gaps.clear();
        let (mut most, mut start, mut since) = (f64::NEG_INFINITY, None, (0.0, 0.0));
        let surplus = |moment: &Moment| rate * moment.at - moment.before;
        for run in runs {
            for moment in *run {
                let surplus = surplus(moment);
                // Not by `f64::max`, which asks for numbers that are none.
                most = if surplus > most { surplus } else { most };
            }
            let Some(loss) = run.last() else { continue };
            let surplus = surplus(loss);
            let left = start.map_or(f64::INFINITY, |start| surplus - start);
            if start.is_some() || known {
                let steady = (loss.before - since.0, loss.at - since.1);
                gaps.push(Gap {
                    left,
                    steady,
                    excess: most - surplus,
                    speaks: loss.begins || steady.0 >= FAR * line.size,
                });
            }
            (start, most) = (Some(surplus), surplus);
            since = (loss.before, loss.at);
        }
        let held = |gap: &Gap| if gap.left.is_finite() { gap.excess + gap.left } else { 0.0 };
        let mut full: Vec<f64> =
            gaps.iter().filter(|gap| gap.left > empty).map(|gap| gap.excess).collect();
        let middle = full.len() / 2;
        let (burst, is_full) = if full.is_empty() {
            (gaps.iter().map(held).fold(0.0, f64::max), false)
        } else {
            (*full.select_nth_unstable_by(middle, f64::total_cmp).1, true)
        };
        let (mut off, mut steady, mut episodes, mut explained) = (0.0, (0.0, 0.0), 0, 0);
        for gap in gaps.iter() {
            let tokens = gap.left.min(burst - gap.excess).abs();
            off += (tokens / empty).min(1.0);
            if gap.left.abs() <= empty {
                steady = (steady.0 + gap.steady.0, steady.1 + gap.steady.1);
            }
            if gap.speaks {
                (episodes, explained) = (episodes + 1, explained + u32::from(tokens <= empty));
            }
        }
        Some(Bucket {
            rate,
            burst,
            full: is_full,
            evidence: 0.0,
            fits: -off - MISSED * f64::from(episodes - explained),
            episodes: (episodes, explained),
            empty_share: 0.0,
            ambiguous: false,
            steady,
        })
    }

    /// The part of the episodes that it explains.
    pub fn explained(&self) -> f64 {
        let (episodes, explained) = self.episodes;
        f64::from(explained) / f64::from(episodes.max(1))
    }

    /// With its evidence.
    fn weighed(mut self, line: &Timeline) -> Bucket {
        self.empty_share = self.find_empty(line).clamp(0.005, 0.995);
        // A bucket that is always empty explains nothing.
        let hit = (EXPLAINED / self.empty_share).ln().max(0.0);
        let miss = ((1.0 - EXPLAINED) / (1.0 - self.empty_share)).ln().min(-1.0);
        let (episodes, explained) = self.episodes;
        self.evidence = hit * f64::from(explained) + miss * f64::from(episodes - explained);
        self
    }

    /// The part of what arrived that found it empty.
    fn find_empty(&self, line: &Timeline) -> f64 {
        let empty = EMPTY * line.size;
        let (mut all, mut found_empty) = (0.0, 0.0);
        for (moment, tokens) in self.tokens(line) {
            all += moment.weight;
            found_empty += if tokens <= empty { moment.weight } else { 0.0 };
        }
        if all > 0.0 { found_empty / all } else { 1.0 }
    }

    /// Each moment with the tokens that it finds.
    fn tokens<'a>(&self, line: &'a Timeline) -> impl Iterator<Item = (&'a Moment, f64)> {
        let Bucket { rate, burst, .. } = *self;
        let (mut left, mut last) = (burst, None);
        line.moments.iter().map(move |moment| {
            let surplus = rate * moment.at - moment.before;
            let tokens = (left + surplus - last.unwrap_or(surplus)).min(burst);
            last = Some(surplus);
            left = if moment.lost { 0.0 } else { tokens };
            (moment, tokens)
        })
    }

    /// The delay of a queue of this rate and size that is full, in seconds. The packet itself and
    /// the one in transmission are no delay.
    pub fn fills(&self, line: &Timeline) -> f64 {
        (self.burst - 1.5 * line.size).max(line.size) / self.rate
    }

    /// How long what arrived has waited, as a part of what such a queue would have made it wait:
    /// the median of what finds it half full or fuller. A burst fills a queue between two records,
    /// so that the neighbour of a loss tells of its delay only where data leaves evenly.
    pub fn waited(&self, line: &Timeline) -> Option<f64> {
        let wait = |tokens: f64| (self.burst - tokens - 1.5 * line.size).max(line.size) / self.rate;
        let arrived =
            self.tokens(line).filter(|(m, tokens)| !m.lost && *tokens <= self.burst / 2.0);
        let mut parts: Vec<f64> =
            arrived.filter_map(|(m, tokens)| Some(m.delay? / wait(tokens))).collect();
        median(&mut parts)
    }
}
