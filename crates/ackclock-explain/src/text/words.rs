//! Numbers, times and lists in words.

use std::time::{Duration, UNIX_EPOCH};

pub(crate) use ackclock_report::counted as count;
use ackclock_tcp::{Span, Time};

/// With two digits or three, but for what is shorter than 10 µs.
pub(crate) fn time(span: Span) -> String {
    let s = span.secs_f64();
    match span.0 {
        1_000_000_000.. => format!("{s:.1} s"),
        100_000_000.. => format!("{s:.2} s"),
        // What is rounded up to 1 ms is not 1000 µs.
        999_500.. => format!("{:.1} ms", 1000.0 * s),
        _ => format!("{:.0} µs", 1e6 * s),
    }
}

/// Bits a second.
pub(crate) fn rate(bps: f64) -> String {
    ackclock_report::rate(bps, 1)
}

/// Bytes.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        1_048_576.. => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        1024.. => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => count(bytes, "byte"),
    }
}

/// How many of a list are shown, and what is said of the others.
pub(crate) fn bounded(all: usize, top: usize) -> (usize, String) {
    match top {
        1.. if all > top => (top, format!("and {} more: --top 0 shows all\n", all - top)),
        _ => (all, String::new()),
    }
}

/// A date and a time of day, to the second.
pub(crate) fn date(at: Time) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_nanos(at.nanos()))
}

#[cfg(test)]
mod tests;
