//! Measures of many transfers, of flows that arrive and of tables.

use ackclock_papers::{pages, run};
use serde_json::Value;

use super::{DRAWN, ONE_LOSS, error, json, library, outcome};

#[test]
fn transfers_over_drawn_paths_are_counted_together() {
    let ours = |text: &str| -> Vec<(String, f64)> {
        let rows = json(&outcome(text, false, 2))["cells"][0]["rows"].take();
        let row = |r: &Value| {
            (r["shown"].as_str().unwrap().into(), r["ours"]["mean"].as_f64().unwrap_or(f64::NAN))
        };
        rows.as_array().unwrap().iter().skip(1).map(row).collect()
    };
    // Each of 5 transfers loses its first segment of 4 without any duplicate ACK: one timeout, one
    // loss in 5 segments sent. The window is 1 before and 2 after the ACK of segment 0; the
    // delayed ACKs of 1 and 2, and of 3, leave 2.5 (1 + 1/2 segments in congestion avoidance,
    // since ssthresh is 2) and 2.9, of which whole segments count.
    let non_trigger = ours(DRAWN);
    assert_eq!(
        non_trigger[..5].iter().map(|r| r.1).collect::<Vec<_>>(),
        [100.0, 0.0, 0.0, 5.0, 20.0]
    );
    assert_eq!(non_trigger[5].1, 2.0);
    // The retransmission is lost as well: the second timeout is of the other class.
    let again = DRAWN
        .replace("loss[0].drop.segments", "loss[0].drop")
        .replace("values = [[0]]", "values = [{ segments = [0], retransmissions = [\"0:1\"] }]");
    assert_eq!(ours(&again)[..4].iter().map(|r| r.1).collect::<Vec<_>>(), [50.0, 0.0, 50.0, 10.0]);
    // Without a timeout there is no share.
    let nothing = ours(&DRAWN.replace("values = [[0]]", "values = [[9]]"));
    assert_eq!(nothing[0].0, "missing in 4 of 4 runs");
    assert_eq!((nothing[3].1, nothing[4].1), (0.0, 0.0));
}

#[test]
fn captures_show_the_same_timeouts() {
    const SHOW: &str = r#"show = [
    "captured-timeouts", "captured-non-trigger", "captured-multiple-losses",
    "captured-lost-retransmission", "captured-unknown", "captured-repeated",
    "captured-window-above-10",
]"#;
    let ours = |text: &str| -> Vec<f64> {
        let show = text.find("show").unwrap()..text.find("\n\n[[strategy]]").unwrap();
        let outcome = outcome(&text.replace(&text[show], SHOW), false, 2);
        // The figure once from the senders' events, and once from the captures.
        let page = &pages(std::slice::from_ref(&outcome))[1].1;
        assert!(page.contains("Timeouts: reno, from captures"));
        let rows = json(&outcome)["cells"][0]["rows"].take();
        let mean = |r: &Value| r["ours"]["mean"].as_f64().unwrap_or(f64::NAN);
        rows.as_array().unwrap().iter().skip(1).map(mean).collect()
    };
    // As above: one timeout of each of 5 transfers, and then two, the second one of a segment that
    // had one.
    assert_eq!(ours(DRAWN), [5.0, 100.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let again = DRAWN
        .replace("loss[0].drop.segments", "loss[0].drop")
        .replace("values = [[0]]", "values = [{ segments = [0], retransmissions = [\"0:1\"] }]");
    assert_eq!(ours(&again), [10.0, 50.0, 0.0, 50.0, 0.0, 50.0, 0.0]);
}

#[test]
fn each_transfer_has_a_path_of_its_own() {
    let half = DRAWN
        .replace("values = [[0]]", "values = [[9], [0]]")
        .replace("transfers = 5", "transfers = 100");
    let one = json(&outcome(&half, false, 1));
    assert_eq!(one, json(&outcome(&half, false, 2)));
    // 100 of 400 lost a segment give or take 10 (two standard deviations are 20), and no two runs
    // need be alike.
    let timeouts = &one["cells"][0]["rows"][4]["ours"];
    assert!((timeouts["mean"].as_f64().unwrap() - 50.0).abs() < 10.0, "{timeouts}");
    assert!(timeouts["half_width"].as_f64().unwrap() > 0.0, "{timeouts}");
}

#[test]
fn the_statistics_of_recovery_are_measures_of_all_flows_together() {
    const SHOW: &str = r#"show = [
    "count-recoveries", "count-timeouts", "retransmission-rate", "latency-lossy-mean",
]"#;
    let shown = |text: &str, rows: std::ops::Range<usize>| -> Vec<f64> {
        let all = json(&outcome(text, false, 2))["cells"][0]["rows"].take();
        all.as_array().unwrap()[rows]
            .iter()
            .map(|r| r["ours"]["mean"].as_f64().unwrap_or(f64::NAN))
            .collect()
    };
    // Each of 5 transfers of 4 segments times out on its first segment, after 1 s. Segment 0, then
    // 1 and 2, then 3 each take 8.32 ms a segment, 10 ms, and 10.32 ms back; segments 0 and 3
    // meet a delayed ACK of 200 ms.
    let show = DRAWN.find("show").unwrap()..DRAWN.find("\n\n[[strategy]]").unwrap();
    let show = &DRAWN[show];
    let drawn = shown(&DRAWN.replace(show, SHOW), 1..5);
    assert_eq!(drawn[..3], [0.0, 5.0, 20.0]);
    assert!((drawn[3] - (1000.0 + 400.0 + 4.0 * 8.32 + 3.0 * 20.32)).abs() < 0.01, "{drawn:?}");
    // A figure is not needed.
    let without = DRAWN.replace(show, SHOW).replace("chart = \"Timeouts\"\n", "");
    assert_eq!(shown(&without, 1..5), drawn);
    assert_eq!(
        run(&library(&without).unwrap().plan("all", false).unwrap(), 1).unwrap()[0].claims.len(),
        0
    );
    // Without a population: one loss, one fast retransmit, no timeout.
    let one = ONE_LOSS.split("[[step]]").next().unwrap().to_string()
        + &ONE_LOSS[ONE_LOSS.find("[scenario]").unwrap()..];
    let one = one.replace("place = \"figure 1\"\n\n", &format!("place = \"figure 1\"\n{SHOW}\n\n"));
    assert_eq!(shown(&one, 0..2), [1.0, 0.0]);
    let of_a_flow =
        DRAWN.replacen("\"share-non-trigger/reno\"", "\"count-recoveries/reno/flow0\"", 1);
    assert!(error(&of_a_flow).starts_with("papers/p/e.toml:22: row[0].measurement: there is no"));
}

