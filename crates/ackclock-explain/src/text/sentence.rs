//! A sentence for each stall and each retransmission.

use ackclock_tcp::{Span, TimeoutClass};
use ackclock_trace::{Ended, Flow, Kind, Retransmission, Stall, StallCause, Timeout};

use super::short::no_data;
use super::words::{bounded, count, time};
use crate::explained::{End, Explained, Found, sent_by};
use crate::names;
use crate::replay::Rescue;
use crate::waits::Outage;

/// The stalls in which most time was lost.
pub(super) fn stalls(explained: &Explained, top: usize) -> String {
    let all = explained.stalls();
    let (shown, more) = bounded(all.len(), top);
    if shown == 0 {
        return String::new();
    }
    let lines = all[..shown].iter().map(|(found, end, s)| {
        let filter = names::display_filter(found, *end, s);
        format!("  #{} {} [{filter}]\n", found.number, stall(found, *end, s))
    });
    format!(
        "Stalls, the longest first; those in which the application had nothing to send are left \
         out\n{}{more}",
        lines.collect::<String>()
    )
}

/// `client stalled 1.2 s at 3.40 s: timeout, lost retransmission of 1448 bytes; lost-retransmission
/// recovery would have saved 0.9 s`.
pub(crate) fn stall(found: &Found, from: End, stall: &Stall) -> String {
    let long = stall.end.since(stall.start);
    let at = stall.start.since(found.connection.start).secs_f64();
    let flow = found.flow(from);
    let sure = ended_by(flow, stall).is_none_or(|r| found.is_sure(from, r));
    let why = match found.outage(from, stall) {
        Some(outage) => out(outage),
        None if found.is_in_vain(from, stall) => in_vain(found, from),
        None if found.is_unheard(from, stall) => {
            "its first data was retransmitted, and not acknowledged for so long".into()
        }
        None if found.waited_for_lost(from, stall) => format!(
            "the acknowledgment came with data of the {} that had probably been lost before",
            from.other().name()
        ),
        None => format!("{}{}", if sure { "" } else { "probably " }, why(found, from, stall)),
    };
    let saved = stall.timeout.and_then(|timeout| saved(found.rescues(from, timeout)));
    let saved = saved.map_or(String::new(), |saved| format!("; {saved}"));
    format!("{} stalled {} at {at:.2} s: {why}{saved}", from.name(), time(long))
}

/// Nothing came through.
fn out(Outage { least, most, timeouts, all }: Outage) -> String {
    match least {
        Some(least) => {
            let what = match all {
                true if timeouts == 2 => "what both timeouts sent".into(),
                true => format!("what all {timeouts} timeouts sent"),
                false => format!("what timers sent before the last of {timeouts} timeouts"),
            };
            let (least, most) = (time(least), time(most));
            format!("nothing came through for {least} to {most} (an outage): {what} was in vain")
        }
        None => format!(
            "nothing came through for {} at the most (an outage): what timers sent meanwhile was \
             lost before it came to the capture{}",
            time(most),
            // Of a stack whose least timeout is long (RFC 6298 section 2.5 lets it be 60 s).
            if timeouts == 1 { ", or a single one waited so long" } else { "" }
        ),
    }
}

/// It never ended, and timers sent the same again and again.
fn in_vain(found: &Found, from: End) -> String {
    let receiver = from.other().name();
    if found.connection.position.is_at(from == End::Server) {
        format!(
            "retransmissions of the same came until the end, and the {receiver} acknowledged none of \
             it"
        )
    } else {
        "the same was retransmitted until the end, and nothing of it was acknowledged".into()
    }
}

/// What a timer sent at the end of a stall, if it was seen.
fn ended_by<'a>(flow: &'a Flow, stall: &Stall) -> Option<&'a Retransmission> {
    match stall.cause {
        StallCause::Timeout(_) => sent_by(flow, flow.timeouts.get(stall.timeout?)?),
        StallCause::TailLossProbe => probe(flow, stall),
        _ => None,
    }
}

/// What went out again in a stall.
fn repairs<'a>(flow: &'a Flow, stall: &Stall) -> impl Iterator<Item = &'a Retransmission> {
    let (first, end) = (flow.retransmissions.partition_point(|r| r.at <= stall.start), stall.end);
    flow.retransmissions[first..].iter().take_while(move |r| r.at <= end)
}

/// The tail loss probe in a stall.
fn probe<'a>(flow: &'a Flow, stall: &Stall) -> Option<&'a Retransmission> {
    repairs(flow, stall).find(|r| r.kind == Kind::TailLossProbe)
}

