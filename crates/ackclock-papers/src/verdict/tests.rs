//! Verdicts with intervals worked out by hand: for three samples Student's t is 4.30265, so that a
//! standard deviation of 2 makes a half-width of 4.30265 * 2 / sqrt(3) = 4.9683.

use super::{Verdict, judge};
use crate::format::Claim;
use crate::measurement::{Measurement, Measurements};

fn measurements() -> Measurements {
    let samples = |values: &[f64]| Measurement::Samples(values.to_vec());
    Measurements::from([
        ("a/x".into(), samples(&[12.0, 14.0, 16.0])),
        ("b/x".into(), samples(&[10.0, 12.0, 14.0])),
        ("debt/x".into(), samples(&[-10.0, -12.0, -14.0])),
        ("zero/x".into(), samples(&[0.0, 0.0, 0.0])),
        ("rare/x".into(), samples(&[0.0, 0.0, 1.0])),
        ("gap/x".into(), samples(&[1.0, f64::NAN, 1.0])),
        ("one/x".into(), samples(&[4.8])),
        ("sent/x".into(), Measurement::Text("43, 47".into())),
    ])
}

fn claim(relation: &str) -> Claim {
    toml::from_str(&format!("says = \"s\"\nplace = \"p\"\n{relation}")).unwrap()
}

fn verdict(relation: &str) -> Verdict {
    judge(&claim(relation), &measurements()).verdict
}

#[test]
fn a_number_is_compared_with_the_interval() {
    // 14 ± 4.9683.
    for (relation, expected) in [
        ("above = 9.03", Verdict::Holds),
        ("above = 9.04", Verdict::Undecided),
        ("above = 18.96", Verdict::Undecided),
        ("above = 18.97", Verdict::DoesNotHold),
        ("below = 18.97", Verdict::Holds),
        ("below = 18.96", Verdict::Undecided),
        ("below = 9.03", Verdict::DoesNotHold),
        ("above = 7\nby = 2.03", Verdict::Holds),
        ("above = 7\nby = 2.04", Verdict::Undecided),
        ("near = 14\ntolerance = 4.97", Verdict::Holds),
        ("near = 14\ntolerance = 4.96", Verdict::Undecided),
        ("near = 30\ntolerance = 11.04", Verdict::Undecided),
        ("near = 30\ntolerance = \"30%\"", Verdict::DoesNotHold),
    ] {
        assert_eq!(verdict(&format!("measurement = \"a/x\"\n{relation}")), expected, "{relation}");
    }
}

#[test]
fn two_measurements_are_compared_run_by_run() {
    // The differences are 2, 2, 2, though the intervals of both overlap.
    assert_eq!(verdict("measurement = \"a/x\"\nabove = \"b/x\""), Verdict::Holds);
    // a - 1.1 b: 1, 0.8, 0.6, that is 0.8 ± 0.497; a - 1.15 b: 0.2 ± 0.745; a - 1.4 b: -2.8 ± 1.99.
    for (by, expected) in
        [("10%", Verdict::Holds), ("15%", Verdict::Undecided), ("40%", Verdict::DoesNotHold)]
    {
        assert_eq!(
            verdict(&format!("measurement = \"a/x\"\nabove = \"b/x\"\nby = \"{by}\"")),
            expected,
            "{by}"
        );
    }
    let shown = |by| {
        let claim = claim(&format!("measurement = \"a/x\"\nbelow = \"b/x\"\n{by}"));
        let found = judge(&claim, &measurements());
        (found.verdict, found.measured)
    };
    let against = "14.0 ± 5.0 against 12.0 ± 5.0 (+16.7 % ± 0.0 %)";
    assert_eq!(shown(""), (Verdict::DoesNotHold, against.into()));
    // Who reads that it holds has to see why.
    for (by, margin) in [("by = -2.5", "2.5"), ("by = \"-21%\"", "21 %")] {
        let expected = format!("{against}; it may be up to {margin} on the other side");
        assert_eq!(shown(by).1, expected);
    }
    assert_eq!(shown("by = -2.5").0, Verdict::Holds);
}

