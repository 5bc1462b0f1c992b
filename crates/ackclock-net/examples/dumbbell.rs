//! Runs a dumbbell and prints how much CPU time a packet takes: `dumbbell [FLOWS] [STRATEGY]
//! [SECONDS]`.
//!
//! Each connection has its own pair of hosts. The bottleneck is 100 Mb/s, 20 ms, with RED; segments
//! are 1000 bytes.

use ackclock_net::{Ends, FlowConfig, Limit, LinkConfig, Network, Queue, Red};
use ackclock_tcp::Registry;
use ackclock_tcp::{DelayedAck, Receiver, ReceiverConfig, Sender, SenderConfig, Span, Time};
use rustix::time::{ClockId, clock_gettime};

/// Seconds of CPU time that this process has used.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn main() {
    let mut args = std::env::args().skip(1);
    let flows: u32 = args.next().map_or(10, |a| a.parse().expect("a number of flows"));
    let composition =
        Registry::default().parse(&args.next().unwrap_or("newreno".into())).expect("a strategy");
    let seconds: u64 = args.next().map_or(60, |a| a.parse().expect("a number of seconds"));

    let mut network = Network::new(1);
    let (left, right) = (network.node("left"), network.node("right"));
    let (rate, delay) = (100_000_000, Span::from_millis(20));
    let mut red = Red::new(500, 50.0, 150.0, Red::automatic_w_q(rate, delay, 1000));
    red.mean_packet_size = 1000;
    let bottleneck = network.duplex(LinkConfig::new(left, right, rate, delay, Queue::Red(red)));
    for i in 0..flows {
        let (from, to) =
            (network.node(&format!("sender {i}")), network.node(&format!("receiver {i}")));
        let access = |a, b| {
            LinkConfig::new(
                a,
                b,
                1_000_000_000,
                Span::from_millis(5),
                Queue::DropTail(Limit::Packets(1000)),
            )
        };
        network.duplex(access(from, left));
        network.duplex(access(right, to));
        let config = SenderConfig {
            mss: 1000,
            initial_window: Some(2),
            initial_rwnd: 1 << 20,
            ..SenderConfig::default()
        };
        let strategy = composition.build();
        let receiver = ReceiverConfig {
            mss: 1000,
            delayed_ack: DelayedAck::Off,
            sack: strategy.uses_sack,
            ..ReceiverConfig::default()
        };
        let ends = Ends::Established {
            sender: Sender::new(config, strategy),
            receiver: Receiver::new(receiver),
        };
        let mut flow = FlowConfig::new(&format!("flow {i}"), from, to, ends, 1000);
        flow.start = Time(1_000_000_000 / u64::from(flows) * u64::from(i));
        (flow.header, flow.count_options) = (0, false);
        network.flow(flow);
    }
    let begin = cpu_seconds();
    network.run(Time(seconds * 1_000_000_000), &mut ()).expect("the network is sound");
    let elapsed = cpu_seconds() - begin;
    let report = network.link_report(bottleneck.there).expect("the bottleneck is there");
    println!(
        "{flows} flows: {} packets, {} dropped, in {elapsed:.3} s of CPU: {:.1} ns each, {:.2} \
         million a second",
        report.packets,
        report.dropped_early + report.dropped_queue,
        elapsed * 1e9 / report.packets as f64,
        report.packets as f64 / elapsed / 1e6,
    );
    // Linux only: the peak of resident memory.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find_map(|line| line.strip_prefix("VmHWM:")) {
        println!("peak memory {}", peak.trim());
    }
}
