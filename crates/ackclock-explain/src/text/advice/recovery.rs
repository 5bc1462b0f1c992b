//! What would have made recoveries shorter, or else why they were needed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ackclock_tcp::{Span, TimeoutClass};
use ackclock_trace::ways::Evidence;
use ackclock_trace::{
    Flow, Kind, Limit, LossCause, Recovery, Retransmission, Stall, StallCause, State,
};

use super::super::shorter;
use super::{
    Advice, Known, Line, address, has_lost, hosts, lacking, look_for_delay, lost_somewhere,
    mostly_spurious, nothing_was_lost, repaired,
};
use crate::explained::{End, Explained, Found};
use crate::names;
use crate::replay::Rescue;
use crate::waits::{lost_behind, total};

/// A full segment is too long for the path, perhaps, if it was retransmitted so often in vain.
const UNANSWERED: usize = 3;

const RECOVERY: &str = names::limit(Limit::Recovery);

/// What would have made recovery shorter, by at `least` so much; or else why it was needed.
pub(super) fn recovery(found: &Found, from: End, least: Span, known: &Known) -> Vec<Advice> {
    let flow = found.flow(from);
    if repaired(flow)[0] == 0 {
        return lost_unseen(found, from, least, known).into_iter().collect();
    }
    let avoidable = too_big(found, from)
        .or_else(|| without_sack(found, from, least))
        .or_else(|| without_probes(found, from, least, known))
        .or_else(|| unheard(found, from))
        .or_else(|| in_vain(found, from))
        .or_else(|| outage(found, from));
    if let Some(advice) = avoidable {
        return vec![advice];
    }
    let (sender, receiver) = hosts(found, from);
    let span = repairs_of_own(found, from);
    let parts = late(found, from);
    let late = (parts[0] + parts[1]).min(span);
    let advice = |line, span| Advice { line, what: RECOVERY, span };
    if mostly_spurious(flow) {
        return vec![advice(look_for_delay(&sender, &receiver).into(), span)];
    }
    let lost = has_lost(flow);
    if late >= least && lost && span - late >= least {
        // What was lost beside that took long, too.
        return vec![
            advice(why(found, from, known), span - late),
            advice(came_late(found, from, parts), late),
        ];
    }
    let (line, span) = match lost {
        // What was lost beside that took too little for a line.
        true if late.0 > span.0 / 2 => (came_late(found, from, parts), late),
        true => (why(found, from, known), span),
        false if late.0 > span.0 / 2 => (came_late(found, from, parts), span),
        false => (nothing_was_lost(&sender, &receiver).into(), span),
    };
    vec![advice(line, span)]
}

/// A router has asked for shorter packets, and that is what most went again for.
fn too_big(found: &Found, from: End) -> Option<Advice> {
    let (sender, receiver) = hosts(found, from);
    let line = shorter::advice(found.flow(from), &sender, &receiver)?;
    Some(Advice { line: line.into(), what: RECOVERY, span: repairs_of_own(found, from) })
}

/// What was lost before it came to the capture, as the numbers of packets say, took long.
fn lost_unseen(found: &Found, from: End, least: Span, known: &Known) -> Option<Advice> {
    let told = |stall: &Stall| {
        stall.cause == StallCause::Timeout(TimeoutClass::Unknown) && stall.timeout.is_none()
    };
    let any = found.flow(from).stalls.iter().any(told);
    let span = repairs_of_own(found, from);
    let line = (any && span >= least).then(|| why(found, from, known))?;
    Some(Advice { line, what: RECOVERY, span })
}

/// Several losses of a window took long for want of SACK.
fn without_sack(found: &Found, from: End, least: Span) -> Option<Advice> {
    let end = lacking(found, |options| options.sack_permitted)?;
    let span = Some(several_lost(found, from)).filter(|span| *span >= least)?;
    let host = address(found, end);
    let line = format!("{host}: it does not offer SACK; enable it (Linux: net.ipv4.tcp_sack)");
    Some(Advice { line: line.into(), what: "several losses at once", span })
}

/// Losses of a tail took long for want of tail loss probes.
fn without_probes(found: &Found, from: End, least: Span, known: &Known) -> Option<Advice> {
    let sender = address(found, from);
    let span = Some(saved_by_probes(found, from)).filter(|span| *span >= least)?;
    if !known.silent.contains(&sender) {
        return None;
    }
    let line = format!(
        "{sender}: it sends no tail loss probes; enable them (Linux: set net.ipv4.tcp_early_retrans \
         to 3)"
    );
    Some(Advice { line: line.into(), what: "what probes would have saved", span })
}

