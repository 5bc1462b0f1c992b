use super::Calibration;

/// Four verdicts of 0.9, of which three are right, and one of 1, which is.
#[test]
fn verdicts_are_counted_by_probability() {
    let mut calibration = Calibration::default();
    for right in [true, true, true, false] {
        calibration.add(0.9, right);
    }
    calibration.add(1.0, true);
    let json = calibration.json();
    assert_eq!((&json[5]["verdicts"], &json[5]["right"]), (&4.into(), &3.into()));
    assert_eq!(json[5]["stated"], 0.9);
    assert_eq!((&json[7]["verdicts"], &json[7]["right"]), (&1.into(), &1.into()));
    // |3.6 - 3| + 0 over five.
    assert_eq!(format!("{:.3}", calibration.error()), "12.000");
    let mut twice = calibration.clone();
    twice.merge(&calibration);
    assert_eq!(twice.verdicts(), 10);
    assert_eq!(twice.json()[5]["right"], 6);
}
