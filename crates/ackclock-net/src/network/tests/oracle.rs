//! When losses are notified, to the microsecond: 1000 bytes take 1 ms to be sent and an ACK 0.04
//! ms, each way takes 10 ms.

use super::*;
use ackclock_tcp::Registry;

/// A round trip.
const RTT: u64 = 21_040;

fn lose(model: LossModel, applies: Applies) -> Vec<Loss> {
    vec![Loss { model, applies, flow: None }]
}

/// Segments and the time in microseconds of what is retransmitted, and the time of completion;
/// `segments` are written at once with an initial window of 10.
fn transfer(
    strategy: &str,
    segments: u64,
    there: LinkConfig,
    back: LinkConfig,
) -> (Vec<(u64, u64)>, u64) {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    network.link(LinkConfig { from: a, to: b, ..there });
    network.link(LinkConfig { from: b, to: a, ..back });
    let composition = Registry::default().parse(strategy).expect("a strategy").build();
    let config = SenderConfig {
        mss: 1000,
        events: true,
        initial_window: Some(10),
        ..SenderConfig::default()
    };
    let sender = Sender::new(config, composition);
    network.flow(FlowConfig {
        source: Source::Fixed(segments * 1000),
        ..with_sender(sender, tcp("f", a, b, strategy))
    });
    let log = run(&mut network, 60_000);
    let again = |packet: &Seen| packet.4.is_some_and(|sent| sent.transmission > 1);
    let again = log
        .packets
        .iter()
        .filter(|p| again(p))
        .map(|p| (u64::from(p.3.seq.0) / 1000, p.1.0 / 1000))
        .collect();
    (
        again,
        network.flow_report(FlowId(0)).and_then(|f| f.completed).expect("it completes").0 / 1000,
    )
}

fn with_sender(sender: Sender, config: FlowConfig) -> FlowConfig {
    let Ends::Established { receiver, .. } = config.ends else {
        unreachable!("flows here are established")
    };
    FlowConfig { ends: Ends::Established { sender, receiver }, ..config }
}

fn plain() -> LinkConfig {
    link(NodeId(0), NodeId(1), 10)
}

fn listed(list: &[(u64, u32)]) -> LinkConfig {
    let list =
        list.iter().map(|&(segment, transmission)| ListedLoss { segment, transmission }).collect();
    LinkConfig { loss: lose(LossModel::Listed(list), Applies::Data), ..plain() }
}

/// 10 segments go out at once; the last one's ACK is back after 30.04 ms.
const LOSSLESS: u64 = 9_000 + RTT;

#[test]
fn nothing_lost() {
    for strategy in ["oracle", "oracle-drop"] {
        assert_eq!(transfer(strategy, 10, plain(), plain()), (vec![], LOSSLESS));
    }
}

/// The ACK of segment 3 would have come 4 ms after that of the first byte sent. Three duplicates
/// take 2 ms more.
#[test]
fn one_loss() {
    let lost = || listed(&[(3, 1)]);
    assert_eq!(transfer("oracle", 10, lost(), plain()), (vec![(3, 3_000 + RTT)], 3_000 + 2 * RTT));
    assert_eq!(transfer("sack", 10, lost(), plain()), (vec![(3, 5_000 + RTT)], 5_000 + 2 * RTT));
    // It goes out again behind the nine that wait for the transmitter.
    assert_eq!(transfer("oracle-drop", 10, lost(), plain()), (vec![(3, 1_000)], LOSSLESS));
}

/// A round trip more than without loss, and nothing else.
#[test]
fn the_last_segment_lost() {
    let lost = || listed(&[(9, 1)]);
    assert_eq!(transfer("oracle", 10, lost(), plain()), (vec![(9, LOSSLESS)], LOSSLESS + RTT));
    assert_eq!(transfer("oracle-drop", 10, lost(), plain()), (vec![(9, 1_000)], LOSSLESS));
}

#[test]
fn a_lost_retransmission() {
    let lost = || listed(&[(3, 1), (3, 2)]);
    let again = vec![(3, 3_000 + RTT), (3, 3_000 + 2 * RTT)];
    assert_eq!(transfer("oracle", 10, lost(), plain()), (again, 3_000 + 3 * RTT));
    assert_eq!(
        transfer("oracle-drop", 10, lost(), plain()),
        (vec![(3, 1_000), (3, 2_000)], LOSSLESS)
    );
}

