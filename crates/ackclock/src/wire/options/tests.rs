use super::strategy;

#[test]
fn no_wire_tells_what_it_loses() {
    let registry = ackclock_tcp::Registry::default();
    let refused = strategy("oracle", &registry).unwrap_err().to_string();
    assert!(refused.contains("no wire does"), "{refused}");
    assert_eq!(strategy("sack+lt", &registry).unwrap().name(), "sack+lt");
}
