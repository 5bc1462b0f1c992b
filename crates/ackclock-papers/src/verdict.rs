//! Whether a claim holds.
//!
//! Several runs are judged on the differences between runs of the same seed. A relation holds if
//! the 95 % interval of their mean lies on the claimed side. It does not hold if the interval lies
//! on the other side. It is undecided if the interval covers the boundary. A single, deterministic
//! run is judged exactly.

use ackclock_report::{Estimate, place, to_place};
use serde::Serialize;

use crate::format::{Claim, Margin, NumberOrText};
use crate::measurement::{Measurement, Measurements};
use crate::measures::unit;
use crate::numbers::{estimate, in_unit, signed_to, two_estimates};

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not.
    DoesNotHold,
    /// The runs do not decide.
    Undecided,
}

impl Verdict {
    fn of(holds: bool) -> Verdict {
        if holds { Verdict::Holds } else { Verdict::DoesNotHold }
    }

    /// The words in every output.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::DoesNotHold => "does not hold",
            Verdict::Undecided => "undecided",
        }
    }
}

/// A verdict and the figures that it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// What was measured, in words.
    pub measured: String,
    /// The difference of two measurements in percent of the magnitude of the other's mean; left out
    /// unless two are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative: Option<f64>,
}

impl Judgement {
    fn of_one(verdict: Verdict, measured: String) -> Self {
        Judgement { verdict, measured, relative: None }
    }
}

/// `ours - factor * other - offset` is on the side `sign` of zero, or on it unless `strict`.
#[derive(Clone, Copy)]
struct Bound {
    sign: f64,
    factor: f64,
    offset: f64,
    strict: bool,
}

impl Claim {
    /// A share is of the other's magnitude: 10 % above -5 is -4.5.
    fn bounds(&self, relation: &str, others: &[f64]) -> Vec<Bound> {
        let side = Estimate::of(others).map_or(1.0, |other| other.mean.signum());
        let by = |margin: Option<Margin>, sign: f64, strict: bool| {
            let (factor, offset) = match margin {
                None => (1.0, 0.0),
                Some(Margin::Share(share)) => (1.0 + sign * side * share, 0.0),
                Some(Margin::Absolute(n)) => (1.0, sign * n),
            };
            (factor, offset, strict)
        };
        let bound = |sign: f64, (factor, offset, strict)| Bound { sign, factor, offset, strict };
        match relation {
            "above" => vec![bound(1.0, by(self.by, 1.0, true))],
            "below" => vec![bound(-1.0, by(self.by, -1.0, true))],
            "at_least" => vec![bound(1.0, by(self.by, 1.0, false))],
            "at_most" => vec![bound(-1.0, by(self.by, -1.0, false))],
            _ => vec![
                bound(1.0, by(self.tolerance, -1.0, false)),
                bound(-1.0, by(self.tolerance, 1.0, false)),
            ],
        }
    }
}

/// Judges a claim.
pub(crate) fn judge(claim: &Claim, measurements: &Measurements) -> Judgement {
    let (Some((relation, other)), Some(ours)) =
        (claim.relation(), measurements.get(&claim.measurement))
    else {
        return Judgement::of_one(Verdict::Undecided, "nothing measured".into());
    };
    let samples = match ours {
        Measurement::Text(text) => {
            let same = relation == "equals" && *text == plain(other);
            return Judgement::of_one(Verdict::of(same), text.clone());
        }
        Measurement::Samples(samples) => samples,
    };
    let ours_in = unit(&claim.measurement);
    let estimate = |samples: &[f64]| in_unit(estimate(samples), ours_in);
    let expected = plain(other).parse::<f64>().ok();
    if let (Some(expected), Some(in_runs)) = (expected, claim.in_runs) {
        return in_all_runs(samples, &estimate(samples), expected, in_runs);
    }
    if let (Some(expected), "equals") = (expected, relation) {
        let same = samples.iter().all(|s| *s == expected);
        return Judgement::of_one(Verdict::of(same), estimate(samples));
    }
    let others = match other {
        NumberOrText::Number(n) => vec![*n; samples.len()],
        NumberOrText::Text(name) => match measurements.get(name) {
            Some(Measurement::Samples(others)) => others.clone(),
            Some(Measurement::Text(text)) => {
                let measured = format!("{}; {name}: {text}", estimate(samples));
                return Judgement::of_one(Verdict::DoesNotHold, measured);
            }
            None => Vec::new(),
        },
    };
    let (mut measured, percent) = match other {
        NumberOrText::Number(_) => (estimate(samples), None),
        NumberOrText::Text(name) => compared((samples, ours_in), (&others, unit(name))),
    };
    if let Some(by) = claim.by.filter(|by| by.is_below_zero()) {
        measured = format!("{measured}; it may be up to {by} on the other side");
    }
    if samples.len() != others.len() || samples.iter().chain(&others).any(|s| s.is_nan()) {
        return Judgement::of_one(
            Verdict::Undecided,
            format!("{measured}; not measured in every run"),
        );
    }
    if relation == "equals" {
        let verdict = Verdict::of(*samples == others);
        return Judgement { verdict, measured, relative: percent };
    }
    let verdicts: Vec<Verdict> =
        claim.bounds(relation, &others).iter().map(|b| b.verdict(samples, &others)).collect();
    let verdict =
        [Verdict::DoesNotHold, Verdict::Undecided].into_iter().find(|v| verdicts.contains(v));
    Judgement { verdict: verdict.unwrap_or(Verdict::Holds), measured, relative: percent }
}

