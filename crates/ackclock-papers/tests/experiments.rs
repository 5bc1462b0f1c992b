//! Experiments from their text to their results.

use ackclock_papers::{Library, Outcome, Plan, pages, run, summary};
use serde_json::Value;

const PAPER: &str = "title = \"T\"\nauthors = [\"A\"]\npublished = \"1998\"\n";

/// One connection over 0.8 Mb/s and 100 ms that loses segment 14.
const ONE_LOSS: &str = r#"
title = "One loss"
place = "figure 1"

[[strategy]]
name = "ours"
composition = "newreno"

[[step]]
name = "third"
when = { dupack = { of = 14, count = 3 } }

[[step]]
name = "again"
when = { sent = { segment = 14, transmission = 2 } }

[[step]]
name = "repaired"
when = { acked = 14 }

[[step]]
name = "timeout"
when = "timeout"

[[row]]
measurement = "third/ours/time"
unit = "s"
paper = 1.5

[[claim]]
says = "the third duplicate draws 14"
place = "figure 1"
measurement = "third/ours/causes"
equals = "14 fast_retransmit"

[[claim]]
says = "there is a timeout"
place = "figure 1"
measurement = "timeouts/ours"
above = 0
why = "NewReno repairs one loss"

[scenario]
duration = "60s"

[scenario.tcp]
mss = 1000
initial_window = 1
delayed_ack = "off"

[[scenario.link]]
from = "a"
to = "b"
rate = "0.8mbit"
delay = "100ms"
loss = [{ drop = { segments = [14] } }]

[[scenario.flow]]
from = "a"
to = "b"
source = { segments = 40 }
"#;

/// Two flows with random losses.
const LOSSY: &str = r#"
title = "Losses"
place = "table 1"
runs = 8
quick_runs = 3
show = ["goodput", "timeouts"]
scenario_file = "lossy.toml"
set = { "link[0].rate" = "1mbit" }

[[strategy]]
name = "reno"

[[strategy]]
name = "sack"

[[vary]]
name = "loss"
key = "link[0].loss[0].bernoulli.p"
values = ["0%", "3%"]

[[vary]]
name = "delay"
key = "link[0].delay"
values = ["10ms", "50ms"]
labels = ["near", "far"]
quick = ["far"]

[[chart]]
title = "Goodput & loss"
measure = "goodput"
axis = "loss"

[[chart]]
title = "Timeouts"
measure = "timeouts"
where = { loss = "3%" }

[[chart]]
title = "Far"
measure = "goodput"
axis = "loss"
where = { delay = "far" }

[[claim]]
says = "nothing is lost"
place = "table 1"
measurement = "losses/sack"
equals = 0

[[claim]]
says = "nothing is lost without losses"
place = "table 1"
measurement = "losses/reno/flow1"
equals = 0
where = { loss = "0%" }

[[claim]]
says = "without losses both are the same"
place = "table 1"
measurement = "goodput/sack"
at_least = "goodput/reno"
where = { loss = "0%" }
"#;

const LOSSY_SCENARIO: &str = r#"
duration = "3s"
[[link]]
from = "a"
to = "b"
rate = "2mbit"
delay = "1ms"
loss = [{ bernoulli = { p = "1%" } }]
[[flow]]
from = "a"
to = "b"
count = 2
start_spread = "100ms"
"#;

/// Transfers of segments 0 to 3 over paths that lose segment 0, or another.
const DRAWN: &str = r#"
title = "Drawn paths"
place = "figure 1"
runs = 4
show = ["share-non-trigger", "share-multiple-losses", "share-lost-retransmission", "timeouts", "loss-rate", "mean-window"]

[[strategy]]
name = "reno"

[population]
transfers = 5
chart = "Timeouts"

[[population.draw]]
key = "link[0].loss[0].drop.segments"
values = [[0]]

[[row]]
measurement = "share-non-trigger/reno"
paper = 85

[scenario]
duration = "60s"

[scenario.tcp]
mss = 1000
initial_window = 1

[[scenario.link]]
from = "a"
to = "b"
rate = "1mbit"
delay = "10ms"
loss = [{ drop = { segments = [9] } }]

[[scenario.flow]]
from = "a"
to = "b"
source = { segments = 4 }
"#;

