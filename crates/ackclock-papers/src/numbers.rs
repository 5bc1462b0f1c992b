//! Numbers as tables and verdicts show them.

use ackclock_report::Estimate;

/// The mean with its 95 % interval, both to two figures of the interval.
pub(crate) fn estimate(samples: &[f64]) -> String {
    with_more(samples, 0)
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
        Some(Estimate { mean, half_width: Some(half_width) }) if half_width > 0.0 => {
            let decimals = decimals(half_width, 2) + more;
            format!("{mean:.decimals$} ± {half_width:.decimals$}")
        }
        Some(e) => figure(e.mean, more),
    }
}

/// A difference to one decimal; what rounds to zero has no sign.
pub(crate) fn signed(difference: f64) -> String {
    signed_to(difference, 1)
}

/// A difference to so many decimals.
pub(crate) fn signed_to(difference: f64, decimals: usize) -> String {
    let text = format!("{difference:+.decimals$}");
    let is_zero = text.chars().all(|c| matches!(c, '+' | '-' | '0' | '.'));
    if is_zero { text[1..].into() } else { text }
}

/// A number to four figures and so many decimals more, whole numbers without decimals.
fn figure(n: f64, more: usize) -> String {
    let decimals = if n == n.trunc() { 0 } else { decimals(n, 4) + more };
    format!("{n:.decimals$}")
}

/// The decimals that show so many figures of `n`, six at most.
fn decimals(n: f64, figures: i32) -> usize {
    (figures - 1 - n.abs().log10().floor() as i32).clamp(0, 6) as usize
}

#[cfg(test)]
mod tests;
