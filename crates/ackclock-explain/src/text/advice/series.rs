//! Connections that a client opens one after the other.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use ackclock_tcp::Span;
use ackclock_trace::{Connection, Ended, Limit};

use super::{Advice, Line, handshake};
use crate::explained::{Explained, Found};

/// Who opens so many in a row does so for each request.
const MANY: usize = 10;

/// A client opens a connection to the same server whenever the one before is done: what handshakes
/// took would be saved, if that is a tenth of all the time. What is left of the one before is the
/// end of its closing, two round trips at the most.
pub(super) fn one_after_the_other(explained: &Explained) -> Vec<Advice> {
    let mut pairs: BTreeMap<(IpAddr, SocketAddr), Vec<&Found>> = BTreeMap::new();
    let opened = |c: &Connection| c.begun && c.opened && c.ended != Ended::Refused;
    for found in explained.counted().filter(|found| opened(&found.connection)) {
        let c = &found.connection;
        pairs.entry((c.client.ip(), c.server)).or_default().push(found);
    }
    pairs.into_iter().filter_map(|((client, server), all)| in_a_row(client, server, all)).collect()
}

fn in_a_row(client: IpAddr, server: SocketAddr, mut all: Vec<&Found>) -> Option<Advice> {
    all.sort_by_key(|found| found.connection.start);
    let follows = |pair: &[&Found]| {
        let trip = pair[0].least_round_trip().unwrap_or_default().times(2);
        pair[1].connection.start + trip >= pair[0].connection.end
    };
    let in_a_row = all.len() >= MANY && all.windows(2).all(follows);
    // What is beyond a round trip has a reason of its own, of which another line tells.
    let took = all.iter().map(|found| {
        let beyond = handshake(found).map_or(Span::ZERO, |advice| advice.span);
        found.connection.from_client.lifetime.of(Limit::Handshake) - beyond
    });
    let span = took.fold(Span::ZERO, |sum, span| sum + span);
    let whole = all.last()?.connection.end.since(all[0].connection.start);
    (in_a_row && span > Span(whole.0 / 10)).then(|| {
        let text = format!(
            "{client}: it opens {} connections to {server} one after the other; keep connections \
             open",
            all.len()
        );
        Advice { line: Line::from(text), what: "handshakes", span }
    })
}
