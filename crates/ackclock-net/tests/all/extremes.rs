//! Every scenario that is accepted runs: no value within its range makes the network panic, and
//! nothing is acknowledged that was not sent.

use ackclock_net::scenario::{BuildOptions, Scenario};
use ackclock_tcp::Registry;

const BASE: &str = "
duration = \"3s\"
[[link]]
from = \"a\"
to = \"b\"
rate = \"2mbit\"
delay = \"10ms\"
LINK
[[flow]]
from = \"a\"
to = \"b\"
strategy = \"STRATEGY\"
FLOW
";

const LINKS: &[&str] = &[
    "",
    r#"jitter = "18446744073709551615ns""#,
    r#"reorder = { p = 1, delay = "18446744073709551615ns" }"#,
    "jitter = \"30ms\"\nreorder = { p = \"50%\", delay = \"1ns\" }\nduplicate = 1",
    "duplicate = \"50%\"\nloss = [{ bernoulli = { p = \"30%\", direction = \"both\" } }]",
    r#"loss = [{ bernoulli = { p = 1, direction = "ack" } }]"#,
    r#"loss = [{ drop = { segments = [9223372036854775807], retransmissions = ["18446744073709551615:4294967295"] } }]"#,
    "loss = [{ gilbert_elliott = { p = 1, r = 1, loss_good = 1, loss_bad = 0 } }]",
    r#"loss = [{ three_state = { second_at = "1s", second_for = "18446744073709551615ns", second_loss = 1, third_for = "18446744073709551615ns", third_loss = 1 } }]"#,
    r#"loss = [{ policer = { rate = "1bit", burst = 1 } }]"#,
    r#"loss = [{ policer = { rate = "18446744073709551615bit", burst = 4294967295, direction = "both" } }]"#,
    r#"loss = [{ policer = { rate = "1bit", burst = 4294967295 } }]"#,
    r#"spikes = [{ at = "1s", for = "18446744073709551615ns", delay = "18446744073709551615ns" }]"#,
    "jitter = \"1ms\"\nspikes = [{ at = 0, for = \"1ns\", delay = \"1ns\" }, { at = 0, for = \
     \"1s\", delay = \"9s\" }]",
    "queue = { droptail = { packets = 1 } }",
    "queue = { droptail = { packets = 4294967295 } }",
    "queue = { droptail = { bytes = 1 } }",
    "queue = { droptail = { bytes = 9223372036854775807 } }",
    "queue = { red = { limit = 1, min = 0, max = 1e-300, weight = 1, max_p = 0 } }",
    "queue = { red = { limit = 4294967295, min = 0, max = 1e308, weight = 1e-300, max_p = 1, \
     gentle = false, wait = false, queue_in_bytes = true, byte_mode = true, mean_packet_size = \
     4294967295 } }",
    "queue = { red = { limit = 20, min = 1, max = 2, queue_in_bytes = true, byte_mode = true, \
     mean_packet_size = 1 } }",
];

