//! What other connections of the same two hosts say of what looks like an outage.

use std::collections::HashMap;
use std::net::IpAddr;

use ackclock_tcp::{Span, Time};
use ackclock_trace::{Ended, Limit, Retransmission, Spurious};

use crate::explained::{End, Found};

/// From one host to another.
type Way = (IpAddr, IpAddr);

/// Notes for each of these connections of one capture in which of its stalls others got data
/// through: a queue that overflows takes the same segment of one connection several times, while
/// it lets others pass.
pub(crate) fn look(connections: &mut [Found]) {
    let silent: Vec<(usize, End, Time, Time)> = connections
        .iter()
        .enumerate()
        .flat_map(|(place, found)| silent(found).map(move |(end, from, to)| (place, end, from, to)))
        .collect();
    if silent.is_empty() {
        return;
    }
    let mut passed: HashMap<Way, Vec<Time>> = HashMap::new();
    for found in connections.iter() {
        for end in End::BOTH {
            let of = passed.entry(way(found, end)).or_default();
            of.extend(arrived(found, end));
        }
    }
    passed.values_mut().for_each(|times| times.sort_unstable());
    for (place, end, from, to) in silent {
        let Some(found) = connections.get_mut(place) else { continue };
        let Some(times) = passed.get(&way(found, end)) else { continue };
        let first = times.partition_point(|at| *at <= from + margin(found, end));
        if times.get(first).is_some_and(|at| *at < to) {
            found.got_through.push((end, from));
        }
    }
}

fn way(found: &Found, from: End) -> Way {
    (found.address(from), found.address(from.other()))
}

/// What was sent before an outage may still arrive after an ACK that did.
fn margin(found: &Found, from: End) -> Span {
    found.flow(from).rtt.map_or(Span::ZERO, |rtt| rtt.p99)
}

/// The stalls in which nothing of this connection came through, each with its beginning and until
/// when that is known. What was lost before the capture was so until the timer before the last
/// one, which waited half as long.
fn silent(found: &Found) -> impl Iterator<Item = (End, Time, Time)> {
    found.stalls().into_iter().filter_map(|(end, stall)| {
        let outage = found.outage(end, stall)?;
        let known = outage.least.unwrap_or(Span(outage.most.0 / 2));
        Some((end, stall.start, stall.start + known))
    })
}

/// When an end sent something of which it is known that it arrived. What a D-SACK reported may have
/// been a later transmission of the same bytes.
fn arrived(found: &Found, from: End) -> impl Iterator<Item = Time> {
    let c = &found.connection;
    let all = &found.flow(from).retransmissions;
    let last: HashMap<u64, Time> = all.iter().map(|r| (r.position, r.at)).collect();
    let sure = move |r: &&Retransmission| {
        r.spurious != Some(Spurious::Dsack) || last.get(&r.position).is_none_or(|at| *at <= r.at)
    };
    let again = all.iter().filter(|r| r.len > 0 && r.lost == Some(false));
    let again = again.filter(sure).map(|r| r.at);
    // A handshake and an end take packets both ways.
    let opened = c.start + c.from_client.lifetime.of(Limit::Handshake);
    let opened = Some(opened).filter(|_| c.begun && c.opened);
    let closed = Some(c.end).filter(|_| c.ended == Ended::Fin);
    again.chain(opened).chain(closed)
}

#[cfg(test)]
mod tests;
