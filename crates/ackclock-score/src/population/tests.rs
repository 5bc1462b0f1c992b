//! What is drawn.

use ackclock_net::scenario::Scenario;

#[test]
fn every_draw_is_a_scenario() {
    for seed in 0..2000 {
        let steady = (seed < 100).then(|| super::steady(seed, None));
        for text in steady.into_iter().chain([super::scenario(seed, None)]) {
            let scenario = Scenario::from_toml(&text, &ackclock_tcp::Registry::default());
            assert!(scenario.is_ok(), "{seed}: {:?}\n{text}", scenario.err());
        }
    }
}

#[test]
fn siblings_are_scenarios() {
    let registry = ackclock_tcp::Registry::default();
    for seed in 0..20 {
        let all = super::siblings(seed);
        assert_eq!(all.len() % (super::LISTS * 6), 0);
        for text in all.iter().step_by(613) {
            assert!(Scenario::from_toml(text, &registry).is_ok(), "{seed}: {text}");
        }
    }
}

/// A least timeout that is given takes the place of the one drawn, and changes nothing else.
#[test]
fn the_least_timeout_may_be_given() {
    for seed in 0..50 {
        let line = |text: &str| text.lines().find(|l| l.starts_with("min_rto")).map(str::to_owned);
        let (drawn, given) = (super::scenario(seed, None), super::scenario(seed, Some("30ms")));
        assert_eq!(line(&given).as_deref(), Some("min_rto = \"30ms\""));
        let drawn_line = line(&drawn).expect("one is drawn");
        assert_eq!(given, drawn.replace(&drawn_line, "min_rto = \"30ms\""));
    }
}
