//! A comparison for people.

use std::collections::BTreeMap;

use ackclock_report::{Align, align, printable};
use ackclock_tcp::Span;
use ackclock_trace::Limit;

use super::between::Way;
use super::change::{Change, Ratio};
use super::{Both, Comparison, Shared};
use crate::explained::{End, Explained, Found};
use crate::names;
use crate::summary::Summary;
use crate::text::{bounded, captures, count, time};

/// The totals of two captures side by side, what happened between them if they have connections in
/// common, and at most `top` of these, of which most was lost; 0 for all.
pub fn compared(explained: &Explained, comparison: &Comparison, top: usize) -> String {
    let paths: Vec<String> = explained.captures.iter().map(|c| printable(&c.path)).collect();
    let name = |capture: usize| paths.get(capture).map_or("", String::as_str);
    let totals = totals([name(0), name(1)], &comparison.totals);
    let mut text = format!("{}\n{totals}", captures(explained, 0));
    if comparison.same {
        text.push_str("Both are the same capture: their packets and times are the same.\n");
        return text;
    }
    match &comparison.both {
        Some(both) => {
            text.push_str(&between(both, [name(0), name(1)], top));
            text.push_str(&all_in_vain(both, explained, top));
        }
        None => {
            text.push_str("No connection is in both captures.\n");
            text.extend(comparison.change.map(|change| changed(&change, [name(0), name(1)])));
        }
    }
    for (capture, other) in [(0, 1), (1, 0)] {
        if let n @ 1.. = comparison.unheard[capture] {
            text.push_str(&format!(
                "{} without an answer in {}, of connections that {} does not have\n",
                count(n, "SYN"),
                name(capture),
                name(other)
            ));
        }
    }
    text
}

/// Before and after a change.
fn changed(change: &Change, names: [&str; 2]) -> String {
    let Change { took, ratio: Ratio { mean, low, high } } = change;
    let verdict = match () {
        () if change.ratio.is_no_difference() => "no difference shows",
        () if *mean > 1.0 => "they take longer",
        () => "they take less time",
    };
    format!(
        "Connections of {} took {} in the median, those of {} {}: {verdict} ({mean:.2} times as \
         long, 95 %: {low:.2} to {high:.2})\n",
        names[0],
        time(took[0]),
        names[1],
        time(took[1])
    )
}

fn totals(names: [&str; 2], totals: &[Summary; 2]) -> String {
    let row = |name: &str, of: &dyn Fn(&Summary) -> String| {
        [vec![name.into()], totals.iter().map(of).collect()].concat()
    };
    let percent = |part: f64| format!("{:.1}", 100.0 * part);
    let mut rows = vec![
        vec![String::new(), names[0].into(), names[1].into()],
        row("connections", &|s| s.connections.to_string()),
        row("bytes", &|s| s.counts.bytes.to_string()),
        row("segments", &|s| s.counts.segments.to_string()),
        row("retransmitted (%)", &|s| s.retransmitted().map_or("-".into(), percent)),
        row("timeouts", &|s| s.counts.all_timeouts().to_string()),
        row("lost in stalls (s)", &|s| format!("{:.3}", s.counts.lost_time().secs_f64())),
        row("lifetimes (s)", &|s| format!("{:.3}", s.lifetime.whole().secs_f64())),
    ];
    rows.extend(Limit::ALL.map(|limit| {
        row(&format!("{} (%)", names::limit(limit)), &|s| {
            let whole = s.lifetime.whole().secs_f64();
            if whole > 0.0 { percent(s.lifetime.of(limit).secs_f64() / whole) } else { "-".into() }
        })
    }));
    // Rows without anything in either.
    let header = rows.remove(0);
    rows.retain(|row| row[1..].iter().any(|cell| cell != "-" && cell.parse() != Ok(0.0)));
    if rows.is_empty() {
        return String::new();
    }
    rows.insert(0, header);
    align(&rows, Align::Right) + "\n"
}

fn between(both: &Both, names: [&str; 2], top: usize) -> String {
    let mut text = in_both(both, names);
    if both.connections.is_empty() {
        return text + &syns(both);
    }
    text.push_str(&nearer_and_clocks(both, names));
    text.push_str(&ways(both));
    text.push_str(&syns(both));
    let not_compared: u64 = both.ways.iter().map(|way| way.not_compared).sum();
    if not_compared > 0 {
        text.push_str(&format!(
            "not compared: {not_compared} bytes that one capture has after the other one ended\n"
        ));
    }
    text + &lossy(both, top)
}

/// How many connections are in both captures, and which are not.
fn in_both(both: &Both, names: [&str; 2]) -> String {
    let in_both = both.count();
    let verb = if in_both == 1 { "is" } else { "are" };
    let mut line = format!("{} {verb} in both captures", count(in_both, "connection"));
    for (connections, why) in [
        (both.left_out, "not compared since a SYN is missing or memory was full"),
        (both.unanswered, "without a SYN of the server"),
    ] {
        if connections > 0 {
            line.push_str(&format!(", {connections} of these {why}"));
        }
    }
    for (alone, name) in both.alone.into_iter().zip(names) {
        line.push_str(&format!("; {alone} in {name} alone"));
    }
    line + "\n"
}

