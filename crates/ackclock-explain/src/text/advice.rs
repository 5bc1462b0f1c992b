//! What to change, in an operator's words, with what would give most first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ackclock_tcp::wire::Options;
use ackclock_tcp::{Span, Time, TimeoutClass};
use ackclock_trace::ways::Evidence;
use ackclock_trace::{
    Ended, Flow, Kind, Limit, LossCause, Losses, Recovery, Retransmission, StallCause, State,
    Timeout,
};

use super::losses;
use super::words::{size, time};
use crate::explained::{End, Explained, Found};
use crate::names;
use crate::replay::Rescue;

/// A full segment is too long for the path, perhaps, if it was retransmitted so often in vain.
const UNANSWERED: usize = 3;

/// Without scaling, a receiver whose buffer is not the limit offers more than this, in bytes: the
/// half of what a window can be (RFC 7323 section 2.2).
const UNSCALED: u64 = 1 << 15;

/// What to change, and how much time that is about.
#[derive(Debug, PartialEq)]
struct Advice {
    line: Line,
    /// What the time is.
    what: &'static str,
    span: Span,
}

/// What to change. Each connection measures the same queue a little differently: of lines on the
/// same subject that with the largest number is said.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    text: String,
    subject: String,
    number: f64,
}

impl From<String> for Line {
    fn from(text: String) -> Line {
        Line { subject: text.clone(), text, number: 0.0 }
    }
}

/// A line for each thing to change, that with most time first.
pub(crate) fn of(explained: &Explained) -> Vec<String> {
    let known = Known { silent: senders_without_probes(explained), causes: causes(explained) };
    let mut all: BTreeMap<String, (Line, BTreeMap<&str, Span>)> = BTreeMap::new();
    for found in explained.counted() {
        for Advice { line, what, span } in one(found, &known) {
            let entry = all.entry(line.subject.clone());
            let (said, spans) = entry.or_insert_with(|| (line.clone(), BTreeMap::new()));
            if line.number > said.number {
                *said = line;
            }
            let sum = spans.entry(what).or_default();
            *sum = *sum + span;
        }
    }
    let whole = |spans: &BTreeMap<&str, Span>| spans.values().map(|span| span.0).sum::<u64>();
    let mut all: Vec<_> = all.into_values().collect();
    all.sort_by_key(|(_, spans)| Reverse(whole(spans)));
    let about = |spans: BTreeMap<&str, Span>| {
        let each = spans.into_iter().map(|(what, span)| format!("{what}: {}", time(span)));
        each.collect::<Vec<_>>().join(", ")
    };
    all.into_iter().map(|(line, spans)| format!("{} ({})", line.text, about(spans))).collect()
}

/// What all connections of a host tell of one.
struct Known {
    /// Senders without tail loss probes.
    silent: BTreeSet<IpAddr>,
    causes: BTreeMap<Way, LossCause>,
}

/// From one host to another.
type Way = (IpAddr, IpAddr);

fn way(found: &Found, from: End) -> Way {
    (address(found, from), address(found, from.other()))
}

impl Known {
    /// What to do about the losses on the way of this end, if their reason is known.
    fn why_lost(&self, found: &Found, from: End) -> Option<Line> {
        let cause = self.causes.get(&way(found, from)).copied();
        let cause = cause.or(found.flow(from).losses.cause)?;
        let (sender, receiver) = hosts(found, from);
        Some(Line {
            text: losses::advice(cause, found.flow(from).rtt, &sender, &receiver),
            subject: format!("{sender} to {receiver}: {}", cause.name()),
            number: losses::number(cause),
        })
    }
}

/// Why packets are lost on each way, by the connection with the most losses whose reason is known:
/// others lose theirs in the same place. Of two reasons on one way neither holds for others.
fn causes(explained: &Explained) -> BTreeMap<Way, LossCause> {
    let mut ways: BTreeMap<Way, Vec<Losses>> = BTreeMap::new();
    for found in &explained.connections {
        for (end, flow) in found.flows().filter(|(_, flow)| flow.losses.cause.is_some()) {
            ways.entry(way(found, end)).or_default().push(flow.losses);
        }
    }
    let agreed = |losses: Vec<Losses>| {
        let name = |losses: &Losses| losses.cause.map(|cause| cause.name());
        let one = losses.windows(2).all(|two| name(&two[0]) == name(&two[1]));
        losses.into_iter().filter(|_| one).max_by_key(|losses| losses.counted)?.cause
    };
    ways.into_iter().filter_map(|(way, losses)| Some((way, agreed(losses)?))).collect()
}

