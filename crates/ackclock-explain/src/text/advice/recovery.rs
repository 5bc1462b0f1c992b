//! What would have made recoveries shorter, or else why they were needed.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ackclock_tcp::{Span, TimeoutClass};
use ackclock_trace::ways::Evidence;
use ackclock_trace::{Flow, Kind, Limit, LossCause, Recovery, Retransmission, StallCause, State};

use super::{
    Advice, Known, Line, address, has_lost, hosts, lacking, look_for_delay, lost_somewhere,
    mostly_spurious, nothing_was_lost, repaired,
};
use crate::explained::{End, Explained, Found};
use crate::names;
use crate::replay::Rescue;
use crate::waits::lost_behind;

/// A full segment is too long for the path, perhaps, if it was retransmitted so often in vain.
const UNANSWERED: usize = 3;

/// What would have made recovery shorter, by at `least` so much; or else why it was needed.
pub(super) fn recovery(found: &Found, from: End, least: Span, known: &Known) -> Vec<Advice> {
    let flow = found.flow(from);
    let (sender, receiver) = hosts(found, from);
    let several = several_lost(found, from);
    let saved = saved_by_probes(found, from);
    let span = flow.lifetime.of(Limit::Recovery);
    let parts = late(found, from);
    let late = (parts[0] + parts[1]).min(span);
    let out = outages(found, from);
    let unheard = found.unheard(from);
    let at_receiver = found.connection.position.is_at(from == End::Server);
    let in_vain = found.in_vain(from).unwrap_or(Span::ZERO);
    // A black hole lets shorter packets through.
    let cut_off = !matches!(flow.losses.cause, Some(LossCause::PathMtu { .. }))
        && !full_segments_never_arrived(found, flow);
    let (what, several_at_once) = (names::limit(Limit::Recovery), "several losses at once");
    let without_sack = lacking(found, |options| options.sack_permitted);
    let (line, what, span) = match without_sack.filter(|_| several >= least) {
        _ if repaired(flow)[0] == 0 => return Vec::new(),
        Some(end) => {
            let host = address(found, end);
            let line =
                format!("{host}: it does not offer SACK; enable it (Linux: net.ipv4.tcp_sack)");
            (line.into(), several_at_once, several)
        }
        _ if saved >= least && known.silent.contains(&address(found, from)) => {
            let line = format!(
                "{sender}: it sends no tail loss probes; enable them (Linux: set \
                 net.ipv4.tcp_early_retrans to 3)"
            );
            (line.into(), "what probes would have saved", saved)
        }
        _ if unheard > Span(span.0 / 2) && (at_receiver || cut_off) => {
            let queue = "(Linux: net.core.somaxconn, nstat TcpExtListenOverflows)";
            let line = if at_receiver {
                format!(
                    "{receiver}: data came that it did not acknowledge; see its listen queue \
                     {queue} and its firewall"
                )
            } else {
                format!(
                    "{sender} to {receiver}: the first data was not acknowledged; see the listen \
                     queue of {receiver} {queue}, its firewall, and the way to it"
                )
            };
            (line.into(), what, span)
        }
        _ if in_vain > Span(span.0 / 2) && cut_off => {
            let line = if at_receiver {
                format!(
                    "{receiver}: data came again and again that it never acknowledged; see whether \
                     it was still there, and its routes and firewall"
                )
            } else {
                format!(
                    "{sender} to {receiver}: nothing was acknowledged any more, however often it \
                     was sent; see whether {receiver} was still there, and the way to it"
                )
            };
            (line.into(), "to the end", in_vain)
        }
        _ if out > Span(span.0 / 2) && cut_off => {
            let line = format!(
                "{sender} to {receiver}: nothing came through for seconds; look for an outage (a \
                 link that was down, a route that changed)"
            );
            (line.into(), "outages", out)
        }
        _ if mostly_spurious(flow) => (look_for_delay(&sender, &receiver).into(), what, span),
        // What was lost beside that has a line of its own, if it took long.
        _ if late >= least && has_lost(flow) && span - late >= least => {
            let lost = Advice { line: why(found, from, known), what, span: span - late };
            let late = Advice { line: came_late(parts, &sender, &receiver), what, span: late };
            return vec![lost, late];
        }
        // What was lost beside that took too little for a line.
        _ if late.0 > span.0 / 2 => {
            let span = if has_lost(flow) { late } else { span };
            (came_late(parts, &sender, &receiver), what, span)
        }
        _ if !has_lost(flow) => (nothing_was_lost(&sender, &receiver).into(), what, span),
        _ => (why(found, from, known), what, span),
    };
    vec![Advice { line, what, span }]
}

/// Timers expired though what they sent had arrived, or no timer did for most of the time.
fn came_late(late: [Span; 2], sender: &str, receiver: &str) -> Line {
    let [timers, without] = late;
    let late = if timers < without {
        "acknowledgments come late"
    } else {
        "timers expire though what they send had arrived"
    };
    let look = "look for delay spikes and lost acknowledgments";
    format!("{sender} to {receiver}: {late}; {look}").into()
}

/// Why data was lost.
fn why(found: &Found, from: End, known: &Known) -> Line {
    let (sender, receiver) = hosts(found, from);
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
    for stall in flow.stalls.iter().filter(|stall| found.outage(from, stall).is_none()) {
        let part = match stall.cause {
            StallCause::Network => 1,
            _ if spurious(stall.timeout) => 0,
            _ => continue,
        };
        late[part] = late[part] + stall.end.since(stall.start);
    }
    late
}
