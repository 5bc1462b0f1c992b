use super::*;

const SCENARIO: &str = r#"
duration = "60s"
[[link]]
from = "a"
to = "b"
rate = "1mbit"
delay = "1ms"
[[flow]]
from = "a"
to = "b"
"#;

fn population(draws: &[(&str, &[&str])]) -> Population {
    let values = |values: &[&str]| values.iter().map(|v| Value::String((*v).into())).collect();
    let draw = |(key, v): &(&str, &[&str])| Draw {
        key: (*key).into(),
        values: values(v),
        weights: Vec::new(),
    };
    let draw = draws.iter().map(draw).collect();
    Population { transfers: 1, chart: None, draw }
}

fn drawn(population: &Population, seeds: std::ops::Range<u64>) -> Vec<(u64, u64)> {
    let scenario = SCENARIO.parse().unwrap();
    let ends = |path: Scenario| (path.links[0].rate.0, path.links[0].delay.0.0 / 1_000_000);
    seeds.map(|seed| ends(population.path(&scenario, &Traces::new(), seed).unwrap())).collect()
}

#[test]
fn paths_are_drawn_from_the_lists_and_depend_on_the_seed_alone() {
    let rate: (&str, &[&str]) = ("link[0].rate", &["1mbit", "1mbit", "1mbit", "2mbit"]);
    let delay: (&str, &[&str]) = ("link[0].delay", &["10ms", "20ms"]);
    let both = drawn(&population(&[rate, delay]), 0..4000);
    assert_eq!(both, drawn(&population(&[rate, delay]), 0..4000));
    let count = |path| both.iter().filter(|p| **p == path).count();
    let counts = [(1_000_000, 10), (1_000_000, 20), (2_000_000, 10), (2_000_000, 20)].map(count);
    assert_eq!(counts.iter().sum::<usize>(), 4000);
    // Three in eight are 1500 ± 31, one in eight is 500 ± 21.
    assert!(
        counts[..2].iter().all(|c| c.abs_diff(1500) < 124)
            && counts[2..].iter().all(|c| c.abs_diff(500) < 84)
    );
    // A key's draws do not depend on the other keys.
    let delays = |paths: Vec<(u64, u64)>| paths.into_iter().map(|p| p.1).collect::<Vec<_>>();
    assert_eq!(delays(both), delays(drawn(&population(&[delay]), 0..4000)));
}

#[test]
fn weights_are_the_shares_of_the_values() {
    let values = ["1mbit", "2mbit", "4mbit"].map(|v| Value::String(v.into())).to_vec();
    let draw = |weights: &[f64]| Draw {
        key: "link[0].rate".into(),
        values: values.clone(),
        weights: weights.to_vec(),
    };
    let shares = [3.0, 0.0, 1.0];
    let at = |place| draw(&shares).at(place).and_then(Value::as_str).map(str::to_string);
    assert_eq!(
        [0.0, 0.749, 0.75, 0.999].map(at),
        ["1mbit", "1mbit", "4mbit", "4mbit"].map(|v| Some(v.into()))
    );
    let check = |weights: &[f64]| {
        let population = Population { draw: vec![draw(weights)], ..population(&[]) };
        crate::check::check_population(
            &population,
            ("e.toml", &SCENARIO.parse().unwrap()),
            &Default::default(),
        )
        .map_err(|e| e.key)
    };
    assert_eq!((check(&shares), check(&[])), (Ok(Traces::new()), Ok(Traces::new())));
    for wrong in [
        &[1.0, 1.0][..],
        &[0.0, 0.0, 0.0],
        &[1.0, -1.0, 1.0],
        &[1.0, f64::NAN, 1.0],
        &[1.0, f64::INFINITY, 1.0],
    ] {
        assert_eq!(check(wrong), Err("population.draw[0].weights".into()), "{wrong:?}");
    }
}

#[test]
fn a_transfer_begins_when_those_before_it_are_over() {
    let seconds = |s: u64| ackclock_tcp::Time(s * 1_000_000_000);
    let flow = |from: u64, to: u64| FlowSummary {
        active: [from, to].map(seconds),
        ..FlowSummary::of_sender("sack", 1, 0, &ackclock_tcp::Stats::default())
    };
    let mut all = Vec::new();
    append(&mut all, vec![flow(0, 5), flow(1, 3)]);
    append(&mut all, vec![flow(1, 2)]);
    append(&mut all, vec![flow(0, 4)]);
    let active: Vec<_> = all.iter().map(|flow| flow.active).collect();
    assert_eq!(active, [(0, 5), (1, 3), (5, 6), (6, 10)].map(|(a, b)| [a, b].map(seconds)));
}
