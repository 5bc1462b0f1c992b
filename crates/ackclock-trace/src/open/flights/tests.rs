use ackclock_tcp::Seq;

use super::*;
use crate::sender::{Acked, Dsack, Owed};

const MSS: u64 = 1000;

fn at(ms: f64) -> Time {
    Time((ms * 1e6).round() as u64)
}

fn data(ms: f64, position: u64, len: u32) -> (usize, Input) {
    let (seq, fin, again, cwr) = (Seq(position as u32), false, false, false);
    let data = Data {
        frame: 0,
        at: at(ms),
        position,
        seq,
        len,
        fin,
        again,
        tsval: None,
        tsecr: None,
        ip_id: None,
        skipped: 0,
        counted: false,
        all_seen: false,
        cwr,
        capable: false,
        owed: Owed::Some,
    };
    (0, Input::Data(data))
}

fn acked(ms: f64, ack: u64) -> (usize, Input) {
    let acked = Acked {
        frame: 0,
        at: at(ms),
        ack,
        window: 60_000,
        scaled: true,
        sack: Default::default(),
        sacks: 0,
        dsack: Dsack::None,
        tsecr: None,
        stamp: None,
        with_data: false,
        ece: false,
        timed: true,
        skips: false,
        overdue: false,
    };
    (0, Input::Acked(acked))
}

/// Flights of so many segments, each when it begins, in which a segment takes 1 ms. The
/// receiver answers every second one, and the last one, 0.2 ms later. `last`: the size of the
/// last one.
fn sent(flights: &[(f64, u64)], last: u32) -> Vec<(usize, Input)> {
    let (mut all, mut position) = (Vec::new(), 0);
    for &(begins, segments) in flights {
        for n in 1..=segments {
            let ms = begins + (n - 1) as f64;
            let len = if n == segments { last } else { MSS as u32 };
            all.push(data(ms, position, len));
            position += u64::from(len);
            if n % 2 == 0 || n == segments {
                all.push(acked(ms + 0.2, position));
            }
        }
    }
    all
}

fn trip(flights: &[(f64, u64)], last: u32) -> Option<f64> {
    let trip = round_trip(0, &sent(flights, last), MSS as u32)?;
    Some(trip.0 as f64 / 1e6)
}

/// The first ACK of two segments comes 1.2 ms after the first of them, and the next flight
/// 50 ms after that.
#[test]
fn slow_start() {
    assert_eq!(trip(&[(0.0, 2), (51.2, 3), (102.4, 5)], 1000), Some(50.0));
}

/// The silence is shorter later, as ACKs of a flight let others go while it arrives. The first
/// ACK counts.
#[test]
fn the_first_ack_of_a_flight_counts() {
    assert_eq!(trip(&[(0.0, 10), (13.2, 15)], 1000), Some(12.0));
    assert_eq!(trip(&[(0.0, 4), (60.0, 6), (111.2, 9)], 1000), Some(50.0));
    // Each segment is acknowledged at once.
    let mut all = sent(&[(0.0, 2), (51.0, 3)], 1000);
    all.insert(1, acked(0.0, 1000));
    assert_eq!(round_trip(0, &all, 1000), Some(Span(51_000_000)));
}

/// An application that pauses writes what it has: as much each time, much more, less, single
/// segments, or with a rest.
#[test]
fn an_application_pauses() {
    for flights in [[3, 3], [3, 10], [10, 3], [1, 2]] {
        let [before, next] = flights;
        assert_eq!(trip(&[(0.0, before), (700.0, next)], 1000), None, "{flights:?}");
    }
    assert_eq!(trip(&[(0.0, 3), (700.0, 4)], 999), None);
}

/// The bottleneck is busy all the time: one flight follows the other without a silence.
#[test]
fn no_silence() {
    assert_eq!(trip(&[(0.0, 4), (4.0, 8)], 1000), None);
    assert_eq!(trip(&[(0.0, 4), (4.9, 8)], 1000), None);
    assert_eq!(trip(&[(0.0, 4), (5.1, 8)], 1000), Some(3.9));
}

/// What comes behind a retransmission says nothing, nor does the other end.
#[test]
fn other_segments() {
    let mut all = sent(&[(0.0, 2), (51.2, 3)], 1000);
    assert_eq!(round_trip(1, &all, 1000), None);
    if let Some((_, Input::Data(data))) = all.get_mut(3) {
        data.again = true;
    }
    assert_eq!(round_trip(0, &all, 1000), None);
    assert_eq!(round_trip(0, &[], 1000), None);
    assert_eq!(round_trip(0, &sent(&[(0.0, 2), (51.2, 3)], 1000), 0), Some(Span(50_000_000)));
}
