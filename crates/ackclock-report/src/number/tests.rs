use super::{Written, place, to_place, with_interval, written_rate, written_seconds};
use crate::summary::Estimate;

/// Mean and half-width end at the same digit, which is the second figure of the half-width.
#[test]
fn an_interval_ends_at_one_digit() {
    let of = |mean, half_width: f64| Some(Estimate { mean, half_width: Some(half_width) });
    let count = |mean, half_width| with_interval(of(mean, half_width), |_| Written::plain(2, ""));
    assert_eq!(count(42.76183, 0.00291), "42.7618 ± 0.0029");
    assert_eq!(count(38_706.2, 3846.1), "38700 ± 3800");
    // It rounds to 0.10, whose second figure is the hundredth.
    assert_eq!(count(1.0, 0.0996), "1.00 ± 0.10");
    assert_eq!(count(-0.004, 12.7), "0 ± 13");
    assert_eq!(count(-14.0, 3800.0), "0 ± 3800");
    // Nothing varied.
    assert_eq!(count(5.0, 0.0), "5.00 ± 0.00");
    assert_eq!(count(5.0, f64::NAN), "5.00 ± NaN");
    // A rounding error of a sum.
    assert_eq!(count(0.3, 4e-17), "0.30 ± 0.00");
    let seconds = |mean, half_width| with_interval(of(mean, half_width), written_seconds);
    assert_eq!(seconds(0.507_342, 0.000_216), "0.50734 ± 0.00022s");
    assert_eq!(seconds(0.001_410_372, 3.63e-7), "0.00141037 ± 0.00000036s");
    // The half-width has the unit of the mean.
    let rate = |mean, half_width| with_interval(of(mean, half_width), |bps| written_rate(bps, 3));
    assert_eq!(rate(39.385e6, 0.96e5), "39.385 ± 0.096 Mbit/s");
    assert_eq!(rate(39.385e6, 960.0), "39.38500 ± 0.00096 Mbit/s");
    assert_eq!(rate(3000.0, 12_706.2), "3 ± 13 kbit/s");
    let alone = Some(Estimate { mean: 2.5e9, half_width: None });
    assert_eq!(with_interval(alone, |bps| written_rate(bps, 3)), "2.500 Gbit/s");
    assert_eq!(with_interval(None, written_seconds), "-");
}

#[test]
fn places_of_half_widths() {
    assert_eq!(
        [0.0996, 0.25, 1.0, 9.96, 3846.0].map(|half| place(1e5, half)),
        [2, 2, 1, 0, -2].map(Some)
    );
    assert_eq!([0.0, f64::NAN, f64::INFINITY].map(|half| place(1.0, half)), [None; 3]);
    assert_eq!(
        [-0.0004, -0.0, -0.0006].map(|value| to_place(value, 3)),
        ["0.000", "0.000", "-0.001"]
    );
}