fn library(experiment: &str) -> Result<Library, String> {
    let files = [("p/paper.toml", PAPER), ("p/e.toml", experiment), ("p/scenarios/lossy.toml", LOSSY_SCENARIO)];
    Library::from_files(files.map(|(path, text)| (path.into(), text.into())).to_vec()).map_err(|e| e.to_string())
}

fn outcome(experiment: &str, quick: bool, threads: u16) -> Outcome {
    let library = library(experiment).unwrap();
    run(&Plan::of(&library, "p/e", quick).unwrap(), threads).unwrap().remove(0)
}

fn json(outcome: &Outcome) -> Value {
    serde_json::to_value(outcome).unwrap()
}

fn error(experiment: &str) -> String {
    library(experiment).and_then(|l| Plan::of(&l, "all", false).map(drop).map_err(|e| e.to_string())).unwrap_err()
}

#[test]
fn the_experiments_of_this_project_make_sense() {
    let library = Library::embedded().unwrap();
    let experiments = library.list().count();
    for quick in [false, true] {
        assert_eq!(Plan::of(&library, "all", quick).unwrap().len(), experiments);
    }
    assert!(library.list().all(|(_, paper, _)| paper.is_some()));
}

#[test]
fn steps_are_exact() {
    // Slow start from 1 has acknowledged 14 segments: cwnd is 15, and segments 14 to 28 are outstanding. Half of that is
    // ssthresh, and cwnd is three more (RFC 5681 section 3.2).
    let outcome = json(&outcome(ONE_LOSS, false, 1));
    let steps = outcome["cells"][0]["sequences"][0]["steps"].as_array().unwrap();
    let third = steps.iter().find(|s| s["dupacks"] == 3).unwrap();
    assert_eq!((&third["event"], &third["segment"]), (&"ack".into(), &14.0.into()));
    assert_eq!((&third["cwnd"], &third["ssthresh"], &third["flight"]), (&10.5.into(), &7.5.into(), &15.0.into()));
    assert_eq!(third["sent"], serde_json::json!([[14.0, "fast_retransmit", 2]]));
    // The first step is the application's.
    assert_eq!((&steps[0]["event"], &steps[0]["sent"]), (&"other".into(), &serde_json::json!([[0.0, "new", 1]])));
    let sent: usize = steps.iter().map(|s| s["sent"].as_array().unwrap().len()).sum();
    assert_eq!(sent, 41);
}

#[test]
fn steps_can_be_named_in_every_way() {
    let claims = [
        ("third/ours/sent", "\"14\"", "holds"),
        ("third/ours/cwnd", "10.5", "holds"),
        ("third/ours/cwnd", "10", "does not hold"),
        ("again/ours/dupacks", "3", "holds"),
        ("again/ours/ssthresh", "7.5", "holds"),
        // On leaving recovery, cwnd is ssthresh or, here less, what is in flight and one more (RFC 6582 section 3.2).
        ("repaired/ours/dupacks", "0", "holds"),
        ("timeout/ours/time", "\"never\"", "holds"),
        ("timeout/ours/time", "1", "does not hold"),
        ("timeouts/ours", "0", "holds"),
        ("retransmissions/ours/flow0", "1", "holds"),
    ];
    let mut text = ONE_LOSS.to_string();
    for (measurement, value, _) in claims {
        text +=
            &format!("\n[[claim]]\nsays = \"-\"\nplace = \"-\"\nmeasurement = \"{measurement}\"\nequals = {value}\n");
    }
    let verdicts: Vec<String> = outcome(&text, false, 1).claims.iter().map(|c| c.verdict()).collect();
    assert_eq!(verdicts[2..], claims.map(|c| c.2));
}

#[test]
fn a_step_can_be_the_second_of_its_kind() {
    let mut text = ONE_LOSS.replace("segments = [14]", "segments = [14], retransmissions = [\"14:1\", \"14:2\"]");
    for (name, nth) in [("second", 2), ("third-timeout", 3)] {
        text += &format!("[[step]]\nname = \"{name}\"\nwhen = \"timeout\"\nnth = {nth}\n");
    }
    let claim = |relation: &str| format!("[[claim]]\nsays = \"-\"\nplace = \"-\"\n{relation}\n");
    // The second waits twice as long as the first: 2 s after an RTO of 1 s (RFC 6298 section 5.5).
    text += &claim("measurement = \"second/ours/time\"\nabove = \"timeout/ours/time\"\nby = 1.9");
    text += &claim("measurement = \"third-timeout/ours/time\"\nequals = \"never\"");
    let verdicts: Vec<String> = outcome(&text, false, 1).claims.iter().map(|c| c.verdict()).collect();
    assert_eq!(verdicts[2..], ["holds", "holds"]);
}

