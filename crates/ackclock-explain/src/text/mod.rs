//! What people read: tables, and a sentence for each stall.

mod connections;
mod one;
mod overall;
mod sentence;

use std::time::{Duration, UNIX_EPOCH};

use ackclock_tcp::{Span, Time};

use crate::explained::{Capture, Explained};

pub(crate) use one::{ended, position, recovered};
pub(crate) use sentence::{retransmission, stall};

/// Everything as text: the connections, the stalls in which most time was lost, and all connections together. Of a list at most `top`
/// entries; 0 for all.
pub fn table(explained: &Explained, top: usize) -> String {
    let (shown, more) = bounded(explained.captures.len(), top);
    let captures = explained.captures[..shown].iter().map(capture).collect::<String>() + &more;
    let parts =
        [captures, connections::table(explained, top), sentence::stalls(explained, top), overall::text(explained)];
    parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("\n")
}

/// The same of one connection: all that happened to it. Of a list at most `top` entries; 0 for all.
pub fn one_connection(explained: &Explained, top: usize) -> String {
    let each = explained.connections.iter().map(|found| one::text(found, explained, top));
    each.collect::<Vec<_>>().join("\n")
}

/// A line on a capture.
fn capture(capture: &Capture) -> String {
    let Capture { path, packets, segments, filtered, ignored, dropped_by_capture, .. } = capture;
    let mut line = format!("{path}: {}, {segments} with TCP", count(*packets, "packet"));
    if *filtered > 0 {
        line.push_str(&format!(", {filtered} held back by the filter"));
    }
    let reasons: Vec<String> = ignored.iter().map(|(why, n)| format!("{n} {}", why.replace('_', " "))).collect();
    if !reasons.is_empty() {
        line.push_str(&format!("; left out: {}", reasons.join(", ")));
    }
    if *dropped_by_capture > 0 {
        line.push_str(&format!("; the capture says that it missed {dropped_by_capture}"));
    }
    line + "\n"
}

/// `1 packet`, `2 packets`.
pub(crate) fn count(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// With two digits or three.
pub(crate) fn time(span: Span) -> String {
    let s = span.secs_f64();
    match s {
        _ if s >= 1.0 => format!("{s:.1} s"),
        _ if s >= 0.1 => format!("{s:.2} s"),
        _ => format!("{:.1} ms", 1000.0 * s),
    }
}

/// How many of a list are shown, and what is said of the others.
fn bounded(all: usize, top: usize) -> (usize, String) {
    match top {
        1.. if all > top => (top, format!("and {} more: --top 0 shows all\n", all - top)),
        _ => (all, String::new()),
    }
}

/// A date and a time of day, to the second.
pub(crate) fn date(at: Time) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_nanos(at.nanos()))
}
