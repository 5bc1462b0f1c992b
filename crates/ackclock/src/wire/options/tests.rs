use super::{Prefix, strategy};

#[test]
fn the_kernel_takes_the_first_address_of_the_prefix_that_is_not_ours() {
    let kernel = |text: &str| text.parse::<Prefix>().map(|p| p.kernel().to_string());
    assert_eq!(kernel("10.77.0.2/24"), Ok("10.77.0.1".into()));
    assert_eq!(kernel("10.77.0.1/24"), Ok("10.77.0.2".into()));
    assert_eq!(kernel("10.77.3.200/16"), Ok("10.77.0.1".into()));
    assert_eq!(kernel("10.0.0.6/30"), Ok("10.0.0.5".into()));
    assert_eq!(kernel("1.2.3.4/0"), Ok("0.0.0.1".into()));
    assert_eq!(kernel("fd00::2/64"), Ok("fd00::1".into()));
}

#[test]
fn prefixes_without_room_for_two_are_refused() {
    for text in [
        "10.77.0.2/31",
        "10.77.0.2/33",
        "fd00::1/127",
        "10.77.0.2",
        "10.77.0/24",
        "x/8",
        "10.0.0.1/x",
    ] {
        assert!(text.parse::<Prefix>().is_err(), "{text}");
    }
}

#[test]
fn no_wire_tells_what_it_loses() {
    let registry = ackclock_tcp::Registry::default();
    let refused = strategy("oracle", &registry).unwrap_err().to_string();
    assert!(refused.contains("no wire does"), "{refused}");
    assert_eq!(strategy("sack+lt", &registry).unwrap().name(), "sack+lt");
}