fn why(found: &Found, from: End, stall: &Stall) -> String {
    let flow = found.flow(from);
    let timeout = stall.timeout.and_then(|i| flow.timeouts.get(i));
    match stall.cause {
        StallCause::Timeout(class) => match timeout {
            Some(timeout) if sent_by(flow, timeout).is_some_and(|r| r.syn) => {
                opened_late(found, from, stall)
            }
            Some(timeout) => timed_out(flow, timeout),
            None if class == TimeoutClass::Handshake => opened_late(found, from, stall),
            None if class == TimeoutClass::Unknown && was_closed_before(flow, stall) => {
                "the window had opened, and a timer had to ask for it once more: the sender was \
                 not told, or what it sent was lost before it came to the capture"
                    .into()
            }
            None if class == TimeoutClass::Unknown => {
                "probably a timeout or a tail loss probe, what went out was lost before it came to \
                 the capture"
                    .into()
            }
            None => format!("timeout, {}", names::class_text(class)),
        },
        StallCause::TailLossProbe => probed(flow, stall),
        StallCause::ProbeOrTimeout => {
            "the last segment was retransmitted, by a tail loss probe or a timeout: by which is \
             not known"
                .into()
        }
        StallCause::Recovery | StallCause::Unknown if is_reset(found, stall) => {
            "nothing of it was acknowledged until the connection was reset".into()
        }
        StallCause::Recovery => format!("it took that long to repair losses, {}", by(flow, stall)),
        StallCause::Application if !found.is_proven(from) => no_data(from),
        StallCause::Application => "the application had nothing to send".into(),
        StallCause::ReceiveWindow => "the receive window was full".into(),
        StallCause::ZeroWindow => "the receiver had closed its window".into(),
        StallCause::CaptureGap => "the capture has a gap here".into(),
        StallCause::Network if found.acknowledged_late(from, stall) => {
            format!("the {} acknowledged late", from.other().name())
        }
        StallCause::Network => "acknowledgments came late".into(),
        StallCause::Unknown => "no cause was found".into(),
    }
}

/// It began when a closed window opened.
fn was_closed_before(flow: &Flow, stall: &Stall) -> bool {
    let closed = |before: &Stall| before.cause == StallCause::ZeroWindow;
    flow.stalls.iter().any(|before| closed(before) && before.end == stall.start)
}

/// It never ended, and nobody may have repaired anything: an end gave the connection up.
fn is_reset(found: &Found, stall: &Stall) -> bool {
    stall.frame == 0 && matches!(found.connection.ended, Ended::Reset(_))
}

/// Which timer has part in a repair of no timeout.
fn by(flow: &Flow, stall: &Stall) -> &'static str {
    match repairs(flow, stall).find(|r| r.kind == Kind::ProbeOrTimeout).or(probe(flow, stall)) {
        Some(r) if r.kind == Kind::ProbeOrTimeout => "with a tail loss probe or a timeout",
        Some(_) => "with a tail loss probe",
        None => "although no timer expired",
    }
}

/// A tail loss probe ended a stall: was the tail lost?
fn probed(flow: &Flow, stall: &Stall) -> String {
    match probe(flow, stall) {
        Some(Retransmission { spurious: Some(by), .. }) => format!(
            "acknowledgments came late, and the tail loss probe was not needed ({})",
            names::spurious_text(*by)
        ),
        Some(r) if r.known => "the tail was lost, and a tail loss probe repaired it".into(),
        _ => "the tail was lost or late, and a tail loss probe followed".into(),
    }
}

/// Timers retransmitted SYNs, or their answers. One that had arrived says that its answer was lost
/// or late. It says nothing of those before it.
fn opened_late(found: &Found, from: End, stall: &Stall) -> String {
    let timed_out = |t: &Timeout| t.at > stall.start && t.at <= stall.end;
    if from == End::Client && found.asked_anew() {
        if !found.flow(from).timeouts.iter().any(timed_out) {
            return match found.connection.ended {
                Ended::Refused => "the server refused each SYN".into(),
                _ => "the server answered a SYN for an older connection".into(),
            };
        }
    } else if from == End::Client && found.came_unanswered() {
        return "timeout, SYNs came that the server did not answer".into();
    }
    let all = &found.flow(from).timeouts;
    let of_stall = all.iter().filter(|t| timed_out(t));
    let lost = of_stall.clone().filter(|t| t.spurious.is_none()).count() as u64;
    let by = of_stall.filter_map(|t| t.spurious).map(names::spurious_text).next_back();
    let unheard = from == End::Server && found.is_left_half_open();
    let what = match lost {
        0 | 1 if unheard => "timeout, no answer to its SYN/ACK was seen".into(),
        n if unheard => format!("{n} timeouts, no answer to its SYN/ACK was seen"),
        0 | 1 => "timeout, loss of a SYN, or of its answer".into(),
        n => format!("{n} timeouts, loss of SYNs, or of their answers"),
    };
    match (lost, by) {
        (0, Some(by)) => format!("timeout, the answer to a SYN was lost or late ({by})"),
        (_, None) => what,
        (_, Some(by)) => format!("{what}; then the answer to another SYN was lost or late ({by})"),
    }
}

