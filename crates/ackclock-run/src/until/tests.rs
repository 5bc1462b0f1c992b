use ackclock_net::Rng;
use ackclock_report::Estimate;

use super::*;

#[test]
fn a_precision_is_a_measure_and_a_percentage() {
    for text in ["goodput=2.5%", " goodput = 2.5 % ", "goodput_bps=2.5%"] {
        let Until { measure, share } = text.parse().unwrap();
        assert_eq!((measure.name, share), ("goodput", 0.025));
    }
    for (text, expected) in [
        ("goodput", "`goodput` is not MEASURE=PERCENT%, such as `goodput=2%`"),
        ("=2%", "`=2%` is not MEASURE=PERCENT%"),
        (
            "goodput=2",
            "`2` is not a percentage between 0% and 100%; write for example `goodput=2%`",
        ),
        ("goodput=0%", "`0%` is not a percentage"),
        ("goodput=100%", "`100%` is not a percentage"),
        ("goodput=NaN%", "`NaN%` is not a percentage"),
        ("godput=2%", "there is no measure `godput`; there are `bytes_acked`, "),
    ] {
        let error = text.parse::<Until>().unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// How many of these values, in turn and again, are enough.
fn taken(values: &[f64], share: f64) -> Option<usize> {
    let mut enough = Enough::new(&[share]);
    (1..=10_000).find(|n| enough.add(&[values[(n - 1) % values.len()]]))
}

/// Values 1 ± 0.1 in turn have the variance 0.01 n / (n - 1) for even n. So at 3 % the interval is
/// narrow enough once t(n - 1)² <= 9 (n - 1) / 100: t(44)² = 4.062 > 3.96, and t(46)² = 4.052 <=
/// 4.14 for 46 + 1 values; even numbers, 46 and 48: t(45)² = 4.057 > 4.05. So 46 are too few and 48
/// are narrow; 46 is less than four fifths of 58 (57.5), and not of 56.
#[test]
fn the_interval_has_to_be_narrow_throughout_the_last_fifth() {
    assert_eq!(taken(&[0.9, 1.1], 0.03), Some(58));
    // At 5 % it is narrow from the 20th on: the least number decides.
    assert_eq!(taken(&[0.9, 1.1], 0.05), Some(LEAST_RUNS as usize));
    assert_eq!(taken(&[3.0], 0.05), Some(LEAST_RUNS as usize));
    // Relative to zero nothing is narrow.
    assert_eq!(taken(&[0.0], 0.5), None);
    // What one run lacks, no other one brings.
    assert_eq!(taken(&[1.0, 1.0, f64::NAN], 0.5), Some(LEAST_RUNS as usize));
    assert_eq!(taken(&[-0.9, -1.1], 0.05), Some(LEAST_RUNS as usize));
}

#[test]
fn each_of_several_measures_has_to_be_known() {
    let mut enough = Enough::new(&[0.05, 0.03]);
    let values = |n: u32| if n.is_multiple_of(2) { [1.0, 0.9] } else { [1.0, 1.1] };
    assert_eq!((1..).find(|n| enough.add(&values(*n))), Some(58));
}

/// The interval of Welford's recurrence is the one that tables show.
#[test]
fn the_precision_is_that_of_the_estimate() {
    let mut rng = Rng::new(1, "estimate");
    let mut moments = Moments::default();
    let mut values = Vec::new();
    for _ in 0..60 {
        values.push(1e6 + 100.0 * rng.unit());
        moments.add(values[values.len() - 1]);
        let Estimate { mean, half_width: Some(half_width) } = Estimate::of(&values).unwrap() else {
            continue;
        };
        assert!((moments.precision() * mean - half_width).abs() < 1e-6 * half_width);
    }
}

/// Groups stop by their own values, whatever was done at a time; what is cancelled ends a group.
#[test]
fn groups_take_what_each_of_them_needs() {
    let value = |group: usize, number: u32| match (group, number % 2) {
        (0, _) => 1.0,
        (_, 0) => 0.9,
        _ => 1.1,
    };
    let mut asked = 0;
    let done = |most| {
        until_enough(
            2,
            (&[0.03], most),
            |value| vec![*value],
            |wanted| {
                asked += 1;
                Ok::<_, ()>(wanted.iter().map(|(g, number)| Some(value(*g, *number))).collect())
            },
        )
        .unwrap()
    };
    let mut done = done;
    let [one, other] = &done(1000)[..] else { panic!() };
    assert_eq!((one.runs.len(), other.runs.len()), (50, 58));
    assert_eq!((&one.short, &other.short), (&None, &None));
    let [one, other] = &done(7)[..] else { panic!() };
    assert_eq!((one.runs.len(), other.runs.len()), (7, 7));
    let (one, other) = (one.short.as_ref().unwrap(), other.short.as_ref().unwrap());
    assert!(one[0] == 0.0 && other[0] > 0.03);
    let cancelled = until_enough(
        1,
        (&[0.03], 1000),
        |value| vec![*value],
        |wanted| {
            let run = |number: u32| (number != 51).then(|| value(1, number));
            Ok::<_, ()>(wanted.iter().map(|(_, number)| run(*number)).collect())
        },
    );
    assert_eq!(cancelled.unwrap()[0].runs.len(), 51);
    assert_eq!(asked, 3);
}

/// The share of groups whose interval has the true mean in it, and the share of those whose mean is
/// as near to it as was asked for. The true mean is 1, and the half-width 2 %.
fn coverage(draw: impl Fn(&mut Rng) -> f64) -> [f64; 2] {
    const GROUPS: usize = 10_000;
    let mut rng = Rng::new(1, "coverage");
    let (mut by_interval, mut by_share) = (0, 0);
    for _ in 0..GROUPS {
        let mut enough = Enough::new(&[0.02]);
        while !enough.add(&[draw(&mut rng)]) {}
        let Moments { mean, .. } = enough.all[0];
        let half_width = enough.all[0].precision() * mean;
        by_interval += usize::from((mean - 1.0).abs() <= half_width);
        by_share += usize::from((mean - 1.0).abs() <= 0.02 * mean);
    }
    [by_interval, by_share].map(|count| count as f64 / GROUPS as f64)
}

/// Box & Muller.
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}

/// The rule keeps its promise where stopping as soon as the interval is narrow does not. The
/// standard deviations are those with which that happens after 50 to 180 runs; far beyond, all
/// rules are right.
#[test]
fn the_mean_is_as_near_as_was_asked_for() {
    for deviation in [0.05, 0.065, 0.075, 0.09, 0.12] {
        let [interval, share] = coverage(|rng| 1.0 + deviation * normal(rng));
        assert!(interval >= 0.94 && share >= 0.96, "normal {deviation}: {interval} {share}");
        let [interval, share] =
            coverage(|rng| 1.0 - deviation - deviation * (1.0 - rng.unit()).ln());
        assert!(interval >= 0.92 && share >= 0.95, "exponential {deviation}: {interval} {share}");
    }
}
