use super::*;

/// A change that is too small to be seen is followed, at the same x, by one that is not.
#[test]
fn a_step_stays_at_its_value_until_the_change_that_is_seen() {
    let points = [(0.0, 100.0), (20.0, 99.98), (20.03, 50.0), (20.04, 40.0), (30.0, 40.01)];
    let path = steps(points.into_iter().map(|(x, y)| (x, Some(y))), 40.0);
    assert_eq!(path.as_deref(), Ok("M0 100H20V50V40H40"));
}

#[test]
fn a_step_ends_where_there_is_no_value() {
    let points = [(0.0, Some(100.0)), (10.0, Some(100.01)), (20.0, None), (30.0, Some(1.0))];
    let path = steps(points.into_iter(), 40.0);
    assert_eq!(path.as_deref(), Ok("M0 100H20M30 1H40"));
}