/// How far back the retransmission is looked for that was lost again: both are of one window. Each
/// stall would go through all that came before it.
const MOST_BACK: usize = 1 << 12;

/// The retransmission before this one that began with the same byte.
fn before<'a>(flow: &'a Flow, timeout: &Timeout) -> Option<&'a Retransmission> {
    let (before, from) = flow.retransmissions.split_at_checked(timeout.retransmission)?;
    let position = from.first()?.position;
    before.iter().rev().take(MOST_BACK).find(|r| r.position == position)
}

/// What the timer retransmitted, and what had happened to it before.
fn timed_out(flow: &Flow, timeout: &Timeout) -> String {
    let sent = sent_by(flow, timeout);
    let what = sent.map_or("a segment".into(), |r| match r.len {
        0 => "a FIN".into(),
        len => count(len.into(), "byte"),
    });
    let lost =
        sent.filter(|r| r.len > 0).map_or(what.clone(), |r| count(r.missing().into(), "byte"));
    // What was lost again may have been longer than the piece that goes now.
    let again = || {
        let before = before(flow, timeout).filter(|r| r.len > 0);
        before.map_or(what.clone(), |r| count(r.len.into(), "byte"))
    };
    if let Some(by) = timeout.spurious {
        let by = names::spurious_text(by);
        // The original may have been lost, where a retransmission had arrived.
        let again = before(flow, timeout).is_some_and(|r| r.spurious.is_none());
        let arrived = if again { "had arrived before" } else { "had not been lost" };
        return format!("spurious timeout, {what} {arrived} ({by})");
    }
    if sent.is_some_and(|r| r.too_big) {
        return format!("timeout, {what} of packets that were too big for a link");
    }
    match timeout.class {
        TimeoutClass::NonTrigger => {
            format!("timeout, loss of {lost} that triggered no fast retransmit")
        }
        TimeoutClass::MultipleLosses => {
            format!("timeout, loss of {lost} among others that had been repaired")
        }
        TimeoutClass::LostRetransmission => format!("timeout, lost retransmission of {}", again()),
        TimeoutClass::BackedOff => format!("backed-off timeout, {} lost again", again()),
        TimeoutClass::Handshake => format!("timeout, loss of {what}, or of its answer"),
        _ => format!("timeout, {what}; its class is unknown"),
    }
}

/// What would have saved most of what would have saved anything, but for one of twenty cases.
fn saved(rescues: &[Rescue]) -> Option<String> {
    let saving = rescues.iter().filter(|rescue| rescue.saves());
    let best = saving.reduce(|a, b| if b.saved_s > a.saved_s { b } else { a })?;
    Some(format!("{} would have saved {}", best.mechanism, seconds_saved(best)))
}

/// The time that a strategy saves, and between what it lies in nine of ten cases.
pub(crate) fn seconds_saved(rescue: &Rescue) -> String {
    let saved = time(Span::from_secs_f64(rescue.saved_s));
    match rescue.saved_90_s {
        Some([least, most]) => format!("{saved} (90 %: {least:.2} to {most:.2} s)"),
        None => saved,
    }
}

/// What an annotated capture and the view of one connection say of the retransmission at this place
/// of the list of an end: `timeout, lost retransmission; spurious (D-SACK)`.
pub(crate) fn retransmission(found: &Found, from: End, place: usize) -> String {
    let flow = found.flow(from);
    let r = &flow.retransmissions[place];
    let mut text = names::kind_said(found, from, r);
    if let (Kind::Timeout, Ok(timeout)) =
        (r.kind, flow.timeouts.binary_search_by_key(&place, |t| t.retransmission))
    {
        let class = flow.timeouts[timeout].class;
        if !names::is_contradicted(class, r.spurious.is_some()) {
            text.push_str(&format!(", {}", names::class_text(class)));
        }
    }
    if let Some(by) = r.spurious {
        text.push_str(&format!("; spurious ({})", names::spurious_text(by)));
    }
    if r.lost == Some(true) {
        text.push_str("; lost itself");
    }
    text
}

/// Why its sender lowered its window without a loss, if it did: a queue on the path marks packets.
pub(crate) fn marks(found: &Found) -> Option<String> {
    let from = found.sender();
    lowered_by_marks(from, found.flow(from))
}

fn lowered_by_marks(from: End, flow: &Flow) -> Option<String> {
    let n = flow.ecn.reductions.len() as u64;
    let lost =
        if flow.retransmissions.is_empty() { "and nothing was lost" } else { "beside losses" };
    (n > 0).then(|| {
        format!(
            "a queue on the path marks packets (ECN), {lost}: the {} lowered its window {} for it",
            from.name(),
            count(n, "time")
        )
    })
}

#[cfg(test)]
mod tests;