fn one(found: &Found, known: &Known) -> Vec<Advice> {
    let (from, lifetime) = (found.sender(), found.lifetime());
    let least = found.worth();
    let advise = |limit: Limit| {
        // While its window limits, the path may carry nearly all that it can.
        let (what, span) = match limit {
            Limit::CongestionWindow => ("bottleneck idle", lifetime.idle()),
            _ => (names::limit(limit), lifetime.of(limit)),
        };
        match span {
            _ if span < least => None,
            _ if limit == Limit::Recovery => recovery(found, from, least, known),
            _ => Some(Advice { line: advice(found, from, limit, known)?, what, span }),
        }
    };
    let others = [handshake(found), answers(found)].into_iter().flatten();
    let others = others.filter(|advice| advice.span >= least);
    Limit::ALL.into_iter().filter_map(advise).chain(others).collect()
}

/// The client waited for the server's application for most of the time in which nothing was sent.
fn answers(found: &Found) -> Option<Advice> {
    let span = found.thinking()?;
    let (_, server) = hosts(found, End::Client);
    let line = if found.connection.position.is_at(false) {
        format!("{server}: its application takes long to answer; the network does not")
    } else {
        format!("{server}: it takes long to answer; a capture there shows what of that is its own")
    };
    Some(Advice { line: line.into(), what: "waiting for answers", span })
}

fn advice(found: &Found, from: End, limit: Limit, known: &Known) -> Option<Line> {
    let flow = found.flow(from);
    let (sender, receiver) = hosts(found, from);
    let unscaled = lacking(found, |options| options.wscale.is_some());
    let text = match limit {
        Limit::ReceiveWindow if closed(flow) => {
            format!("{receiver}: its application reads too slowly, so that its window closes")
        }
        Limit::ReceiveWindow => match unscaled.filter(|_| flow.full_window > UNSCALED) {
            Some(end) => format!(
                "{}: it does not offer window scaling, so that windows end at 64 KiB \
                 (net.ipv4.tcp_window_scaling)",
                address(found, end)
            ),
            None => {
                let text = format!(
                    "{receiver}: its receive buffer limits at {}; raise net.ipv4.tcp_rmem or \
                     SO_RCVBUF",
                    size(flow.full_window)
                );
                let subject = format!("{receiver}: its receive buffer limits");
                return Some(Line { text, subject, number: flow.full_window as f64 });
            }
        },
        Limit::CongestionWindow if marked_rather_than_lost(flow) => format!(
            "{sender} to {receiver}: a queue marks packets (ECN), which keeps the congestion window \
             small; find where packets wait"
        ),
        Limit::CongestionWindow if mostly_spurious(flow) && lowered_in_vain(flow) => {
            look_for_delay(&sender, &receiver)
        }
        // It may have been the receive window.
        Limit::CongestionWindow if !has_lost(flow) && flow.window.is_none() => return None,
        Limit::CongestionWindow if !has_lost(flow) => format!(
            "{sender}: its window is still growing or its send buffer is full; keep connections \
             open for longer, or raise initcwnd or net.ipv4.tcp_wmem"
        ),
        Limit::CongestionWindow => {
            return Some(known.why_lost(found, from).unwrap_or_else(|| {
                let text = format!(
                    "{sender} to {receiver}: losses keep the congestion window small; find where \
                     they occur"
                );
                // Where recovery takes time as well, that says more.
                Line { text, number: -1.0, ..lost_somewhere(&sender, &receiver) }
            }));
        }
        Limit::Nagle => format!(
            "{sender}: its application writes a message in pieces, each of which waits for the ACK \
             of the last; write messages whole, or set TCP_NODELAY"
        ),
        Limit::Handshake | Limit::Recovery | Limit::Path | Limit::Application => return None,
    };
    Some(text.into())
}

/// Which end keeps an option of SYNs from being agreed on. A server answers only what the client
/// has offered (RFC 7323 section 2.2; Linux's `tcp_synack_options`).
fn lacking(found: &Found, offers: impl Fn(&Options) -> bool) -> Option<End> {
    let client = offers(found.flow(End::Client).offered.as_ref()?);
    let server = found.flow(End::Server).offered.as_ref().map(offers);
    match (client, server) {
        (false, _) => Some(End::Client),
        (true, Some(false)) => Some(End::Server),
        _ => None,
    }
}

