//! Retransmissions that were lost before the capture.

use ackclock_tcp::{Seq, TimeoutClass};

use super::{Line, MSS, ms, timeouts};
use crate::connection::State;
use crate::sender::{Sent, Sight};

/// In the middle, without SACK. Segment 2 is lost before the capture, three duplicates make the
/// sender retransmit it, and 350 ms later the timer does. `missing`: packets before that one, by
/// their numbers; `counted`: these tell. Of the timeout, class and state.
fn timeout(missing: u16, counted: bool) -> Vec<(u64, TimeoutClass, State)> {
    let mut line = Line::without_sack(50.0);
    line.model.stream.terms.sight = Sight::Arrived;
    let pass = |line: &mut Line, t: f64, n: u64, skipped| {
        line.frame += 1;
        let (frame, at, position, seq) = (line.frame, ms(t), n * MSS, Seq((1 + n * MSS) as u32));
        let (len, fin, tsval, ip_id) = (MSS as u32, false, None, None);
        let sent = Sent { frame, at, position, seq, len, fin, tsval, ip_id, skipped, counted };
        line.model.sent(&sent);
    };
    pass(&mut line, 0.0, 0, 0);
    pass(&mut line, 0.1, 1, 0);
    line.ack(50.0, 2);
    for (t, n, missing) in [(50.1, 3, 1), (50.2, 4, 0), (50.3, 5, 0)] {
        pass(&mut line, t, n, missing);
        line.ack(t + 50.0, 2);
    }
    pass(&mut line, 450.0, 2, missing);
    line.ack(500.0, 6);
    timeouts(&line.found())
}

/// A packet is missing beside the one that carried segment 2 first: the fast retransmit, which is
/// of the head (RFC 5681 section 3.2 step 2). Where none is, there was none. Without numbers nobody
/// knows.
#[test]
fn numbers_tell_of_a_fast_retransmit_that_was_lost() {
    assert_eq!(timeout(1, true), [(2, TimeoutClass::LostRetransmission, State::Recovery)]);
    assert_eq!(timeout(0, true), [(2, TimeoutClass::NonTrigger, State::Disorder)]);
    assert_eq!(timeout(0, false), [(2, TimeoutClass::Unknown, State::Disorder)]);
}
