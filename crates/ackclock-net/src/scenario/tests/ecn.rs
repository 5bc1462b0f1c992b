//! Queues that mark, in simulation and in the gateway.

use std::net::SocketAddr;

use ackclock_tcp::{Codepoint, Registry, Time};

use crate::scenario::{BuildOptions, Scenario};
use crate::{FlowReport, Gateway, Headers, LinkReport, NodeId, Outcome};

const QUEUES: [&str; 4] = [
    "red = { limit = 2000, min = 5, max = 50, weight = 0.02, ecn = true }",
    "codel = { ecn = true }",
    "fq_codel = {}",
    "pie = { ecn = true }",
];

/// One flow through one link of 10 Mbit/s, which 34 segments fill. Slow start ends there: PIE drops
/// what goes far beyond it, ECN-capable or not.
fn scenario(queue: &str, strategy: &str, tcp: &str) -> Scenario {
    let text = format!(
        "duration = \"20s\"\n\
         [[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"10mbit\"\ndelay = \"20ms\"\n\
         queue = {{ {queue} }}\n\
         [[flow]]\nfrom = \"a\"\nto = \"b\"\nstrategy = \"{strategy}\"\n\
         tcp = {{ initial_ssthresh = \"40seg\", {tcp} }}\n"
    );
    Scenario::from_toml(&text, &Registry::default()).expect("a sound scenario")
}

fn run(scenario: &Scenario) -> (LinkReport, FlowReport) {
    let registry = Registry::default();
    let mut simulation =
        scenario.build(&BuildOptions::new(&registry, 1)).expect("a sound scenario");
    simulation.network.run(Time(20_000_000_000), &mut ()).expect("a run");
    let link = simulation.links.iter().find(|link| !link.back).expect("a link");
    (
        simulation.network.link_report(link.id).expect("a link"),
        simulation.network.flow_report(simulation.flows[0].id).expect("a flow"),
    )
}

/// With ECN the window is lowered as often as it has to be, and nothing is lost.
#[test]
fn marks_take_the_place_of_drops() {
    for queue in QUEUES {
        for strategy in ["reno", "newreno", "sack", "prr", "rack-tlp", "linux"] {
            for tcp in ["ecn = true", "ecn = true, handshake = true"] {
                let what = format!("{queue}, {strategy}, {tcp}");
                let (link, flow) = run(&scenario(queue, strategy, tcp));
                assert!(link.marked > 5, "{what}: {link:?}");
                assert_eq!((link.dropped_early, link.dropped_queue), (0, 0), "{what}");
                assert_eq!(flow.stats.retransmissions, 0, "{what}");
                let reductions = flow.stats.ecn_reductions;
                assert!((6..=link.marked).contains(&reductions), "{what}: {reductions}");
                assert!(flow.stats.ecn_echoes >= reductions, "{what}");
                // Without a queue, halving leaves three quarters of 1460/1500 of the rate.
                assert!(flow.goodput_bps > Some(7.3e6), "{what}: {:?}", flow.goodput_bps);
            }
        }
    }
}

#[test]
fn without_ecn_at_either_the_queue_drops() {
    for queue in QUEUES {
        let (link, flow) = run(&scenario(queue, "sack", "ecn = false"));
        assert!(link.dropped_early > 5 && link.marked == 0, "{queue}: {link:?}");
        assert_eq!(flow.stats.ecn_reductions, 0, "{queue}");
    }
    for queue in QUEUES {
        let off = match queue {
            "fq_codel = {}" => "fq_codel = { ecn = false }".to_string(),
            _ => queue.replace("ecn = true", "ecn = false"),
        };
        let (link, _) = run(&scenario(&off, "sack", "ecn = true"));
        assert!(link.dropped_early > 5 && link.marked == 0, "{queue}: {link:?}");
    }
}