/// Retransmissions of data, and how many of them were spurious.
fn repaired(flow: &Flow) -> [usize; 2] {
    let data = flow.retransmissions.iter().filter(|r| r.len > 0);
    [data.clone().count(), data.filter(|r| r.spurious.is_some()).count()]
}

/// Data was lost.
fn has_lost(flow: &Flow) -> bool {
    let [all, spurious] = repaired(flow);
    all > spurious
}

fn mostly_spurious(flow: &Flow) -> bool {
    let [all, spurious] = repaired(flow);
    spurious * 2 > all
}

/// More than probes was spurious, which lower no window.
fn lowered_in_vain(flow: &Flow) -> bool {
    flow.retransmissions.iter().any(|r| r.spurious.is_some() && r.kind != Kind::TailLossProbe)
}

/// Packets are lost on this way, and nothing tells why.
fn lost_somewhere(sender: &str, receiver: &str) -> Line {
    let way = format!("{sender} to {receiver}");
    let text = format!("{way}: packets are lost; find where");
    Line { text, subject: format!("{way}: losses"), number: 0.0 }
}

fn look_for_delay(sender: &str, receiver: &str) -> String {
    format!(
        "{sender} to {receiver}: most retransmissions are spurious; look for reordering, delay \
         spikes and lost acknowledgments"
    )
}

/// The addresses of the sender and of the receiver.
fn hosts(found: &Found, from: End) -> (String, String) {
    let (sender, receiver) = way(found, from);
    (sender.to_string(), receiver.to_string())
}

fn address(found: &Found, end: End) -> IpAddr {
    found.address(end)
}

/// A handshake of one round trip is as it has to be. What is beyond that is time lost.
fn handshake(found: &Found) -> Option<Advice> {
    let c = &found.connection;
    let took = c.from_client.lifetime.of(Limit::Handshake);
    let (client, server) = hosts(found, End::Client);
    if c.ended == Ended::Refused {
        let line = format!(
            "{server}: it refuses connections; see whether something listens there, or a firewall \
             resets them"
        );
        return Some(Advice {
            line: line.into(),
            what: names::limit(Limit::Handshake),
            span: took,
        });
    }
    let what = "handshakes beyond a round trip";
    let rtt = found.least_round_trip();
    // From the first SYN to the last one, or to the last SYN/ACK. A FIN comes later.
    let again = found.flows().filter_map(|(_, flow)| {
        let until = c.start + flow.lifetime.of(Limit::Handshake);
        // Nothing was lost if the answer to the first one comes, too soon to answer this one. If it
        // comes a round trip later, an answer before it was lost, though that SYN had arrived.
        let soon = |at: Time| rtt.is_some_and(|rtt| until.since(at) < Span(rtt.0 / 2));
        let lost = |r: &&Retransmission| r.opens() && !(r.spurious.is_some() && soon(r.at));
        flow.retransmissions.iter().filter(lost).rfind(|r| r.at <= until)
    });
    let last = again.max_by_key(|r| r.at);
    if let Some(last) = last.filter(|_| c.begun) {
        let line = match c.from_server.offered {
            None => format!("{server}: it does not answer the SYNs of {client}"),
            Some(_) if came_unanswered(found) => format!(
                "{server}: SYNs came that it did not answer; see its listen queue \
                 (net.core.somaxconn, nstat TcpExtListenDrops) and its firewall"
            ),
            Some(_) if last.spurious.is_some() => format!(
                "{server} to {client}: answers to SYNs that came are lost or late; find where"
            ),
            Some(_) => {
                format!("{client} and {server}: SYNs or their answers are lost; find where")
            }
        };
        return Some(Advice { line: line.into(), what, span: last.at.since(c.start) });
    }
    let line = format!("{server}: it answers SYNs late");
    let beyond = found.opened_late();
    beyond.map(|span| Advice { line: line.into(), what, span })
}

/// The capture was taken at the server, which has answered only the last of several SYNs.
fn came_unanswered(found: &Found) -> bool {
    let again = |end| found.flow(end).retransmissions.iter().any(Retransmission::opens);
    found.connection.position.is_at(false) && again(End::Client) && !again(End::Server)
}

