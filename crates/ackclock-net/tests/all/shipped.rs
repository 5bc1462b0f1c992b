//! The scenarios that are there to be copied show what they say they show.

use ackclock_net::scenario::units::{Amount, Duration, Size};
use ackclock_net::scenario::{BuildOptions, DropTail, Queue, Scenario, Simulation};
use ackclock_net::{FlowReport, LinkReport};
use ackclock_tcp::{Registry, Span};

/// A whole run with seed 1.
fn run(name: &str, strategy: &str) -> (Simulation, Vec<FlowReport>, Vec<LinkReport>) {
    run_changed(name, strategy, |_| {})
}

/// The same, after a change of the scenario.
fn run_changed(
    name: &str,
    strategy: &str,
    change: impl Fn(&mut Scenario),
) -> (Simulation, Vec<FlowReport>, Vec<LinkReport>) {
    let path = format!("{}/../../scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let registry = Registry::default();
    let mut scenario = Scenario::with_traces(&text, &path, &registry).unwrap();
    change(&mut scenario);
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

/// No packet is lost in a handover itself, but some are after it. The link can send for 15 s at 120
/// Mbit/s, and for 14.95 s each at 80, 160 and 60 Mbit/s: 6285 Mbit.
#[test]
fn handovers_of_a_satellite_cost_what_the_beam_loses() {
    let (_, flows, links) = run("leo.toml", "sack");
    let down = links[2];
    assert_eq!(down.dropped_loss + down.dropped_queue, flows[0].drops);
    assert!(down.dropped_loss > 10 && down.departed * 1500 * 8 <= 6_285_000_000, "{down:?}");
    // Without the handovers' losses one packet in 10,000 is lost.
    let quiet = |scenario: &mut Scenario| {
        scenario.links[1].changes.retain(|change| change.loss.is_none());
    };
    let (_, _, links) = run_changed("leo.toml", "sack", quiet);
    assert!(links[2].dropped_loss * 2 < down.dropped_loss, "{:?}", links[2]);
}

/// What a blocked radio link holds comes late and whole. A window of 2 MiB fits into its queue.
#[test]
fn a_blocked_radio_link_loses_nothing() {
    let timeouts = |lorry: bool| {
        let (_, flows, links) = run_changed("5g-blockage.toml", "linux", |scenario| {
            scenario.duration = Duration(Span::from_secs(8));
            scenario.tcp.rwnd = Some(Amount::Bytes(2 << 20));
            if !lorry {
                scenario.links.iter_mut().for_each(|link| link.outages.clear());
            }
        });
        assert!(links.iter().all(|link| link.dropped_loss + link.dropped_queue == 0));
        flows[0].stats.timeouts
    };
    // 700 ms of silence are longer than the timer waits.
    assert_eq!((timeouts(false), timeouts(true) > 0), (0, true));
}

/// 40 MiB are 28,728 segments of 1460 bytes; with 40 bytes of headers each they take 2.3 s at 150
/// Mbit/s. ACKs come in bursts, and what they release meets the queue at once.
#[test]
fn frames_of_wi_fi_make_bursts() {
    let finished = |flows: &[FlowReport]| {
        flows.iter().map(|flow| flow.completed.unwrap().secs_f64()).fold(0.0, f64::max)
    };
    let (_, flows, framed) = run("wifi.toml", "linux");
    assert!(finished(&flows) > 2.29 && finished(&flows) < 3.0, "{}", finished(&flows));
    let (_, flows, single) = run_changed("wifi.toml", "linux", |scenario| {
        scenario.links[0].aggregate.as_mut().unwrap().packets = 1;
    });
    assert!(finished(&flows) > 2.29);
    // The most ACKs that met on the server's wire, which is ten times as fast as they come.
    assert!(single[3].max_queue <= 2 && framed[3].max_queue > 10, "{}", framed[3].max_queue);
}

/// 1 MiB of queue is 699 packets of 1500 bytes, and 840 ms at 10 Mbit/s: a picture of 200 KiB takes
/// several of these. With 32 KiB it takes its share of the rate.
#[test]
fn pictures_wait_behind_an_upload() {
    let pictures = |bytes: u64| {
        let queue = Queue::Droptail(DropTail::bytes(Size(bytes)));
        let (built, flows, links) = run_changed("docsis.toml", "linux", |scenario| {
            scenario.links[1].queue = Some(queue.clone());
        });
        let took = built.flows.iter().zip(&flows).skip(1);
        let took =
            took.map(|(flow, report)| report.completed.unwrap().secs_f64() - flow.start.secs_f64());
        (took.sum::<f64>() / 8.0, links[2].max_queue)
    };
    let (large, small) = (pictures(1 << 20), pictures(32 << 10));
    assert!((690..=720).contains(&large.1), "{}", large.1);
    assert!(large.0 > 2.0 * 0.84 && small.0 < large.0 / 2.0, "{large:?} {small:?}");
}

/// A flow that loses its last window waits for its timer, which no path of 40 us needs to have at
/// 200 ms. All 1.3 MB take 11 ms at the rate of the port.
#[test]
fn incast_waits_for_the_timer() {
    let last = |min_rto: u64| {
        let (_, flows, links) = run_changed("incast.toml", "sack", |scenario| {
            scenario.tcp.min_rto = Some(Duration(Span::from_millis(min_rto)));
        });
        let drops: u64 = flows.iter().map(|flow| flow.drops).sum();
        let queues: u64 = links.iter().map(|link| link.dropped_queue).sum();
        assert_eq!(drops, queues);
        assert!(drops > 300, "of 400 packets that come at once, 64 find room: {drops}");
        flows.iter().map(|flow| flow.completed.unwrap().secs_f64()).fold(0.0, f64::max)
    };
    let (coarse, fine) = (last(200), last(1));
    assert!(coarse > 0.2 && fine > 0.011 && fine < 0.1, "{coarse} {fine}");
}

/// Marks lower the windows before packets are dropped, and DCTCP lowers them by less: the two bulk
/// transfers carry more.
#[test]
fn a_port_that_marks_drops_nothing() {
    let bulk = |strategy| {
        let (_, flows, links) = run_changed("datacenter.toml", strategy, |_| {});
        assert_eq!(
            links.iter().map(|link| link.dropped_queue + link.dropped_early).sum::<u64>(),
            0
        );
        assert!(links.iter().map(|link| link.marked).sum::<u64>() > 0, "{strategy}");
        assert!(flows[2..].iter().all(|flow| flow.completed.is_some()), "{strategy}");
        flows[..2].iter().map(|flow| flow.bytes_acked).sum::<u64>()
    };
    let (newreno, dctcp) = (bulk("newreno"), bulk("newreno+dctcp"));
    assert!(dctcp > newreno, "{dctcp} {newreno}");
}

/// Through 1000 packets of drop-tail a page waits for its SYN/ACK and its windows: 600 ms each when
/// the queue is full. Each of the others keeps the line busy, and no page waits for half of that.
#[test]
fn managed_queues_are_short_and_the_line_stays_busy() {
    let run = |queue: &str| {
        let queue = format!("queue = {{ {queue} }}");
        let (built, flows, links) = run_changed("bufferbloat.toml", "linux", |scenario| {
            let link = format!(
                "duration = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"1ms\"\n\
                 rate = \"1mbit\"\n{queue}"
            );
            let link = Scenario::from_toml(&link, &Registry::default()).unwrap();
            scenario.links[1].queue = link.links[0].queue.clone();
        });
        let took = built.flows.iter().zip(&flows).skip(2);
        let took =
            took.map(|(flow, report)| report.completed.unwrap().secs_f64() - flow.start.secs_f64());
        let carried: u64 = flows.iter().map(|flow| flow.bytes_acked).sum();
        (took.sum::<f64>() / 8.0, carried as f64 * 8.0 / 30e6, links[2])
    };
    let bloated = run("droptail = { packets = 1000 }");
    for queue in ["codel = {}", "fq_codel = {}", "pie = {}"] {
        let managed = run(queue);
        assert!(managed.0 < bloated.0 / 2.0, "{queue}: {} {}", managed.0, bloated.0);
        assert!(managed.1 > 0.9 * bloated.1, "{queue}: {} {}", managed.1, bloated.1);
        assert!(managed.2.dropped_early > 0 && managed.2.dropped_queue == 0, "{queue}");
    }
}
