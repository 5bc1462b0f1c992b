use ackclock_tcp::Stats;

use super::*;

#[test]
fn the_median_leaves_out_what_does_not_exist() {
    assert_eq!(median(vec![f64::NAN, 3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(vec![1.0, 2.0]), Some(1.5));
    assert_eq!(median(vec![f64::NAN]), None);
}

/// Ratios seed by seed: 0.9 and 1.1 of the goodput, 2 and 4 of the queue.
#[test]
fn ratios_and_their_intervals() {
    let run = |seed, goodput_bps, queue_ms| Measured {
        seed,
        goodput_bps,
        queue_ms,
        ..Measured::default()
    };
    let own = [run(1, 90.0, 2.0), run(2, 110.0, 8.0), run(3, 1.0, 1.0)];
    let other = [run(2, 100.0, 2.0), run(1, 100.0, 1.0)];
    let all = measures(&own, &other, &[]);
    let near = |measure, value: f64| {
        let is = all[&measure];
        assert!((is - value).abs() < 1e-5 * value, "{measure:?}: {is}");
    };
    near(Measure::Queue, 2.0);
    near(Measure::GoodputRatio, 1.0);
    near(Measure::QueueRatio, 3.0);
    // Of two values 0.2 and 2 apart, Student's t for one degree of freedom being 12.7062.
    near(Measure::GoodputInterval, 1.270_62);
    near(Measure::QueueInterval, 12.706_2);
    // A single pair has none.
    let all = measures(&own[..1], &other, &[]);
    assert_eq!(all.get(&Measure::QueueInterval), None);
}

/// Seed by seed, whatever their order is: 10 % above and 10 % below. Student's t for one degree of
/// freedom is 12.7062.
#[test]
fn wire_and_simulation_are_compared_seed_by_seed() {
    let run = |seed, goodput_bps| Measured { seed, goodput_bps, ..Measured::default() };
    let simulated = |seed, goodput_bps| FlowSummary {
        goodput_bps: Some(goodput_bps),
        ..FlowSummary::of_sender("", seed, 0, &Stats::default())
    };
    let simulations = [simulated(2, 200.0), simulated(1, 100.0), simulated(3, 1.0)];
    let all = measures(&[run(1, 110.0), run(2, 180.0)], &[], &simulations);
    assert!(all[&Measure::Difference].abs() < 1e-9);
    assert!((all[&Measure::DifferenceInterval] - 127.062).abs() < 1e-3);
    // A single run: 107 against the mean of 100.
    let simulations = [simulated(1, 110.0), simulated(2, 90.0)];
    let all = measures(&[run(1, 107.0)], &[], &simulations);
    assert!((all[&Measure::Difference] - 7.0).abs() < 1e-9);
    assert_eq!(all.get(&Measure::DifferenceInterval), None);
}
