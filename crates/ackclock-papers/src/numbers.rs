//! Numbers as tables and verdicts show them.

use ackclock_report::Estimate;

/// The mean with its 95 % interval, both to two figures of the interval.
pub(crate) fn estimate(samples: &[f64]) -> String {
    match Estimate::of(samples) {
        None => "nothing measured".into(),
        Some(e) if e.mean.is_nan() => {
            let missing = samples.iter().filter(|s| s.is_nan()).count();
            format!("missing in {missing} of {} runs", samples.len())
        }
        Some(Estimate { mean, half_width: Some(half_width) }) if half_width > 0.0 => {
            let decimals = decimals(half_width, 2);
            format!("{mean:.decimals$} ± {half_width:.decimals$}")
        }
        Some(e) => figure(e.mean),
    }
}

/// A difference to one decimal; what rounds to zero has no sign.
pub(crate) fn signed(difference: f64) -> String {
    let text = format!("{difference:+.1}");
    if matches!(text.as_str(), "+0.0" | "-0.0") { "0.0".into() } else { text }
}

/// A number to four figures, whole numbers without decimals.
fn figure(n: f64) -> String {
    let decimals = if n == n.trunc() { 0 } else { decimals(n, 4) };
    format!("{n:.decimals$}")
}

/// The decimals that show so many figures of `n`, six at most.
fn decimals(n: f64, figures: i32) -> usize {
    (figures - 1 - n.abs().log10().floor() as i32).clamp(0, 6) as usize
}

#[cfg(test)]
mod tests;
