//! What would have made the congestion window larger.

use ackclock_tcp::Span;
use ackclock_trace::{Flow, Kind, Limit, Retransmission, StallCause};

use super::{
    Advice, Known, Line, has_lost, hosts, look_for_delay, lost_somewhere, mostly_spurious,
    nothing_was_lost,
};
use crate::explained::{End, Found};
use crate::waits::total;

/// While its window limits, the path may carry nearly all that it can. What lowered it does not
/// explain the time before.
pub(super) fn congestion_window(
    found: &Found,
    from: End,
    least: Span,
    known: &Known,
) -> Vec<Advice> {
    let (flow, lifetime) = (found.flow(from), found.lifetime());
    let lowered = lowered(found, from, known);
    let growing = match lowered {
        Some(_) if !marked_rather_than_lost(flow) => lifetime.growing(),
        Some(_) => Span::ZERO,
        None => lifetime.idle(),
    };
    let lowered = lowered.map(|line| (line, lifetime.idle() - growing));
    let growing = still_growing(found, from).map(|line| (line, growing));
    let all = [lowered, growing].into_iter().flatten().filter(|(_, span)| *span >= least);
    all.map(|(line, span)| Advice { line, what: "bottleneck idle", span }).collect()
}

/// What lowered the window.
fn lowered(found: &Found, from: End, known: &Known) -> Option<Line> {
    let flow = found.flow(from);
    let (sender, receiver) = hosts(found, from);
    if marked_rather_than_lost(flow) {
        let text = format!(
            "{sender} to {receiver}: a queue marks packets (ECN), which keeps the congestion \
             window small; find where packets wait"
        );
        return Some(text.into());
    }
    if mostly_spurious(flow) && lowered_in_vain(flow) {
        return Some(look_for_delay(&sender, &receiver).into());
    }
    if has_lost(flow) {
        return Some(known.why_lost(found, from).unwrap_or_else(|| {
            let text = format!(
                "{sender} to {receiver}: losses keep the congestion window small; find where they \
                 occur"
            );
            // Where recovery takes time as well, that says more.
            Line { text, number: -1.0, ..lost_somewhere(&sender, &receiver) }
        }));
    }
    lowered_in_vain(flow).then(|| nothing_was_lost(&sender, &receiver).into())
}

/// Nothing lowered the window, or nothing had yet.
fn still_growing(found: &Found, from: End) -> Option<Line> {
    let flow = found.flow(from);
    let (sender, _) = hosts(found, from);
    // It may have been the receive window.
    flow.window.as_ref()?;
    let text = if flow.ways.restart.verdict() == Some(true) {
        format!(
            "{sender}: its window begins anew after each pause; let it keep its window (Linux: set \
             net.ipv4.tcp_slow_start_after_idle to 0)"
        )
    } else if pauses(found, from) {
        let there = if found.is_at_sender(from) { "" } else { "; a capture there shows which" };
        format!(
            "{sender}: its window is still growing, perhaps anew after each pause (Linux: \
             net.ipv4.tcp_slow_start_after_idle), or its send buffer is full (Linux: \
             net.ipv4.tcp_wmem){there}"
        )
    } else {
        format!(
            "{sender}: its window is still growing or its send buffer is full; keep connections \
             open for longer, or raise its initial window or its send buffer (Linux: initcwnd, \
             net.ipv4.tcp_wmem)"
        )
    };
    Some(text.into())
}

/// The ends paused for longer than the window of this one limited it, and nothing tells whether it
/// began anew. With no data behind it, no silence is a pause.
fn pauses(found: &Found, from: End) -> bool {
    let flow = found.flow(from);
    let stalls = found.flows().flat_map(|(_, flow)| &flow.stalls);
    let pauses = stalls.filter(|stall| stall.cause == StallCause::Application);
    let paused = total(pauses);
    flow.ways.restart.verdict().is_none() && paused > flow.lifetime.of(Limit::CongestionWindow)
}

/// More than probes was spurious, which lower no window.
fn lowered_in_vain(flow: &Flow) -> bool {
    let lowers = |r: &Retransmission| r.len > 0 && r.kind != Kind::TailLossProbe;
    flow.retransmissions.iter().any(|r| r.spurious.is_some() && lowers(r))
}

/// Marks have lowered the window more often than losses.
fn marked_rather_than_lost(flow: &Flow) -> bool {
    flow.ecn.reductions.len() > flow.recoveries.len() + flow.timeouts.len()
}