/// Each is notified as if it alone had been let in, all at the same time, and half of them release
/// one; then ACKs clock the rest.
#[test]
fn a_whole_window_lost() {
    let lost = || listed(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|n| (n, 1)));
    let at_once = (0..5).map(|n| (n, RTT));
    let clocked = (5..10).map(|n| (n, 2 * RTT + (n - 5) * 1_000));
    assert_eq!(
        transfer("oracle", 10, lost(), plain()),
        (at_once.chain(clocked).collect(), 4_000 + 3 * RTT)
    );
    let at_once = (0..10).map(|n| (n, 1_000)).collect();
    assert_eq!(transfer("oracle-drop", 10, lost(), plain()), (at_once, 10_000 + RTT));
}

/// The queue holds six. The other four are notified as the seventh would have been, and two of them
/// may go.
#[test]
fn a_full_queue() {
    let there = || LinkConfig { queue: drop_tail(6), ..plain() };
    let (notified, acked) = (6_000 + RTT, 6_000 + 2 * RTT);
    let again = vec![(6, notified), (7, notified), (8, acked), (9, acked + 1_000)];
    assert_eq!(transfer("oracle", 10, there(), plain()), (again, 7_000 + 3 * RTT));
    // Each millisecond there is room for one.
    let each = |ms: u64| (5 + ms..10).map(move |n| (n, ms * 1_000));
    assert_eq!(
        transfer("oracle-drop", 10, there(), plain()),
        ((1..=4).flat_map(each).collect(), LOSSLESS)
    );
}

/// The sender gets ACKs that the network drops, when they would have come, SACK blocks included.
#[test]
fn acks_lost() {
    for (strategy, there) in ["oracle", "oracle-drop"]
        .into_iter()
        .flat_map(|s| [(s, plain()), (s, listed(&[(3, 1), (7, 1)]))])
    {
        let back = LinkConfig { loss: lose(LossModel::Bernoulli(1.0), Applies::Acks), ..plain() };
        assert_eq!(
            transfer(strategy, 60, there.clone(), back),
            transfer(strategy, 60, there.clone(), plain())
        );
        let corrupt = LinkConfig { corrupt: 1.0, ..plain() };
        assert_eq!(
            transfer(strategy, 60, there.clone(), corrupt),
            transfer(strategy, 60, there, plain())
        );
    }
}

/// The sender is notified when the ACK of a segment that its host drops would have come, and then
/// retransmits it if the window lets it.
#[test]
fn segments_corrupt() {
    let mut network = Network::new(3);
    let (a, b) = (network.node("a"), network.node("b"));
    network.link(LinkConfig { corrupt: 0.1, ..link(a, b, 10) });
    network.link(link(b, a, 10));
    let flow =
        network.flow(FlowConfig { source: Source::Fixed(500_000), ..tcp("f", a, b, "oracle") });
    let log = run(&mut network, 60_000);
    let report = network.flow_report(flow).expect("the flow");
    let lost: Vec<(u64, u64)> = log.drops().iter().map(|drop| (drop.1, drop.2)).collect();
    let again = log.packets.iter().filter(|p| p.4.is_some_and(|sent| sent.transmission > 1));
    // 10.04 ms for an ACK.
    let again: Vec<(u64, u64)> =
        again.map(|p| (u64::from(p.3.seq.0), p.1.0 / 1000 - 10_040)).collect();
    assert_eq!(
        again.iter().map(|p| p.0).collect::<Vec<_>>(),
        lost.iter().map(|p| p.0).collect::<Vec<_>>()
    );
    assert_eq!(again[..5], lost[..5]);
    assert!(again.iter().zip(&lost).all(|(sent, lost)| sent.1 >= lost.1));
    assert_eq!((report.stats.retransmissions, report.stats.timeouts), (report.drops, 0));
    assert!(report.drops > 30 && report.completed.is_some());
}

/// A notice keeps its place behind what a delay spike holds up: segment 0, which enters the wire at
/// 1 ms, arrives at 31 ms.
#[test]
fn a_notice_behind_a_delay_spike() {
    let spike = crate::Spike {
        at: Time(MS / 2),
        lasts: Span::from_millis(1),
        delay: Span::from_millis(20),
    };
    let there = LinkConfig { spikes: vec![spike], ..listed(&[(1, 1)]) };
    let notified = 31_000 + 10_040;
    assert_eq!(transfer("oracle", 10, there, plain()), (vec![(1, notified)], notified + RTT));
}

