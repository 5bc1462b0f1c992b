//! What a flow knows of its round trip before its first ACK.

use ackclock_tcp::{Event, EventKind, Registry, Span, State, Time};

use crate::flow::Agent;
use crate::rng::Rng;
use crate::scenario::{BuildOptions, Scenario, Simulation};
use crate::{FlowId, Recorder};

/// Two copies over two links each way, with other rates and delays on the way back.
const PATH: &str = "\
duration = \"60s\"
[[link]]
from = \"a{}\"
to = \"m\"
count = 2
rate = \"10mbit\"
delay = \"1ms\"
delay_to = \"7ms\"
duplex = false
[[link]]
from = \"m\"
to = \"b\"
rate = \"1.3mbit\"
delay = \"30ms\"
duplex = false
queue = { red = { limit = 50, min = 5, max = 15 } }
[[link]]
from = \"b\"
to = \"m\"
rate = \"64kbit\"
delay = \"2.5ms\"
duplex = false
[[link]]
from = \"m\"
to = \"a{}\"
count = 2
rate = \"3mbit\"
delay = \"500us\"
duplex = false
[[flow]]
from = \"a{}\"
to = \"b\"
count = 2
start_step = \"20s\"
strategy = \"sack\"
source = { segments = 1 }
";

fn built(text: &str, seed: u64) -> Simulation {
    let registry = Registry::default();
    let scenario = Scenario::from_toml(text, &registry).unwrap();
    scenario.build(&BuildOptions::new(&registry, seed).events(true)).unwrap()
}

/// The smoothed round trip and its variance that a flow's sender knows.
fn known(simulation: &Simulation, flow: usize) -> (Span, Span) {
    let state: &State = match &simulation.network.simulator().flows[flow].agent {
        Agent::Established(tcp) => tcp.sender.state(),
        Agent::Handshake(connections) => match connections.client() {
            Some(client) => client.sender().state(),
            None => return (Span::ZERO, Span::ZERO),
        },
        Agent::Cbr(_) => panic!("a stream of datagrams has no sender"),
    };
    (state.srtt, state.rttvar)
}

/// The sample is to the nanosecond what the handshake measures on the idle path.
#[test]
fn the_path_is_what_a_handshake_measures() {
    let cases = [
        ("", 52),
        ("sack = false", 48),
        ("timestamps = true", 60),
        ("sack = false, timestamps = true", 60),
        ("ack_size = 20, timestamps = true", 40),
        ("count_options = false", 40),
    ];
    for (settings, bytes) in cases {
        let tcp = |more: &str| {
            let all: Vec<&str> = [settings, more].into_iter().filter(|s| !s.is_empty()).collect();
            built(&format!("{PATH}tcp = {{ {} }}\n", all.join(", ")), 1)
        };
        let (path, none) = (tcp(""), tcp("first_rtt = \"none\""));
        let mut handshake = tcp("handshake = true");
        for (flow, delay) in [(0, 1_000_000), (1, 7_000_000)] {
            // Bits at each rate, to the nearest nanosecond, and the propagation delays.
            let bits = bytes * 8;
            let rates = [10_000_000, 1_300_000, 64_000, 3_000_000];
            let sent: u64 = rates.iter().map(|rate| (bits * 1_000_000_000 + rate / 2) / rate).sum();
            let rtt = sent + delay + 30_000_000 + 2_500_000 + 500_000;
            assert_eq!(known(&path, flow), (Span(rtt), Span(rtt / 2)), "{settings}");
            assert_eq!(known(&none, flow), (Span::ZERO, Span::ZERO), "{settings}");
            // SYN and SYN/ACK are under way for just that long.
            let start = flow as u64 * 20_000_000_000;
            for (at, expected) in [(rtt - 1, Span::ZERO), (rtt, Span(rtt))] {
                handshake.network.run(Time(start + at), &mut ()).unwrap();
                assert_eq!(known(&handshake, flow).0, expected, "{settings}");
            }
        }
    }
}

/// BSD's timer counts the ticks that came in the round trip before the flow began, where there was
/// time for it. A tick less is one of 500 ms that is not there.
#[test]
fn a_timer_of_ticks_counts_those_before_the_flow() {
    let text = format!("{}tcp = {{ timer = \"bsd\" }}\n", PATH.replace("\"30ms", "\"300ms"));
    let text = text.replace("start_step = \"20s\"", "start_step = \"20.2s\"");
    let scenario = |tcp: &str| text.replace("timer =", &format!("{tcp} timer ="));
    let rtt = known(&built(&text.replace("bsd", "rfc6298"), 1), 1).0.0;
    let tick = 500_000_000;
    let mut differ = 0;
    for seed in 1..=8 {
        let path = built(&text, seed);
        let mut handshake = built(&scenario("handshake = true,"), seed);
        for (flow, start) in [(0, 0), (1, 20_200_000_000_u64)] {
            let phase = Rng::new(seed, &format!("scenario/tick/flow{flow}")).up_to(Span(tick)).0;
            let until = |at: u64| (0..).take_while(|k| phase + k * tick <= at).count() as u64;
            let after = |begin: u64| Span((until(begin + rtt) - until(begin) + 1) * tick);
            assert_eq!(known(&path, flow).0, after(start.saturating_sub(rtt)), "{seed} {flow}");
            handshake.network.run(Time(start + rtt), &mut ()).unwrap();
            assert_eq!(known(&handshake, flow).0, after(start), "{seed} {flow}");
            differ += u32::from(after(start) != after(0));
        }
    }
    assert!(differ > 0);
}

/// Counts the timeouts by their intervals.
#[derive(Default)]
struct Timeouts(Vec<u64>);

impl Recorder for Timeouts {
    fn event(&mut self, _: FlowId, event: &Event) {
        if let EventKind::TimedOut { rto, .. } = event.kind {
            self.0.push(rto);
        }
    }
}

/// RFC 6298 section 2.2: SRTT and four times half of it. Without a sample, section 2.1: 1 s. A
/// flow's own setting comes before that of the scenario.
#[test]
fn the_first_timeout_follows_from_it() {
    let text = |tcp: &str, own: &str| {
        format!(
            "duration = \"60s\"\n[tcp]\nmin_rto = \"10ms\"\nsack = false\n\
             delayed_ack = \"off\"\n{tcp}\n\
             [[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"384kbit\"\ndelay = \"19ms\"\n\
             loss = [{{ drop = {{ segments = [0] }} }}]\n\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\nsource = {{ segments = 1 }}\n{own}\n"
        )
    };
    // 48 bytes take 1 ms.
    let (path, none) = ("first_rtt = \"path\"", "first_rtt = \"none\"");
    let cases = [
        ("", "", 120),
        (path, "", 120),
        (none, "", 1000),
        (none, "tcp = { first_rtt = \"path\" }", 120),
        (path, "tcp = { first_rtt = \"none\" }", 1000),
    ];
    for (tcp, own, ms) in cases {
        let mut timeouts = Timeouts::default();
        built(&text(tcp, own), 1).run(&mut timeouts).unwrap();
        assert_eq!(timeouts.0, [ms * 1_000_000], "{tcp} {own}");
    }
}
