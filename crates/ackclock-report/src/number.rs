//! Numbers with their units, and intervals.

use crate::summary::Estimate;

/// How a number is written: in which unit, and to which decimal if it stands alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Written {
    /// What the unit is worth: the number is divided by it.
    pub per: f64,
    /// Decimals, in this unit.
    pub decimals: usize,
    /// What follows the number, with the space before it if it has one.
    pub unit: &'static str,
}

/// The most decimals of an interval: times have nanoseconds.
const MOST_DECIMALS: i32 = 9;

impl Written {
    /// As it is, with so many decimals.
    pub const fn plain(decimals: usize, unit: &'static str) -> Written {
        Written { per: 1.0, decimals, unit }
    }

    /// The number alone.
    pub fn of(self, value: f64) -> String {
        format!("{}{}", to_place(value / self.per, self.decimals as i32), self.unit)
    }
}

/// The mean and, if it has one, the half-width of its interval: `39.4 ± 1.2 Mbit/s`. Both end at
/// the second figure of the half-width. One of zero has the decimals that the mean has alone.
/// `written` says how the mean is written; `-` stands for nothing.
pub fn with_interval(estimate: Option<Estimate>, written: impl Fn(f64) -> Written) -> String {
    let Some(Estimate { mean, half_width }) = estimate else { return "-".into() };
    let written = written(mean);
    let Some(half_width) = half_width else { return written.of(mean) };
    let Written { per, decimals, unit } = written;
    let (mean, half_width) = (mean / per, half_width / per);
    let place = place(mean, half_width).unwrap_or(decimals as i32);
    format!("{} ± {}{unit}", to_place(mean, place), to_place(half_width, place))
}

/// The place of the second figure of a half-width, at which both numbers of an interval end: 2 for
/// hundredths, -1 for tens. `None` if the half-width is zero, but for a rounding error of the mean,
/// or not finite.
pub fn place(mean: f64, half_width: f64) -> Option<i32> {
    // As it is rounded: 0.0996 is 0.10.
    let text = format!("{half_width:.1e}");
    let exponent: i32 = text.split_once('e')?.1.parse().ok()?;
    let is_some = half_width > mean.abs() * 1e-12 && half_width.is_finite();
    is_some.then(|| (1 - exponent).min(MOST_DECIMALS))
}

/// A number to this [`place`]. What rounds to zero has no sign.
pub fn to_place(value: f64, place: i32) -> String {
    let text = if place < 0 {
        let step = 10_f64.powi(-place);
        format!("{:.0}", (value / step).round() * step)
    } else {
        format!("{value:.*}", place as usize)
    };
    match text.strip_prefix('-') {
        Some(zero) if zero.bytes().all(|digit| matches!(digit, b'0' | b'.')) => zero.into(),
        _ => text,
    }
}

/// Seconds to the millisecond, and to three figures if they are fewer than that.
pub(crate) fn written_seconds(s: f64) -> Written {
    let decimals = if s > 0.0 { (2 - s.log10().floor() as i32).clamp(3, 9) } else { 3 };
    Written::plain(decimals as usize, "s")
}

/// A rate in bits a second, from 1 Mbit/s on with so many `decimals`.
pub fn rate(bps: f64, decimals: usize) -> String {
    written_rate(bps, decimals).of(bps)
}

pub(crate) fn written_rate(bps: f64, decimals: usize) -> Written {
    match bps {
        b if b >= 1e9 => Written { per: 1e9, decimals, unit: " Gbit/s" },
        b if b >= 1e6 => Written { per: 1e6, decimals, unit: " Mbit/s" },
        b if b >= 1e3 => Written { per: 1e3, decimals: 1, unit: " kbit/s" },
        _ => Written::plain(0, " bit/s"),
    }
}

#[cfg(test)]
mod tests;
