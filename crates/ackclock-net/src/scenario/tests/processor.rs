//! Nodes with processors.

use ackclock_tcp::{Registry, Time};

use crate::FlowId;
use crate::scenario::{BuildOptions, Scenario};

/// A byte takes 1 us on the link. Host 1 takes 2 ms to send each of the two segments and 1 ms to
/// receive an ACK, `b` 3 ms to receive and 1 ms to send: as in `network/tests/processor.rs`.
const HOSTS: &str = "\
duration = \"1s\"
[tcp]
mss = 1000
initial_window = 2
delayed_ack = \"off\"
header = 0
count_options = false
[[node]]
name = \"a{}\"
count = 2
processor = { send = \"2ms\", receive = \"1ms\" }
[[node]]
name = \"b\"
processor = { send = \"1ms\", receive = \"3ms\", sack_block = \"0s\" }
[[link]]
from = \"a1\"
to = \"b\"
rate = \"8mbit\"
delay = \"10ms\"
[[flow]]
from = \"a1\"
to = \"b\"
source = { segments = 2 }
";

#[test]
fn processors_take_their_time_and_survive_the_text() {
    let registry = Registry::default();
    let scenario = Scenario::from_toml(HOSTS, &registry).unwrap();
    let text = scenario.to_toml().unwrap();
    assert_eq!(Scenario::from_toml(&text, &registry).unwrap(), scenario);
    let mut simulation = scenario.build(&BuildOptions::new(&registry, 1)).unwrap();
    simulation.run(&mut ()).unwrap();
    let report = simulation.network.flow_report(FlowId(0)).unwrap();
    assert_eq!(report.completed, Some(Time(32_040_000)));
}

#[test]
fn a_processor_says_what_it_takes_to_send_and_to_receive() {
    let half = HOSTS.replace("send = \"2ms\", ", "");
    let error = Scenario::from_toml(&half, &Registry::default()).unwrap_err().to_string();
    assert_eq!(error, "11: node[0].processor: the key `send` is missing");
}
