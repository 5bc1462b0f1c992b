//! Numbers as tables and verdicts show them.

use ackclock_report::{Estimate, place, to_place};

/// The mean with its 95 % interval, both to two figures of the interval.
pub(crate) fn estimate(samples: &[f64]) -> String {
    with_more(samples, 0)
}

/// A number with its unit, if it has one; words that stand for a number have none.
pub(crate) fn in_unit(number: String, unit: &str) -> String {
    let is_number = number.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    if is_number && !unit.is_empty() { format!("{number} {unit}") } else { number }
}

/// Two of them, and the decimals that both have beyond that, so that different means look
/// different; six at most.
pub(crate) fn two_estimates(one: &[f64], other: &[f64]) -> ([String; 2], usize) {
    let mean = |samples: &[f64]| Estimate::of(samples).map(|e| e.mean);
    let both = |more: usize| [one, other].map(|samples| with_more(samples, more));
    let alike = |more: &usize| {
        let [one, other] = both(*more);
        one == other
    };
    let more = if mean(one) == mean(other) { 0 } else { (0..6).take_while(alike).count() };
    (both(more), more)
}

/// An estimate with so many decimals more.
fn with_more(samples: &[f64], more: usize) -> String {
    match Estimate::of(samples) {
        None => "nothing measured".into(),
        Some(e) if e.mean.is_nan() => {
            let missing = samples.iter().filter(|s| s.is_nan()).count();
            format!("missing in {missing} of {} runs", samples.len())
        }
        Some(Estimate { mean, half_width }) => {
            let half_width = half_width.unwrap_or_default();
            let Some(place) = place(mean, half_width) else { return figure(mean, more) };
            let [mean, half_width] =
                [mean, half_width].map(|value| to_place(value, place + more as i32));
            format!("{mean} ± {half_width}")
        }
    }
}

/// A difference to one decimal; what rounds to zero has no sign.
pub(crate) fn signed(difference: f64) -> String {
    signed_to(difference, 1)
}

/// A difference to this [`place`].
pub(crate) fn signed_to(difference: f64, place: i32) -> String {
    let text = to_place(difference, place);
    let is_above = difference > 0.0 && text.contains(|c: char| matches!(c, '1'..='9'));
    if is_above { format!("+{text}") } else { text }
}

/// A number to four figures and so many decimals more, whole numbers without decimals.
fn figure(n: f64, more: usize) -> String {
    let decimals = if n == n.trunc() { 0 } else { decimals(n) + more };
    format!("{n:.decimals$}")
}

/// The decimals that show four figures of `n`, six at most.
fn decimals(n: f64) -> usize {
    (3 - n.abs().log10().floor() as i32).clamp(0, 6) as usize
}

#[cfg(test)]
mod tests;
