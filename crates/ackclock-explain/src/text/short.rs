//! The short text: what the time went into, the connections that were held up for longest, and what
//! to change.

mod kept;
mod unopened;

use std::cmp::Reverse;

use ackclock_report::printable;
use ackclock_tcp::Span;
use ackclock_trace::{
    Connection, Ended, Flow, Kind, Lifetime, Limit, LossCause, Reset, ResetBy, Stall, StallCause,
};

use self::kept::{closed_by, kept_open};
use self::unopened::syns_alone;
use super::words::{bounded, count, rate, time};
use super::{advice, losses, queueing, sentence, shorter};
use crate::explained::{Counts, End, Explained, Found};
use crate::names;
use crate::slow::Rates;
use crate::summary::Summary;

/// A share below this, in percent, is not worth a word.
const LEAST: u64 = 1;
/// The clocks of hosts that keep time differ by less.
const KEPT: Span = Span::from_secs(1);
/// A receiver that delays an ACK does so for longer.
const DELAYED: Span = Span::from_millis(25);

/// All of it, of each list at most `top` entries; 0 for all.
pub(super) fn text(explained: &Explained, top: usize) -> String {
    if explained.connections.is_empty() {
        return "No TCP connection was found.\n".into();
    }
    let mut text = headline(&explained.summary());
    text.extend(notes(explained).into_iter().map(|note| note + "\n"));
    text.push('\n');
    let worst = worst(explained);
    let (shown, more) = bounded(worst.len(), top);
    worst[..shown].iter().for_each(|found| text.push_str(&connection(explained, found)));
    text.push_str(&more);
    let advice = advice::of(explained);
    if !advice.is_empty() {
        let (shown, more) = bounded(advice.len(), top);
        text.push_str("\nWhat to change:\n");
        advice[..shown].iter().for_each(|line| text.push_str(&format!("- {line}\n")));
        text.push_str(&more);
    }
    text
}

/// What to know of the capture before its numbers are believed.
pub(crate) fn notes(explained: &Explained) -> Vec<String> {
    let of_capture = [twice(explained), translated(explained)].into_iter().flatten();
    of_capture.chain(counted_again(explained)).chain(missing(explained)).collect()
}

/// What several captures have.
pub(crate) fn counted_again(explained: &Explained) -> impl Iterator<Item = String> {
    [same(explained), repeated(explained)].into_iter().flatten()
}

/// Captures that are the same as others.
fn same(explained: &Explained) -> Option<String> {
    let same = explained.same() as u64;
    let what =
        if same == 1 { "is the same as another one: its" } else { "are the same as others: their" };
    (same > 0).then(|| format!("{} {what} connections count once more", count(same, "capture")))
}

/// Packets that the capture has twice, if they are a hundredth or more.
fn twice(explained: &Explained) -> Option<String> {
    let connections = || explained.connections.iter().map(|found| &found.connection);
    let copies: u64 = connections().map(|c| c.copies).sum();
    let packets: u64 = connections().map(|c| c.packets).sum();
    let part = copies as f64 / packets.max(1) as f64;
    (part >= 0.01).then(|| {
        let far = connections().filter_map(|c| after_round_trips(c)).max();
        let far = far.map_or(String::new(), |far| {
            format!(
                ". Some come {} later, longer than round trips take: there are hosts in it whose \
                 clocks differ",
                time(far)
            )
        });
        format!(
            "{:.1} % of the packets are copies of others, as mirror ports and captures of several \
             interfaces have them: they are left out{far}",
            100.0 * part
        )
    })
}

/// How long after a packet its copy came, if that is no delay of the path: longer than round trips
/// take, and than the clocks of hosts differ that keep time.
fn after_round_trips(c: &Connection) -> Option<Span> {
    let trips = [&c.from_client, &c.from_server].into_iter().filter_map(|flow| flow.rtt);
    let longest = trips.map(|rtt| rtt.p99).max()?;
    (c.copies_after >= KEPT && c.copies_after > longest).then_some(c.copies_after)
}

/// Connections that the capture has on both sides of a translator.
fn translated(explained: &Explained) -> Option<String> {
    let again = explained.connections.len() as u64 - explained.counted().count() as u64;
    let what = if again == 1 { "is one of these" } else { "are some of these" };
    (again > 0).then(|| {
        format!(
            "{} more {what} again with other addresses or ports, beyond a translator (NAT): each \
             counts once",
            count(again, "connection")
        )
    })
}

