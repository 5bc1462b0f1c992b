use super::*;

const MSS: u64 = 1448;

fn micros(srtt: u64, segments: u64) -> u64 {
    between(Span::from_micros(srtt), segments * MSS, MSS).nanos() / 1000
}

#[test]
fn a_twentieth_of_the_round_trip_and_at_most_two_milliseconds() {
    assert_eq!(micros(20_000, 100), 1000);
    assert_eq!(micros(40_000, 100), 2000);
    assert_eq!(micros(80_000, 200), 2000);
}

/// A twentieth of the round trip has two ACKs with 80 segments in flight.
#[test]
fn two_acks_have_to_be_expected() {
    assert_eq!((micros(20_000, 79), micros(20_000, 80)), (0, 1000));
    assert_eq!((micros(80_000, 159), micros(80_000, 160)), (0, 2000));
    assert_eq!((micros(20_000, 0), micros(0, 100)), (0, 0));
}

/// 500 segments in 20 ms are an ACK in 80 us.
#[test]
fn ten_segments_are_released_at_once() {
    assert_eq!(micros(20_000, 200), 1000);
    assert_eq!(micros(20_000, 500), 400);
    assert_eq!((micros(20_000, 1000), micros(20_000, 1002)), (200, 0));
}

#[test]
fn a_short_wait_gains_nothing() {
    assert_eq!((micros(3_900, 100), micros(4_000, 100)), (0, 200));
}

#[test]
fn the_most_urgent_packet_decides() {
    let mut patience = Patience::default();
    let (now, wait) = (Time(7_000_000_000), Span::from_millis(1));
    assert_eq!(patience.take(now), Span::ZERO);
    patience.note(now, Span::from_millis(2));
    patience.note(now, wait);
    patience.note(now, Span::from_millis(2));
    assert_eq!((patience.take(now), patience.take(now)), (wait, Span::ZERO));
    patience.note(now, Span::ZERO);
    for (later, then) in [(0, Span::ZERO), (99, Span::ZERO), (100, wait)] {
        patience.note(now + Span::from_millis(later), wait);
        assert_eq!(patience.take(now + Span::from_millis(later)), then, "{later} ms later");
    }
}