/// Two means that differ look different, and so does their difference.
#[test]
fn a_verdict_shows_the_figures_that_it_rests_on() {
    let of = |ours: &[f64], others: &[f64]| {
        let samples = |values: &[f64]| Measurement::Samples(values.to_vec());
        let all =
            Measurements::from([("a/x".into(), samples(ours)), ("b/x".into(), samples(others))]);
        let found = judge(&claim("measurement = \"a/x\"\nat_least = \"b/x\""), &all);
        (found.verdict, found.measured)
    };
    assert_eq!(
        of(&[276.3042], &[276.3194]),
        (Verdict::DoesNotHold, "276.30 against 276.32 (-0.01 %)".into())
    );
    assert_eq!(of(&[276.3042], &[276.3042]).1, "276.3 against 276.3 (0.0 %)");
    assert_eq!(
        of(&[12.0, 14.0, 16.0], &[12.01, 14.01, 16.01]).1,
        "14.00 ± 4.97 against 14.01 ± 4.97 (-0.07 % ± 0.00 %)"
    );
}

/// The unit of a measure stands behind its numbers: once behind two of one measure.
#[test]
fn measured_numbers_have_their_unit() {
    let samples = |values: &[f64]| Measurement::Samples(values.to_vec());
    let all = Measurements::from([
        ("goodput/x".into(), samples(&[36_000.0, 38_000.0, 40_000.0])),
        ("goodput/y".into(), samples(&[35_000.0, 38_000.0, 41_000.0])),
        ("goodput/gap".into(), samples(&[1.0, f64::NAN, 1.0])),
        ("rtt/x".into(), samples(&[250.0, 250.0, 250.0])),
        ("timeouts/x".into(), samples(&[3.0, 3.0, 3.0])),
    ]);
    let measured = |relation: &str| judge(&claim(relation), &all).measured;
    // The half-widths are 4968 and 7453.
    assert_eq!(measured("measurement = \"goodput/x\"\nabove = 1"), "38000 ± 5000 kbit/s");
    assert_eq!(measured("measurement = \"rtt/x\"\nequals = 250"), "250 ms");
    assert_eq!(measured("measurement = \"timeouts/x\"\nabove = 1"), "3");
    assert_eq!(
        measured("measurement = \"goodput/x\"\nabove = \"goodput/y\""),
        "38000 ± 5000 against 38000 ± 7500 kbit/s (0.0 % ± 6.5 %)"
    );
    assert_eq!(
        measured("measurement = \"goodput/x\"\nabove = \"rtt/x\""),
        "38000 ± 5000 kbit/s against 250 ms (+15100 % ± 2000 %)"
    );
    assert_eq!(
        measured("measurement = \"goodput/gap\"\nabove = 1"),
        "missing in 1 of 3 runs; not measured in every run"
    );
}

#[test]
fn a_share_of_a_negative_number_is_of_its_magnitude() {
    for (relation, expected) in [
        ("above = \"debt/x\"\nby = \"10%\"", Verdict::DoesNotHold),
        ("at_least = \"debt/x\"\nby = \"10%\"", Verdict::DoesNotHold),
        ("at_most = \"debt/x\"\nby = \"10%\"", Verdict::DoesNotHold),
        ("at_least = \"debt/x\"\nby = \"-50%\"", Verdict::Holds),
        ("near = \"debt/x\"\ntolerance = \"50%\"", Verdict::Holds),
        ("near = -12\ntolerance = \"50%\"", Verdict::Holds),
        ("above = -18\nby = \"5%\"", Verdict::Holds),
    ] {
        let claimed = format!("measurement = \"debt/x\"\n{relation}");
        assert_eq!(verdict(&claimed), expected, "{relation}");
    }
    // The differences are 22, 26 and 30, that is 26 ± 9.937, in percent of 12.
    let found = judge(&claim("measurement = \"a/x\"\nabove = \"debt/x\""), &measurements());
    assert_eq!(found.relative, Some(100.0 * 26.0 / 12.0));
    let shown = "14.0 ± 5.0 against -12.0 ± 5.0 (+217 % ± 83 %)";
    assert_eq!(found.measured, shown);
}