#[test]
fn the_time_of_a_step_can_count_from_another() {
    let mut text = ONE_LOSS.replace("when = { acked = 14 }", "when = { acked = 14 }\nsince = \"third\"");
    text += "[[step]]\nname = \"never\"\nwhen = { acked = 14 }\nsince = \"timeout\"\n";
    for step in ["repaired", "never"] {
        text += &format!("[[row]]\nmeasurement = \"{step}/ours/time\"\n");
    }
    let outcome = json(&outcome(&text, false, 1));
    let cell = &outcome["cells"][0];
    let steps = cell["sequences"][0]["steps"].as_array().unwrap();
    let time = |step: Option<&Value>| step.unwrap()["time"].as_f64().unwrap();
    let third = time(steps.iter().find(|s| s["dupacks"] == 3));
    let repaired = time(steps.iter().find(|s| s["segment"].as_f64().unwrap() > 14.0));
    assert_eq!(cell["rows"][1]["ours"]["mean"], repaired - third);
    assert_eq!(cell["rows"][2]["shown"], "never");
    let error = error(&ONE_LOSS.replace("when = \"timeout\"", "when = \"timeout\"\nsince = \"first\""));
    assert_eq!(error, "papers/p/e.toml: step[3].since: there is no step `first`");
}

#[test]
fn a_claim_that_does_not_hold_is_shown_so() {
    let outcome = outcome(ONE_LOSS, false, 1);
    let table = outcome.to_table();
    assert!(
        table.contains("\nholds: the third duplicate draws 14 (figure 1)\n    measured: 14 fast_retransmit\n"),
        "{table}"
    );
    let failed = "\ndoes not hold: there is a timeout (figure 1)\n    measured: 0\n    why: NewReno repairs one loss\n";
    assert!(table.contains(failed), "{table}");
    assert!(table.starts_with("p/e: One loss (figure 1; 1 run)\n"), "{table}");
    let claim = &json(&outcome)["claims"][1];
    assert_eq!((&claim["holds"], &claim["does_not_hold"], &claim["undecided"]), (&0.into(), &1.into(), &0.into()));
    assert_eq!(claim["cells"][0][1], serde_json::json!({ "verdict": "does_not_hold", "measured": "0" }));
}

#[test]
fn a_grid_is_shown_whole_and_its_claims_are_summed_up() {
    let whole = outcome(LOSSY, false, 1);
    let names = |outcome: &Outcome| outcome.cells.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
    let all = ["loss 0%, delay near", "loss 0%, delay far", "loss 3%, delay near", "loss 3%, delay far"];
    assert_eq!(names(&whole), all);
    let labels: Vec<&str> = whole.cells[3].rows.iter().map(|r| r.label.as_str()).collect();
    assert_eq!(labels, ["goodput/reno", "goodput/sack", "timeouts/reno", "timeouts/sack"]);
    assert_eq!(whole.cells[3].rows[0].unit, "kb/s");
    assert_eq!(whole.claims[0].verdict(), "holds in 2 of 4 cells");
    assert_eq!(whole.claims[1].verdict(), "holds in all 2 cells");
    assert_eq!(whole.claims[2].verdict(), "holds in all 2 cells, differences 0.0 % to 0.0 %");
    assert_eq!(json(&whole)["claims"][2]["cells"][0][1]["relative"], 0.0);
    let table = whole.to_table();
    let lines: Vec<&str> = table.lines().filter(|l| l.starts_with("cell") || l.starts_with("loss ")).collect();
    assert_eq!(lines.len(), 5, "{table}");
    let heading: Vec<&str> = lines[0].split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
    assert_eq!(heading, ["cell", "goodput/reno (kb/s)", "goodput/sack (kb/s)", "timeouts/reno", "timeouts/sack"]);
    let quick = outcome(LOSSY, true, 1);
    assert_eq!((whole.runs, quick.runs), (8, 3));
    assert_eq!(names(&quick), ["loss 0%, delay far", "loss 3%, delay far"]);
    let counts = summary(&[whole, outcome(ONE_LOSS, false, 1)]);
    let last: Vec<&str> = counts.lines().last().unwrap().split_whitespace().collect();
    // Two headings with a line each between, and the same for papers and all.
    assert_eq!((counts.lines().count(), last), (7, vec!["all", "5", "3", "1", "1", "0"]), "{counts}");
}