/// Each segment arrives twice at a queue that holds one: the copy that it drops is no loss.
#[test]
fn a_copy_lost() {
    let mut network = Network::new(1);
    let [a, b, c] = ["a", "b", "c"].map(|name| network.node(name));
    network.link(LinkConfig { duplicate: 1.0, ..link(a, b, 1) });
    network.link(LinkConfig { queue: drop_tail(1), ..link(b, c, 1) });
    network.link(link(c, a, 1));
    let flow =
        network.flow(FlowConfig { source: Source::Fixed(10_000), ..tcp("f", a, c, "oracle-drop") });
    run(&mut network, 1000);
    let report = network.flow_report(flow).expect("the flow");
    assert_eq!((report.drops, report.stats.retransmissions, report.bytes_acked), (10, 0, 10_000));
}

/// Where a segment takes no time to be sent, its loss is notified a nanosecond later, so that time
/// goes on.
#[test]
fn an_outage_of_the_fastest_link() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    let loss = lose(LossModel::Bernoulli(1.0), Applies::Data);
    network.link(LinkConfig { loss, rate: u64::MAX, ..link(a, b, 10) });
    network.link(link(b, a, 10));
    let flow =
        network.flow(FlowConfig { source: Source::Fixed(1000), ..tcp("f", a, b, "oracle-drop") });
    network.run(Time(100), &mut ()).expect("a sound network");
    assert_eq!(network.flow_report(flow).expect("the flow").stats.segments_sent, 101);
}

/// Three links to the receiver; a network that loses all that a connection sends on the first one,
/// beside a stream of datagrams on the others.
fn beside_a_stream(strategy: &str) -> (Network, FlowId, FlowId) {
    let mut network = Network::new(1);
    let names = ["a", "b", "c", "d"].map(|name| network.node(name));
    let [a, b, c, d] = names;
    let loss = lose(LossModel::Bernoulli(1.0), Applies::Data);
    network.link(LinkConfig { loss, rate: 80_000_000, ..link(a, b, 1) });
    network.duplex(link(b, c, 5));
    network.duplex(LinkConfig { rate: 4_000_000, ..link(c, d, 5) });
    network.link(link(b, a, 1));
    let config = SenderConfig {
        mss: 1000,
        events: true,
        initial_window: Some(1),
        ..SenderConfig::default()
    };
    let sender =
        Sender::new(config, Registry::default().parse(strategy).expect("a strategy").build());
    let flow = network.flow(FlowConfig {
        source: Source::Fixed(1000),
        ..with_sender(sender, tcp("f", a, d, strategy))
    });
    let stream = network.cbr(CbrConfig { stop: Some(Time(20 * MS)), ..cbr(b, d) });
    (network, flow, stream)
}

/// A notice waits in the queues that it meets, as they are when it meets them, and takes no place
/// in them.
#[test]
fn a_notice_on_its_way() {
    let (mut network, ..) = beside_a_stream("oracle");
    let log = run(&mut network, 100);
    // Datagrams arrive at c each millisecond and leave it every second: they wait ever longer.
    let stream: Vec<_> = log.arrivals().iter().map(|&(_, n, at)| (n / 1000, at)).collect();
    assert_eq!(stream, (0..20).map(|n| (n, 13_000 + 2_000 * n)).collect::<Vec<_>>());
    let sent: Vec<u64> = log.packets.iter().map(|p| p.1.0 / 1000).collect();
    // At b after 1.1 ms, where the second datagram is sent until 2 ms; at c after 8 ms, where it is
    // sent until 10 ms, ahead of the third one, which was put on the link later. The way back
    // is free.
    assert_eq!(sent[..2], [0, 10_000 + 7_000 + 5_080 + 5_040 + 1_040]);
}

/// Where nothing gets through, time goes on, and so does the run.
#[test]
fn an_outage() {
    // The datagrams hold up the second notice until 46 ms; the first link takes 0.1 ms for a
    // segment.
    for (strategy, sent) in [("oracle", 4), ("oracle-drop", 991)] {
        let (mut network, flow, _) = beside_a_stream(strategy);
        network.run(Time(99 * MS), &mut ()).expect("a sound network");
        assert_eq!(
            network.flow_report(flow).expect("the flow").stats.segments_sent,
            sent,
            "{strategy}"
        );
    }
}

#[test]
fn a_stopped_sender_is_notified_of_nothing() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    network.link(LinkConfig { from: a, to: b, ..listed(&[(0, 1), (1, 1)]) });
    network.link(link(b, a, 10));
    let flow = network.flow(FlowConfig { stop: Some(Time(20 * MS)), ..tcp("f", a, b, "oracle") });
    run(&mut network, 1000);
    assert_eq!(network.flow_report(flow).expect("the flow").stats.segments_sent, 2);
}
