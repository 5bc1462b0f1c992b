use super::*;

#[test]
fn cells_follow_each_other() {
    for ns in [0, 1, 15, 16, 17, 31, 32, 33, 1_000, 65_535, 65_536, 50_000_000, u64::MAX >> 1] {
        let cell = cell(ns);
        assert!(start(cell) <= ns && ns < start(cell + 1), "{ns}: cell {cell}");
    }
    assert_eq!((cell(31), cell(32), cell(33), cell(34)), (31, 32, 32, 33));
}

#[test]
fn quantiles() {
    let mut trips = Trips::default();
    for ms in [50, 40, 60, 50, 50, 400] {
        trips.add(Span::from_millis(ms));
    }
    // 50 ms lie between 48.2 and 50.3, 400 ms between 385.9 and 402.7, 40 ms between 39.8 and
    // 41.9.
    let ms = |percent| trips.percentile(percent).0 / 1_000_000;
    assert_eq!((ms(50), ms(99), ms(0)), (49, 394, 40));
}
