//! Experiments from their text to their results.

mod errors;
mod files;
mod grids;
mod pages;
mod populations;
mod steps;

use ackclock_papers::{Library, Outcome, run};
use serde_json::Value;

const PAPER: &str = "title = \"T\"\nauthors = [\"A\"]\npublished = \"1998\"\noutcome = \"O.\"\n";

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
show = [
    "share-non-trigger", "share-multiple-losses", "share-lost-retransmission",
    "timeouts", "loss-rate", "mean-window",
]

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
    let files = [
        ("p/paper.toml", PAPER),
        ("p/e.toml", experiment),
        ("p/scenarios/lossy.toml", LOSSY_SCENARIO),
    ];
    Library::from_files(
        files.map(|(path, text)| (path.into(), text.into())).to_vec(),
        ackclock_tcp::Registry::default(),
    )
    .map_err(|e| e.to_string())
}

fn outcome(experiment: &str, quick: bool, threads: u16) -> Outcome {
    let library = library(experiment).unwrap();
    run(&library.plan("p/e", quick).unwrap(), threads).unwrap().remove(0)
}

fn json(outcome: &Outcome) -> Value {
    serde_json::to_value(outcome).unwrap()
}

fn error(experiment: &str) -> String {
    library(experiment)
        .and_then(|l| l.plan("all", false).map(drop).map_err(|e| e.to_string()))
        .unwrap_err()
}

#[test]
fn the_experiments_of_this_project_make_sense() {
    let library = Library::embedded(ackclock_tcp::Registry::default()).unwrap();
    let experiments = library.experiments().len();
    for quick in [false, true] {
        assert_eq!(library.plan("all", quick).unwrap().len(), experiments);
    }
}
