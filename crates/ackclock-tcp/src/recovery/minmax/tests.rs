use super::*;
use crate::dice::Dice;

/// A larger value counts at once; after ten rounds the largest since follows.
#[test]
fn ten_rounds() {
    let mut filter = MaxFilter::default();
    let mut after = |round, value| {
        filter.update(10, round, value);
        filter.get()
    };
    assert_eq!(after(1, 100), 100);
    // More than a quarter of the window later: the second best.
    assert_eq!(after(4, 80), 100);
    // More than half of it later: the third best.
    assert_eq!(after(7, 60), 100);
    assert_eq!(after(11, 50), 100);
    assert_eq!(after(12, 50), 80);
    assert_eq!(after(14, 50), 80);
    assert_eq!(after(15, 50), 60);
    assert_eq!(after(16, 90), 90);
}

/// After more than ten rounds without a value nothing of before counts.
#[test]
fn a_long_pause() {
    let mut filter = MaxFilter::default();
    filter.update(10, 1, 100);
    filter.update(10, 12, 7);
    assert_eq!(filter.get(), 7);
}

/// The same upside down: 100 and what follows it are as far below 1000.
#[test]
fn the_smallest() {
    let mut filter = MinFilter::default();
    assert_eq!(filter.get(), None);
    for (round, value, min) in [
        (1, 900, 900),
        (4, 920, 900),
        (7, 940, 900),
        (11, 950, 900),
        (12, 950, 920),
        (14, 950, 920),
        (15, 950, 940),
        (16, 910, 910),
    ] {
        filter.update(10, round, value);
        assert_eq!(filter.get(), Some(min), "{round}");
    }
}

/// A value that changes nothing is left out. All three are as if none were.
#[test]
fn values_that_change_nothing() {
    let (mut filter, mut all) = (MinFilter::default(), Best::new(u64::MAX));
    let of = |best: &Best| best.0.map(|best| (best.at, best.value));
    let (mut dice, mut left_out) = (Dice(1), 0);
    for step in 1..20_000 {
        let (at, value, before) = (7 * step, dice.below(16), of(&filter.0));
        filter.update(100, at, value);
        all.update(100, at, value, |a, b| a <= b);
        assert_eq!(of(&filter.0), of(&all), "{step}");
        left_out += u32::from(before == of(&all));
    }
    assert!(left_out > 1_000);
}