/// Connections that several captures have.
fn repeated(explained: &Explained) -> Option<String> {
    let again = explained.repeated() as u64;
    let counts = if again == 1 { "counts" } else { "count" };
    (again > 0).then(|| {
        format!(
            "{} {counts} once more, from another capture: --join reads captures as one, --compare \
             says what happened between two",
            count(again, "connection")
        )
    })
}

/// What the capture has missed, if that is a hundredth of the data or more.
fn missing(explained: &Explained) -> Option<String> {
    let flows = || explained.counted().flat_map(|found| found.flows());
    let unseen: u64 = flows().map(|(_, flow)| flow.unseen).sum();
    let bytes: u64 = flows().map(|(_, flow)| flow.bytes).sum();
    let part = unseen as f64 / (unseen + bytes).max(1) as f64;
    (part >= 0.01).then(|| {
        format!(
            "{:.1} % of the data is not in the capture: what was lost, and how fast it went, is \
             less sure",
            100.0 * part
        )
    })
}

/// The connections, that which was held up for longest first.
pub(crate) fn worst(explained: &Explained) -> Vec<&Found> {
    let mut all: Vec<&Found> = explained.counted().collect();
    let held = |found: &Found| found.held().max(found.no_answer().unwrap_or_default());
    all.sort_by_key(|found| Reverse((held(found), found.busy(), Reverse(found.number))));
    all
}

/// How much there was, and what the time of all connections went into.
pub(crate) fn headline(all: &Summary) -> String {
    let mut text = format!(
        "{}, {}; {:.1} % of {} were retransmissions",
        count(all.connections, "connection"),
        count(all.counts.bytes, "byte"),
        100.0 * all.retransmitted().unwrap_or(0.0),
        count(all.counts.segments, "segment"),
    );
    // Where only one direction was captured, nothing is known of either.
    if all.lifetime.whole() == Span::ZERO {
        return text + "\n";
    }
    let (whole, shares) = (time(all.lifetime.whole()), shares(&all.lifetime));
    let timeouts = timeouts(&all.counts);
    text.push_str(&format!(", {timeouts}\nTheir {whole} went into: {shares}\n"));
    if let Some(rest) = without_application(&all.lifetime) {
        text.push_str(&format!("Without the application's: {}\n", self::shares(&rest)));
    }
    text
}

/// `2 timeouts (1 only probable), 5 undecided (tail loss probe or timeout)`.
pub(crate) fn timeouts(counts: &Counts) -> String {
    let all = count(counts.all_timeouts(), "timeout");
    let unsure = match (counts.unsure_timeouts, counts.all_timeouts()) {
        (0, _) => String::new(),
        (unsure, all) if unsure == all => " (only probable)".into(),
        (unsure, _) => format!(" ({unsure} only probable)"),
    };
    let either = match counts.of(Kind::ProbeOrTimeout) {
        0 => String::new(),
        either => format!(", {either} undecided (tail loss probe or timeout)"),
    };
    all + &unsure + &either
}

/// The time in which there was something to do, where that is less than half: the other shares say
/// little there.
pub(crate) fn without_application(lifetime: &Lifetime) -> Option<Lifetime> {
    let mut rest = Lifetime::default();
    let others = Limit::ALL.into_iter().filter(|limit| *limit != Limit::Application);
    others.for_each(|limit| rest.add(limit, lifetime.of(limit)));
    let less = rest.whole() < lifetime.of(Limit::Application);
    (less && rest.whole() > Span::ZERO).then_some(rest)
}

/// `receive window 93 %, recovery 5 %`: the largest first.
pub(crate) fn shares(lifetime: &Lifetime) -> String {
    let whole = lifetime.whole().0.max(1);
    let mut all = Limit::ALL.map(|limit| (limit, lifetime.of(limit)));
    all.sort_by_key(|(_, share)| Reverse(*share));
    let percent =
        |share: Span| (u128::from(share.0) * 100 + u128::from(whole) / 2) / u128::from(whole);
    let parts: Vec<String> = all
        .into_iter()
        .map(|(limit, share)| (limit, percent(share)))
        .filter(|(_, percent)| *percent >= u128::from(LEAST))
        .map(|(limit, percent)| format!("{} {percent} %", names::limit(limit)))
        .collect();
    if parts.is_empty() { "nothing".into() } else { parts.join(", ") }
}

