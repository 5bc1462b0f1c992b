//! What is said of a connection that never opened.

use crate::explained::Found;
use crate::text::words::time;

/// Nothing but SYNs of the client was seen, and the server's answers to them, if there were any, or
/// a reset.
pub(super) fn syns_alone(found: &Found) -> String {
    let c = &found.connection;
    let (text, times) = match c.from_server.segments {
        0 => ("no answer to its SYN was seen", c.from_client.segments),
        times if found.is_left_half_open() => ("no answer to the server's SYN/ACK was seen", times),
        times => ("no ACK of the server's SYN/ACK was seen", times),
    };
    match times {
        0 | 1 => text.into(),
        n => format!("{text}, which went out {n} times in {}", time(c.end.since(c.start))),
    }
}
