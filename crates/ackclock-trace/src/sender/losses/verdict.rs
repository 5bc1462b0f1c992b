//! Which cause explains the losses, if one does and no other.
//!
//! Each hypothesis is held against losses at random, by episodes: a queue that is full makes the
//! round trip longest where something is lost, a bucket is empty there, and losses at random come
//! wherever. The natural logarithm of how much likelier the losses are with a hypothesis is its
//! evidence. A queue loses the same packets as a bucket of its rate and size, so that both may have
//! evidence; then delay decides, as in Flach et al. section 3.1.
//!
//! Thresholds without a source are *chosen*. What half and twice of one change was counted with
//! `ackclock-score loss-causes --connections 70 --seed 500`, at the sender: as they are, 19 of 53
//! causes are named and none is taken for another, and one loss without any is taken for a queue's.

use ackclock_tcp::Span;

use super::bucket::{self, Bucket};
use super::delay::{Ranks, median};
use super::timeline::{Moment, Timeline};
use crate::loss::{LEAST_RANDOM, LossCause};

/// The least evidence: likelier by a factor of a thousand. Chosen: with half, 22 causes are named;
/// with twice, 16.
const ENOUGH: f64 = 7.0;
/// What choosing a rate and a burst among many may bring by chance alone. Chosen: with half, one
/// policer more is named; with twice, as many.
const CHOSEN: f64 = 3.0;
/// With fewer episodes nothing is said: two may be alike by chance.
const LEAST: usize = 3;
/// More than this is not called random: with as many losses a sender has hardly more than three
/// segments in flight, so that ranks say nothing.
const MOST_AT_RANDOM: f64 = 0.1;
/// Nor are longer runs: who loses a window at once has filled something.
const LONGEST_RUN: f64 = 5.0;
/// Nor is it where one episode lost more segments than this, and a third of all: it has filled
/// something, whatever the others did.
const MOST_AT_ONCE: f64 = 16.0;
/// So many losses have to meet a queue of about the same length, and so many an empty bucket.
/// Chosen: with half, one queue more is named; above 1 neither a queue nor a bucket ever is.
const ALIKE: f64 = 0.85;
/// The least queue, in packets: one in transmission and one that comes delay by less. With half, a
/// policer is taken for a queue; with twice, all is the same.
const LEAST_QUEUE: f64 = 3.0;

/// `rate_bps` is the rate of the bottleneck, if it was seen busy.
pub(super) fn cause(line: &Timeline, rate_bps: Option<f64>) -> Option<LossCause> {
    let episodes = line.episodes();
    if episodes < LEAST {
        return None;
    }
    let delays = Ranks::new(line, |m| m.delay);
    let mut of_lost: Vec<f64> = begins(line).filter_map(|m| m.delay).collect();
    let full = median(&mut of_lost)?;
    let holds = rate_bps.map(|bps| bps / 8.0 * full);
    let queued = of_queue(&of_lost, full, &delays) >= ENOUGH
        && holds.is_none_or(|holds| holds >= LEAST_QUEUE * line.size);
    let drop_tail = |delay: f64| LossCause::DropTail {
        delay: Span::from_secs_f64(delay),
        size: rate_bps.map(|bps| (bps / 8.0 * delay) as u64),
    };
    let best = bucket::best(line);
    if let Some(bucket) = best.filter(is_enough) {
        let fills = bucket.fills(line);
        let filled = bucket.waited(line).unwrap_or(full / fills);
        return match (filled >= 0.5, queued) {
            (true, true) => Some(drop_tail(full)),
            (true, false) if (0.7..1.5).contains(&filled) => Some(drop_tail(fills)),
            (false, false) => Some(LossCause::Policer {
                rate_bps: bucket.rate * 8.0,
                burst: bucket.full.then_some(bucket.burst as u64),
            }),
            _ => None,
        };
    }
    if queued {
        return Some(drop_tail(full));
    }
    // A bucket that explains more than chance does, but too little to be named.
    let half_explained = |b: Bucket| b.evidence >= CHOSEN || b.explained() >= b.empty_share + 0.25;
    let rate = line.lost_segments / line.segments.max(1.0);
    let run = mean_run(line.lost_segments, line.runs);
    let random = episodes >= LEAST_RANDOM as usize
        && rate <= MOST_AT_RANDOM
        && run <= LONGEST_RUN
        && (line.most_at_once <= MOST_AT_ONCE || line.most_at_once * 3.0 <= line.lost_segments)
        && !crowded(line, run)
        && !best.is_some_and(half_explained)
        && come_wherever(line, &delays);
    random.then_some(LossCause::Random { rate, run })
}

