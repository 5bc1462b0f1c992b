//! What all drawings share: colours, ticks, labels, escaping and the placing of text.

use std::fmt::{self, Write};

/// A colour on a light and on a dark ground.
pub(crate) type Colour = [&'static str; 2];

/// The neutral colours, after `assets/style.css`: of a panel, of text, of text that steps back,
/// of grid lines.
pub(crate) const PANEL: Colour = ["#ffffff", "#171c24"];
pub(crate) const INK: Colour = ["#1b2430", "#e6ebf2"];
pub(crate) const SOFT: Colour = ["#5a6675", "#9aa6b5"];
pub(crate) const GRID: Colour = ["#e1e6ec", "#2c3542"];

/// Colours of data after Okabe and Ito, darkened for a light ground.
pub(crate) const BLUE: Colour = ["#0062b3", "#56b4e9"];
pub(crate) const VERMILION: Colour = ["#d1410c", "#ff7a3d"];
pub(crate) const GREEN: Colour = ["#007f5c", "#2fd0a0"];
pub(crate) const PINK: Colour = ["#a3005c", "#ff6fb5"];
pub(crate) const AMBER: Colour = ["#8a5a00", "#f0b429"];
pub(crate) const PURPLE: Colour = ["#6a3fc4", "#b79cff"];
pub(crate) const SLATE: Colour = ["#3b4350", "#c3cad6"];

/// The `font-family` of SVG.
pub(crate) const FONT: &str = "Helvetica, Arial, 'DejaVu Sans', sans-serif";

/// On a page of print 12 px are 8 points.
pub(crate) const PIXELS_PER_MM: f64 = 1.5 * 72.0 / 25.4;

/// The attributes of a drawing that is so many pixels large, on the screen or in print.
pub(crate) fn size(width: f64, height: f64, print: bool) -> String {
    let view = format!("viewBox=\"0 0 {width} {height}\"");
    if print {
        let [w, h] = [width, height].map(|pixels| pixels / PIXELS_PER_MM);
        format!("width=\"{w:.3}mm\" height=\"{h:.3}mm\" {view}")
    } else {
        format!("width=\"{width}\" height=\"{height}\" {view}")
    }
}

/// The width of a character at 12 px, by the rule of thumb that it is 0.55 em.
pub(crate) const CHARACTER: f64 = 6.6;

/// The width of a text at 12 px.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// The text if it has so many characters at most; else what fits, and an ellipsis.
pub(crate) fn shorten(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.into();
    }
    text.chars().take(characters.saturating_sub(1)).chain(['…']).collect()
}

/// A bold text of this size, in pixels, as far as it fits into this width. Bold letters are wider
/// by a tenth.
pub(crate) fn fitted(text: &str, size: f64, width: f64) -> String {
    shorten(text, (width / (CHARACTER * 1.1 * size / 12.0)) as usize)
}

/// Puts items beside each other, and into the next row where one would not fit.
pub(crate) struct Rows {
    pub left: f64,
    pub right: f64,
    /// From one row to the next.
    pub line: f64,
    /// Where the next item goes if it fits.
    pub x: f64,
    pub y: f64,
}

impl Rows {
    /// The place of an item this wide.
    pub fn place(&mut self, width: f64) -> (f64, f64) {
        if self.x > self.left && self.x + width > self.right {
            (self.x, self.y) = (self.left, self.y + self.line);
        }
        let at = (self.x, self.y);
        self.x += width;
        at
    }
}

pub(crate) fn widen(range: Option<(f64, f64)>, by: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (range, by) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (one, other) => one.or(other),
    }
}

/// The range with room at both ends; a single point gets a range around it that its floating-point
/// value can resolve.
pub(crate) fn padded((low, high): (f64, f64), room: f64) -> (f64, f64) {
    let pad = if high > low { (high - low) * room } else { (low.abs() * 1e-6).max(0.5) };
    (low - pad, high + pad)
}

pub(crate) fn tenths(pixels: f64) -> f64 {
    (pixels * 10.0).round() / 10.0
}

/// A round number that divides `range` into about `n` parts, at most.
pub(crate) fn tick_step(range: f64, n: f64) -> f64 {
    let raw = range / n;
    let power = 10_f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0].into_iter().find(|m| m * power >= raw * 0.999).unwrap_or(10.0) * power
}

/// Round values in `[a, b]`, at most about `n`, and the step between them.
pub(crate) fn ticks(a: f64, b: f64, n: f64) -> (Vec<f64>, f64) {
    let step = tick_step(b - a, n);
    let first = (a / step).ceil();
    let values = (0..4 * n as u32).map(|i| (first + f64::from(i)) * step).take_while(|v| *v <= b);
    (values.collect(), step)
}

/// A value on an axis whose ticks are `step` apart.
pub(crate) fn label(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !(1e-9..1e12).contains(&step) {
        let digits = (value.abs().log10().floor() - step.log10().floor()).clamp(0.0, 9.0) as usize;
        return format!("{value:.digits$e}");
    }
    let (unit, suffix) = match step {
        s if s >= 1e9 => (1e9, "G"),
        s if s >= 1e6 => (1e6, "M"),
        s if s >= 1e4 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let digits = (-((step / unit).log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
    format!("{:.digits$}{suffix}", value / unit)
}

/// The same written out, for a unit that has a prefix itself.
pub(crate) fn plain_label(value: f64, step: f64) -> String {
    if (1e4..1e12).contains(&step) { format!("{value:.0}") } else { label(value, step) }
}

/// The path of a line that stays at each value until the next one, to `end`, with gaps where there
/// is none; in pixels.
pub(crate) fn steps(
    points: impl Iterator<Item = (f64, Option<f64>)>,
    end: f64,
) -> Result<String, fmt::Error> {
    let mut path = String::new();
    let mut last = None;
    for (x, y) in points {
        let x = tenths(x);
        let now = y.map(|y| (x, tenths(y)));
        match (last, now) {
            (None, Some((x, y))) => write!(path, "M{x} {y}")?,
            // What moves less than a tenth of a pixel is not seen. The path has not come to this
            // x: the next change has to lead it there, so `last` stays.
            (Some((_, y0)), Some((_, y))) if y == y0 => continue,
            (Some((x0, _)), Some((x, y))) if x == x0 => write!(path, "V{y}")?,
            (Some(_), Some((x, y))) => write!(path, "H{x}V{y}")?,
            (Some(_), None) => write!(path, "H{x}")?,
            (None, None) => {}
        }
        last = now;
    }
    if last.is_some() {
        write!(path, "H{}", tenths(end))?;
    }
    Ok(path)
}

/// Escapes text for HTML and XML, attribute values included; what XML cannot hold becomes U+FFFD.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
