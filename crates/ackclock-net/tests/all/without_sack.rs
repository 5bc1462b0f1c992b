//! A peer without SACK and one loss, with and without a handshake: what detects by SACK repairs it
//! as soon as NewReno does, with the same regulation.

use ackclock_net::scenario::{BuildOptions, Scenario};
use ackclock_tcp::{Registry, Time};

const SCENARIO: &str = r#"
    duration = "60s"
    [[link]]
    from = "sender"
    to = "receiver"
    rate = "8mbit"
    delay = "50ms"
    loss = [{ drop = { segments = [14] } }]
    [[flow]]
    from = "sender"
    to = "receiver"
    source = { segments = 100 }
    tcp = { sack = false, handshake = HANDSHAKE }
"#;

/// When the transfer completes, and what was retransmitted.
fn transfer(strategy: &str, handshake: bool) -> (Option<Time>, u64, u64) {
    let registry = Registry::default();
    let text = SCENARIO.replace("HANDSHAKE", &handshake.to_string());
    let scenario = Scenario::from_toml(&text, &registry).expect("a scenario");
    let mut run =
        scenario.build(&BuildOptions::new(&registry, 1).strategy(strategy)).expect("a network");
    run.run(&mut ()).expect("a run");
    let report = run.network.flow_report(run.flows[0].id).expect("the flow");
    (report.completed, report.stats.retransmissions, report.stats.timeouts)
}

#[test]
fn one_loss() {
    for handshake in [false, true] {
        for (strategy, as_soon_as) in [
            ("sack", "newreno"),
            ("rfc3517", "newreno"),
            ("fack", "newreno"),
            ("sack+er-2+tlp+dsack-undo", "newreno"),
            ("sack+lt", "newreno+lt"),
            ("prr", "newreno+prr"),
            ("rack-tlp", "newreno+prr-ssrb"),
            ("rate-halving", "newreno+rate-halving"),
        ] {
            let repaired = transfer(strategy, handshake);
            assert_eq!(repaired, transfer(as_soon_as, handshake), "{strategy}");
            assert_eq!((repaired.1, repaired.2), (1, 0), "{strategy}");
        }
    }
}
