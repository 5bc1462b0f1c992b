//! How an end goes about losses, in words.

use ackclock_tcp::Span;
use ackclock_trace::Flow;
use ackclock_trace::ways::{Evidence, Law};

use super::words::{count, time};

/// Name and value of each way of the end that sent `flow`; `back` is what the other end sent.
pub(crate) fn ways(flow: &Flow, back: &Flow) -> Vec<(&'static str, String)> {
    let w = &flow.ways;
    let least = w
        .least_rto
        .verdict()
        .map(|least| format!("{} (seen {})", minimum(least), times(w.least_rto.seen.iter().sum())));
    let initial = w.initial_window.map(|n| count(n.into(), "segment"));
    let r = &w.reductions;
    let law = w.reductions.verdict().map(|law| {
        let name = match law {
            Law::Half => "to a half",
            Law::SevenTenths => "to seven tenths, as with CUBIC",
        };
        format!("{name} ({} recoveries)", r.half + r.seven_tenths)
    });
    let or_not = |value: Option<String>| value.unwrap_or_else(|| "not seen".into());
    vec![
        ("SACK", agreed(flow, back, flow.sack, |options| options.sack_permitted)),
        ("timestamps", agreed(flow, back, flow.timestamps, |options| options.timestamps.is_some())),
        ("tail loss probes", used(w.probes)),
        ("RACK", used(w.rack)),
        ("F-RTO", used(w.f_rto)),
        ("least timeout", or_not(least)),
        ("initial window", or_not(initial)),
        ("a loss lowers the window", or_not(law)),
        ("slow start after idle", used(w.restart)),
    ]
}

/// What both SYNs say; where one was not seen, what is in use.
fn agreed(
    flow: &Flow,
    back: &Flow,
    in_use: bool,
    offers: fn(&ackclock_tcp::wire::Options) -> bool,
) -> String {
    let text = match (flow.offered.as_ref().map(offers), back.offered.as_ref().map(offers)) {
        (Some(true), Some(true)) => "offered by both",
        (Some(false), Some(false)) => "offered by neither",
        (Some(true), Some(false)) => "not offered by the receiver",
        (Some(false), Some(true)) => "not offered by the sender",
        (Some(false), None) | (None, Some(false)) => "no",
        _ if in_use => "in use",
        _ => "not seen",
    };
    text.into()
}

fn used(evidence: Evidence) -> String {
    match evidence.verdict() {
        Some(true) => format!("yes (seen {})", times(evidence.used)),
        Some(false) => format!("no ({} not used)", count(evidence.unused.into(), "chance")),
        None if evidence.used > 0 => "not clear".into(),
        None => "not seen".into(),
    }
}

fn times(n: u32) -> String {
    if n == 1 { "once".into() } else { format!("{n} times") }
}

/// As it is set: 200 ms, 1 s.
fn minimum(least: Span) -> String {
    match least.0 / 1_000_000 {
        ms @ 0..1000 => format!("{ms} ms"),
        ms if ms % 1000 == 0 => format!("{} s", ms / 1000),
        _ => time(least),
    }
}

#[cfg(test)]
mod tests;
