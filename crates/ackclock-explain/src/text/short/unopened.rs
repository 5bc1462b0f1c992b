//! What is said of a connection that never opened.

use crate::explained::{End, Found};
use crate::text::words::time;

/// Nothing but SYNs of the client was seen, and the server's answers to them, if there were any, or
/// a reset.
pub(super) fn syns_alone(found: &Found) -> String {
    let c = &found.connection;
    let (text, from) = match c.from_server.segments {
        0 => ("no answer to its SYN was seen", End::Client),
        _ if found.is_left_half_open() => {
            ("no answer to the server's SYN/ACK was seen", End::Server)
        }
        _ => ("no ACK of the server's SYN/ACK was seen", End::Server),
    };
    let flow = found.flow(from);
    if flow.segments < 2 {
        return text.into();
    }
    let first = match from {
        End::Client => Some(c.start),
        End::Server => flow.stalls.first().map(|stall| stall.start),
    };
    // A reset may come long after the last one.
    let last = flow.retransmissions.iter().rfind(|r| r.syn).map(|r| r.at);
    let took = first.zip(last).filter(|(first, last)| first < last);
    let took =
        took.map_or(String::new(), |(first, last)| format!(" in {}", time(last.since(first))));
    format!("{text}, which went out {} times{took}", flow.segments)
}
