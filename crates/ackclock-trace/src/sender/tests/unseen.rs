//! Retransmissions that were lost before the capture.

use ackclock_tcp::TimeoutClass;

use super::{Line, MSS, kinds, ms, timeouts};
use crate::connection::{Kind, State};
use crate::sender::{Sent, Sight};

/// In the middle, without SACK. Segment 2 is lost before the capture, three duplicates make the
/// sender retransmit it, and 350 ms later the timer does. `missing`: packets before that one, by
/// their numbers; `counted`: these tell. Of the timeout, class and state.
fn timeout(missing: u16, counted: bool) -> Vec<(u64, TimeoutClass, State)> {
    let mut line = Line::without_sack(50.0);
    line.model.stream.terms.sight = Sight::Arrived;
    let pass = |line: &mut Line, t: f64, n: u64, skipped| {
        passes(line, t, n, (skipped, counted), None);
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

/// A segment passes, with so many packets missing before it by their numbers, if these tell.
fn passes(line: &mut Line, t: f64, n: u64, skipped: (u16, bool), ip_id: Option<u16>) {
    line.frame += 1;
    line.end = ms(t);
    let (skipped, counted) = skipped;
    let segment = line.segment(ms(t), n * MSS, MSS as u32);
    line.model.sent(&Sent { ip_id, skipped, counted, ..segment });
}

/// Segments 1 and 3 are lost before the capture, and nothing is seen behind 3. Its number is before
/// that of the fast retransmit, as no retransmission's can be within a round trip. `missing`:
/// packets before the fast retransmit, which is `late` ms after the ACK that speaks of the loss;
/// `id`: that of segment 3, as it comes.
fn behind_all(missing: u16, late: f64, id: u16) -> Vec<(u64, Kind)> {
    let mut line = Line::sack(50.0);
    line.model.stream.terms.sight = Sight::Arrived;
    passes(&mut line, 0.0, 0, (0, true), Some(10));
    passes(&mut line, 0.2, 2, (1, true), Some(12));
    line.ack_sack(50.0, 1, &[(2, 3)]);
    passes(&mut line, 50.0 + late, 1, (missing, true), Some(13 + missing));
    line.ack(100.0 + late, 3);
    passes(&mut line, 100.1 + late, 3, (0, true), Some(id));
    passes(&mut line, 100.2 + late, 4, (0, true), Some(15 + missing));
    line.ack(151.0 + late, 5);
    kinds(&line.found())
}

#[test]
fn numbers_tell_of_new_data_that_was_lost() {
    let (again, also) = ((1, Kind::FastRetransmit), (3, Kind::Recovery));
    assert_eq!(behind_all(1, 1.0, 15), [again, also]);
    // None is missing.
    assert_eq!(behind_all(0, 1.0, 14), [again]);
    // What is missing may have been the fast retransmit, and this one comes a round trip later.
    assert_eq!(behind_all(1, 60.0, 15), [again]);
    // It comes late.
    assert_eq!(behind_all(1, 1.0, 13), [again]);
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