/// A line on a connection, and those below it.
fn connection(explained: &Explained, found: &Found) -> String {
    let below = below(found).into_iter().map(|line| format!("    {line}\n"));
    headed_in(found, explained.capture_of(found)) + "\n" + &below.collect::<String>()
}

/// What is said of its path, and of its longest stall if that is worth it.
pub(crate) fn below(found: &Found) -> Vec<String> {
    let worth = |(_, s): &(End, &Stall)| s.end.since(s.start) >= found.worth();
    let stall = longest(found).filter(worth).map(|(end, stall)| {
        let filter = names::display_filter(found, end, stall);
        format!("{} [{filter}]", sentence::stall(found, end, stall))
    });
    let path = [losses(found), queueing(found), stall].into_iter().flatten();
    sentence::marks(found).into_iter().chain(shorter(found)).chain(path).collect()
}

/// The longest stall that is no pause of the application, in a sentence.
pub(crate) fn longest_stall(found: &Found) -> Option<String> {
    longest(found).map(|(end, stall)| sentence::stall(found, end, stall))
}

fn longest(found: &Found) -> Option<(End, &Stall)> {
    let lost = |(_, stall): &(End, &Stall)| stall.cause != StallCause::Application;
    found.stalls().into_iter().filter(lost).max_by_key(|(_, s)| s.end.since(s.start))
}

/// Which connection, and why it took as long.
pub(crate) fn headed(found: &Found) -> String {
    headed_in(found, None)
}

/// The same of a connection in one of several captures.
fn headed_in(found: &Found, capture: Option<&str>) -> String {
    let c = &found.connection;
    let capture = capture.map_or(String::new(), |path| format!(" in {}", printable(path)));
    format!("#{} {} > {}{capture}: {}", found.number, c.client, c.server, why(found))
}

/// What limited it for longest.
fn limited(found: &Found, main: Limit) -> String {
    let lifetime = found.lifetime();
    let whole = lifetime.whole();
    // What the server has on its way is no pause of its application.
    let asked = found.sender() == End::Client && !is_full(found);
    let kept = kept_open(found, main);
    let kept_for = kept.as_ref().map_or(Span::ZERO, |(_, span)| Span(span.0 / 2));
    let waits = main == Limit::Application || kept.is_some() || main == Limit::Path && asked;
    let mut text = match found.thinking().filter(|span| waits && *span >= kept_for) {
        // Elsewhere, what was lost on the way to the capture looks the same.
        Some(span) if found.connection.position.is_at(false) => {
            format!("the server's application kept the client waiting {}", part(found, span, whole))
        }
        Some(span) => format!("the server kept the client waiting {}", part(found, span, whole)),
        None => match &kept {
            Some((text, _)) => text.clone(),
            None => limited_of(found, main, whole),
        },
    };
    if main != Limit::Application && kept.is_none() {
        return text;
    }
    // Connections that are kept open are idle for most of their time. What counts is the rest.
    let is_kept = kept.is_some();
    let rest = kept.map_or(found.busy(), |(_, span)| whole - span);
    let others = Limit::ALL.into_iter().filter(|limit| is_kept || *limit != Limit::Application);
    let second = others.max_by_key(|limit| found.limited_for(*limit));
    let [_, (also, span)] = closed_by(found, rest);
    let other = second.map_or(Span::ZERO, |limit| found.limited_for(limit)).max(found.worth());
    if is_kept && span > other && span <= rest {
        return text + &format!("; in the rest {also}");
    }
    let second = second.filter(|limit| match limit {
        // One of a round trip is as it has to be.
        Limit::Handshake => found.opened_late().is_some(),
        Limit::Path => is_full(found),
        _ => true,
    });
    let half = if is_kept { Span::ZERO } else { Span(rest.0 / 2) };
    let most = |limit: &Limit| found.limited_for(*limit) >= found.worth().max(half);
    if let Some(second) = second.filter(most) {
        text.push_str(&format!("; in the rest {}", limited_of(found, second, rest)));
    }
    text
}

