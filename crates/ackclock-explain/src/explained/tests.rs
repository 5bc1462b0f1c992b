use ackclock_tcp::Span;
use ackclock_trace::{Limit, Stall, StallCause};

use crate::explained::End;
use crate::fixture::{at, explained};
use crate::overall::Overall;

/// The server stalls from 110 to 1100 ms by the network and to 1500 ms by the client's window.
/// Meanwhile the client stalls, too; and then its application has nothing to send, in part while
/// the server's window is closed.
#[test]
fn where_both_ends_stall_at_once_time_counts_once() {
    let mut explained = explained();
    let stall =
        |from, to, cause| Stall { start: at(from), end: at(to), frame: 1, cause, timeout: None };
    explained.connections[0].connection.from_client.stalls = vec![
        stall(60, 500, StallCause::Network),
        stall(600, 700, StallCause::Network),
        stall(1400, 1900, StallCause::Application),
    ];
    for counts in [explained.connections[0].counts(), Overall::of(&explained).counts] {
        assert_eq!(counts.stalls, 5);
        assert_eq!(counts.stalled, Span::from_millis(1900 - 60));
        assert_eq!(counts.application, Span::from_millis(1900 - 1500));
        assert_eq!(counts.lost_time(), Span::from_millis(1500 - 60));
    }
}

/// Whoever sent no data was not held back, however long something of its own was outstanding.
#[test]
fn a_connection_waits_for_an_end_that_sent_data() {
    let mut explained = explained();
    let found = &mut explained.connections[0];
    assert_eq!((found.connection.from_client.bytes, found.sender()), (0, End::Server));
    found.connection.from_client.lifetime.add(Limit::ReceiveWindow, Span::from_secs(3600));
    assert_eq!(found.sender(), End::Server);
    found.connection.from_client.bytes = 1;
    assert_eq!(found.sender(), End::Client);
}
