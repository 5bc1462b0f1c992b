//! The scenarios that are there to be copied show what they say they show.

use ackclock_net::scenario::{BuildOptions, Scenario, Simulation};
use ackclock_net::{FlowReport, LinkReport};
use ackclock_tcp::Registry;

/// A whole run with seed 1.
fn run(name: &str, strategy: &str) -> (Simulation, Vec<FlowReport>, Vec<LinkReport>) {
    let path = format!("{}/../../scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
    let scenario =
        Scenario::from_toml(&std::fs::read_to_string(path).unwrap(), &Registry::default()).unwrap();
    let registry = Registry::default();
    let options = BuildOptions::new(&registry, 1).strategy(strategy);
    let mut built = scenario.build(&options).unwrap();
    built.run(&mut ()).unwrap();
    let flows =
        built.flows.iter().map(|flow| built.network.flow_report(flow.id).unwrap()).collect();
    let links =
        built.links.iter().map(|link| built.network.link_report(link.id).unwrap()).collect();
    (built, flows, links)
}

/// Nothing is lost but what the policer drops, and of that there is plenty.
#[test]
fn a_policer_drops_what_a_queue_would_have_held() {
    for strategy in ["newreno", "sack", "prr", "rack-tlp"] {
        let (_, flows, links) = run("policer.toml", strategy);
        assert_eq!(flows[0].bytes_acked, 2 << 20, "{strategy}");
        let policed = links[2];
        assert_eq!(
            (policed.dropped_queue, policed.dropped_loss),
            (0, flows[0].drops),
            "{strategy}"
        );
        assert!(policed.dropped_loss > 50, "{strategy}: {}", policed.dropped_loss);
        // Tokens for 100 KiB at first and for 2 Mb/s from then on, less what is left in the end.
        let passed = (policed.departed * 1500) as f64;
        let seconds = flows[0].completed.unwrap().secs_f64();
        assert!(passed < 102_400.0 + 250_000.0 * seconds, "{strategy}");
    }
}

/// What F-RTO undoes would have been a spurious slow start; the transfer is complete either way.
#[test]
fn a_mobile_path_brings_about_spurious_retransmissions() {
    let [sack, f_rto] = ["sack", "sack+f-rto"].map(|strategy| run("mobile.toml", strategy).1[0]);
    assert_eq!((sack.bytes_acked, f_rto.bytes_acked), (2_300_000, 2_300_000));
    assert!(
        sack.stats.timeouts > 0 && sack.spurious_retransmissions > f_rto.spurious_retransmissions
    );
}

/// Every connection ends, none before its start, and all losses are the queue's.
#[test]
fn all_web_users_get_their_pages() {
    let (built, flows, links) = run("web.toml", "sack");
    assert_eq!(flows.len(), 3 * 820);
    for (flow, report) in built.flows.iter().zip(&flows) {
        assert!(report.completed.unwrap() > flow.start && report.bytes_acked > 0, "{}", flow.name);
    }
    let lost: u64 = links.iter().map(|link| link.dropped_loss + link.dropped_early).sum();
    let drops: u64 = flows.iter().map(|flow| flow.drops).sum();
    assert_eq!((lost, drops), (0, links[2].dropped_queue));
    assert!(drops > 100, "{drops}");
}
