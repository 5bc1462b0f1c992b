//! The wire and the simulation of the same scenario, event for event.

use std::io::{Read, Write};
use std::iter;
use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::Duration;

use ackclock_net::scenario::{BuildOptions, Scenario};
use ackclock_net::{FlowId, Recorder};
use ackclock_tcp::{Event, EventKind, Registry};

use crate::format::{Lab, Row};
use crate::sender::{Sender, Stream};
use crate::testbed::Testbed;

/// Slow enough that what a process needs to be woken up is nothing beside the 10.4 ms from packet
/// to packet.
const LAB: &str = r#"
title = "Scripted losses"
chart = "goodput"
# The window offered must limit nobody. The kernel counts the memory that short segments take.
receiver_sysctl = { "net/ipv4/tcp_rmem" = "4096 1048576 4194304" }

[[row]]
name = "newreno"
strategy = "newreno"

[[row]]
name = "sack"
strategy = "sack"

[[row]]
name = "prr"
strategy = "prr"

[[row]]
name = "net-reno-sack"
strategy = "net-reno-sack"

[scenario]
duration = "60s"

[scenario.tcp]
mss = 1000
initial_window = 2
rwnd = "1mb"
delayed_ack = "off"
# The handshake, which no simulated connection has, is a sample that moves the timeout a little.
min_rto = "3s"

[[scenario.link]]
from = "sender"
to = "receiver"
rate = "800kbit"
delay = "20ms"
loss = [{ drop = { segments = [14, 26, 28, 40, 41, 42], retransmissions = ["41:1"] } }]

[[scenario.flow]]
from = "sender"
to = "receiver"
source = { segments = 100 }
"#;

const SEGMENTS: u64 = 100;

#[derive(Default)]
struct Events(Vec<Event>);

impl Recorder for Events {
    fn wants_events(&self) -> bool {
        true
    }

    fn event(&mut self, _: FlowId, event: &Event) {
        self.0.push(*event);
    }
}

fn simulated(scenario: &Scenario, strategy: &str) -> Vec<Event> {
    let mut events = Events::default();
    let registry = Registry::default();
    let options = BuildOptions::new(&registry, 1).strategy(strategy).events(true);
    scenario.build(&options).unwrap().run(&mut events).unwrap();
    events.0
}

fn on_the_wire(lab: &Lab, row: &Row) -> Vec<Event> {
    let testbed = Testbed::new(lab, &lab.scenario, row, 1).unwrap();
    // As the scenario has it, and as the kernel does only for the first segments by itself.
    let route = "route replace 10.0.0.0/8 dev to-gateway src 10.77.0.2 quickack 1";
    let ip = || Command::new("ip").args(route.split(' ')).status().unwrap();
    assert!(testbed.receiver.run(ip).unwrap().success());
    let mut sender = Sender::new(&testbed, &lab.scenario, row, &Registry::default()).unwrap();
    let Sender::Ours(net, config) = &mut sender else { panic!("a row of ours") };
    config.events = true;
    let net = net.clone();
    let to = Testbed::to(5001);
    let listener = testbed.receiver.run(|| TcpListener::bind(to)).unwrap().unwrap();
    let reader = thread::spawn(move || {
        let mut got = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut got).unwrap();
        got
    });
    let data: Vec<u8> = (0..SEGMENTS * 1000).map(|i| (i % 251) as u8).collect();
    let mut stream: Stream = sender.connect(to).unwrap();
    stream.write_all(&data).unwrap();
    // No FIN in flight beside the data.
    while stream.unacked().unwrap() > 0 {
        thread::sleep(Duration::from_millis(20));
    }
    stream.shutdown().unwrap();
    assert!(reader.join().unwrap() == data);
    net.with_stack(|stack, _| {
        iter::from_fn(|| stack.poll_event()).map(|(_, event)| event).collect()
    })
}

/// What the sender did and what it made of each ACK, without the times. Two things are left out.
/// What comes with or after the acknowledgment of the last byte of data: no simulated connection
/// has a FIN. And ACKs that only offer another window: the kernel sends them when the application
/// has read.
fn comparable(events: &[Event]) -> Vec<String> {
    let end = SEGMENTS * 1000;
    let mut known = 0;
    let show = |event: &Event| {
        let Event { cwnd, ssthresh, snd_una, .. } = event;
        let what = match event.kind {
            EventKind::Sent { seq, cause, transmission, .. } if seq < end => {
                format!("sent {} {} {transmission}", seq / 1000, cause.name())
            }
            EventKind::Acked { ack, dupacks, newly_acked, newly_sacked, .. } => {
                let before = std::mem::replace(&mut known, dupacks);
                if newly_acked + newly_sacked == 0 && dupacks == before {
                    return None;
                }
                format!("acked {ack} {dupacks} {newly_sacked}")
            }
            EventKind::Lost { seq, transmission, by, .. } => {
                format!("lost {} {transmission} by {by}", seq / 1000)
            }
            EventKind::RecoveryEntered { recover, flight, pipe, .. } => {
                format!("recovery to {recover} {flight} {pipe}")
            }
            EventKind::RecoveryLeft { by_timeout, cwnd_before } => {
                format!("recovered {by_timeout} {cwnd_before}")
            }
            EventKind::TimedOut { seq, flight, .. } => format!("timeout {} {flight}", seq / 1000),
            EventKind::Undone { by } => format!("undone by {by}"),
            _ => return None,
        };
        Some(format!("{what}: cwnd {cwnd} ssthresh {ssthresh} una {snd_una}"))
    };
    events.iter().take_while(|event| event.snd_una < end).filter_map(show).collect()
}

#[test]
fn scripted_losses_give_the_same_events_on_the_wire_as_in_simulation() {
    if !crate::testbed::permitted() {
        return;
    }
    let lab = Lab::from_toml("scripted.toml", LAB, &Registry::default()).unwrap();
    thread::scope(|scope| {
        for row in &lab.rows {
            let lab = &lab;
            scope.spawn(move || {
                let wire = comparable(&on_the_wire(lab, row));
                let simulation =
                    comparable(&simulated(&lab.scenario, row.strategy.as_deref().unwrap()));
                let first = wire.iter().zip(&simulation).position(|(w, s)| w != s);
                let around = |list: &[String]| {
                    list[first.unwrap_or(0).saturating_sub(5)..]
                        .iter()
                        .take(12)
                        .cloned()
                        .collect::<Vec<_>>()
                };
                assert!(
                    first.is_none(),
                    "{}: {:#?}\nin simulation {:#?}",
                    row.name,
                    around(&wire),
                    around(&simulation)
                );
                assert_eq!(wire.len(), simulation.len(), "{}", row.name);
                assert!(
                    simulation
                        .iter()
                        .any(|line| line.starts_with("sent 41") && line.contains(" 3:")),
                    "{}",
                    row.name
                );
            });
        }
    });
}
