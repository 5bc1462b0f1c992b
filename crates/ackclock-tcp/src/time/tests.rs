use super::*;

/// Each 7 ns, also at 16.
#[test]
fn ticks_that_have_come() {
    let ticks = |nanos| Time(nanos).ticks(Span(7), Span(16));
    assert_eq!([0, 1, 2, 8, 9, 15, 16, 22, 23].map(ticks), [0, 0, 1, 1, 2, 2, 3, 3, 4]);
}

#[test]
fn seconds_that_no_span_holds() {
    let spans = [-1.0, -0.0, f64::NAN, f64::NEG_INFINITY, f64::INFINITY, 1e300, 1.5e-9, 0.25]
        .map(|s| Span::from_secs_f64(s).0);
    assert_eq!(spans, [0, 0, 0, 0, u64::MAX, u64::MAX, 2, 250_000_000]);
}
