use super::*;

/// A frame comes 400 s later by a clock that was set ahead, as the next segment shows.
#[test]
fn a_clock_that_was_set_ahead() {
    let at = |seconds: u64| Time(seconds * 1_000_000_000);
    let mut pauses = Pauses::default();
    pauses.other(at(410), at(10));
    assert_eq!(pauses.until(at(5), at(10)), at(10));
    pauses.ends(at(12), at(10));
    assert_eq!(pauses.until(at(5), at(20)), at(20));
    pauses.ends(at(320), at(20));
    assert_eq!(pauses.until(at(5), at(330)), at(20));
}
