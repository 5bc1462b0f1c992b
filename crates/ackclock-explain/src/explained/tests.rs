use ackclock_tcp::Span;
use ackclock_trace::{Stall, StallCause};

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
