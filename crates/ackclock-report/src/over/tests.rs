use ackclock_tcp::Stats;

use super::*;

fn flows(completions: &[Option<f64>]) -> Vec<FlowSummary> {
    let flow = |(n, s): (u32, &Option<f64>)| FlowSummary {
        completion_s: *s,
        drops: Some(u64::from(n)),
        ..FlowSummary::of_sender("sack", 1, n, &Stats::default())
    };
    (0..).zip(completions).map(flow).collect()
}

#[test]
fn a_percentile_is_the_least_value_that_so_many_flows_do_not_exceed() {
    let completions: Vec<Option<f64>> = (1..=200).rev().map(|n| Some(f64::from(n))).collect();
    let all = flows(&completions);
    let completion = FlowMeasure::named("completion").unwrap();
    for (over, expected) in [
        ("mean", 100.5),
        ("min", 1.0),
        ("median", 100.0),
        ("p50.1", 101.0),
        ("p99", 198.0),
        ("p99.5", 199.0),
        ("p99.6", 200.0),
        ("max", 200.0),
    ] {
        let over: Over = over.parse().unwrap();
        assert_eq!(completion.over(over, &all), Some(expected), "{over}");
    }
    assert_eq!(completion.over(Over::Percentile(50.0), &[]), None);
    assert_eq!(completion.over(Over::Mean, &[]), None);
}

/// One of four never ends: nobody knows the last completion or the mean, but the third is known.
#[test]
fn an_unfinished_flow_is_the_last_one() {
    let all = flows(&[Some(3.0), None, Some(1.0), Some(2.0)]);
    let completion = FlowMeasure::named("completion").unwrap();
    let of = |over: &str| completion.over(over.parse().unwrap(), &all);
    assert_eq!([of("min"), of("median"), of("p75")], [Some(1.0), Some(2.0), Some(3.0)]);
    assert_eq!([of("p76"), of("max"), of("mean")], [None; 3]);
    let drops = FlowMeasure::named("drops").unwrap();
    assert_eq!(drops.over(Over::Mean, &all), Some(1.5));
}

/// A flow without a sample of the round trip has no part in the others' mean or median.
#[test]
fn of_other_numbers_the_flows_count_that_have_one() {
    let mut all = flows(&[None; 4]);
    for (flow, rtt) in all.iter_mut().zip([Some(0.03), None, Some(0.01), Some(0.02)]) {
        flow.mean_rtt_s = rtt;
    }
    let rtt = FlowMeasure::named("mean_rtt").unwrap();
    let of = |over: &str| rtt.over(over.parse().unwrap(), &all);
    assert_eq!(
        ["min", "median", "max", "mean"].map(of),
        [Some(0.01), Some(0.02), Some(0.03), Some(0.02)]
    );
    assert_eq!(rtt.over(Over::Mean, &all[1..2]), None);
}

#[test]
fn names_are_read_as_they_are_written() {
    for name in ["mean", "min", "median", "p50", "p0", "p99.9", "p5", "max", "p100"] {
        assert_eq!(name.parse::<Over>().unwrap().to_string(), name);
    }
    for wrong in ["p101", "p-1", "pNaN", "99", "avg", ""] {
        let error = wrong.parse::<Over>().unwrap_err();
        let expected = "is none of mean, min, median, max and percentiles such as p99";
        assert!(error.contains(expected), "{error}");
    }
}

/// The measures are the numbers of a flow, under the keys of its JSON and in their order.
#[test]
fn every_number_of_a_flow_is_a_measure() {
    let flow = &flows(&[Some(1.0)])[0];
    let json = serde_json::to_string(flow).unwrap();
    let at: Vec<usize> =
        FlowMeasure::all().map(|m| json.find(&format!("\"{}\":", m.key)).unwrap()).collect();
    assert!(at.is_sorted(), "{json}");
    let to_come: Vec<_> = FlowMeasure::all().filter(|m| m.is_to_come).map(|m| m.key).collect();
    assert_eq!(to_come, ["completion_s"]);
    assert_eq!(at.len() + ["strategy", "seed", "flow", "name"].len(), json.matches("\":").count());
}

#[test]
fn percentiles_are_values_of_the_sample() {
    let sample: Vec<u32> = (1..=1000).collect();
    let percents = [0.0, 50.0, 50.1, 90.0, 99.0, 99.9, 100.0];
    let found = percents.map(|percent| percentile(&sample, percent).unwrap());
    assert_eq!(found, [1, 500, 501, 900, 990, 999, 1000]);
    assert_eq!(percentile(&[1, 2], 50.0), Some(1));
    assert_eq!(percentile::<u32>(&[], 50.0), None);
}