/// Nothing was acknowledged from the beginning on, for most of the time.
fn unheard(found: &Found, from: End) -> Option<Advice> {
    let at_receiver = is_at_receiver(found, from);
    let too_long = matches!(found.flow(from).losses.cause, Some(LossCause::PathMtu { .. }));
    let cut_off = at_receiver && !too_long || is_cut_off(found, from);
    if !cut_off || !is_most_of_recovery(found, from, found.unheard(from)) {
        return None;
    }
    let (sender, receiver) = hosts(found, from);
    let queue = "(Linux: net.core.somaxconn, nstat TcpExtListenOverflows)";
    let line = if at_receiver {
        format!(
            "{receiver}: data came that it did not acknowledge; see its listen queue {queue} and \
             its firewall"
        )
    } else {
        format!(
            "{sender} to {receiver}: the first data was not acknowledged; see the listen queue of \
             {receiver} {queue}, its firewall, and the way to it"
        )
    };
    Some(Advice { line: line.into(), what: RECOVERY, span: repairs_of_own(found, from) })
}

/// Nothing was acknowledged any more, for most of the time.
fn in_vain(found: &Found, from: End) -> Option<Advice> {
    let span = found.in_vain(from)?;
    if !is_most_of_recovery(found, from, span) || !is_cut_off(found, from) {
        return None;
    }
    let (sender, receiver) = hosts(found, from);
    let line = if is_at_receiver(found, from) {
        format!(
            "{receiver}: data came again and again that it never acknowledged; see whether it was \
             still there, and its routes and firewall"
        )
    } else {
        format!(
            "{sender} to {receiver}: nothing was acknowledged any more, however often it was sent; \
             see whether {receiver} was still there, and the way to it"
        )
    };
    Some(Advice { line: line.into(), what: "to the end", span })
}

/// Nothing came through for seconds, which was most of the time.
fn outage(found: &Found, from: End) -> Option<Advice> {
    let span = outages(found, from);
    if !is_most_of_recovery(found, from, span) || !is_cut_off(found, from) {
        return None;
    }
    let (sender, receiver) = hosts(found, from);
    let line = format!(
        "{sender} to {receiver}: nothing came through for seconds; look for an outage (a link that \
         was down, a route that changed)"
    );
    Some(Advice { line: line.into(), what: "outages", span })
}

fn is_most_of_recovery(found: &Found, from: End, span: Span) -> bool {
    span > Span(repairs_of_own(found, from).0 / 2)
}

fn is_at_receiver(found: &Found, from: End) -> bool {
    found.connection.position.is_at(from == End::Server)
}

/// It is not the path MTU, which lets shorter packets through.
fn is_cut_off(found: &Found, from: End) -> bool {
    let flow = found.flow(from);
    !matches!(flow.losses.cause, Some(LossCause::PathMtu { .. }))
        && !full_segments_never_arrived(found, flow)
}

/// Timers expired though what they sent had arrived, or no timer did for most of the time.
fn came_late(found: &Found, from: End, late: [Span; 2]) -> Line {
    let (sender, receiver) = hosts(found, from);
    let [timers, without] = late;
    let late = if timers < without {
        let stalls = found.flow(from).stalls.iter();
        let own = total(stalls.filter(|stall| {
            found.acknowledged_late(from, stall) && !found.waited_for_lost(from, stall)
        }));
        if own > Span(without.0 / 2) {
            return format!("{receiver}: it acknowledges late; the network does not").into();
        }
        "acknowledgments come late"
    } else {
        "timers expire though what they send had arrived"
    };
    let look = "look for delay spikes and lost acknowledgments";
    format!("{sender} to {receiver}: {late}; {look}").into()
}

/// The other end's losses, for which the end that the connection waits for waited for `least` or
/// longer: a server waits for requests, and for the ACKs that come with them.
pub(super) fn of_other_end(found: &Found, from: End, least: Span, known: &Known) -> Option<Advice> {
    let span = Some(found.lost_of_other()).filter(|span| *span > Span::ZERO && *span >= least)?;
    let line = why(found, from.other(), known);
    Some(Advice { line, what: "waiting for what was lost", span })
}

/// How long this end repaired what it had lost itself.
pub(super) fn repairs_of_own(found: &Found, from: End) -> Span {
    found.flow(from).lifetime.of(Limit::Recovery) - found.repaired_for_lost(from)
}

/// Why data was lost.
fn why(found: &Found, from: End, known: &Known) -> Line {
    let (sender, receiver) = hosts(found, from);
    if let Some(line) = shorter::advice(found.flow(from), &sender, &receiver) {
        return line.into();
    }
    if full_segments_never_arrived(found, found.flow(from)) {
        let line = format!(
            "{sender} to {receiver}: the handshake passed, and no full segment did; see whether \
             packets are too long for the path (ping -M do -s 1472)"
        );
        return line.into();
    }
    known.why_lost(found, from).unwrap_or_else(|| lost_somewhere(&sender, &receiver))
}

/// Nothing of the data was acknowledged, and full segments were sent again by the timer: an outage
/// since the handshake, or a path MTU that is too small and of which no router tells (RFC 2923
/// section 2.1).
fn full_segments_never_arrived(found: &Found, flow: &Flow) -> bool {
    let c = &found.connection;
    let full = flow.retransmissions.iter().filter(|r| r.len >= flow.mss);
    let arrived = flow.rtt.is_some() || flow.retransmissions.iter().any(|r| r.lost == Some(false));
    c.begun && !c.one_way && !c.unanswered && !arrived && full.count() >= UNANSWERED
}