/// Which capture is nearer the client, and how far apart their clocks are.
fn nearer_and_clocks(both: &Both, names: [&str; 2]) -> String {
    let mut line = match both.near_client {
        Some(near) => format!("{} is nearer the client", names[near]),
        None => {
            "Nothing tells which capture is nearer the client; the numbers are as if the first \
                 were"
                .into()
        }
    };
    if let Some((there_and_back, ahead)) = both.clocks() {
        let direction = if ahead < 0 { "behind" } else { "ahead" };
        line.push_str(&format!(
            "; from one to the other and back takes {} at least; the clock of {} is {} {direction}, \
             if both ways take as long",
            time(Span(there_and_back)),
            names[1],
            time(Span(ahead.unsigned_abs())),
        ));
    }
    line + "\n\n"
}

/// What became of the bytes of both ends.
fn ways(both: &Both) -> String {
    let header = [
        "",
        "bytes",
        "lost between",
        "(%)",
        "again behind",
        "(%)",
        "not before",
        "out of order",
        "delay + (ms)",
        "99 %",
    ];
    let mut rows = vec![header.map(String::from).to_vec()];
    rows.extend([End::Client, End::Server].map(|end| row(end, &both.ways[end as usize])));
    align(&rows, Align::Right)
        + "lost between: past the capture nearer the sender, and not past the other; again behind: \
           past the other more than once, lost\nbehind it or not needed; not before: past the other \
           alone. delay +: median and 99 % above the shortest, between the captures\n"
}

/// The connections of which something was lost between the captures; at most `top`, 0 for all.
fn lossy(both: &Both, top: usize) -> String {
    let lossy: Vec<&Shared> =
        both.connections.iter().filter(|s| s.ways.iter().any(|way| way.lost > 0)).collect();
    let (shown, more) = bounded(lossy.len(), top);
    if shown == 0 {
        return String::new();
    }
    let lines: String = lossy[..shown].iter().map(|shared| connection(shared)).collect();
    format!("\nLost between the captures, the most first\n{lines}{more}")
}

/// SYNs that were lost between the captures.
fn syns(both: &Both) -> String {
    let of = |end: End| {
        let lost = both.ways[end as usize].syns_lost;
        (lost > 0).then(|| format!("{} of the {}s", count(lost, "SYN"), end.name()))
    };
    let all: Vec<String> = End::BOTH.into_iter().filter_map(of).collect();
    if all.is_empty() {
        String::new()
    } else {
        format!("lost between the captures: {}\n", all.join(", "))
    }
}

/// Data that one capture has after the other one ended may have been lost, all of it, or all ACKs
/// of it: then none came back, however often it went. At most `top` lines of that; 0 for all.
fn all_in_vain(both: &Both, explained: &Explained, top: usize) -> String {
    let by_number: BTreeMap<usize, &Found> =
        explained.connections.iter().map(|found| (found.number, found)).collect();
    let lines: Vec<String> =
        both.connections.iter().flat_map(|shared| in_vain(shared, &by_number)).collect();
    let (shown, more) = bounded(lines.len(), top);
    if shown == 0 { String::new() } else { lines[..shown].concat() + &more }
}

fn in_vain(shared: &Shared, by_number: &BTreeMap<usize, &Found>) -> Vec<String> {
    let one = |end: End| {
        let found = || shared.numbers.into_iter().flatten().filter_map(|n| by_number.get(&n));
        let (found, long) = found().find_map(|found| Some((found, found.in_vain(end)?)))?;
        Some(format!(
            "#{}: what the {} sent in the last {} went again and again, and nothing acknowledged \
             it: it, or all ACKs of it, were lost\n",
            found.number,
            end.name(),
            time(long)
        ))
    };
    let ends = End::BOTH.into_iter().filter(|end| shared.ways[*end as usize].not_compared > 0);
    ends.filter_map(one).collect()
}

fn row(end: End, way: &Way) -> Vec<String> {
    let part = |bytes: u64| match way.sent {
        0 => "-".into(),
        sent => format!("{:.1}", 100.0 * bytes as f64 / sent as f64),
    };
    let delay = |percent| {
        way.above_shortest(percent).map_or("-".into(), |nanos| format!("{:.1}", nanos as f64 / 1e6))
    };
    vec![
        format!("from the {}s", end.name()),
        way.sent.to_string(),
        way.lost.to_string(),
        part(way.lost),
        way.again.to_string(),
        part(way.again),
        way.unseen.to_string(),
        way.reordered.to_string(),
        delay(50.0),
        delay(99.0),
    ]
}

fn connection(shared: &Shared) -> String {
    let number = |n: Option<usize>| n.map_or("-".into(), |n| format!("#{n}"));
    let [first, second] = shared.numbers.map(number);
    let mut line = format!("{first} and {second} {} > {}: ", shared.client, shared.server);
    let of = |end: End| {
        let Way { lost, sent, .. } = shared.ways[end as usize];
        (lost > 0).then(|| format!("{lost} of {sent} bytes of the {}", end.name()))
    };
    let parts: Vec<String> = End::BOTH.into_iter().filter_map(of).collect();
    line.push_str(&parts.join(", "));
    line + "\n"
}
