use super::*;

/// Times are kept in 32 bits of microseconds, which wrap every 71.6 minutes.
#[test]
fn a_copy_across_a_wrap() {
    let wrap = 1000 << 32;
    let (early, late) = (Time(wrap - 5_000_000), Time(wrap + 15_000_000));
    let apart = Span::from_millis(20);
    for times in [[early, late], [late, early]] {
        let mut seen = Copies::default();
        let ages = times.map(|at| seen.find(1 << 40, at, WITHIN).map(|(_, age)| age));
        assert_eq!(ages, [None, Some(apart)]);
    }
    // Too late.
    let mut seen = Copies::default();
    let ages = [early, Time(wrap + 96_000_000)].map(|at| seen.find(1 << 40, at, WITHIN).is_some());
    assert_eq!(ages, [false, false]);
}