/// More losses than [`MOST_AT_ONCE`], and a third of all, come in a part of the data in which
/// chance hardly ever brings as many: what a queue loses until the sender has slowed down may be
/// several episodes. The evidence is the logarithm of the likelihood ratio of a scan statistic
/// (Kulldorff 1997), for runs: that what is next to a loss is lost, too, is no evidence of its own.
/// The part is chosen among many.
fn crowded(line: &Timeline, run: f64) -> bool {
    let before = |m: Option<&Moment>| m.map_or(0.0, |m| m.before);
    let whole = before(line.moments.last()) - before(line.moments.first()) + line.size;
    let lost: Vec<f64> = line.moments.iter().filter(|m| m.lost).map(|m| m.before).collect();
    let all = lost.len() as f64;
    let least = MOST_AT_ONCE.max(all / 3.0);
    let evidence = |within: f64, long: f64| {
        let (share, part) = (within / all, ((long.max(0.0) + line.size) / whole).min(1.0));
        let likelier = |share: f64, part: f64| {
            if share > 0.0 { share * (share / part).ln() } else { 0.0 }
        };
        let ratio = likelier(share, part) + likelier(1.0 - share, 1.0 - part);
        if share > part { all * ratio / run.max(1.0) } else { 0.0 }
    };
    let many = |first: usize, last: usize| {
        let within = (last - first + 1) as f64;
        within > least && evidence(within, lost[last] - lost[first]) >= ENOUGH + CHOSEN
    };
    (0..lost.len()).any(|first| (first..lost.len()).any(|last| many(first, last)))
}

/// Segments in a row. They may be shorter than SMSS, but a run is of one at least.
fn mean_run(segments: f64, runs: u32) -> f64 {
    (segments / f64::from(runs.max(1))).max(1.0)
}

/// The first loss of each episode.
fn begins(line: &Timeline) -> impl Iterator<Item = &Moment> {
    line.moments.iter().filter(|m| m.begins)
}

/// The bucket explains the losses, and no other one does.
fn is_enough(bucket: &Bucket) -> bool {
    !bucket.ambiguous && bucket.evidence >= ENOUGH + CHOSEN && bucket.explained() >= ALIKE
}

/// Evidence of a queue: losses come where the round trip is longest, and it is about the same at
/// most of them. At random the sum of -ln(1 - rank) has a gamma distribution, whose tail says how
/// seldom it is as large.
fn of_queue(of_lost: &[f64], full: f64, delays: &Ranks) -> f64 {
    let alike = of_lost.iter().filter(|d| **d >= 0.8 * full && **d <= 1.25 * full).count();
    if (alike as f64) < ALIKE * of_lost.len() as f64 {
        return 0.0;
    }
    let sum: f64 = of_lost.iter().map(|d| -(1.0 - delays.of(*d)).max(0.005).ln()).sum();
    let (mut term, mut tail) = (1.0, 0.0);
    for k in 1..=of_lost.len() {
        tail += term;
        term *= sum / k as f64;
    }
    sum - tail.ln()
}

/// Losses come with little and much in flight, and with short and long round trips. The mean of so
/// many ranks is off by no more than it is by chance in 19 of 20 cases, or than what the neighbours
/// of a lost segment differ from it.
fn come_wherever(line: &Timeline, delays: &Ranks) -> bool {
    let flights = Ranks::new(line, |m| Some(m.flight));
    let by_chance = 2.0 / (12.0 * line.episodes() as f64).sqrt();
    let within = |rank: Option<f64>, bias: f64| {
        rank.is_some_and(|rank| (rank - 0.5).abs() <= by_chance.max(bias))
    };
    within(mean_rank(line, &flights, |m| Some(m.flight)), 0.1)
        && within(mean_rank(line, delays, |m| m.delay), 0.15)
}

fn mean_rank(line: &Timeline, ranks: &Ranks, of: fn(&Moment) -> Option<f64>) -> Option<f64> {
    let all: Vec<f64> = begins(line).filter_map(|m| Some(ranks.of(of(m)?))).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

#[cfg(test)]
mod tests;