const FLOWS: &[&str] = &[
    "",
    "tcp = { mss = 1, rwnd = 1, initial_ssthresh = 1, max_cwnd = 1 }",
    "tcp = { mss = 65495, rwnd = 1 }",
    r#"tcp = { mss = 65483, rwnd = "1gb", window_scale = 0, timestamps = true }"#,
    r#"tcp = { rwnd = "4294967295seg", window_scale = 14, initial_ssthresh = "4294967295seg", max_cwnd = "4294967295seg" }"#,
    "tcp = { min_rto = 0, max_rto = \"1s\" }",
    r#"tcp = { min_rto = "18446744073709551615ns", max_rto = "18446744073709551615ns" }"#,
    r#"tcp = { min_rto = "1ms", max_rto = "18446744073709551615ns", timer = "linux" }"#,
    r#"tcp = { timer = "bsd", delayed_ack = "0", nagle = true, max_burst = 1 }"#,
    r#"tcp = { isn = 4294967295, timestamps = true, sack = true, dsack = true, delayed_ack = "500ms", idle_restart = false }"#,
    "tcp = { isn = 4294000000, header = 0, ack_size = 0, sack = true, dsack = false, count_options \
     = false }",
    "tcp = { header = 1000, ack_size = 1000 }",
    "source = { bytes = 9223372036854775807 }",
    "source = { segments = 4294967295 }\ntcp = { mss = 65495 }",
    "source = { bytes = 1 }\nstart = \"18446744073709551615ns\"",
    "start = \"1s\"\nstart_step = \"18446744073709551615ns\"\nstart_spread = \
     \"18446744073709551615ns\"\ncount = 3",
    r#"stop = "1ns""#,
    r#"tcp = { ack_every = 1000, delayed_ack = "500ms", rwnd = "2seg" }"#,
    r#"source = { web = { responses = 1000000, size = { fixed = 1 }, think = 0 } }"#,
    r#"source = { web = { responses = 2, exactly = true, size = { fixed = 1 }, think = "18446744073709551615ns" } }"#,
    r#"source = { web = { responses = 1, size = { lognormal = { mean = "1gb", sigma = 10 } }, think = 0 } }"#,
    r#"source = { web = { responses = 9, size = { pareto = { mean = 9223372036854775807, shape = 1.1 } }, think = 0 } }"#,
    r#"source = { on_off = { on = 0, off = "1s", rate = "1bit", exponential = true } }"#,
    r#"source = { on_off = { on = "1s", off = 0, rate = "1mbit", write = 100 } }"#,
    r#"source = { on_off = { on = "18446744073709551615ns", off = "1ns", rate = "1mbit", exponential = true } }"#,
    r#"source = { writes = [{ at = 0, amount = 1 }, { at = 0, amount = 9223372036854775807 }, { at = "1s", amount = 9223372036854775807 }] }"#,
];

const STRATEGIES: &[&str] = &["tahoe", "reno", "newreno+lt", "sack+lt", "oracle", "oracle-drop"];

fn run(text: &str, seed: u64) {
    let scenario =
        Scenario::from_toml(text, &Registry::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut built = scenario.build(&BuildOptions::new(&Registry::default(), seed)).unwrap();
    built.run(&mut ()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for flow in &built.flows {
        let report = built.network.flow_report(flow.id).unwrap();
        assert!(report.bytes_acked <= report.stats.bytes_sent, "{text}");
    }
}

fn text(link: &str, flow: &str, strategy: &str) -> String {
    BASE.replace("LINK", link).replace("FLOW", flow).replace("STRATEGY", strategy)
}

#[test]
fn extreme_links() {
    let two = "count = 2\ntcp = { sack = true, timestamps = true, isn = 4294960000 }";
    for link in LINKS {
        for strategy in STRATEGIES {
            run(&text(link, "", strategy), 1);
            run(&text(link, two, strategy), u64::MAX);
        }
    }
}

#[test]
fn extreme_flows() {
    let lossy = "queue = { droptail = { packets = 5 } }\nloss = [{ bernoulli = { p = \"5%\" } }]";
    for flow in FLOWS {
        for strategy in STRATEGIES {
            run(&text("", flow, strategy), 1);
            run(&text(lossy, flow, strategy), 2);
        }
    }
}

#[test]
fn extreme_rates_delays_and_durations() {
    // The fastest link with an open window would send without end.
    let text = text("", "tcp = { rwnd = \"10seg\" }", "sack");
    let endless = "18446744073709551615ns";
    let fastest = "18446744073709551615bit";
    for (from, to) in [("10ms", endless), ("2mbit", "1bit"), ("2mbit", fastest), ("3s", "1ns")] {
        run(&text.replace(from, to), 1);
    }
    run(&text.replace("3s", endless).replace("tcp =", "source = { segments = 10 }\ntcp ="), 1);
}