/// The capture was taken at the server, where the client's first data came more than twice before
/// it was acknowledged: a full listen queue drops the ACK that opens the connection and all behind
/// it (Linux's `tcp_conn_request`, `tcp_check_req`).
fn came_unacknowledged(found: &Found, from: End) -> bool {
    let c = &found.connection;
    let data = || found.flow(from).retransmissions.iter().filter(|r| r.len > 0);
    c.begun
        && from == End::Client
        && c.position.is_at(false)
        && data().all(|r| r.position == 0)
        && data().any(|r| r.transmission > 2 && r.spurious.is_none())
}

/// Marks have lowered the window more often than losses.
fn marked_rather_than_lost(flow: &Flow) -> bool {
    flow.ecn.reductions.len() > flow.recoveries.len() + flow.timeouts.len()
}

/// What would have made recovery shorter, by at `least` so much; or else why it was needed.
fn recovery(found: &Found, from: End, least: Span, known: &Known) -> Option<Advice> {
    let flow = found.flow(from);
    let (sender, receiver) = hosts(found, from);
    let several = several_lost(found, from);
    let saved = saved_by_probes(found, from);
    let span = flow.lifetime.of(Limit::Recovery);
    let late = late(found, from);
    let (what, several_at_once) = (names::limit(Limit::Recovery), "several losses at once");
    let without_sack = lacking(found, |options| options.sack_permitted);
    let (line, what, span) = match without_sack.filter(|_| several >= least) {
        _ if repaired(flow)[0] == 0 => return None,
        Some(end) => {
            let host = address(found, end);
            let line = format!("{host}: it does not offer SACK; set net.ipv4.tcp_sack to 1");
            (line.into(), several_at_once, several)
        }
        _ if saved >= least && known.silent.contains(&address(found, from)) => {
            let line = format!(
                "{sender}: it sends no tail loss probes; set net.ipv4.tcp_early_retrans to 3"
            );
            (line.into(), "what probes would have saved", saved)
        }
        _ if came_unacknowledged(found, from) => {
            let line = format!(
                "{receiver}: data came that it did not acknowledge; see its listen queue \
                 (net.core.somaxconn, nstat TcpExtListenOverflows) and its firewall"
            );
            (line.into(), what, span)
        }
        _ if mostly_spurious(flow) => (look_for_delay(&sender, &receiver).into(), what, span),
        _ if late.0 > span.0 / 2 => {
            let line = format!(
                "{sender} to {receiver}: timers expire though nothing was lost; look for delay \
                 spikes and lost acknowledgments"
            );
            (line.into(), what, span)
        }
        _ if full_segments_never_arrived(found, flow) => {
            let line = format!(
                "{sender} to {receiver}: the handshake passed, and no full segment did; see \
                 whether packets are too long for the path (ping -M do -s 1472)"
            );
            (line.into(), what, span)
        }
        _ => {
            let find = || lost_somewhere(&sender, &receiver);
            (known.why_lost(found, from).unwrap_or_else(find), what, span)
        }
    };
    Some(Advice { line, what, span })
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
fn senders_without_probes(explained: &Explained) -> BTreeSet<IpAddr> {
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

/// How long it waited for a timer that expired though nothing was lost.
fn late(found: &Found, from: End) -> Span {
    let (flow, at_sender) = (found.flow(from), found.is_at_sender(from));
    // In an outage the first segment may have arrived, whose ACK was lost with all behind it.
    let lost = |t: &Timeout| {
        let outstanding = t.position..t.position + t.flight;
        let behind = flow.retransmissions.iter().skip(t.retransmission + 1);
        // What is repaired later lies behind all that was outstanding. What was lost before the
        // capture is not known to have been; it is repaired soon.
        let of_this = |r: &&Retransmission| {
            r.position < outstanding.end || !at_sender && r.at <= t.at + t.waited
        };
        behind.take_while(of_this).any(|r| {
            let first = r.transmission == 2 && r.position > t.position;
            first && r.known && r.spurious.is_none()
        })
    };
    let spurious = |timeout: Option<usize>| {
        let timeout = timeout.and_then(|i| flow.timeouts.get(i));
        timeout.is_some_and(|t| t.spurious.is_some() && !lost(t))
    };
    let stalls = flow.stalls.iter().filter(|stall| spurious(stall.timeout));
    stalls.fold(Span::ZERO, |sum, stall| sum + stall.end.since(stall.start))
}

fn closed(flow: &Flow) -> bool {
    flow.full_window == 0 || flow.stalls.iter().any(|stall| stall.cause == StallCause::ZeroWindow)
}

#[cfg(test)]
mod tests;
