#[test]
fn a_line_has_the_same_decimals_in_all_columns() {
    assert_eq!(super::decimals("segments", &[11.0, 11.77]), 2);
    assert_eq!(super::decimals("segments", &[11.0, f64::NAN]), 0);
}