#[test]
fn with_many_strategies_a_line_is_one_of_them_in_a_cell() {
    let more: String = (2..13).map(|i| format!("[[strategy]]\nname = \"s{i}\"\ncomposition = \"reno\"\n")).collect();
    let text = LOSSY.replacen("[[strategy]]", &format!("{more}[[strategy]]"), 1);
    let table = outcome(&text, true, 1).to_table();
    let lines: Vec<&str> = table.lines().filter(|l| l.starts_with("cell") || l.starts_with("loss ")).collect();
    let heading: Vec<&str> = lines[0].split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
    assert_eq!(heading, ["cell", "strategy", "goodput (kb/s)", "timeouts"]);
    // 13 strategies in two cells; in each of them those that are the same have the same numbers.
    let cells =
        |line: &str| line.split("  ").map(|c| c.trim().to_string()).filter(|c| !c.is_empty()).collect::<Vec<_>>();
    assert_eq!(lines.len(), 1 + 2 * 13, "{table}");
    let (s2, reno) = (cells(lines[1]), cells(lines[12]));
    assert_eq!((s2[0].as_str(), s2[1].as_str(), reno[1].as_str()), ("loss 0%, delay far", "s2", "reno"));
    assert_eq!((s2.len(), &s2[2..]), (4, &reno[2..]));
}

#[test]
fn the_oracle_runs_with_the_window_law_of_each_strategy() {
    // Segment 14 of 40 is lost; `sack` is the bound of itself with `told`, and CUBIC's oracle is not Reno's.
    let mut text = ONE_LOSS
        .replace("name = \"ours\"\ncomposition = \"newreno\"", "name = \"ours\"\ncomposition = \"newreno+cubic\"");
    for (name, composition) in [("told", "oracle"), ("cubic", "oracle+cubic"), ("at-once", "oracle-drop+cubic")] {
        text += &format!("[[strategy]]\nname = \"{name}\"\ncomposition = \"{composition}\"\n");
    }
    for measurement in ["completion/ours", "completion/cubic", "completion/at-once", "completion/told"]
        .into_iter()
        .chain(["over-oracle/ours", "over-oracle-drop/ours", "over-oracle/cubic", "over-oracle/told"])
    {
        text += &format!("[[row]]\nmeasurement = \"{measurement}\"\n");
    }
    let outcome = outcome(&text, false, 1);
    let rows = &outcome.cells[0].rows[1..];
    let means: Vec<f64> = rows.iter().map(|row| row.ours.unwrap().mean).collect();
    let over = |bound: f64| 100.0 * (means[0] / bound - 1.0);
    assert!(means[0] > means[1] && means[1] > means[2] && means[1] != means[3], "{means:?}");
    assert_eq!(means[4..], [over(means[1]), over(means[2]), 0.0, 0.0]);
    assert_eq!(rows[4].unit, "%");
}

#[test]
fn quick_leaves_out_what_is_about_other_cells() {
    let near = LOSSY.replace("where = { loss = \"0%\" }", "where = { loss = \"0%\", delay = \"near\" }");
    let near = near.replace("where = { delay = \"far\" }", "where = { delay = \"near\" }");
    let says = |outcome: &Outcome| outcome.claims.iter().map(|c| c.says.clone()).collect::<Vec<_>>();
    let charts = |outcome: Outcome| pages(&[outcome])[1].1.matches("<svg").count();
    let (whole, quick) = (outcome(&near, false, 1), outcome(&near, true, 1));
    assert_eq!(says(&whole)[1..], ["nothing is lost without losses", "without losses both are the same"]);
    assert_eq!(says(&quick), ["nothing is lost"]);
    assert_eq!((charts(whole), charts(quick)), (3, 2));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    assert_eq!(json(&outcome(LOSSY, false, 1)), json(&outcome(LOSSY, false, 2)));
}

