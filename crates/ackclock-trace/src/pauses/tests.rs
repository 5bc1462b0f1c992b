use super::*;

fn at(seconds: u64) -> Time {
    Time(seconds * 1_000_000_000)
}

/// A frame comes 400 s later by a clock that was set ahead, as the next segment shows.
#[test]
fn a_clock_that_was_set_ahead() {
    let mut pauses = Pauses::default();
    pauses.other(at(410), at(10));
    assert_eq!(pauses.until(at(5), at(10)), at(10));
    pauses.ends(at(12), at(10));
    assert_eq!(pauses.until(at(5), at(20)), at(20));
    pauses.ends(at(320), at(20));
    assert_eq!(pauses.until(at(5), at(330)), at(20));
}

/// One frame has a time that is far ahead. The next segment shows that it was none, whether it
/// comes at once or after a silence.
#[test]
fn a_frame_with_a_wrong_time() {
    for ahead in [200, 2_000_000] {
        let mut pauses = Pauses::default();
        pauses.other(at(ahead), at(10));
        assert_eq!(pauses.until(at(5), at(18)), at(18));
        pauses.ends(at(25), at(20));
        assert_eq!(pauses.until(at(5), at(25)), at(25));
    }
}

/// The clock goes back behind the second of three pauses.
#[test]
fn pauses_are_in_order_of_time() {
    let mut pauses = Pauses::default();
    for last in [1000, 3000, 2000] {
        pauses.ends(at(last + 400), at(last));
    }
    let until = |last| pauses.until(at(last), at(5000));
    assert_eq!([900, 1001, 2001, 3001].map(until), [1000, 2000, 3000, 5000].map(at));
}
