//! What is drawn.

use ackclock_net::scenario::Scenario;

#[test]
fn every_draw_is_a_scenario() {
    for seed in 0..2000 {
        let text = super::scenario(seed);
        assert!(
            Scenario::from_toml(&text, &ackclock_tcp::Registry::default()).is_ok(),
            "{seed}: {:?}\n{text}",
            Scenario::from_toml(&text, &ackclock_tcp::Registry::default()).err()
        );
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