#[test]
fn pages_stand_alone() {
    let with_markup = ONE_LOSS.replace("\"One loss\"", "\"One <b>loss\"");
    let files = pages(&[outcome(&with_markup, false, 1), outcome(LOSSY, false, 1)]);
    let names: Vec<&str> = files.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(names, ["index.html", "p-e.html", "p-e.html"]);
    for (name, html) in &files {
        assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"), "{name}");
        let foreign = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!html.contains("<b>loss") && !foreign.contains("http:") && !foreign.contains("https:"), "{name}");
    }
    assert!(files[1].1.contains("<canvas") || files[1].1.contains("id=\"panels\""));
    assert!(!files[2].1.contains("id=\"panels\""));
    let charts = &files[2].1;
    assert_eq!(charts.matches("<svg").count(), 3);
    for legend in ["Goodput &amp; loss", "reno, near", "reno, far", "sack, near", "sack, far", "loss 3%, delay far"] {
        assert!(charts.contains(legend), "{legend}");
    }
    let far: Vec<&str> = charts.split("<svg").skip(2).collect();
    assert!(!far[0].split("</svg>").next().unwrap().contains("loss 0%"), "`where` leaves cells out");
    assert!(!far[1].contains("reno, far") && far[1].contains("reno</text>"), "and is not repeated in the legend");
}

