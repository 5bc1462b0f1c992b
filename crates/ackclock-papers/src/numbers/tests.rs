use super::*;

#[test]
fn figures_have_as_many_digits_as_the_interval() {
    assert_eq!(estimate(&[12.0, 14.0, 16.0]), "14.0 ± 5.0");
    // 38000 ± 4968.
    assert_eq!(estimate(&[36_000.0, 38_000.0, 40_000.0]), "38000 ± 5000");
    assert_eq!(estimate(&[4.8]), "4.800");
    assert_eq!(estimate(&[7.0]), "7");
    assert_eq!(estimate(&[1.0, f64::NAN]), "missing in 1 of 2 runs");
}

#[test]
fn a_difference_that_rounds_to_zero_has_no_sign() {
    assert_eq!([-0.04, 0.0, 0.04, -0.06, 10.0].map(signed), ["0.0", "0.0", "0.0", "-0.1", "+10.0"]);
}
