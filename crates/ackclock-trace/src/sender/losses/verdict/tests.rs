use super::mean_run;

/// Nine segments that are half as long as SMSS, each lost by itself, and four in two runs.
#[test]
fn a_run_is_of_one_segment_at_least() {
    assert_eq!([mean_run(4.5, 9), mean_run(4.0, 2), mean_run(0.0, 0)], [1.0, 2.0, 1.0]);
}
