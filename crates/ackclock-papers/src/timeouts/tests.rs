use ackclock_tcp::Time;

use super::*;
use crate::measures::{Value, measures};

const MSS: u64 = 512;

fn event(cwnd: u64, kind: EventKind) -> Event {
    Event { at: Time::ZERO, cwnd, ssthresh: u64::MAX, snd_una: 0, snd_nxt: 0, kind }
}

/// An ACK that leaves this cwnd, with a receiver's window of 12 segments.
fn acked(newly_acked: u64, cwnd: u64) -> Event {
    let (ack, window_edge) = (5 * MSS, 17 * MSS);
    let (sack, dupacks) = ([(0, 0); 4], u32::from(newly_acked == 0));
    event(
        cwnd,
        EventKind::Acked {
            ack,
            dupacks,
            newly_acked,
            newly_sacked: 0,
            window_edge,
            sack,
            sacks: 0,
            dsack: false,
        },
    )
}

fn timed_out(class: TimeoutClass, seq: u64, flight: u64, cwnd_before: u64) -> Event {
    event(MSS, EventKind::TimedOut { seq, class, backoff: 1, flight, cwnd_before, rto: 0 })
}

fn tally(events: &[Event]) -> Tally {
    let mut tally = Tally::default();
    let mut windows = Windows::new(MSS, &mut tally);
    events.iter().for_each(|e| windows.event(FlowId(0), e));
    tally
}

fn measured(tally: &Tally) -> [f64; 7] {
    let values = measures().filter_map(|m| match m.value {
        Value::Timeouts(value) => Some(value(tally)),
        _ => None,
    });
    values.collect::<Vec<f64>>().try_into().unwrap()
}

/// Lin & Kung section 4.1: "we record the connection's instant congestion window size" of each
/// timeout by its class.
pub(crate) fn five_timeouts() -> Tally {
    tally(&[
        // Before the first ACK no window of the receiver is known.
        timed_out(NonTrigger, 0, MSS, 20 * MSS),
        acked(MSS, 4 * MSS),
        timed_out(NonTrigger, MSS, 4 * MSS - 12, 3 * MSS + 511),
        timed_out(LostRetransmission, MSS, 4 * MSS, MSS),
        // A duplicate is no ACK of new data.
        acked(0, 100 * MSS),
        timed_out(MultipleLosses, 2 * MSS, 11 * MSS, 10 * MSS),
        // Above the receiver's window.
        acked(2 * MSS, 13 * MSS),
        timed_out(MultipleLosses, 5 * MSS, 10 * MSS, 40 * MSS),
    ])
}

#[test]
fn timeouts_count_by_class_with_their_windows() {
    let tally = five_timeouts();
    assert_eq!(tally.timeouts, [vec![(20, 1), (3, 4)], vec![(10, 11), (12, 10)], vec![(1, 4)]]);
    assert_eq!((tally.acks, tally.windows, tally.repeated), (2, 4 + 12, 1));
    // Repeated; of the four others, by class; window above 10; outstanding above 10; mean window.
    assert_eq!(measured(&tally), [20.0, 50.0, 50.0, 0.0, 40.0, 20.0, 8.0]);
    // Lost after a fast retransmission, not after a timeout: nothing is repeated.
    let lost = self::tally(&[
        timed_out(LostRetransmission, 0, MSS, MSS),
        timed_out(LostRetransmission, MSS, MSS, MSS),
    ]);
    assert_eq!(measured(&lost)[..4], [0.0, 0.0, 0.0, 100.0]);
}

#[test]
fn without_timeouts_there_are_no_shares() {
    let measured = measured(&tally(&[acked(MSS, 2 * MSS)]));
    assert!(measured[..6].iter().all(|share| share.is_nan()));
    assert_eq!(measured[6], 2.0);
}
