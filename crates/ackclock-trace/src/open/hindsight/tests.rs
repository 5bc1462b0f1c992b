use super::*;
use crate::hypotheses::tests::{ack, ms, seen};
use crate::sender::{Acked, Sent};

const DELAY: Span = Span::from_millis(40);

/// The first byte of a segment passes at this time with these timestamps.
fn data(at: f64, segment: u64, [tsval, tsecr]: [u32; 2]) -> Entry {
    let Entry::Sent(sent) = seen(at, segment) else { unreachable!() };
    Entry::Sent(Sent { tsval: Some(tsval), tsecr: Some(tsecr), ..sent })
}

/// An ACK of so many segments passes at this time with this timestamp.
fn stamped(at: f64, segments: u64, stamp: u32) -> Entry {
    let Entry::Acked(acked) = ack(at, segments, &[]) else { unreachable!() };
    Entry::Acked(Acked { stamp: Some(stamp), ..acked })
}

/// When ACKs have reached a sender that passed at 100 ms and later, one in each millisecond, with
/// these timestamps. It has sent eight segments, of which they acknowledge so many each, and sends
/// the first again at these times, with these echoes.
fn reached(segments: u64, stamps: &[u32], sent: &[(f64, u32)]) -> Vec<f64> {
    let acks = (100..).zip(stamps).map(|(at, stamp)| stamped(f64::from(at), segments, *stamp));
    let sent = sent.iter().map(|(at, echo)| data(*at, 0, [0, *echo]));
    let first = [stamped(0.0, 0, 5), data(41.0, 7, [0, 5])];
    let mut all: Vec<Entry> = first.into_iter().chain(acks).chain(sent).collect();
    ack_times(&mut all, DELAY);
    let acked = all.iter().filter_map(Entry::acked).skip(1);
    acked.map(|a| (a.at + DELAY).since(ms(0.0)).0 as f64 / 1e6).collect()
}

/// What is sent 240 ms later echoes none of them: they were held up. What is sent next was let go
/// by the second, at 400 ms, and the third came behind that, if at all.
#[test]
fn an_ack_that_is_late() {
    assert_eq!(reached(1, &[10, 11, 12], &[(341.0, 5), (400.0, 11)]), [400.0, 400.0, 420.0]);
    assert_eq!(reached(1, &[10, 11, 12], &[(341.0, 5), (400.0, 12)]), [400.0; 3]);
}

/// Of two in one tick, the second is not known to have come, but not before the first.
#[test]
fn acks_keep_their_order() {
    assert_eq!(reached(1, &[10, 10], &[(341.0, 5), (400.0, 10)]), [400.0; 2]);
}

/// With nothing left to acknowledge, what is sent next is no answer.
#[test]
fn an_application_that_pauses() {
    assert_eq!(reached(8, &[10], &[(341.0, 5), (9000.0, 10)]), [361.0]);
    assert_eq!(reached(7, &[10], &[(341.0, 5), (9000.0, 10)]), [9000.0]);
}

/// The way is known no better than to a part of it. An ACK that is on its way for longer by half of
/// it is not moved, and one that was echoed before it was due has come by then.
#[test]
fn an_ack_that_is_not_quite_in_time() {
    assert_eq!(reached(1, &[10], &[(160.0, 5), (161.0, 10)]), [140.0]);
    assert_eq!(reached(1, &[10], &[(161.0, 5), (163.0, 10)]), [163.0]);
    assert_eq!(reached(1, &[10], &[(130.0, 10)]), [130.0]);
    assert_eq!(reached(1, &[10], &[(150.0, 10)]), [140.0]);
}

/// When data was sent that passed at these times with these timestamps, in ms.
fn sent(passed: &[(f64, u32)]) -> Vec<f64> {
    let mut all: Vec<Entry> = passed.iter().map(|(at, tsval)| data(*at, 0, [*tsval, 0])).collect();
    send_times(&mut all, &SendClock::default());
    let sent = all.iter().filter_map(Entry::sent);
    sent.map(|sent| sent.at.since(ms(0.0)).0 as f64 / 1e6).collect()
}

/// A link stands still from 1100 to 1500 ms: what was sent meanwhile passes at once, and what comes
/// later is in time. It was sent at the end of the tick at the latest, and clocks may run apart.
#[test]
fn a_link_that_stands_still() {
    let passed = [(1000.0, 0), (1500.0, 100), (1500.1, 150), (1550.0, 550), (1600.0, 600)];
    let found = sent(&passed);
    assert_eq!([found[0], found[3], found[4]], [1000.0, 1550.0, 1600.0]);
    assert!((found[1] - 1101.0).abs() < 0.1 && (found[2] - 1151.0).abs() < 0.1, "{found:?}");
}

/// One segment alone that came sooner is a slip of the capture's clock. A queue of less than 128 ms
/// is left as it is. So is what stays as late, or was so from the beginning: a clock was set.
#[test]
fn what_has_not_waited() {
    for passed in [
        [(1000.0, 0), (11000.0, 9500), (11100.0, 10100), (11200.0, 9700)],
        [(1000.0, 0), (1220.0, 100), (1220.1, 150), (1300.0, 300)],
        [(1000.0, 0), (1500.0, 100), (1550.0, 150), (1600.0, 200)],
        [(1000.0, 0), (1500.0, 500), (1550.0, 950), (1600.0, 1000)],
    ] {
        assert_eq!(sent(&passed), passed.map(|(at, _)| at));
    }
}