/// Each transfer of 4 segments loses the second, which draws two duplicate ACKs. A segment takes 1
/// ms and 10 ms, an ACK 10 ms.
const ARRIVING: &str = r#"
title = "Two kinds of transfers in one run"
place = "section 1"
[[vary]]
name = "distance"
key = "flow[*].arrivals.poisson"
values = ["9s", "10s"]
[[strategy]]
name = "together"
of_flows = true
[[row]]
measurement = "timeouts/together"
[[row]]
measurement = "timeouts-per-transfer/together/late"
[[row]]
measurement = "timeouts-per-transfer/together/early"
[[row]]
measurement = "bandwidth/together/late"
[[row]]
measurement = "bandwidth/together/early"
[[row]]
measurement = "rtt/together"
[[chart]]
title = "c"
measure = "bandwidth"
axis = "distance"
[scenario]
duration = "90s"
tcp.mss = 1000
tcp.header = 0
tcp.ack_size = 0
tcp.count_options = false
tcp.initial_window = 4
tcp.delayed_ack = "off"
tcp.min_rto = "1s"
[[scenario.link]]
from = "a"
to = "b"
rate = "8mbit"
delay = "10ms"
loss = [{ drop = { segments = [1] } }]
[[scenario.flow]]
name = "late{}"
from = "a"
to = "b"
count = 3
strategy = "reno"
source = { segments = 4 }
arrivals = { poisson = "1s" }
[[scenario.flow]]
name = "early"
from = "a"
to = "b"
count = 3
strategy = "reno+er"
source = { segments = 4 }
arrivals = { poisson = "1s" }
"#;

#[test]
fn copies_that_arrive_are_measured_together() {
    for cell in json(&outcome(ARRIVING, false, 2))["cells"].as_array().unwrap() {
        let rows = cell["rows"].as_array().unwrap();
        let ours: Vec<f64> = rows.iter().map(|r| r["ours"]["mean"].as_f64().unwrap()).collect();
        // The first ACK comes after 21 ms. Early retransmit sends on the second duplicate at 23 ms,
        // done at 44 ms; without it the timer expires 1 s after the first ACK, done at 1042
        // ms.
        let expected = [3.0, 1.0, 0.0, 32.0 / 1.042, 32.0 / 0.044, 21.0];
        assert!(ours.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{ours:?}");
    }
    let wrong = ARRIVING.replace("flow[*]", "node[*]");
    assert!(
        error(&wrong).starts_with("papers/p/e.toml:6: vary[0].key: there is no `node[...]`"),
        "{}",
        error(&wrong)
    );
}

#[test]
fn a_table_has_a_column_for_each_strategy_and_for_the_papers_numbers() {
    const TABLE: &str = r#"
[[table]]
title = "Table 1"
rows = [
    { measure = "timeouts", label = "timeouts", paper = { reno = 7 } },
    { measure = "count-timeouts" },
]
"#;
    let second = "[[strategy]]\nname = \"other\"\ncomposition = \"newreno\"\n\n[population]";
    let notes = "notes = \"One.\\n\\nTwo.\"\nruns = 4";
    let text = DRAWN.replacen("runs = 4", notes, 1).replacen("[population]", second, 1) + TABLE;
    let ours = outcome(&text, false, 2);
    let line = |name: &str| {
        let table = ours.to_table(None);
        let line = table
            .lines()
            .skip_while(|l| *l != "Table 1")
            .find(|l| l.starts_with(name))
            .map(str::to_string);
        line.unwrap().split_whitespace().map(String::from).collect::<Vec<_>>()
    };
    // The paper has numbers of the first strategy only.
    assert_eq!(line("measured"), ["measured", "unit", "reno", "(paper)", "reno", "other"]);
    assert_eq!(line("timeouts"), ["timeouts", "7", "5", "5"]);
    assert_eq!(line("count-timeouts"), ["count-timeouts", "-", "5", "5"]);
    let page = &pages(&[ours])[1].1;
    assert!(
        page.contains(
            "2 strategies, 4 runs each (seeds 1 to 4), 5 transfers in each run; run by ackclock "
        ),
        "{page}"
    );
    assert!(page.contains("<p>One.</p>\n<p>Two.</p>"), "{page}");
    assert!(
        page.contains("<h3>Table 1</h3>")
            && page.contains("<th>reno (paper)</th><th>reno</th><th>other</th>")
    );
    for (right, wrong, expected) in [
        (
            "\"count-timeouts\"",
            "\"counts\"",
            "papers/p/e.toml:53: table[0].rows[1]: there is no measurement `counts/reno`",
        ),
        (
            "{ reno = 7 }",
            "{ rneo = 7 }",
            "papers/p/e.toml:52: table[0].rows[0].paper: there is no strategy `rneo`",
        ),
    ] {
        let error = error(&text.replacen(right, wrong, 1));
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}
