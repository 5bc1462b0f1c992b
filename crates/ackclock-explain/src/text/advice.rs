//! What to change, in an operator's words, with what would give most first.

mod recovery;
mod series;
mod window;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ackclock_tcp::wire::Options;
use ackclock_tcp::{Span, Time};
use ackclock_trace::{Ended, Flow, Kind, Limit, LossCause, Losses, Retransmission, StallCause};

use self::recovery::{of_other_end, recovery, repairs_of_own, senders_without_probes};
use self::series::one_after_the_other;
use self::window::congestion_window;
use super::losses;
use super::words::{size, time};
use crate::explained::{End, Explained, Found};
use crate::names;

/// Retransmissions. One delay, of what two segments or their ACKs waited in, may make two of them.
const MANY_SPURIOUS: usize = 3;

/// Without scaling, a receiver whose buffer is not the limit offers more than this, in bytes: the
/// half of what a window can be (RFC 7323 section 2.2).
const UNSCALED: u64 = 1 << 15;

/// Times that are not time lost: those of several connections add up to nothing.
const EACH_TRIP: &str = "of each round trip";
const UNTIL_RESET: &str = "until the reset";

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
    let known = Known::of(explained);
    let each = explained.counted().flat_map(|found| one(found, &known));
    lines(each.chain(one_after_the_other(explained)))
}

/// The same for one connection.
pub(crate) fn of_one(found: &Found, known: &Known) -> Vec<String> {
    lines(one(found, known))
}