/// Two measurements, each with its unit, in words; and the difference in percent of the magnitude
/// of the other's mean.
fn compared(
    (samples, ours_in): (&[f64], &str),
    (others, theirs_in): (&[f64], &str),
) -> (String, Option<f64>) {
    let relative = relative(samples, others);
    let ([ours, theirs], more) = two_estimates(samples, others);
    let difference = relative.map_or(String::new(), |percent| shown(percent, 1 + more as i32));
    // A unit that both have is said once.
    let ours = if ours_in == theirs_in { ours } else { in_unit(ours, ours_in) };
    let measured = format!("{ours} against {}{difference}", in_unit(theirs, theirs_in));
    (measured, relative.map(|r| r.mean))
}

/// The least probability with which what the paper saw would come out here.
const LIKELY: f64 = 0.05;

/// Judges that `in_runs` runs all had this number, by the share of our runs that have it and its
/// 95 % interval (Wilson 1927).
fn in_all_runs(samples: &[f64], shown: &str, expected: f64, in_runs: u32) -> Judgement {
    const Z: f64 = 1.96;
    let n = samples.len() as f64;
    let so = samples.iter().filter(|s| **s == expected).count() as f64;
    let (share, z2) = (so / n, Z * Z / n);
    let center = (share + z2 / 2.0) / (1.0 + z2);
    let half = Z * (share * (1.0 - share) / n + z2 / (4.0 * n)).sqrt() / (1.0 + z2);
    let all = |share: f64| share.clamp(0.0, 1.0).powi(in_runs.try_into().unwrap_or(i32::MAX));
    let verdict = match (all(center - half) >= LIKELY, all(center + half) >= LIKELY) {
        (true, _) => Verdict::Holds,
        (false, false) => Verdict::DoesNotHold,
        (false, true) => Verdict::Undecided,
    };
    let measured = format!(
        "{shown}; {so} of {n} runs; {in_runs} such runs have a probability of {:.0} %",
        100.0 * all(share)
    );
    Judgement::of_one(verdict, measured)
}

impl Bound {
    fn verdict(&self, ours: &[f64], others: &[f64]) -> Verdict {
        let difference = |(a, b): (&f64, &f64)| self.sign * (a - self.factor * b - self.offset);
        let differences: Vec<f64> = ours.iter().zip(others).map(difference).collect();
        let Some(Estimate { mean, half_width }) = Estimate::of(&differences) else {
            return Verdict::Undecided;
        };
        let half_width = half_width.unwrap_or(0.0);
        let beyond = |x: f64| if self.strict { x > 0.0 } else { x >= 0.0 };
        match (beyond(mean - half_width), beyond(mean + half_width)) {
            (true, _) => Verdict::Holds,
            (false, false) => Verdict::DoesNotHold,
            (false, true) => Verdict::Undecided,
        }
    }
}

fn plain(value: &NumberOrText) -> String {
    match value {
        NumberOrText::Number(n) => n.to_string(),
        NumberOrText::Text(text) => text.clone(),
    }
}

/// The difference in percent of the magnitude of the other's mean, with the interval of the paired
/// differences.
fn relative(ours: &[f64], others: &[f64]) -> Option<Estimate> {
    let differences: Vec<f64> = ours.iter().zip(others).map(|(a, b)| a - b).collect();
    let (difference, base) = (Estimate::of(&differences)?, Estimate::of(others)?.mean);
    let percent = |x: f64| 100.0 * x / base.abs();
    let known = base != 0.0 && !base.is_nan() && !difference.mean.is_nan();
    known.then(|| Estimate {
        mean: percent(difference.mean),
        half_width: difference.half_width.map(percent),
    })
}

/// To two figures of the interval; without one, or with one of zero, to so many decimals.
fn shown(Estimate { mean, half_width }: Estimate, decimals: i32) -> String {
    let place = half_width.and_then(|half_width| place(mean, half_width)).unwrap_or(decimals);
    let mean = signed_to(mean, place);
    match half_width {
        Some(half_width) => format!(" ({mean} % ± {} %)", to_place(half_width, place)),
        None => format!(" ({mean} %)"),
    }
}

#[cfg(test)]
mod tests;
