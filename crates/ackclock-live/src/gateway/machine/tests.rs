use ackclock_tcp::Registry;

use super::*;

/// What a burst has filled does not stay.
#[test]
fn memory_of_packets_is_given_back_once_none_is_under_way() {
    let text = "duration = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"1gbit\"\n\
                delay = \"1ms\"\n";
    let scenario = Scenario::from_toml(text, &Registry::default()).unwrap();
    let mut machine = Machine::new(&scenario, 1, Vec::new(), Logs::default()).unwrap();
    let tokens = [1, 2].map(|_| machine.packets.put(&[&[0; 1500]], Time::ZERO));
    machine.packets.remove(tokens[0]);
    assert!(machine.sleep().is_some_and(|sleep| sleep.tv_sec == 0 && sleep.tv_nsec > 0));
    machine.packets.remove(tokens[1]);
    // A second later, for which it wakes up by itself.
    assert!(machine.sleep().is_some_and(|sleep| sleep.tv_sec == 0 && sleep.tv_nsec > 0));
    machine.started -= 1_000_000_000;
    assert!(machine.sleep().is_none());
    assert_eq!(machine.packets.put(&[&[0]], Time::ZERO), 0);
}

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
