//! The `ackclock` command with one more mechanism, `half-dupthresh`, and a preset that uses it.
//!
//! Its source is made up: a loss is detected on the duplicate that half of DupThresh allows, so
//! that a window of three segments recovers without a timeout. It does not wait for reordering.

use std::process::ExitCode;

use ackclock_tcp::recovery::Row;
use ackclock_tcp::recovery::detect::{Detect, Lost};
use ackclock_tcp::strategy::Refused;
use ackclock_tcp::{AckSummary, Registry, State};

/// Half of DupThresh is enough, rounded up: the second duplicate instead of the third.
struct HalfDupthresh;

impl Detect for HalfDupthresh {
    fn name(&self) -> &'static str {
        "half-dupthresh"
    }

    fn on_ack(&mut self, s: &State, a: &AckSummary) -> Lost {
        if a.duplicate && s.dupacks == s.dupthresh.div_ceil(2) { Lost::Head } else { Lost::Nothing }
    }
}

/// What ackclock has, and ours.
fn registry() -> Result<Registry, Refused> {
    let mut registry = Registry::default();
    let row = Row::<dyn Detect>::new("half-dupthresh", || Box::new(HalfDupthresh))
        .source("own", "half of the duplicate threshold is enough")
        .summary("the second duplicate ACK means that the first unacknowledged segment is lost")
        .file(file!());
    registry.add(row)?;
    registry.add_preset("hasty", "newreno+half-dupthresh+lt", "own")?;
    Ok(registry)
}

fn main() -> ExitCode {
    match registry() {
        Ok(registry) => ackclock::main_with(&registry, std::env::args_os()),
        Err(refused) => {
            eprintln!("error: {refused}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The preset keeps NewReno's window law and replaces its detection.
    #[test]
    fn the_preset_is_registered() {
        let composition = registry().unwrap().parse("hasty").unwrap();
        let names: Vec<&str> = composition.mechanisms().iter().map(|m| &*m.name).collect();
        assert_eq!(names, ["partial-ack", "inflate", "bugfix", "half-dupthresh", "lt"]);
        assert_eq!(composition.build().detect.name(), "half-dupthresh");
    }

    /// An experiment names the preset, and compositions with the mechanism. A window of four loses
    /// its second segment: two duplicates come, which are enough for half of the threshold.
    #[test]
    fn an_experiment_runs_it() {
        let path = std::env::temp_dir().join(format!("hasty-{}.toml", std::process::id()));
        std::fs::write(&path, EXPERIMENT).unwrap();
        let file = path.display().to_string();
        let mut library = ackclock_papers::Library::empty(registry().unwrap());
        let outcomes = ackclock_papers::run(&library.plan_all(&[file], false).unwrap(), 1).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(outcomes[0].claims.len(), 3);
        for claim in &outcomes[0].claims {
            assert_eq!(claim.verdict(), "holds", "{}", claim.says);
        }
    }

    const EXPERIMENT: &str = r#"
title = "A loss in a window of four"

[[strategy]]
name = "hasty"

[[strategy]]
name = "half"
composition = "newreno+half-dupthresh"

[[strategy]]
name = "newreno"

[[claim]]
says = "two duplicates are enough for the preset"
measurement = "timeouts/hasty"
equals = 0

[[claim]]
says = "and for the mechanism alone"
measurement = "timeouts/half"
equals = 0

[[claim]]
says = "they are not enough for three"
measurement = "timeouts/newreno"
equals = 1

[scenario]
duration = "10s"

[scenario.tcp]
initial_window = 4
delayed_ack = "off"

[[scenario.link]]
from = "a"
to = "b"
rate = "1mbit"
delay = "20ms"
loss = [{ drop = { segments = [1] } }]

[[scenario.flow]]
from = "a"
to = "b"
source = { segments = 4 }
"#;
}
