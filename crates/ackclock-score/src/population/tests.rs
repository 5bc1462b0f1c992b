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
