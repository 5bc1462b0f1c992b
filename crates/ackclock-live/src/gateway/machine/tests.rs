use super::*;

#[test]
fn prefixes_hold_what_begins_as_they_do() {
    let holds = |network: &str, length, address: &str| {
        holds(network.parse().expect("an address"), length, address.parse().expect("an address"))
    };
    assert!(holds("10.1.2.3", 8, "10.9.9.9") && !holds("10.1.2.3", 16, "10.9.9.9"));
    assert!(holds("10.1.2.3", 32, "10.1.2.3") && !holds("10.1.2.3", 32, "10.1.2.2"));
    assert!(holds("10.1.2.3", 0, "1.1.1.1") && !holds("10.1.2.3", 0, "::"));
    assert!(holds("fd00::1", 64, "fd00::9:9") && !holds("fd00::1", 128, "fd00::2"));
    assert!(holds("fd00::1", 0, "::"));
}
