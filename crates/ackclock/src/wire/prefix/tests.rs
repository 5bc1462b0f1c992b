use super::Prefix;

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
fn addresses_that_no_host_can_have_are_refused() {
    let why = |text: &str| text.parse::<Prefix>().unwrap_err();
    for (text, expected) in [
        ("10.77.0.0/24", "the address of the network"),
        ("10.77.0.255/24", "the broadcast address"),
        ("10.77.1.255/23", "the broadcast address"),
        ("127.0.0.2/8", "a loopback address"),
        ("::1/64", "a loopback address"),
        ("224.0.0.1/24", "no host"),
        ("255.255.255.255/24", "no host"),
        ("0.1.2.3/24", "no host"),
        ("::/64", "no host"),
        ("ff02::1/64", "no host"),
        ("fd00::/64", "the address of the network"),
    ] {
        assert!(why(text).contains(expected), "{}", why(text));
    }
    for text in ["10.77.0.255/23", "10.77.1.0/23", "fd00::ffff/112"] {
        assert!(text.parse::<Prefix>().is_ok(), "{text}");
    }
}