/// Those that send no tail loss probes for certain: over all of its connections, for which its
/// kernel has one setting, such a sender has let more than one chance pass, and nothing looks like
/// a probe.
pub(super) fn senders_without_probes(explained: &Explained) -> BTreeSet<IpAddr> {
    let mut senders: BTreeMap<IpAddr, Evidence> = BTreeMap::new();
    for found in &explained.connections {
        for (end, flow) in found.flows() {
            let evidence = senders.entry(address(found, end)).or_default();
            evidence.used += flow.ways.probes.used + u32::from(may_have_probed(flow));
            evidence.unused += flow.ways.probes.unused;
        }
    }
    senders.retain(|_, evidence| evidence.verdict() == Some(false));
    senders.into_keys().collect()
}

fn may_have_probed(flow: &Flow) -> bool {
    let probe = |r: &Retransmission| matches!(r.kind, Kind::TailLossProbe | Kind::ProbeOrTimeout);
    flow.probes_of_new_data > 0 || flow.retransmissions.iter().any(probe)
}

/// What a tail loss probe would have saved, by the replays: of timeouts after which a tail had gone
/// out once, and was lost. A probe into a path that loses all saves nothing, nor does one of what
/// has only come late.
fn saved_by_probes(found: &Found, from: End) -> Span {
    let timeouts = found.flow(from).timeouts.iter().enumerate();
    let tails = timeouts.filter(|(_, t)| {
        t.class == TimeoutClass::NonTrigger && t.state == State::Open && t.spurious.is_none()
    });
    let saved = tails.filter_map(|(i, _)| avoided(found.rescues(from, i), "sack", "sack+tlp"));
    saved.fold(Span::ZERO, |sum, saved| sum + saved)
}

/// What a strategy would have saved, if it would have avoided the timeout and the standard would
/// not.
fn avoided(rescues: &[Rescue], standard: &str, strategy: &str) -> Option<Span> {
    let of = |name: &str| rescues.iter().find(|r| r.strategy == name);
    of(standard).filter(|standard| !standard.avoided)?;
    let rescue = of(strategy)?;
    (rescue.avoided && rescue.saved_s > 0.0).then(|| Span::from_secs_f64(rescue.saved_s))
}

/// How long recoveries took in which SACK says more than a cumulative ACK does: several segments of
/// a window were lost, and others behind the first of them arrived. And what SACK would have saved
/// of timeouts, by the replays.
fn several_lost(found: &Found, from: End) -> Span {
    let flow = found.flow(from);
    let several = |recovery: &&Recovery| {
        let begins = flow.retransmissions.partition_point(|r| r.at < recovery.start);
        let within = |r: &&Retransmission| recovery.end.is_none_or(|end| r.at <= end);
        let repairs = |r: &&Retransmission| {
            matches!(r.kind, Kind::FastRetransmit | Kind::Recovery) && r.spurious.is_none()
        };
        let of_recovery = flow.retransmissions.iter().skip(begins).take_while(within);
        let mut lost = of_recovery.filter(repairs);
        let first = lost.next().map(|r| r.position);
        lost.any(|r| Some(r.position) != first)
    };
    let end = |recovery: &Recovery| recovery.end.unwrap_or(found.connection.end);
    let recoveries = flow.recoveries.iter().filter(several).map(|r| end(r).since(r.start));
    let timeouts = 0..flow.timeouts.len();
    let saved = timeouts.filter_map(|i| avoided(found.rescues(from, i), "newreno", "sack"));
    recoveries.chain(saved).fold(Span::ZERO, |sum, span| sum + span)
}

/// For how long nothing came through, at the most.
fn outages(found: &Found, from: End) -> Span {
    let outages = found.flow(from).stalls.iter().filter_map(|stall| found.outage(from, stall));
    outages.fold(Span::ZERO, |sum, outage| sum + outage.most)
}

/// How long it waited for timers that sent what had arrived, and for ACKs that came late before any
/// timer expired.
fn late(found: &Found, from: End) -> [Span; 2] {
    let (flow, at_sender) = (found.flow(from), found.is_at_sender(from));
    let spurious = |timeout: Option<usize>| {
        let timeout = timeout.and_then(|i| flow.timeouts.get(i));
        // In an outage the first segment may have arrived, whose ACK was lost with all behind it.
        timeout.is_some_and(|t| t.spurious.is_some() && !lost_behind(flow, at_sender, t))
    };
    let mut late = [Span::ZERO; 2];
    let own =
        |stall: &&Stall| found.outage(from, stall).is_none() && !found.waited_for_lost(from, stall);
    for stall in flow.stalls.iter().filter(own) {
        let part = match stall.cause {
            StallCause::Network => 1,
            _ if spurious(stall.timeout) => 0,
            _ => continue,
        };
        late[part] = late[part] + stall.end.since(stall.start);
    }
    late
}
