use super::*;
use crate::fixture;

/// The server sends the same three times more, and nothing comes until the end.
#[test]
fn what_is_sent_in_vain() {
    let sent = |n: usize, frame: u64| {
        let mut found = fixture::explained().connections.remove(0);
        let flow = &mut found.connection.from_server;
        let r = flow.retransmissions[0];
        let again = |n: usize| Retransmission { at: fixture::at(500 << n), ..r };
        flow.retransmissions = (0..n).map(again).collect();
        let cause = StallCause::Timeout(TimeoutClass::BackedOff);
        let (start, end) = (fixture::at(0), fixture::at(8000));
        flow.stalls = vec![Stall { start, end, frame, cause, timeout: None }];
        found.in_vain(End::Server)
    };
    assert_eq!(sent(3, 0), Some(Span::from_secs(8)));
    assert_eq!([sent(2, 0), sent(3, 9)], [None; 2]);
}