/// `for 2.8 s of 3.0 s (93 %)`. The time of an end that is away from the capture ends when the last
/// ACK has reached it, in times of what that end sends: later by the way there and back.
fn part(found: &Found, part: Span, whole: Span) -> String {
    let percent = 100.0 * part.secs_f64() / whole.secs_f64();
    let lasted = found.connection.end.since(found.connection.start);
    let from = found.sender();
    let longer = !found.is_at_sender(from) && whole > lasted + Span(lasted.0 / 50);
    let name = from.name();
    let with = if longer { format!(" with the way to the {name} and back") } else { "".into() };
    format!("for {} of {}{with} ({percent:.0} %)", time(part), time(whole))
}

/// The path carried what it could for half of the time that it limits, or all that a policer lets
/// through: four fifths of its rate at the least, as what is left is repaired.
fn is_full(found: &Found) -> bool {
    let (lifetime, flow) = (found.lifetime(), found.flow(found.sender()));
    let policed = match flow.losses.cause {
        Some(LossCause::Policer { rate_bps, .. }) => {
            flow.bytes as f64 * 8.0 >= rate_bps * 0.8 * lifetime.busy().secs_f64()
        }
        _ => false,
    };
    policed || lifetime.full().0 >= lifetime.of(Limit::Path).0 / 2
}

/// What is seen where an end may have sent something that was lost before the capture.
pub(super) fn no_data(from: End) -> String {
    format!("no data came from the {}", from.name())
}

fn limited_of(found: &Found, main: Limit, whole: Span) -> String {
    let (from, span) = (found.sender(), found.limited_for(main));
    let other = match main {
        Limit::Application => {
            let asked = match found.is_proven(End::Client) {
                true => "the client asked for nothing".into(),
                false => no_data(End::Client),
            };
            let nothing = || Some((asked, found.asks_nothing()?));
            let lost = "the server waited for data of the client that had been lost";
            found.lost_requests().map(|span| (lost.into(), span)).or_else(nothing)
        }
        Limit::Path => found.asks_in_turn().map(|n| {
            let what = format!("the client asked {n} times, each time only after the answer,");
            (what, span)
        }),
        Limit::ReceiveWindow => {
            let nothing = found
                .reads_nothing()
                .map(|span| format!("read little or nothing for {}", time(span)));
            let slowly = || Some(format!("reads slowly (about {})", rate(found.reads_slowly()?)));
            let (receiver, from) = (from.other().name(), from.name());
            let reads = nothing.or_else(slowly).map(|reads| {
                format!(
                    "the application at the {receiver} {reads}, so that its window held the {from} \
                     back"
                )
            });
            // A larger window would only make the queue longer, for as long as it filled the path.
            let filled = || {
                let what = format!(
                    "the path carried what it could with the {receiver}'s receive window full"
                );
                let lifetime = found.lifetime();
                let mostly = lifetime.filled() > Span(lifetime.of(main).0 / 2);
                mostly.then(|| (what, lifetime.filled()))
            };
            reads.map(|what| (what, span)).or_else(filled)
        }
        _ => None,
    };
    // A sender that waits for the receive window looks as if it waited for one of these.
    let alike = matches!(main, Limit::CongestionWindow | Limit::Path | Limit::Application);
    let unsure = alike && other.is_none() && found.flow(from).window.is_none();
    let of_limit = || match main {
        Limit::Application if !found.is_proven(from) => no_data(from),
        _ => names::limited(main, from, is_full(found)),
    };
    let (what, span) = other.unwrap_or_else(|| (of_limit(), span));
    let mut text = format!("{what} {}", part(found, span, whole));
    if unsure {
        let did = if main == Limit::CongestionWindow { "did" } else { "held it back" };
        text.push_str(&format!(", unless the receive window {did}, whose scale is not known"));
    }
    text
}

/// The round trip from client to server and back, as the handshake measured it: no ACK of it is
/// delayed.
fn handshake_trip(c: &Connection) -> Option<Span> {
    let [client, server] = [c.position.to_client?, c.position.to_server?];
    Some(client + server).filter(|trip| c.begun && *trip > Span::ZERO)
}

