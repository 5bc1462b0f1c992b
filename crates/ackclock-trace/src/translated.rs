//! Connections that a capture has twice, with other addresses or ports: it was taken on both sides
//! of a translator (NAT), or on all interfaces of a host that is one.

use std::borrow::Borrow;
use std::collections::HashMap;

use ackclock_tcp::{Seq, Span};

use crate::connection::{Connection, Ended};

/// Both sides of a translator see a connection begin within this time.
const WITHIN: Span = Span::from_secs(1);

/// For each of these connections, which are those of one capture in order of their beginnings, the
/// place of the earlier one that it is again. Both ends of a connection choose their numbers at
/// random (RFC 6528), and translators of addresses leave them as they are.
pub fn again<C: Borrow<Connection>>(connections: &[C]) -> Vec<Option<usize>> {
    let mut seen: HashMap<[Seq; 2], usize> = HashMap::new();
    let each = connections.iter().map(Borrow::borrow).enumerate();
    each.map(|(place, connection)| {
        let last = last(connection)?;
        let earlier = seen.get(&last).copied();
        let earlier = earlier.filter(|&i| is_same(connections[i].borrow(), connection));
        if earlier.is_none() {
            seen.insert(last, place);
        }
        earlier
    })
    .collect()
}

/// The last numbers of both ends, where they say which connection it is. Whoever makes connections
/// up may let all of them begin with the same number.
fn last(connection: &Connection) -> Option<[Seq; 2]> {
    let [client, server] = connection.numbers;
    let ([first, one], [other, two]) = (client?, server?);
    (first != other).then_some([one, two])
}

fn is_same(earlier: &Connection, later: &Connection) -> bool {
    let first = |c: &Connection| c.numbers.map(|seen| seen.map(|[first, _]| first));
    let addresses = |c: &Connection| [c.client, c.server];
    // Who refuses a SYN has no number: such a RST has 0 (RFC 9293 section 3.10.7.1). Clients that
    // take theirs from a clock begin several connections with the same one, also to one server.
    let translated = earlier.client.ip() != later.client.ip() && earlier.server == later.server;
    let numbered = later.ended != Ended::Refused || translated;
    // Of what began before the capture, each side may have seen another packet first.
    let begun = earlier.begun && later.begun;
    later.start.since(earlier.start) <= WITHIN
        && earlier.begun == later.begun
        && numbered
        && (!begun || first(earlier) == first(later))
        && addresses(earlier) != addresses(later)
}
