use super::*;

/// Times are kept in 32 bits of microseconds, which wrap every 71.6 minutes.
#[test]
fn a_copy_across_a_wrap() {
    let wrap = 1000 << 32;
    let (early, late) = (Time(wrap - 5_000_000), Time(wrap + 15_000_000));
    let apart = Span::from_millis(20);
    for times in [[early, late], [late, early]] {
        let mut seen = Copies::default();
        let ages = times.map(|at| seen.find(1 << 40, 0, at, WITHIN).map(|(_, age)| age));
        assert_eq!(ages, [None, Some(apart)]);
    }
    // Too late.
    let mut seen = Copies::default();
    let ages = [early, Time(wrap + 96_000_000)].map(|at| seen.find(1 << 40, 0, at, WITHIN).is_some());
    assert_eq!(ages, [false, false]);
}

/// Ends of connections whose packets say the same have them in the same place.
#[test]
fn no_copy_is_of_another_end() {
    let (mut seen, at) = (Copies::default(), Time(1_000_000));
    let found: Vec<bool> = (0..4).map(|of| seen.find(1 << 40, of, at, WITHIN).is_some()).collect();
    assert_eq!(found, [false; 4]);
    assert!((0..4).all(|of| seen.find(1 << 40, of, at, WITHIN).is_some()));
}

/// A place that is in two lines of memory takes as long again.
#[test]
fn a_bucket_is_in_one_line() {
    let seen = Copies::default();
    let line = |at: *const u8| at as usize / 64;
    for bucket in &seen.0 {
        let first: *const u8 = std::ptr::from_ref(bucket).cast();
        assert_eq!(line(first), line(first.wrapping_add(size_of::<Bucket>() - 1)));
    }
}
