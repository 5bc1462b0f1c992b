use super::*;

#[test]
fn quantiles_are_values_of_the_sample() {
    let sample: Vec<f64> = (1..=1000).map(f64::from).collect();
    assert_eq!(
        [0.5, 0.9, 0.99, 0.999].map(|share| quantile(&sample, share)),
        [500.0, 900.0, 990.0, 999.0]
    );
    assert!(quantile(&[], 0.5).is_nan());
}

#[test]
fn the_median_leaves_out_what_does_not_exist() {
    assert_eq!(median(vec![f64::NAN, 3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(vec![1.0, 2.0]), Some(1.5));
    assert_eq!(median(vec![f64::NAN]), None);
}