#[test]
fn equality_is_exact_in_every_run() {
    assert_eq!(verdict("measurement = \"zero/x\"\nequals = 0"), Verdict::Holds);
    assert_eq!(verdict("measurement = \"rare/x\"\nequals = 0"), Verdict::DoesNotHold);
    assert_eq!(verdict("measurement = \"sent/x\"\nequals = \"43, 47\""), Verdict::Holds);
    assert_eq!(verdict("measurement = \"sent/x\"\nequals = 43"), Verdict::DoesNotHold);
    assert_eq!(verdict("measurement = \"a/x\"\nequals = \"a/x\""), Verdict::Holds);
    assert_eq!(verdict("measurement = \"a/x\"\nequals = \"b/x\""), Verdict::DoesNotHold);
    assert_eq!(verdict("measurement = \"gap/x\"\nequals = \"gap/x\""), Verdict::Undecided);
}

#[test]
fn a_single_run_is_judged_exactly() {
    assert_eq!(verdict("measurement = \"one/x\"\nabove = 4.8"), Verdict::DoesNotHold);
    assert_eq!(verdict("measurement = \"one/x\"\nat_least = 4.8"), Verdict::Holds);
    assert_eq!(verdict("measurement = \"one/x\"\nbelow = 4.8"), Verdict::DoesNotHold);
    assert_eq!(verdict("measurement = \"one/x\"\nat_most = 4.8"), Verdict::Holds);
    assert_eq!(verdict("measurement = \"one/x\"\nnear = 5\ntolerance = \"4%\""), Verdict::Holds);
    assert_eq!(
        verdict("measurement = \"one/x\"\nnear = 5\ntolerance = \"3%\""),
        Verdict::DoesNotHold
    );
}

#[test]
fn what_was_not_measured_decides_nothing_and_a_step_that_never_came_fails() {
    assert_eq!(verdict("measurement = \"gap/x\"\nabove = 0"), Verdict::Undecided);
    assert_eq!(verdict("measurement = \"sent/x\"\nabove = 0"), Verdict::DoesNotHold);
}

#[test]
fn a_difference_is_in_percent_of_the_other_measurement() {
    assert_eq!(
        judge(&claim("measurement = \"a/x\"\nabove = \"b/x\""), &measurements()).relative,
        Some(100.0 / 6.0)
    );
    assert_eq!(judge(&claim("measurement = \"a/x\"\nabove = 3"), &measurements()).relative, None);
}

/// Of 100 runs 97 have none: Wilson's interval is 0.9155 to 0.9897, to the tenth power 0.414 to
/// 0.902. Of 100 runs 80: 0.7112 to 0.8666, 0.033 to 0.239. Of 100 runs 60: 0.5020 to 0.6906, 0.001
/// to 0.025.
#[test]
fn what_all_of_a_few_runs_showed_is_judged_by_its_probability() {
    let judged = |zeros: usize| {
        let samples = (0..100).map(|i| if i < zeros { 0.0 } else { 1.0 }).collect();
        let measured = Measurements::from([("t/x".into(), Measurement::Samples(samples))]);
        judge(&claim("measurement = \"t/x\"\nequals = 0\nin_runs = 10"), &measured)
    };
    assert_eq!(judged(97).verdict, Verdict::Holds);
    let shown = "97 of 100 runs; 10 such runs have a probability of 74 %";
    assert!(judged(97).measured.ends_with(shown), "{}", judged(97).measured);
    assert_eq!(judged(80).verdict, Verdict::Undecided);
    assert_eq!(judged(60).verdict, Verdict::DoesNotHold);
}