fn lines(all_advice: impl IntoIterator<Item = Advice>) -> Vec<String> {
    let mut all: BTreeMap<String, (Line, BTreeMap<&str, Span>)> = BTreeMap::new();
    for Advice { line, what, span } in all_advice {
        let entry = all.entry(line.subject.clone());
        let (said, spans) = entry.or_insert_with(|| (line.clone(), BTreeMap::new()));
        if line.number > said.number {
            *said = line;
        }
        let all = spans.entry(what).or_default();
        *all = if [EACH_TRIP, UNTIL_RESET].contains(&what) { span.max(*all) } else { *all + span };
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
pub(crate) struct Known {
    /// Senders without tail loss probes.
    silent: BTreeSet<IpAddr>,
    causes: BTreeMap<Way, LossCause>,
    /// The part of what was sent that was lost, of all connections on a way but those whose losses
    /// are known not to be random.
    rates: BTreeMap<Way, f64>,
}

/// From one host to another.
type Way = (IpAddr, IpAddr);

fn way(found: &Found, from: End) -> Way {
    (address(found, from), address(found, from.other()))
}

impl Known {
    /// What the connections of these captures tell.
    pub fn of(explained: &Explained) -> Known {
        Known {
            silent: senders_without_probes(explained),
            causes: causes(explained),
            rates: rates(explained),
        }
    }

    /// What to do about the losses on the way of this end, if their reason is known.
    fn why_lost(&self, found: &Found, from: End) -> Option<Line> {
        let way = way(found, from);
        let mut cause = self.causes.get(&way).copied().or(found.flow(from).losses.cause)?;
        if let (LossCause::Random { rate, .. }, Some(all)) = (&mut cause, self.rates.get(&way)) {
            *rate = *all;
        }
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

/// How much is lost at random on each way. Of single connections those are named that lost most,
/// and the largest of many estimates is larger than the truth: all of them tell, in bytes, as what
/// a capture has may be longer than a segment. A single one has its own, which its sentence has.
fn rates(explained: &Explained) -> BTreeMap<Way, f64> {
    let mut ways: BTreeMap<Way, [u64; 3]> = BTreeMap::new();
    for found in explained.counted() {
        let random = |flow: &Flow| {
            matches!(flow.losses.cause, None | Some(LossCause::Random { .. })) && flow.bytes > 0
        };
        for (end, flow) in found.flows().filter(|(_, flow)| random(flow)) {
            let again = |lost: bool| {
                let of = flow.retransmissions.iter().filter(|r| !lost || was_lost(r));
                of.map(|r| u64::from(if lost { r.missing() } else { r.len })).sum::<u64>()
            };
            let [lost, sent, connections] = ways.entry(way(found, end)).or_default();
            *lost += again(true);
            *sent += flow.bytes + again(false);
            *connections += 1;
        }
    }
    let several = ways.into_iter().filter(|(_, [.., connections])| *connections > 1);
    several.map(|(way, [lost, sent, _])| (way, lost as f64 / sent as f64)).collect()
}

fn one(found: &Found, known: &Known) -> Vec<Advice> {
    let (from, lifetime) = (found.sender(), found.lifetime());
    let least = found.worth();
    let advise = |limit: Limit| {
        let (what, span) = match limit {
            Limit::CongestionWindow => return congestion_window(found, from, least, known),
            Limit::Recovery if lifetime.kept() >= Span(lifetime.of(limit).0 / 5 * 4) => {
                return Vec::new();
            }
            Limit::Recovery => (names::limit(limit), repairs_of_own(found, from)),
            // Of a full path, a larger buffer makes nothing faster.
            Limit::ReceiveWindow if not_read(found, from).is_none() => {
                (names::limit(limit), lifetime.of(limit) - lifetime.filled())
            }
            _ => (names::limit(limit), lifetime.of(limit)),
        };
        match span {
            _ if span < least => Vec::new(),
            _ if limit == Limit::Recovery => recovery(found, from, least, known),
            _ => {
                let line = advice(found, from, limit);
                line.map(|line| Advice { line, what, span }).into_iter().collect()
            }
        }
    };
    let other_end = of_other_end(found, from, least, known);
    let others = [handshake(found), answers(found), in_turn(found), other_end];
    let others = others.into_iter().flatten();
    let others = others.filter(|advice| advice.span >= least);
    let always = [refused(found), firewall(found), queue(found, from, known)].into_iter().flatten();
    let repairs = advise(Limit::Recovery);
    let told = repairs.iter().fold(Span::ZERO, |sum, advice| sum + advice.span);
    let limits = Limit::ALL.into_iter().filter(|limit| *limit != Limit::Recovery).flat_map(advise);
    let mut all: Vec<Advice> = limits.chain(repairs).chain(others).chain(always).collect();
    let policer = policer(found, from, told, known);
    let is_new = |policer: &Advice| all.iter().all(|a| a.line.subject != policer.line.subject);
    all.extend(policer.filter(is_new));
    all
}

/// A policer drops what the path carries in spite of that, and what it drops is sent again. What is
/// said of recovery already is not said of this once more.
fn policer(found: &Found, from: End, told: Span, known: &Known) -> Option<Advice> {
    let policed = matches!(found.flow(from).losses.cause, Some(LossCause::Policer { .. }));
    let line = known.why_lost(found, from).filter(|_| policed)?;
    let (what, span) = (names::limit(Limit::Recovery), repairs_of_own(found, from) - told);
    (span > Span::ZERO).then_some(Advice { line, what, span })
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

/// The client asks for one thing after the other.
fn in_turn(found: &Found) -> Option<Advice> {
    let n = found.asks_in_turn()?;
    let (client, _) = hosts(found, End::Client);
    let text = format!(
        "{client}: each of its {n} requests waits for the answer before; ask for more at a time, or \
         for several things at once"
    );
    let subject = format!("{client}: requests in turn");
    let span = found.lifetime().of(Limit::Path) - found.lifetime().full();
    Some(Advice { line: Line { text, subject, number: n as f64 }, what: "round trips", span })
}

/// Something on the path has reset the connection.
fn firewall(found: &Found) -> Option<Advice> {
    let (end, _) = found.flows().find(|(_, flow)| flow.strange_reset.is_some())?;
    let (client, server) = hosts(found, End::Client);
    let name = end.name();
    let text = format!(
        "{client} and {server}: something on the path probably resets connections in the name of \
         the {name}; look for a firewall"
    );
    let subject = format!("{client} and {server}: resets");
    let line = Line { text, subject, number: 0.0 };
    Some(Advice { line, what: UNTIL_RESET, span: found.lifetime().whole() })
}

/// Packets wait at a busy bottleneck in a queue that loses none, or of whose losses nothing is
/// known.
fn queue(found: &Found, from: End, known: &Known) -> Option<Advice> {
    let span = losses::waits(found).filter(|_| found.lifetime().full() >= found.worth())?;
    let cause = known.causes.get(&way(found, from)).copied().or(found.flow(from).losses.cause);
    if matches!(cause, Some(LossCause::DropTail { .. })) {
        return None;
    }
    let (sender, receiver) = hosts(found, from);
    let subject = format!("{sender} to {receiver}: a queue");
    let text = format!(
        "{sender} to {receiver}: packets wait in a queue for {}; manage it (fq_codel, CAKE)",
        time(span)
    );
    let line = Line { text, subject, number: span.secs_f64() };
    Some(Advice { line, what: EACH_TRIP, span })
}

fn advice(found: &Found, from: End, limit: Limit) -> Option<Line> {
    match limit {
        Limit::ReceiveWindow => {
            Some(not_read(found, from).unwrap_or_else(|| receive_window(found, from)))
        }
        Limit::Nagle => {
            let (sender, _) = hosts(found, from);
            let text = format!(
                "{sender}: small segments wait for the ACK of those before; set TCP_NODELAY, or \
                 write messages whole where they are written in pieces"
            );
            Some(text.into())
        }
        Limit::Handshake
        | Limit::CongestionWindow
        | Limit::Recovery
        | Limit::Path
        | Limit::Application => None,
    }
}

/// The receiver's application does not read.
fn not_read(found: &Found, from: End) -> Option<Line> {
    let flow = found.flow(from);
    let (_, receiver) = hosts(found, from);
    if let Some(span) = found.reads_nothing() {
        let subject = format!("{receiver}: its application read little or nothing");
        let text = format!("{subject} for {}, so that its window closed", time(span));
        return Some(Line { text, subject, number: span.secs_f64() });
    }
    let does = match () {
        () if closed(flow) => "closes",
        () if found.reads_slowly().is_some() => "shrinks",
        () => return None,
    };
    let line = format!("{receiver}: its application reads too slowly, so that its window {does}");
    Some(line.into())
}

/// Its windows are not scaled, or its buffer is small.
fn receive_window(found: &Found, from: End) -> Line {
    let flow = found.flow(from);
    let (_, receiver) = hosts(found, from);
    let unscaled = lacking(found, |options| options.wscale.is_some());
    if let Some(end) = unscaled.filter(|_| flow.full_window > UNSCALED) {
        let text = format!(
            "{}: it does not offer window scaling, so that windows end at 64 KiB (Linux: \
             net.ipv4.tcp_window_scaling)",
            address(found, end)
        );
        return text.into();
    }
    let subject = format!("{receiver}: its receive buffer limits");
    let text = format!(
        "{subject} at {}; raise it (SO_RCVBUF; Linux: net.ipv4.tcp_rmem)",
        size(flow.full_window)
    );
    Line { text, subject, number: flow.full_window as f64 }
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
    flow.retransmissions.iter().any(|r| r.len > 0 && was_lost(r))
}

/// It repairs a loss: it was needed, and not since a packet was too big for a link.
fn was_lost(r: &Retransmission) -> bool {
    r.spurious.is_none() && !r.too_big
}

/// So many that one delay does not explain them. In the slow start after a timeout, a sender
/// without SACK repeats what has arrived: that tells of the loss before. What it sent then and was
/// needed counts all the same.
fn mostly_spurious(flow: &Flow) -> bool {
    let data = flow.retransmissions.iter().filter(|r| r.len > 0);
    let wasted = data.clone().filter(|r| r.spurious.is_some() && r.kind != Kind::SlowStart).count();
    let others = data.filter(|r| r.spurious.is_none() || r.kind != Kind::SlowStart).count();
    wasted >= MANY_SPURIOUS && wasted * 2 > others
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

fn nothing_was_lost(sender: &str, receiver: &str) -> String {
    format!(
        "{sender} to {receiver}: segments are retransmitted though nothing was lost; look for \
         reordering, delay spikes and lost acknowledgments"
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

/// Nothing works then, however soon that was said.
fn refused(found: &Found) -> Option<Advice> {
    let (_, server) = hosts(found, End::Client);
    let line = format!(
        "{server}: it refuses connections; see whether something listens there, or a firewall \
         resets them"
    );
    let span = found.connection.from_client.lifetime.of(Limit::Handshake);
    let what = names::limit(Limit::Handshake);
    let is_refused = found.connection.ended == Ended::Refused;
    is_refused.then(|| Advice { line: line.into(), what, span })
}

/// A handshake of one round trip is as it has to be. What is beyond that is time lost.
fn handshake(found: &Found) -> Option<Advice> {
    let c = &found.connection;
    if c.ended == Ended::Refused {
        return None;
    }
    let (client, server) = hosts(found, End::Client);
    let what = "handshakes beyond a round trip";
    let (rtt, asked_anew) = (found.least_round_trip(), found.asked_anew());
    // From the first SYN to the last one, or to the last SYN/ACK. Only if all that went again was
    // spurious, nothing but answers was lost.
    let again = found.flows().filter_map(|(_, flow)| {
        let until = c.start + flow.lifetime.of(Limit::Handshake);
        // Nothing was lost if the answer to the first one comes, too soon to answer this one. If it
        // comes a round trip later, an answer before it was lost, though that SYN had arrived.
        // So it is if it comes when the server's timer sends an answer again, which was lost or
        // late.
        let soon = |at: Time| rtt.is_some_and(|rtt| until.since(at) < Span(rtt.0 / 2));
        let by_timer = rtt.is_some_and(|rtt| answered_again(until.since(c.start), rtt));
        let late = |r: &&Retransmission| r.spurious.is_some() && soon(r.at) && !by_timer;
        let lost = |r: &&Retransmission| r.syn && !late(r) && !asked_anew;
        let of_flow = flow.retransmissions.iter().filter(lost).take_while(|r| r.at <= until);
        let came = of_flow.clone().all(|r| r.spurious.is_some());
        Some((of_flow.last()?, came))
    });
    let last = again.max_by_key(|(r, _)| r.at);
    if let Some((last, came)) = last.filter(|_| c.begun) {
        let line = match c.from_server.offered {
            None => format!("{server}: it does not answer the SYNs of {client}"),
            Some(_) if found.is_left_half_open() && c.from_client.segments == 1 => {
                format!("{client}: it does not answer the SYN/ACKs of {server}")
            }
            Some(_) if found.came_unanswered() => format!(
                "{server}: SYNs came that it did not answer; see its listen queue \
                 (Linux: net.core.somaxconn, nstat TcpExtListenDrops) and its firewall"
            ),
            Some(_) if came => format!(
                "{server} to {client}: answers to SYNs that came are lost or late; find where"
            ),
            Some(_) => {
                format!("{client} and {server}: SYNs or their answers are lost; find where")
            }
        };
        return Some(Advice { line: line.into(), what, span: last.at.since(c.start) });
    }
    let line = if asked_anew {
        format!("{client}: it uses a port again while {server} has its older connection")
    } else if c.position.is_at(false) {
        format!("{server}: it answers SYNs late")
    } else {
        format!("{server}: answers to SYNs are late; a capture there shows what of that is its own")
    };
    let beyond = found.opened_late();
    beyond.map(|span| Advice { line: line.into(), what, span })
}

/// An answer after this time is about as late as one that a timer of a second (RFC 6298 section
/// 2.1), or the one after it, sends again.
fn answered_again(took: Span, rtt: Span) -> bool {
    [1, 3].map(Span::from_secs).into_iter().any(|timer| {
        let expected = timer + rtt;
        expected <= took && took <= expected + Span(timer.0 / 16)
    })
}

fn closed(flow: &Flow) -> bool {
    flow.full_window == 0 || flow.stalls.iter().any(|stall| stall.cause == StallCause::ZeroWindow)
}

#[cfg(test)]
mod tests;
