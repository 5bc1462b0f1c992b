//! One connection: all that happened to it.

use ackclock_report::{Align, align, printable};
use ackclock_tcp::Time;
use ackclock_trace::{Ended, Flow, Position, Recovery, Reset, ResetBy, Vantage};

use super::words::{bounded, count, time};
use super::{losses, queueing, round_trip, sentence, shorter};
use crate::explained::{End, Explained, Found};
use crate::names;

pub(super) fn text(found: &Found, explained: &Explained, top: usize) -> String {
    let c = &found.connection;
    let capture =
        explained.captures.get(found.capture).map_or(String::new(), |c| printable(&c.path));
    let mut text = format!("#{} {} > {} in {capture}\n", found.number, c.client, c.server);
    text.push_str(&format!(
        "{}, {}, {}; {}\n",
        time(c.end.since(c.start)),
        count(c.packets, "packet"),
        if c.begun { "from its SYN on" } else { "its beginning was not seen" },
        ended(c.ended)
    ));
    if let Some(number) = found.same_as {
        text.push_str(&format!("the same connection as #{number}, beyond a translator (NAT)\n"));
    }
    text.push_str(&format!("{}\n", super::short::why(found)));
    text.extend(queueing(found).map(|text| text + "\n"));
    if c.deferred > 0 {
        text.push_str(&format!(
            "the server sent {} again though the ACK of the handshake had arrived: it waited for \
             data (TCP_DEFER_ACCEPT), or its accept queue was full\n",
            count(c.deferred.into(), "SYN/ACK")
        ));
    }
    text.push_str(&format!("captured {}\n", position(&c.position)));
    for (end, flow) in found.flows() {
        text.push_str(&direction(found, end));
        if flow.bytes > 0 {
            text.push_str(&ways(flow, found.flow(end.other())));
            let path = [shorter::of(found, end), losses::of(flow)].into_iter().flatten();
            text.extend(path.map(|text| format!("  {text}\n")));
        }
    }
    let lines = happenings(found);
    let (shown, more) = bounded(lines.len(), top);
    if shown > 0 {
        let at = |at: Time| format!("{:.6}", at.since(c.start).secs_f64());
        let mut rows =
            vec![["time (s)", "frame", "from", "seq", "bytes", "what"].map(String::from).to_vec()];
        rows.extend(
            lines
                .into_iter()
                .take(shown)
                .map(|(t, cells)| std::iter::once(at(t)).chain(cells).collect()),
        );
        text.push_str(&format!("\n{}{more}", align(&rows, Align::Left)));
    }
    text
}

/// How a connection ended.
pub(crate) const fn ended(ended: Ended) -> &'static str {
    match ended {
        Ended::Fin => "closed by both ends",
        Ended::Reset(Reset { by: ResetBy::Client, .. }) => "reset by the client",
        Ended::Reset(Reset { by: ResetBy::Server, .. }) => "reset by the server",
        Ended::Reset(Reset { by: ResetBy::Both, .. }) => "reset by both ends",
        Ended::Refused => "refused by the server",
        Ended::Reused => "its ports were used again",
        Ended::Idle => "dropped from memory after a long silence",
        Ended::Open => "still open at the end of the capture",
    }
}

/// Where a capture was taken, and how sure that is.
pub(crate) fn position(p: &Position) -> String {
    let place = match p.vantage {
        Vantage::Client if !p.is_at(true) => "near the client",
        Vantage::Server if !p.is_at(false) => "near the server",
        Vantage::Client => "at the client",
        Vantage::Server => "at the server",
        Vantage::Middle => "between client and server",
        Vantage::Unknown => return "nobody knows where".into(),
    };
    let rtt = |name: &str, rtt| match rtt {
        Some(rtt) => format!(", {} to the {name} and back", time(rtt)),
        None => String::new(),
    };
    let (client, server) = (rtt("client", p.to_client), rtt("server", p.to_server));
    format!("{place} (confidence {:.0} %){client}{server}", 100.0 * p.confidence)
}

fn direction(found: &Found, end: End) -> String {
    let flow = found.flow(end);
    let rtt = round_trip(found, end).unwrap_or_else(|| "round trip unknown".into());
    let used = [(flow.sack, "SACK"), (flow.timestamps, "timestamps")];
    let used: Vec<&str> = used.iter().filter(|(used, _)| *used).map(|(_, name)| *name).collect();
    let used = match used[..] {
        [] if flow.offered.is_none() => "neither SACK nor timestamps seen".into(),
        [] => "neither SACK nor timestamps".into(),
        _ => used.join(" and "),
    };
    let (bytes, segments) = (count(flow.bytes, "byte"), count(flow.segments, "segment"));
    let mut text =
        format!("{}: {bytes} in {segments}, MSS {}, {used}, {rtt}\n", end.name(), flow.mss);
    for doubt in &flow.doubts {
        text.push_str(&format!("  not known: {doubt}\n"));
    }
    text
}

/// How the sender goes about losses: what was seen of that.
fn ways(flow: &Flow, back: &Flow) -> String {
    let ways = super::ways(flow, back).into_iter();
    let seen = ways.filter(|(_, value)| value != "not seen");
    let seen: Vec<String> = seen.map(|(name, value)| format!("{name}: {value}")).collect();
    if seen.is_empty() { String::new() } else { format!("  its ways: {}\n", seen.join("; ")) }
}

/// Retransmissions, stalls and recoveries in order of time.
fn happenings(found: &Found) -> Vec<(Time, Vec<String>)> {
    let mut all = Vec::new();
    let cells = |frame: u64, from: End, seq: String, bytes: String, what: String| {
        let frame = if frame == 0 { String::new() } else { frame.to_string() };
        vec![frame, from.name().to_string(), seq, bytes, what]
    };
    for (end, flow) in found.flows() {
        for (place, r) in flow.retransmissions.iter().enumerate() {
            let what = sentence::retransmission(found, end, place);
            all.push((
                r.at,
                r.frame,
                cells(r.frame, end, r.seq.0.to_string(), r.len.to_string(), what),
            ));
        }
        for stall in &flow.stalls {
            let filter = names::display_filter(found, end, stall);
            let what = format!("{} [{filter}]", sentence::stall(found, end, stall));
            all.push((
                stall.end,
                stall.frame,
                cells(stall.frame, end, String::new(), String::new(), what),
            ));
        }
        for recovery in &flow.recoveries {
            all.push((
                recovery.start,
                0,
                cells(0, end, String::new(), String::new(), recovered(recovery)),
            ));
        }
    }
    all.sort_by_key(|(at, frame, _)| (*at, *frame));
    all.into_iter().map(|(at, _, cells)| (at, cells)).collect()
}

/// How a recovery went.
pub(crate) fn recovered(r: &Recovery) -> String {
    let end = match (r.end, r.by_timeout) {
        (None, _) => "open at the end of the capture".into(),
        (Some(end), true) => format!("ended by a timeout after {}", time(end.since(r.start))),
        (Some(end), false) => format!("over after {}", time(end.since(r.start))),
    };
    let spurious = if r.spurious { "; spurious" } else { "" };
    let sent = count(r.retransmissions.into(), "retransmission");
    format!("recovery begins with {} outstanding: {sent}, {end}{spurious}", count(r.flight, "byte"))
}

#[cfg(test)]
mod tests;
