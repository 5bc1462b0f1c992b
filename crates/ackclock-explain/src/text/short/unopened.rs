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
    if times < 2 {
        return text.into();
    }
    // A reset may come long after the last one.
    let again = found.flows().flat_map(|(_, flow)| &flow.retransmissions).filter(|r| r.syn);
    let last = again.map(|r| r.at).max().unwrap_or(c.end);
    format!("{text}, which went out {times} times in {}", time(last.since(c.start)))
}
