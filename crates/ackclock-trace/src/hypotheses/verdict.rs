//! What is most probable of a segment, by the candidates that agree with what was seen.

use super::allowed;
use super::trial::Says;
use crate::connection::Kind;
use crate::sender::Sent;

/// Costs are divided by this, so that probabilities come out as measured: what segments cost is not
/// independent. From 1 to 4 the kinds are the same.
const TEMPERATURE: f32 = 2.0;
/// A first transmission that looks like none is sure where the best one costs less than this part
/// of what it may; else other beginnings are tried. Chosen: 0.15 to 0.6 give the same kinds.
const SURE: f64 = 0.3;
/// What the best candidate costs from so many segments before one to so many behind it says how
/// well it explains this one; no more than [`MOST_NEAR`] of it. Chosen: with 2 to 8, and 12.5 to
/// 50, the kinds are the same.
const NEAR: usize = 4;
const MOST_NEAR: f32 = 25.0;
/// A retransmission is claimed of what looks like a first transmission if it is as probable.
/// Chosen: down to 0.3 the kinds are the same; without any claim (above 1) five in a hundred
/// retransmissions are not found.
const LEAST_CLAIM: f64 = 0.6;

/// How often the best candidate is wrong, as measured: e to minus the sum of what is doubted is the
/// part that is right.
struct Doubt {
    /// Where it hardly agrees.
    overall: f64,
    /// For each unit of what it costs near the segment.
    near: f64,
}

/// Of what the capture shows to be a retransmission, and of what looks like a first transmission.
/// Most of what a shown one costs is for a window that is a little larger or smaller than the
/// sender's, which says little of its kind.
const SHOWN: Doubt = Doubt { overall: 0.0, near: 0.0018 };
const CLAIMED: Doubt = Doubt { overall: 0.7, near: 0.015 };
/// The same for the square of what it costs that the segment itself came when it did. When an ACK
/// came is known, and who sends much later than that has another reason. How long a timer waits is
/// not known as well, so that this does not count there.
const TIMING: f64 = 0.004;

/// What is most probable of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verdict {
    pub sent: Sent,
    /// `None` of a first transmission.
    pub kind: Option<Kind>,
    pub probability: f64,
    /// A tail loss probe and the retransmission timer explain it alike.
    pub by_either_timer: bool,
    /// What the best candidate costs, as a part of what it may.
    pub(super) doubt: f64,
    pub(super) says: Says,
}

impl Verdict {
    /// Nothing better is looked for.
    pub(super) fn is_sure(&self) -> bool {
        self.kind.is_some() || self.doubt < SURE
    }
}

/// What a segment looks like, and how far it is explained.
#[derive(Clone, Copy)]
pub(super) struct Looks {
    /// Nothing at or behind it was seen before.
    pub is_first: bool,
    /// Candidates agree as far ahead as is asked, or up to the last segment.
    pub to_the_end: bool,
}

/// What is most probable of a segment, by the candidates that agree as far as to segment `until`.
/// `None` if nothing is probable enough.
pub(super) fn verdict(
    sent: &Sent,
    index: usize,
    until: usize,
    all: &[Vec<Says>],
    looks: Looks,
) -> Option<Verdict> {
    let agreeing = || all.iter().filter(|says| says.len() > until);
    let least = agreeing().map(|says| says[until].cost).reduce(f32::min)?;
    let (mut sum, mut kinds) = (0.0, [0.0_f64; Kind::ALL.len() + 1]);
    let place = |kind: Option<Kind>| {
        Kind::ALL.iter().position(|k| Some(*k) == kind).unwrap_or(Kind::ALL.len())
    };
    for says in agreeing() {
        let weight = f64::from((least - says[until].cost) / TEMPERATURE).exp();
        sum += weight;
        kinds[place(says[index].kind)] += weight;
    }
    let (most, weight) = kinds.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    let kind = Kind::ALL.get(most).copied();
    let of_kind = agreeing().filter(|says| says[index].kind == kind);
    let best = of_kind.min_by(|a, b| a[until].cost.total_cmp(&b[until].cost))?;
    // The more the best one costs, the more often it is none of them.
    let doubt = f64::from(least / allowed(index)).clamp(0.0, 1.0);
    let is_claim = looks.is_first && kind.is_some();
    let of = if is_claim { CLAIMED } else { SHOWN };
    let wrong =
        of.overall * doubt.powi(2) + of.near * near(best, index, until) + timing(best[index]);
    let probability = (-wrong).exp() * weight / sum;
    // Most of what looks like a first transmission is one.
    if is_claim && (!looks.to_the_end || probability < LEAST_CLAIM) {
        return None;
    }
    let cost_of = |kind| {
        let of_kind = agreeing().filter(|says| says[index].kind == Some(kind));
        of_kind.map(|says| says[until].cost).reduce(f32::min)
    };
    let timers = [Kind::TailLossProbe, Kind::Timeout];
    let by_either_timer = kind.is_some_and(|kind| timers.contains(&kind))
        && matches!(timers.map(cost_of), [Some(a), Some(b)] if (a - b).abs() < TEMPERATURE);
    // To a thousandth, so that it is the same on every machine.
    let probability = (1000.0 * probability).round() / 1000.0;
    let says = best[index];
    Some(Verdict { sent: *sent, kind, probability, by_either_timer, doubt, says })
}

/// What a candidate costs near a segment, but for when it comes itself.
fn near(all: &[Says], index: usize, until: usize) -> f64 {
    let before = index.checked_sub(NEAR + 1).map_or(0.0, |before| all[before].cost);
    let cost = all[until.min(index + NEAR)].cost - before - all[index].timing;
    f64::from(cost.clamp(0.0, MOST_NEAR))
}

/// As [`TIMING`] says.
fn timing(says: Says) -> f64 {
    if says.kind.is_some_and(Kind::is_timeout) {
        0.0
    } else {
        TIMING * f64::from(says.timing).powi(2)
    }
}
