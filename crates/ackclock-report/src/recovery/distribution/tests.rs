use super::*;

fn of(values: &[i64]) -> Distribution {
    let mut all = Distribution::default();
    values.iter().for_each(|v| all.record(*v));
    all
}

#[test]
fn quantiles_are_values_that_occurred() {
    let d = of(&[5, -1, 3, 3]);
    let quantiles = [0.0, 0.25, 0.26, 0.5, 0.75, 0.76, 1.0].map(|q| d.quantile(q));
    assert_eq!(quantiles, [-1.0, -1.0, 3.0, 3.0, 3.0, 5.0, 5.0]);
    assert_eq!((d.mean(), d.len(), d.share(|v| v > 0)), (2.5, 4, 0.75));
    assert_eq!(d.cdf().collect::<Vec<_>>(), [(-1, 0.25), (3, 0.75), (5, 1.0)]);
}

#[test]
fn of_nothing_there_is_nothing() {
    let none = Distribution::default();
    assert!(none.is_empty());
    assert!(none.quantile(0.5).is_nan() && none.mean().is_nan() && none.share(|_| true).is_nan());
    assert_eq!(none.cdf().count(), 0);
}

#[test]
fn adding_is_counting_both() {
    let mut sum = of(&[1, 2]);
    sum.add(&of(&[2, 9]));
    assert_eq!(sum, of(&[9, 2, 1, 2]));
}

/// The mean of values near the greatest does not overflow.
#[test]
fn extremes() {
    assert_eq!(of(&[i64::MAX, i64::MAX]).mean(), i64::MAX as f64);
    assert_eq!(of(&[i64::MAX, i64::MIN]).mean(), -0.5);
}