/// A thousand packets at once, four times as fast as the link, ECN-capable or not: the gateway
/// marks those of the one kind that it drops of the other.
#[test]
fn the_gateway_says_which_packets_to_mark() {
    let fates = |queue: &str, codepoint| -> Vec<(bool, bool)> {
        let mut gateway =
            Gateway::new(&scenario(queue, "sack", "ecn = false"), 1).expect("a sound scenario");
        let end = |port| SocketAddr::from(([10, 0, 0, 1], port));
        let headers =
            Headers { len: 1000, from: end(1), to: end(2), protocol: 17, codepoint, tcp: None };
        let mut fates = vec![(false, false); 1000];
        for token in 0..1000 {
            assert!(gateway.enter(Time(token * 200_000), NodeId(0), NodeId(1), &headers, token));
        }
        while let Some(exit) = gateway.poll(Time(u64::MAX / 2)) {
            fates[exit.token as usize] = match exit.outcome {
                Outcome::Delivered { marked, .. } => (true, marked),
                Outcome::Dropped { .. } => (false, false),
            };
        }
        fates
    };
    for queue in QUEUES {
        let capable = fates(queue, Codepoint::Ect0);
        let marked = capable.iter().filter(|fate| fate.1).count();
        assert!(marked > 2, "{queue}: {marked}");
        let plain = fates(queue, Codepoint::NotEct);
        assert!(plain.iter().all(|fate| !fate.1), "{queue}");
        let first = |fates: &[(bool, bool)], fate| fates.iter().position(|&f| f == fate);
        assert_eq!(first(&capable, (true, true)), first(&plain, (false, false)), "{queue}");
        assert!(first(&capable, (true, true)).is_some(), "{queue}");
        // What comes with a mark keeps it.
        assert!(fates("droptail = { packets = 2000 }", Codepoint::Ce).iter().all(|fate| fate.1));
    }
}

/// RED that marks each packet that finds more than 20 waiting.
const STEP: &str =
    "red = { limit = 200, min = 20, max = 20.5, weight = 1, gentle = false, ecn = true }";

/// RFC 8257 section 3.1. Thirty packets at once: the first is in transmission, the second finds
/// none waiting, the 22nd finds 20, the 23rd finds 21.
#[test]
fn red_marks_by_a_step() {
    let mut gateway =
        Gateway::new(&scenario(STEP, "sack", "ecn = false"), 1).expect("a sound scenario");
    let end = |port| SocketAddr::from(([10, 0, 0, 1], port));
    let codepoint = Codepoint::Ect0;
    let headers =
        Headers { len: 1000, from: end(1), to: end(2), protocol: 17, codepoint, tcp: None };
    for token in 0..30 {
        assert!(gateway.enter(Time::ZERO, NodeId(0), NodeId(1), &headers, token));
    }
    let mut marks = Vec::new();
    while let Some(exit) = gateway.poll(Time(u64::MAX / 2)) {
        assert!(matches!(exit.outcome, Outcome::Delivered { .. }));
        if matches!(exit.outcome, Outcome::Delivered { marked: true, .. }) {
            marks.push(exit.token);
        }
    }
    assert_eq!(marks, (22..30).collect::<Vec<_>>());
}

/// DCTCP lowers its window more often and by less, and so carries more through the same queue. An
/// ACK echoes a mark of the segment before it, so that echoes are no more than marks. The echo of
/// RFC 3168 has all of a round trip look marked: alpha is larger, and reductions are deeper and
/// fewer.
#[test]
fn dctcp_lowers_by_the_fraction_of_marks() {
    for tcp in ["ecn = true", "ecn = true, handshake = true"] {
        let with = |strategy, echo| run(&scenario(STEP, strategy, &format!("{tcp}{echo}")));
        let (link, dctcp) = with("newreno+dctcp", ", dctcp_echo = true");
        let (_, plain) = with("newreno", "");
        let (_, echo) = with("newreno+dctcp", "");
        assert_eq!((link.dropped_early, link.dropped_queue), (0, 0), "{tcp}");
        assert_eq!(dctcp.stats.retransmissions, 0, "{tcp}");
        assert!((1..=link.marked).contains(&dctcp.stats.ecn_echoes), "{tcp}: {link:?}");
        let reductions = [&plain, &echo, &dctcp].map(|flow| flow.stats.ecn_reductions);
        assert!(reductions.is_sorted_by(|a, b| a < b), "{tcp}: {reductions:?}");
        let goodput = (dctcp.goodput_bps, plain.goodput_bps);
        assert!(goodput.0 > goodput.1, "{tcp}: {goodput:?}");
    }
}

#[test]
fn an_echo_for_dctcp_needs_ecn() {
    let text = "duration = \"1s\"\n\
                [[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"10mbit\"\ndelay = \"20ms\"\n\
                [[flow]]\nfrom = \"a\"\nto = \"b\"\nstrategy = \"newreno\"\n\
                tcp.dctcp_echo = true\n";
    let error = Scenario::from_toml(text, &Registry::default()).expect_err("no ECN").to_string();
    assert!(error.contains("flow[0].tcp.dctcp_echo: it echoes marks of ECN"), "{error}");
}