/// `round trip 45 ms (median 47 ms, 99th 52 ms)`: what this end measures, in all places with the
/// same three numbers.
pub(crate) fn round_trip(found: &Found, from: End) -> Option<String> {
    // The clock of the capture may count in longer steps than a round trip takes.
    let rtt = found.flow(from).rtt.filter(|rtt| rtt.min > Span::ZERO)?;
    // What the way between the end and the capture takes, no answer to a SYN has said.
    if found.connection.begun && found.part_to(from).is_none() && !found.is_at_sender(from) {
        return None;
    }
    // All ACKs of data may have been delayed, or come with answers.
    let trip = handshake_trip(&found.connection).filter(|trip| rtt.min > trip.times(2));
    let least = trip.unwrap_or(rtt.min);
    // Linux delays an ACK by 40 ms at the least. Jitter is shorter for the most part.
    let mostly = rtt.delayable.saturating_mul(2) > rtt.samples;
    let delayed = mostly && rtt.median > least.times(2).max(least + DELAYED);
    Some(format!(
        "round trip {} (median {}, 99th {}{})",
        time(least),
        time(rtt.median),
        time(rtt.p99),
        if delayed { ", with delayed ACKs" } else { "" }
    ))
}

/// `the client's receive window held the server back for 2.8 s of 3.0 s (93 %); 3.1 Mbit/s, round
/// trip 45 ms (median 47 ms, 99th 52 ms), 0.1 % retransmitted`.
pub(crate) fn why(found: &Found) -> String {
    let flow = found.flow(found.sender());
    if found.connection.ended == Ended::Refused {
        return format!("the server refused it after {}", time(found.lifetime().whole()));
    }
    if found.is_syn_alone() || found.is_half_open() {
        return syns_alone(found) + &ended(found).unwrap_or_default();
    }
    let mut text = match found.main() {
        Some(main) => no_answer(found).unwrap_or_else(|| limited(found, main)),
        None if found.connection.one_way => {
            "only one direction was captured, so nothing says what limited it or whether it stalled"
                .into()
        }
        None if found.connection.whole_seconds => {
            "its times are whole seconds, so nothing says what limited it or whether it stalled"
                .into()
        }
        None if found.connection.unanswered => {
            "ACKs are missing from the capture, so nothing says what limited it or whether it \
             stalled"
                .into()
        }
        None => return "it took no time".into(),
    };
    let rates = Rates::of(&found.connection, flow);
    let rtt = round_trip(found, found.sender());
    let again = rates.retransmitted.filter(|part| *part > 0.0);
    let busy = rates.busy.filter(|bps| *bps > 0.0);
    let busy = busy.map_or(String::new(), |bps| format!(" ({} while it had data)", rate(bps)));
    let facts = [
        rates.goodput.filter(|bps| *bps > 0.0).map(|bps| rate(bps) + &busy),
        rtt,
        again.map(|part| format!("{:.1} % retransmitted", 100.0 * part)),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if !facts.is_empty() {
        text.push_str(&format!("; {}", facts.join(", ")));
    }
    if !found.connection.begun {
        text.push_str("; its beginning was not seen");
    }
    text.extend(ended(found));
    text
}

/// What the client asked was never answered.
fn no_answer(found: &Found) -> Option<String> {
    found.no_answer().map(|wait| format!("the server had not answered after {}", time(wait)))
}

/// Who has reset it, or that it had not ended.
fn ended(found: &Found) -> Option<String> {
    let (by, cuts_off) = match found.connection.ended {
        Ended::Reset(Reset { by, cuts_off }) => (by, cuts_off),
        Ended::Open if found.connection.opened => {
            return Some("; still open at the end of the capture".into());
        }
        _ => return None,
    };
    let who = match by {
        ResetBy::Client => "the client",
        ResetBy::Server => "the server",
        ResetBy::Both => "both ends",
    };
    let data = if cuts_off { ", which cut off data on its way" } else { "" };
    let strange = |(end, flow): (End, &Flow)| {
        let [reset, before] = flow.strange_reset?;
        let name = end.name();
        Some(format!("in the name of the {name} (time to live {reset}, not {before} as before)"))
    };
    let strange: Vec<String> = found.flows().filter_map(strange).collect();
    if strange.is_empty() {
        return Some(format!("; {who} reset it{data}"));
    }
    Some(format!("; something on the path probably reset it {}{data}", strange.join(" and ")))
}

#[cfg(test)]
mod tests;
