//! A mechanism whose deadline stands still: the run ends with an error that names it.

use ackclock_tcp::recovery::Row;
use ackclock_tcp::recovery::detect::{Detect, Lost};
use ackclock_tcp::strategy::Axis;
use ackclock_tcp::{AckSummary, Registry, State, Time};

use super::{BuildOptions, Scenario, base};
use crate::{Error, FlowId};

/// The deadline passes at 5 ms.
struct Standing;

impl Detect for Standing {
    fn on_ack(&mut self, _s: &State, _a: &AckSummary) -> Lost {
        Lost::Nothing
    }

    fn deadline(&self) -> Time {
        Time(5_000_000)
    }
}

fn stands(more: &str, passed: u64) {
    let mut registry = Registry::default();
    let row = Row::<dyn Detect>::new("standing", || Box::new(Standing)).source("own", "");
    registry.add(row).unwrap();
    let text = base(more);
    let scenario = Scenario::from_toml(&text, &registry).unwrap();
    let options = BuildOptions::new(&registry, 1).strategy("newreno+standing");
    let mut built = scenario.build(&options).unwrap();
    let error = built.run(&mut ()).expect_err("without an end");
    let expected = Error::Stands {
        flow: FlowId(0),
        axis: Axis::Detect,
        mechanisms: vec!["standing".into()],
        at: Time(passed + 100_000),
    };
    assert_eq!(error, expected);
    let shown = scenario.explain(&error).located(&text).to_string();
    let at = (passed + 100_000) as f64 / 1e9;
    let message = format!(
        "9: flow[0]: `standing` asks again and again for a time that has passed, at {at} s of \
         the run; its deadline has to be later once it has come, or never"
    );
    assert_eq!(shown, message);
    assert_eq!(built.run(&mut ()), Err(error));
}

#[test]
fn the_run_ends_with_an_error_that_names_it() {
    stands("", 5_000_000);
}

#[test]
fn so_it_does_with_a_handshake() {
    // The SYN and its answer have 48 bytes each, at 1 Mb/s.
    stands("[tcp]\nhandshake = true\n", 20_768_000);
}