/// The text of an HTML page between its tags.
fn text(html: &str) -> String {
    let body = html.split("<body>").nth(1).unwrap();
    let pieces = body.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    pieces.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_index_is_a_report() {
    let outcomes = [outcome(ONE_LOSS, true, 1), outcome(LOSSY, true, 1), outcome(DRAWN, true, 1)];
    let index = pages(&outcomes).remove(0).1;
    let report = text(&index);
    let version = env!("CARGO_PKG_VERSION");
    for expected in [
        &format!("Run by ackclock {version}, in short ( --quick )"),
        // Claims, hold, in some cells, do not hold, undecided; the one paper and all.
        "T 5 3 1 1 0 all 5 3 1 1 0",
        "Table 1. 2 strategies, 2 cells, 3 runs each (seeds 1 to 3).",
        "Figure 1. 1 strategy, 4 runs each (seeds 1 to 4), 5 transfers in each run.",
        "✓ holds the third duplicate draws 14 (figure 1) 14 fast_retransmit",
        "◐ in some cells nothing is lost (table 1) holds in 1 of 2 cells loss: 0% (1 of 1), 3% (0 of 1)",
    ] {
        assert_eq!(report.matches(expected).count(), 1, "{expected}\n{report}");
    }
    let failures = report.split_once("What could not be reproduced, and why All claims").unwrap().1;
    let one = "One loss (figure 1) ✗ does not hold : there is a timeout (figure 1; 0) Why: NewReno repairs one loss";
    let lossy = "Losses (table 1) ◐ in some cells : nothing is lost (table 1; holds in 1 of 2 cells) Why: not known.";
    assert!(failures.contains(&format!("T {one} {lossy}")), "{failures}");
    assert!(!failures.contains("third duplicate") && !failures.contains("both are the same"), "{failures}");
    // Three charts of the grid, one of the population, and one sequence.
    assert_eq!((index.matches("<svg").count(), index.matches("<img").count()), (4, 1));
    let full = pages(&[outcome(ONE_LOSS, false, 1)]).remove(0).1;
    assert!(text(&full).contains(&format!("Run by ackclock {version}, in full.")));
}

#[test]
fn what_comes_in_order_before_the_first_loss_is_left_out_of_the_page() {
    let steps = |experiment: &str| {
        let page = text(&pages(&[outcome(experiment, false, 1)]).remove(1).1);
        let steps = page[page.find("Every step of every connection (1)").unwrap()..].to_string();
        steps[..steps.find("strategy seed").unwrap()].to_string()
    };
    let short = steps(ONE_LOSS);
    assert!(
        short.starts_with("Every step of every connection (1) ours time") && short.contains(" 0.000000 other 0 "),
        "{short}"
    );
    let late = ONE_LOSS
        .replace("[14]", "[814]")
        .replace("segments = 40", "segments = 900")
        .replace("[scenario.tcp]", "[scenario.tcp]\nrwnd = \"20kb\"");
    // With a window of 20 segments, 814 is sent and dropped on the ACK of 795. Sent, arrived and acknowledged, a segment is three
    // events, so that the 300 before it leave out the ACKs up to 695, and the first step, which is the application's.
    let long = steps(&late);
    assert!(long.contains(" ours after the first 696, in which nothing was lost time"), "{long}");
}

#[test]
fn transfers_over_drawn_paths_are_counted_together() {
    let ours = |text: &str| -> Vec<(String, f64)> {
        let rows = json(&outcome(text, false, 2))["cells"][0]["rows"].take();
        let row = |r: &Value| (r["shown"].as_str().unwrap().into(), r["ours"]["mean"].as_f64().unwrap_or(f64::NAN));
        rows.as_array().unwrap().iter().skip(1).map(row).collect()
    };
    // Each of 5 transfers loses its first segment of 4 without any duplicate ACK: one timeout, one loss in 5 segments sent. The
    // window is 1 before and 2 after the ACK of segment 0; the delayed ACKs of 1 and 2, and of 3, leave 2.5 (1 + 1/2 segments
    // in congestion avoidance, since ssthresh is 2) and 2.9, of which whole segments count.
    let non_trigger = ours(DRAWN);
    assert_eq!(non_trigger[..5].iter().map(|r| r.1).collect::<Vec<_>>(), [100.0, 0.0, 0.0, 5.0, 20.0]);
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
fn each_transfer_has_a_path_of_its_own() {
    let half = DRAWN.replace("values = [[0]]", "values = [[9], [0]]").replace("transfers = 5", "transfers = 100");
    let one = json(&outcome(&half, false, 1));
    assert_eq!(one, json(&outcome(&half, false, 2)));
    // 100 of 400 lost a segment give or take 10 (two standard deviations are 20), and no two runs need be alike.
    let timeouts = &one["cells"][0]["rows"][4]["ours"];
    assert!((timeouts["mean"].as_f64().unwrap() - 50.0).abs() < 10.0, "{timeouts}");
    assert!(timeouts["half_width"].as_f64().unwrap() > 0.0, "{timeouts}");
}

#[test]
fn the_statistics_of_recovery_are_measures_of_all_flows_together() {
    const SHOW: &str = r#"show = ["count-recoveries", "count-timeouts", "retransmission-rate", "latency-lossy-mean"]"#;
    let shown = |text: &str, rows: std::ops::Range<usize>| -> Vec<f64> {
        let all = json(&outcome(text, false, 2))["cells"][0]["rows"].take();
        all.as_array().unwrap()[rows].iter().map(|r| r["ours"]["mean"].as_f64().unwrap_or(f64::NAN)).collect()
    };
    // Each of 5 transfers of 4 segments times out on its first segment, after 1 s. Segment 0, then 1 and 2, then 3 each take 8.32 ms
    // a segment, 10 ms, and 10.32 ms back; segments 0 and 3 meet a delayed ACK of 200 ms.
    let show = DRAWN.lines().find(|line| line.starts_with("show")).unwrap();
    let drawn = shown(&DRAWN.replace(show, SHOW), 1..5);
    assert_eq!(drawn[..3], [0.0, 5.0, 20.0]);
    assert!((drawn[3] - (1000.0 + 400.0 + 4.0 * 8.32 + 3.0 * 20.32)).abs() < 0.01, "{drawn:?}");
    // A figure is not needed.
    let without = DRAWN.replace(show, SHOW).replace("chart = \"Timeouts\"\n", "");
    assert_eq!(shown(&without, 1..5), drawn);
    assert_eq!(run(&Plan::of(&library(&without).unwrap(), "all", false).unwrap(), 1).unwrap()[0].claims.len(), 0);
    // Without a population: one loss, one fast retransmit, no timeout.
    let one =
        ONE_LOSS.split("[[step]]").next().unwrap().to_string() + &ONE_LOSS[ONE_LOSS.find("[scenario]").unwrap()..];
    let one = one.replace("place = \"figure 1\"\n\n", &format!("place = \"figure 1\"\n{SHOW}\n\n"));
    assert_eq!(shown(&one, 0..2), [1.0, 0.0]);
    let of_a_flow = DRAWN.replacen("\"share-non-trigger/reno\"", "\"count-recoveries/reno/flow0\"", 1);
    assert!(error(&of_a_flow).starts_with("papers/p/e.toml: row[0].measurement: there is no"));
}

/// Each transfer of 4 segments loses the second, which draws two duplicate ACKs. A segment takes 1 ms and 10 ms, an ACK 10 ms.
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
tcp = { mss = 1000, header = 0, ack_size = 0, count_options = false, initial_window = 4, delayed_ack = "off", min_rto = "1s" }
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
        // The first ACK comes after 21 ms. Early retransmit sends on the second duplicate at 23 ms, done at 44 ms; without it the timer
        // expires 1 s after the first ACK, done at 1042 ms.
        let expected = [3.0, 1.0, 0.0, 32.0 / 1.042, 32.0 / 0.044, 21.0];
        assert!(ours.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{ours:?}");
    }
    let wrong = ARRIVING.replace("flow[*]", "node[*]");
    assert!(error(&wrong).starts_with("papers/p/e.toml: vary[0]: there is no `node[...]`"), "{}", error(&wrong));
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
        let table = ours.to_table();
        let line = table.lines().skip_while(|l| *l != "Table 1").find(|l| l.starts_with(name)).map(str::to_string);
        line.unwrap().split_whitespace().map(String::from).collect::<Vec<_>>()
    };
    // The paper has numbers of the first strategy only.
    assert_eq!(line("measured"), ["measured", "unit", "reno", "(paper)", "reno", "other"]);
    assert_eq!(line("timeouts"), ["timeouts", "7", "5", "5"]);
    assert_eq!(line("count-timeouts"), ["count-timeouts", "-", "5", "5"]);
    let page = &pages(&[ours])[1].1;
    assert!(
        page.contains("2 strategies, 4 runs each (seeds 1 to 4), 5 transfers in each run; run by ackclock "),
        "{page}"
    );
    assert!(page.contains("<p>One.</p>\n<p>Two.</p>"), "{page}");
    assert!(page.contains("<h3>Table 1</h3>") && page.contains("<th>reno (paper)</th><th>reno</th><th>other</th>"));
    for (right, wrong, expected) in [
        (
            "\"count-timeouts\"",
            "\"counts\"",
            "papers/p/e.toml: table[0].rows[1]: there is no measurement `counts/reno`",
        ),
        ("{ reno = 7 }", "{ rneo = 7 }", "papers/p/e.toml: table[0].rows[0].paper: there is no strategy `rneo`"),
    ] {
        let error = error(&text.replacen(right, wrong, 1));
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}

#[test]
fn errors_in_a_population_name_file_and_key() {
    for (right, wrong, expected) in [
        ("transfers = 5", "transfers = 0", "papers/p/e.toml: population.transfers: at least one transfer"),
        ("values = [[0]]", "values = []", "papers/p/e.toml: population.draw[0]: values: at least one"),
        (
            "key = \"link[0].loss[0]",
            "key = \"link[1].loss[0]",
            "papers/p/e.toml: population.draw[0]: there is no `link[1]`",
        ),
        ("values = [[0]]", "values = [[9], [-1]]", "papers/p/e.toml: scenario.link[0].loss[0]"),
        (
            "drop.segments\"",
            "drop.segment\"",
            "papers/p/e.toml: scenario.link[0].loss[0].drop.segment: there is no key",
        ),
        ("runs = 4", "sequence = true", "papers/p/e.toml: population: there is no sequence"),
        ("chart = \"Timeouts\"\n", "chrat = \"x\"\n", "papers/p/e.toml:"),
        ("values = [[0]]", "values = [[0]]\nweights = [1, 1]", "papers/p/e.toml: population.draw[0]: weights: as many"),
        ("\"share-non-trigger/reno\"", "\"timeouts/reno/flow0\"", "papers/p/e.toml: row[0].measurement: there is no"),
    ] {
        let text = DRAWN.replacen(right, wrong, 1);
        assert_ne!(text, DRAWN, "{right}");
        let error = error(&text);
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let elsewhere = error(&LOSSY.replacen("\"timeouts\"]", "\"mean-window\"]", 1));
    assert!(elsewhere.starts_with("papers/p/e.toml: show[1]: there is no `mean-window`"), "{elsewhere}");
}

#[test]
fn errors_name_file_and_key() {
    let cases = [
        (
            "title = \"One loss\"",
            "titel = \"x\"",
            "papers/p/e.toml:2: titel: there is no key `titel` here; did you mean `title`?",
        ),
        (
            "rate = \"0.8mbit\"",
            "rat = 1",
            "papers/p/e.toml:54: scenario.link[0].rat: there is no key `rat` here; did you mean `rate`?",
        ),
        ("duration = \"60s\"", "duration = \"0s\"", "papers/p/e.toml:44: scenario.duration: "),
        ("composition = \"newreno\"", "composition = \"newrenno\"", "papers/p/e.toml: strategy[0]: "),
        (
            "\"third/ours/time\"",
            "\"third/ours/tim\"",
            "papers/p/e.toml: row[0].measurement: there is no measurement `third/ours/tim`; ",
        ),
        ("above = 0", "above = 0\nbelow = 1", "papers/p/e.toml: claim[1]: exactly one of `equals`, "),
        (
            "above = 0",
            "above = \"timeouts/theirs\"",
            "papers/p/e.toml: claim[1].above: there is no measurement `timeouts/theirs`; ",
        ),
        ("\"again\"", "\"third\"", "papers/p/e.toml: step[1].name: `third` must be another name"),
        ("above = 0", "near = 0", "papers/p/e.toml: claim[1]: `near` needs a `tolerance`"),
        ("above = 0", "above = 0\nby = \"ten\"", "papers/p/e.toml:41: claim[1].by: `ten` is no margin"),
        (
            "place = \"figure 1\"\n\n",
            "place = \"figure 1\"\nruns = 2\n\n",
            "papers/p/e.toml: runs: steps are of a single run",
        ),
    ];
    for (right, wrong, expected) in cases {
        let text = ONE_LOSS.replacen(right, wrong, 1);
        assert_ne!(text, ONE_LOSS, "{right}");
        let error = error(&text);
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    for (right, wrong, expected) in [
        ("link[0].delay", "link[1].delay", "papers/p/e.toml: vary[1]: there is no `link[1]`; there are 1"),
        ("link[0].delay", "link[0].dely", "papers/p/e.toml: scenario.link[0].dely: there is no key `dely` here"),
        ("lossy.toml", "none.toml", "papers/p/e.toml: scenario_file: there is no papers/p/scenarios/none.toml"),
        ("[\"near\", \"far\"]", "[\"near\"]", "papers/p/e.toml: vary[1]: there are as many labels as values"),
        ("quick = [\"far\"]", "quick = [\"50ms\"]", "papers/p/e.toml: vary[1]: quick: there is no value called `50ms`"),
        ("loss = \"0%\"", "loss = \"1%\"", "papers/p/e.toml: claim[1]: `where` fits no cell"),
        (
            "where = { delay = \"far\" }",
            "where = { delay = \"50ms\" }",
            "papers/p/e.toml: chart[2]: `where` fits no cell",
        ),
        (
            "axis = \"loss\"",
            "flows = { flow2 = \"C\" }",
            "papers/p/e.toml: chart[0]: `flows` names flows of the scenario",
        ),
        ("axis = \"loss\"", "axis = \"delay\"", "papers/p/e.toml: chart[0]: it draws a `measure` of `row` or `show`"),
        ("measure = \"goodput\"\naxis = \"loss\"", "quantiles = \"goodput\"", "papers/p/e.toml: chart[0]: it draws a "),
        ("\"goodput\"", "\"godput\"", "papers/p/e.toml: show[0]: there is no `godput`"),
        (
            "axis = \"loss\"",
            "axis = \"loss\"\nstrategies = [\"tahoe\"]",
            "papers/p/e.toml: chart[0]: `strategies` are names",
        ),
    ] {
        let error = error(&LOSSY.replacen(right, wrong, 1));
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let library = library(ONE_LOSS).unwrap();
    let unknown = Plan::of(&library, "p/f", false).unwrap_err().to_string();
    assert_eq!(unknown, "there is no paper or experiment `p/f`; there are p, all, p/e");
}
