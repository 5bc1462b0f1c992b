use ackclock_tcp::Registry;
use ackclock_tcp::{
    DelayedAck, Event, EventKind, Receiver, ReceiverConfig, Segment, Sender, SenderConfig, Sending,
    Sighting, Span, Stats,
};

use super::*;
use crate::config::{OnOff, Reorder, Source, TimedWrite};
use crate::loss::ListedLoss;
use crate::queue::{Fred, Limit, Queue, Red};
use crate::recorder::Place;
use crate::{Applies, Distribution, Dwell, Law, Loss, LossModel, Web};

/// A packet at the sender's host; the third field tells whether it was sent.
type Seen = (FlowId, Time, bool, Segment, Option<Sending>);

/// Keeps all that it gets.
#[derive(Default, Debug, PartialEq)]
struct Log {
    events: Vec<(FlowId, Event)>,
    packets: Vec<Seen>,
}

impl Recorder for Log {
    fn event(&mut self, flow: FlowId, event: &Event) {
        self.events.push((flow, *event));
    }

    fn packet(&mut self, flow: FlowId, place: Place, seen: &Sighting) {
        if place == Place::Sender {
            self.packets.push((flow, seen.at, seen.to_receiver, seen.segment(), seen.sent));
        }
    }
}

impl Log {
    /// Flow, first byte and time in microseconds of what arrived.
    fn arrivals(&self) -> Vec<(u32, u64, u64)> {
        let arrival = |(flow, event): &(FlowId, Event)| match event.kind {
            EventKind::Arrived { seq, .. } => Some((flow.0, seq, event.at.0 / 1000)),
            _ => None,
        };
        self.events.iter().filter_map(arrival).collect()
    }

    /// Flow, first byte and time in microseconds of the data that was dropped, and why.
    fn drops(&self) -> Vec<(u32, u64, u64, &'static str)> {
        let drop = |(flow, event): &(FlowId, Event)| match event.kind {
            EventKind::Dropped { seq, why, .. } => Some((flow.0, seq, event.at.0 / 1000, why)),
            _ => None,
        };
        self.events.iter().filter_map(drop).collect()
    }
}

mod gateway;
mod handshake;
mod oracle;
mod processor;
mod queues;
mod sightings;

const MS: u64 = 1_000_000;

fn drop_tail(packets: u32) -> Queue {
    Queue::DropTail(Limit::Packets(packets))
}

/// 8 Mb/s, so that a byte takes a microsecond.
fn link(from: NodeId, to: NodeId, delay: u64) -> LinkConfig {
    LinkConfig::new(from, to, 8_000_000, Span::from_millis(delay), drop_tail(1000))
}

/// A packet of 1000 bytes each millisecond.
fn cbr(from: NodeId, to: NodeId) -> CbrConfig {
    CbrConfig {
        name: format!("{}-{}", from.0, to.0),
        from,
        to,
        rate: 8_000_000,
        packet_size: 1000,
        dither: 0.0,
        start: Time::ZERO,
        stop: None,
    }
}

fn tcp(name: &str, from: NodeId, to: NodeId, strategy: &str) -> FlowConfig {
    tcp_with(name, from, to, strategy, false)
}

/// With ECN or without.
fn tcp_with(name: &str, from: NodeId, to: NodeId, strategy: &str, ecn: bool) -> FlowConfig {
    let strategy = Registry::default().parse(strategy).expect("a strategy").build();
    let config = SenderConfig {
        mss: 1000,
        events: true,
        ecn,
        initial_window: Some(2),
        ..SenderConfig::default()
    };
    let receiver = ReceiverConfig {
        mss: 1000,
        delayed_ack: DelayedAck::Off,
        sack: strategy.uses_sack,
        ..ReceiverConfig::default()
    };
    FlowConfig {
        name: name.into(),
        from,
        to,
        ends: Ends::Established {
            sender: Sender::new(config, strategy),
            receiver: Receiver::new(receiver),
        },
        source: Source::Bulk,
        start: Time::ZERO,
        stop: None,
        mss: 1000,
        header: 0,
        ack_size: 40,
        count_options: false,
    }
}

fn run(network: &mut Network, ms: u64) -> Log {
    let mut log = Log::default();
    network.run(Time(ms * MS), &mut log).expect("a sound network");
    log
}

#[test]
fn packets_arrive_when_serialisation_and_propagation_say() {
    let mut network = Network::new(1);
    let (a, b, c) = (network.node("a"), network.node("b"), network.node("c"));
    network.link(link(a, b, 10));
    // Half the rate: each packet waits for the one before it.
    let slow = network.link(LinkConfig { rate: 4_000_000, ..link(b, c, 5) });
    network.cbr(CbrConfig { stop: Some(Time(3 * MS)), ..cbr(a, c) });
    let log = run(&mut network, 100);
    assert_eq!(log.arrivals(), [(0, 0, 18_000), (0, 1000, 20_000), (0, 2000, 22_000)]);
    let report = network.link_report(slow).expect("the link");
    assert_eq!((report.packets, report.bytes, report.departed, report.max_queue), (3, 3000, 3, 2));
    let report = network.flow_report(FlowId(0)).expect("the flow");
    let stats = Stats { segments_sent: 3, bytes_sent: 3000, ..Stats::default() };
    assert_eq!((report.bytes_acked, report.arrived, report.stats), (3000, 3, stats));
    assert_eq!(report.goodput_bps, Some(8_000_000.0));
}

/// The receiver echoes the timestamp of a handshake before data in order has come: also 34 days
/// after the origin, where 0 is a time in the future.
#[test]
fn when_a_flow_starts_does_not_change_what_it_sends() {
    let arrivals = |start: u64| {
        let mut network = Network::new(1);
        let (a, b) = (network.node("a"), network.node("b"));
        let lost = [0, 1].map(|segment| ListedLoss { segment, transmission: 1 });
        let loss = vec![Loss::new(LossModel::Listed(lost.into()))];
        network.link(LinkConfig { loss, ..link(a, b, 10) });
        network.link(link(b, a, 10));
        let strategy = Registry::default().parse("net-reno").unwrap().build();
        let sender = SenderConfig { mss: 1000, timestamps: true, ..SenderConfig::default() };
        let receiver = ReceiverConfig {
            mss: 1000,
            timestamps: true,
            delayed_ack: DelayedAck::Off,
            ..ReceiverConfig::default()
        };
        let ends = Ends::Established {
            sender: Sender::new(sender, strategy),
            receiver: Receiver::new(receiver),
        };
        let mut flow = FlowConfig::new("flow", a, b, ends, 1000);
        (flow.source, flow.start) = (Source::Fixed(20_000), Time(start * MS));
        network.flow(flow);
        let log = run(&mut network, start + 60_000);
        let since = |(flow, position, at): (u32, u64, u64)| (flow, position, at - start * 1000);
        log.arrivals().into_iter().map(since).collect::<Vec<_>>()
    };
    assert_eq!(arrivals(0), arrivals(3_000_000_000));
}

#[test]
fn drop_tail_drops_exactly_what_does_not_fit() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    network.link(LinkConfig { rate: 2_000_000, queue: drop_tail(3), ..link(a, b, 10) });
    network.cbr(CbrConfig { stop: Some(Time(9 * MS)), ..cbr(a, b) });
    let log = run(&mut network, 100);
    let dropped: Vec<u64> = log.drops().iter().map(|drop| drop.1 / 1000).collect();
    assert_eq!(dropped, [3, 5, 6, 7]);
    assert_eq!(log.drops()[0], (0, 3000, 3000, "queue"));
    assert_eq!(network.flow_report(FlowId(0)).expect("the flow").drops, 4);
}

#[test]
fn ties_go_to_the_packet_put_on_its_link_first_then_to_the_first_flow() {
    let race = |delays: [u64; 2], starts: [u64; 2]| {
        let mut network = Network::new(1);
        let (a, b, c) = (network.node("a"), network.node("b"), network.node("c"));
        let d = network.node("d");
        network.link(link(a, c, delays[0]));
        network.link(link(b, c, delays[1]));
        network.link(LinkConfig { queue: drop_tail(1), ..link(c, d, 0) });
        for (from, start) in [a, b].into_iter().zip(starts) {
            let (start, stop) = (Time(start * MS), Some(Time((start + 1) * MS)));
            network.cbr(CbrConfig { start, stop, ..cbr(from, d) });
        }
        run(&mut network, 100).drops()
    };
    assert_eq!(race([5, 5], [0, 0]), [(1, 0, 6000, "queue")]);
    assert_eq!(race([5, 6], [1, 0]), [(0, 0, 7000, "queue")]);
    assert_eq!(race([6, 5], [0, 1]), [(1, 0, 7000, "queue")]);
}

#[test]
fn a_run_ends_at_its_last_moment_and_goes_on_from_there() {
    let build = || {
        let mut network = Network::new(1);
        let (a, b) = (network.node("a"), network.node("b"));
        network.duplex(link(a, b, 10));
        network.cbr(CbrConfig { stop: Some(Time(2 * MS)), ..cbr(a, b) });
        network
    };
    let mut network = build();
    assert_eq!(run(&mut network, 10).arrivals(), []);
    assert_eq!(run(&mut network, 11).arrivals(), [(0, 0, 11_000)]);
    assert_eq!(run(&mut network, 5).arrivals(), []);
    assert_eq!(run(&mut network, 12).arrivals(), [(0, 1000, 12_000)]);

    let mut network = build();
    network.run(Time(11 * MS - 1), &mut ()).expect("a sound network");
    assert_eq!(network.flow_report(FlowId(0)).expect("the flow").arrived, 0);
    network.run(Time(11 * MS), &mut ()).expect("a sound network");
    assert_eq!(network.flow_report(FlowId(0)).expect("the flow").arrived, 1);
}

#[test]
fn late_packets_are_overtaken() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    let reorder = Some(Reorder {
        probability: 0.5,
        segments: Vec::new(),
        extra_delay: Span::from_micros(2500),
    });
    network.link(LinkConfig { reorder, ..link(a, b, 10) });
    network.cbr(CbrConfig { stop: Some(Time(50 * MS)), ..cbr(a, b) });
    let arrivals = run(&mut network, 200).arrivals();
    let (late, on_time): (Vec<_>, Vec<_>) =
        arrivals.iter().partition(|&&(_, position, at)| at == position + 11_000 + 2500);
    assert!(on_time.iter().all(|&(_, position, at)| at == position + 11_000));
    assert_eq!(late.len() + on_time.len(), 50);
    assert!(late.len() > 10 && on_time.len() > 10);
    assert!(arrivals.is_sorted_by_key(|arrival| arrival.2));
    assert!(!arrivals.is_sorted_by_key(|arrival| arrival.1));
}

#[test]
fn a_duplicate_arrives_with_its_original_and_is_no_spurious_retransmission() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    network.link(LinkConfig { duplicate: 1.0, ..link(a, b, 10) });
    network.link(link(b, a, 10));
    network.flow(FlowConfig { source: Source::Fixed(2000), ..tcp("f", a, b, "newreno") });
    let log = run(&mut network, 5000);
    let expected = [(0, 0, 11_000), (0, 0, 11_000), (0, 1000, 12_000), (0, 1000, 12_000)];
    assert_eq!(log.arrivals(), expected);
    let report = network.flow_report(FlowId(0)).expect("the flow");
    assert_eq!((report.arrived, report.spurious_retransmissions, report.stats.acks), (4, 0, 4));
}

/// The segment goes all the way, in its time.
#[test]
fn a_host_drops_what_is_corrupt() {
    for ahead in [true, false] {
        let mut network = Network::new(1);
        network.lookahead(ahead);
        let (a, b, c) = (network.node("a"), network.node("b"), network.node("c"));
        network.link(LinkConfig { corrupt: 1.0, ..link(a, b, 10) });
        let second = network.link(link(b, c, 5));
        network.link(link(c, a, 10));
        network.flow(FlowConfig { source: Source::Fixed(1000), ..tcp("f", a, c, "newreno") });
        let mut log = Log::default();
        let until = Time(100 * MS);
        if ahead { network.run(until, &mut ()) } else { network.run(until, &mut log) }
            .expect("a sound network");
        if !ahead {
            assert_eq!((log.arrivals(), log.drops()), (vec![], vec![(0, 0, 17_000, "corrupt")]));
        }
        let report = network.flow_report(FlowId(0)).expect("the flow");
        assert_eq!((report.drops, report.arrived, report.stats.acks), (1, 0, 0));
        let report = network.link_report(LinkId(0)).expect("the link");
        assert_eq!((report.corrupted, report.departed, report.dropped_loss), (1, 1, 0));
        assert_eq!(network.link_report(second).map(|r| (r.packets, r.corrupted)), Some((1, 0)));
    }
}

#[test]
fn jitter_and_reordering_do_not_move_the_losses() {
    let lost = |jitter, reorder, duplicate, dither| {
        let mut network = Network::new(5);
        let (a, b) = (network.node("a"), network.node("b"));
        let bernoulli =
            Loss { model: LossModel::Bernoulli(0.1), applies: Applies::Both, flow: None };
        let jitter = Span::from_millis(jitter);
        let corrupt = duplicate / 2.0;
        network.link(LinkConfig {
            loss: vec![bernoulli],
            jitter,
            reorder,
            duplicate,
            corrupt,
            ..link(a, b, 10)
        });
        network.cbr(CbrConfig { stop: Some(Time(500 * MS)), dither, ..cbr(a, b) });
        let drops = run(&mut network, 1000).drops();
        let drops = drops.iter().filter(|drop| drop.3 == "bernoulli");
        drops.map(|drop| drop.1 / 1000).take_while(|&n| n < 300).collect::<Vec<u64>>()
    };
    let plain = lost(0, None, 0.0, 0.0);
    assert!((20..40).contains(&plain.len()));
    let reorder =
        Some(Reorder { probability: 0.2, segments: Vec::new(), extra_delay: Span::from_millis(3) });
    assert_eq!(lost(4, None, 0.0, 0.0), plain);
    assert_eq!(lost(0, reorder.clone(), 0.0, 0.0), plain);
    assert_eq!(lost(0, None, 0.3, 0.0), plain);
    assert_eq!(lost(4, reorder, 0.3, 1.0), plain);
}

#[test]
fn a_dropped_segment_and_its_dropped_retransmission() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    let list = vec![ListedLoss::first(14), ListedLoss::retransmission(14, 1)];
    let loss = vec![Loss { model: LossModel::Listed(list), applies: Applies::Data, flow: None }];
    let (there, _) =
        (network.link(LinkConfig { loss, ..link(a, b, 100) }), network.link(link(b, a, 100)));
    network.flow(FlowConfig { source: Source::Fixed(100_000), ..tcp("f", a, b, "newreno") });
    let log = run(&mut network, 60_000);
    let drops: Vec<_> = log.drops().iter().map(|&(_, position, _, why)| (position, why)).collect();
    assert_eq!(drops, [(14_000, "listed"), (14_000, "listed")]);
    let report = network.flow_report(FlowId(0)).expect("the flow");
    assert_eq!((report.bytes_acked, report.drops, report.ack_drops), (100_000, 2, 0));
    assert_eq!(report.stats.timeouts_by_class, [0, 0, 1, 0, 0, 0]);
    assert_eq!(network.link_report(there).map(|link| link.dropped_loss), Some(2));
    // What was sent and has not been dropped has arrived.
    assert_eq!(report.arrived, report.stats.segments_sent - 2);
    let completed = report.completed.expect("it completes");
    let last = log.packets.iter().rev().find(|packet| !packet.2).expect("ACKs");
    assert_eq!(last.1, completed);
    assert_eq!(report.goodput_bps, Some(800_000.0 / completed.secs_f64()));
}

#[test]
fn a_short_transfer_to_the_microsecond() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    network.duplex(link(a, b, 10));
    let config = tcp("f", a, b, "newreno");
    network.flow(FlowConfig {
        source: Source::Fixed(4500),
        start: Time(MS),
        header: 40,
        count_options: true,
        ..config
    });
    let log = run(&mut network, 1000);
    // Two segments of 1040 bytes; each ACK of 40 bytes is back 10.04 ms after the arrival and lets
    // two more go.
    let arrivals = [
        (0, 0, 12_040),
        (0, 1000, 13_080),
        (0, 2000, 33_120),
        (0, 3000, 34_160),
        (0, 4000, 34_700),
    ];
    assert_eq!(log.arrivals(), arrivals);
    let received: Vec<u64> = log.packets.iter().filter(|p| !p.2).map(|p| p.1.0 / 1000).collect();
    assert_eq!(received, [22_080, 23_120, 43_160, 44_200, 44_740]);
    assert_eq!(network.flow_report(FlowId(0)).and_then(|f| f.completed), Some(Time(44_740_000)));
    assert!(log.events.is_sorted_by_key(|(_, event)| event.at));
}

/// Three responses of 1500 bytes over 8 Mb/s and 10 ms each way: 21.04 ms after a write the ACK of
/// the first segment is back, and 0.5 ms later that of the second one, upon which the next response
/// is written. That the ACK comes twice brings no second one.
#[test]
fn a_web_server_writes_again_when_all_is_acknowledged() {
    let written = |think, duplicate| {
        let mut network = Network::new(1);
        let (a, b) = (network.node("a"), network.node("b"));
        network.link(link(a, b, 10));
        network.link(LinkConfig { duplicate, ..link(b, a, 10) });
        let size = Distribution { law: Law::Fixed(1500), max: None };
        let web = Web { responses: 3.0, exactly: true, size, think };
        network.flow(FlowConfig {
            source: Source::Web(web),
            start: Time(MS),
            ..tcp("f", a, b, "newreno")
        });
        let log = run(&mut network, 100_000);
        let write = |(_, event): &(FlowId, Event)| match event.kind {
            EventKind::Written { seq, len } => Some((seq, len, event.at.0 / 1000)),
            _ => None,
        };
        let report = network.flow_report(FlowId(0)).expect("the flow");
        assert_eq!((report.bytes_acked, report.stats.retransmissions), (4500, 0));
        (
            log.events.iter().filter_map(write).collect::<Vec<_>>(),
            report.completed.map(|at| at.0 / 1000),
        )
    };
    let (writes, completed) = written(Span::ZERO, 0.0);
    assert_eq!(writes, [(0, 1500, 1000), (1500, 1500, 22_540), (3000, 1500, 44_080)]);
    assert_eq!(completed, Some(65_620));
    // The draws: the think times after the first and the second response.
    let mut rng = Rng::new(1, "flow f source");
    let think = Span::from_millis(50);
    let draws = [rng.exponential(think), rng.exponential(think)].map(|span| span.0);
    let second = 22_540_000 + draws[0];
    let third = second + 21_540_000 + draws[1];
    assert_eq!(written(think, 1.0), written(think, 0.0));
    let (writes, completed) = written(think, 0.0);
    assert_eq!(writes, [(0, 1500, 1000), (1500, 1500, second / 1000), (3000, 1500, third / 1000)]);
    assert_eq!(completed, Some((third + 21_540_000) / 1000));
}

#[test]
fn a_web_server_that_is_stopped_writes_no_more() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    network.duplex(link(a, b, 10));
    let size = Distribution { law: Law::Fixed(1000), max: None };
    let web = Web { responses: 3.0, exactly: true, size, think: Span::ZERO };
    // The ACK of the first response is back after 21.04 ms, that of the second one after 42.08 ms.
    let stop = Some(Time(42 * MS));
    network.flow(FlowConfig { source: Source::Web(web), stop, ..tcp("f", a, b, "newreno") });
    network.run(Time(1000 * MS), &mut ()).expect("a sound network");
    let report = network.flow_report(FlowId(0)).expect("the flow");
    assert_eq!((report.bytes_acked, report.arrived, report.completed), (1000, 2, None));
}

#[test]
fn a_stopped_sender_is_silent() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    network.duplex(link(a, b, 100));
    network.flow(FlowConfig { stop: Some(Time(150 * MS)), ..tcp("f", a, b, "newreno") });
    let log = run(&mut network, 10_000);
    assert_eq!(log.arrivals(), [(0, 0, 101_000), (0, 1000, 102_000)]);
    let report = network.flow_report(FlowId(0)).expect("the flow");
    assert_eq!((report.bytes_acked, report.stats.acks, report.stats.timeouts), (0, 0, 0));
}

#[test]
fn acks_are_lost_alone() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    let loss = Loss { model: LossModel::Bernoulli(1.0), applies: Applies::Acks, flow: None };
    let lossy = LinkConfig { loss: vec![loss], ..link(a, b, 10) };
    network.duplex(lossy);
    network.flow(FlowConfig { source: Source::Fixed(2000), ..tcp("f", a, b, "newreno") });
    let log = run(&mut network, 900);
    let report = network.flow_report(FlowId(0)).expect("the flow");
    assert_eq!((report.arrived, report.drops, report.ack_drops, report.bytes_acked), (2, 0, 2, 0));
    let acks: Vec<u64> = log
        .events
        .iter()
        .filter_map(|(_, event)| match event.kind {
            EventKind::AckDropped { ack, why: "bernoulli", link: 1 } => Some(ack),
            _ => None,
        })
        .collect();
    assert_eq!(acks, [1000, 2000]);
}

/// 1000 bytes each millisecond meet 4 Mb/s with a burst of 3000 bytes: 3000, 2500, 2000, 1500,
/// 1000, 500 tokens are there.
#[test]
fn a_policer_drops_at_the_entrance_of_its_link() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    let model = LossModel::Policer { rate: 4_000_000, burst: 3000 };
    let loss = vec![Loss { model, applies: Applies::Both, flow: None }];
    let there = network.link(LinkConfig { loss, ..link(a, b, 10) });
    network.cbr(CbrConfig { stop: Some(Time(9 * MS)), ..cbr(a, b) });
    let log = run(&mut network, 100);
    assert_eq!(log.drops(), [(0, 5000, 5000, "policer"), (0, 7000, 7000, "policer")]);
    assert_eq!(
        network.link_report(there).map(|link| (link.packets, link.dropped_loss)),
        Some((9, 2))
    );
}

/// Networks with everything in them: `shape` 0 is one connection over a chain, 1 a dumbbell of own
/// hosts, 2 one of shared hosts with cross traffic.
fn varied(seed: u64, shape: u32, strategy: &str) -> Network {
    let mut network = Network::new(seed);
    let (left, right) = (network.node("left"), network.node("right"));
    let red = Red {
        limit: 30,
        min_th: 3.0,
        max_th: 12.0,
        w_q: 0.02,
        max_p: 0.1,
        gentle: true,
        wait: true,
        queue_in_bytes: false,
        byte_mode: false,
        mean_packet_size: 1000,
        ecn: false,
    };
    let fred = Fred {
        limit: 30,
        min_th: 6.0,
        max_th: 12.0,
        w_q: 0.02,
        max_p: 0.1,
        minq: 2,
        many_flows: false,
        mean_packet_size: 1000,
    };
    let queue = if shape == 2 { Queue::Fred(fred) } else { Queue::Red(red) };
    let mut there = LinkConfig { queue, rate: 4_000_000, ..link(left, right, 20) };
    let gilbert_elliott =
        LossModel::GilbertElliott { p: 0.001, r: 0.2, loss_good: 0.0, loss_bad: 0.5 };
    there.loss.push(Loss { model: gilbert_elliott, applies: Applies::Data, flow: None });
    let mut back = link(right, left, 20);
    if shape == 2 {
        there.reorder = Some(Reorder {
            probability: 0.01,
            segments: Vec::new(),
            extra_delay: Span::from_millis(4),
        });
        back.duplicate = 0.01;
        back.jitter = Span::from_millis(2);
    }
    network.link(there);
    network.link(back);
    let flows = [1u32, 6, 6][shape as usize];
    let mut shared = None;
    for i in 0..flows {
        let pair = |network: &mut Network| {
            let (a, b) = (network.node(&format!("a{i}")), network.node(&format!("b{i}")));
            network.duplex(link(a, left, u64::from(i) % 3));
            let lossy =
                Loss { model: LossModel::Bernoulli(0.002), applies: Applies::Both, flow: None };
            network.duplex(LinkConfig {
                loss: vec![lossy],
                jitter: Span::from_micros(300),
                ..link(right, b, 1)
            });
            (a, b)
        };
        let (a, b) = match shared {
            Some(ends) if shape == 2 && i % 3 != 0 => ends,
            _ => pair(&mut network),
        };
        shared = Some((a, b));
        let mut flow = tcp(&format!("flow {i}"), a, b, strategy);
        flow.start = Time(u64::from(i) * 10 * MS);
        let config = ReceiverConfig { mss: 1000, ..ReceiverConfig::default() };
        if let (1, Ends::Established { receiver, .. }) = (i % 2, &mut flow.ends) {
            *receiver = Receiver::new(config);
        }
        flow.source = match i % 6 {
            2 => Source::Fixed(400_000),
            3 => Source::OnOff(OnOff {
                on: Dwell::Exponential(Span::from_millis(100)),
                off: Dwell::Exponential(Span::from_millis(200)),
                rate: 2_000_000,
                write: 700,
            }),
            4 => Source::Stalls(vec![
                TimedWrite { after: Span::ZERO, bytes: 50_000 },
                TimedWrite { after: Span::from_millis(3000), bytes: 70_000 },
            ]),
            1 => Source::Web(Web {
                responses: 20.0,
                exactly: true,
                size: Distribution { law: Law::Exponential(30_000.0), max: None },
                // With none, the next write is due at the very time of an ACK.
                think: Span::from_millis(if seed.is_multiple_of(2) { 0 } else { 100 }),
            }),
            _ => Source::Bulk,
        };
        flow.stop = (i == 5).then_some(Time(7000 * MS));
        network.flow(flow);
    }
    if shape == 2 {
        network.cbr(CbrConfig { rate: 300_000, dither: 1.0, ..cbr(left, right) });
    }
    network
}

fn reports(network: &Network) -> (Vec<FlowReport>, Vec<LinkReport>) {
    let flows = (0..).map_while(|i| network.flow_report(FlowId(i))).collect();
    (flows, (0..).map_while(|i| network.link_report(LinkId(i))).collect())
}

#[test]
fn lookahead_changes_nothing() {
    for (shape, strategy) in
        (0..3).flat_map(|shape| ["newreno", "sack+lt", "oracle", "oracle-drop"].map(|s| (shape, s)))
    {
        for seed in 0..4 {
            let mut in_order = varied(seed, shape, strategy);
            in_order.lookahead(false);
            let mut ahead = varied(seed, shape, strategy);
            let mut recorded = varied(seed, shape, strategy);
            let mut in_slices = varied(seed, shape, strategy);
            for slice in 1..=250 {
                // Some slices are recorded and so without lookahead.
                if slice % 5 == 0 {
                    run(&mut in_slices, slice * 41);
                } else {
                    in_slices.run(Time(slice * 41 * MS), &mut ()).expect("a sound network");
                }
            }
            let until = Time(250 * 41 * MS);
            in_order.run(until, &mut ()).expect("a sound network");
            ahead.run(until, &mut ()).expect("a sound network");
            let log = run(&mut recorded, 250 * 41);
            let expected = reports(&in_order);
            assert!(expected.0[0].stats.segments_sent > 500, "{expected:?}");
            assert!(expected.0.iter().map(|flow| flow.drops).sum::<u64>() > 5);
            assert_eq!(reports(&ahead), expected, "shape {shape}, {strategy}, seed {seed}");
            assert_eq!(reports(&in_slices), expected, "shape {shape}, {strategy}, seed {seed}");
            assert_eq!(reports(&recorded), expected, "shape {shape}, {strategy}, seed {seed}");
            assert!(log.events.is_sorted_by_key(|(_, event)| event.at));
            assert!(log.packets.is_sorted_by_key(|packet| packet.1));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_events_and_another_seed_others() {
    let log = |seed| run(&mut varied(seed, 2, "sack"), 5000);
    assert_eq!(log(1), log(1));
    assert_ne!(log(1), log(2));
}

#[test]
fn what_is_wrong_is_named() {
    type Build = fn(&mut Network, NodeId, NodeId);
    let error = |build: Build| {
        let mut network = Network::new(1);
        let (a, b) = (network.node("a"), network.node("b"));
        build(&mut network, a, b);
        network.run(Time(MS), &mut ()).expect_err("an error").to_string()
    };
    let cases: [(&str, Build); 9] = [
        ("no route from b to a", |n, a, b| {
            n.link(link(a, b, 1));
            n.flow(tcp("f", a, b, "reno"));
        }),
        ("link a>b#0: the rate must be at least 1 bit per second", |n, a, b| {
            n.link(LinkConfig { rate: 0, ..link(a, b, 1) });
        }),
        ("link a>b#0: `duplicate` must be 0 to 1", |n, a, b| {
            n.link(LinkConfig { duplicate: f64::NAN, ..link(a, b, 1) });
        }),
        ("link a>b#0: `corrupt` must be 0 to 1", |n, a, b| {
            n.link(LinkConfig { corrupt: 1.5, ..link(a, b, 1) });
        }),
        ("link a>?#0: there is no such node", |n, a, _| {
            n.link(link(a, NodeId(7), 1));
        }),
        ("flow f: `from` and `to` must differ", |n, a, _| {
            n.flow(tcp("f", a, a, "reno"));
        }),
        ("flow 0-1: the packet size must be at least 1 byte", |n, a, b| {
            n.cbr(CbrConfig { packet_size: 0, ..cbr(a, b) });
        }),
        ("node a: another node has this name", |n, _, _| {
            n.node("a");
        }),
        ("link a>b#0: a loss probability must be 0 to 1", |n, a, b| {
            let loss =
                Loss { model: LossModel::Bernoulli(1.5), applies: Applies::Both, flow: None };
            n.link(LinkConfig { loss: vec![loss], ..link(a, b, 1) });
        }),
    ];
    for (expected, build) in cases {
        assert_eq!(error(build), expected);
    }
}

#[test]
fn a_network_that_has_run_takes_nothing_more() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    run(&mut network, 1);
    network.link(link(a, b, 1));
    let error = network.run(Time(2 * MS), &mut ()).expect_err("an error");
    assert_eq!(error, Error::Started);
    assert_eq!((network.flow_report(FlowId(3)), network.link_report(LinkId(3))), (None, None));
}

/// What a CBR stream of 8 Mb/s and three connections get of a link of 10 Mb/s, in shares of it,
/// within 20 s.
fn shares(queue: Queue) -> [f64; 4] {
    let mut network = Network::new(1);
    let (left, right) = (network.node("left"), network.node("right"));
    network.duplex(LinkConfig { queue, rate: 10_000_000, ..link(left, right, 5) });
    let greedy = network.node("greedy");
    network.link(link(greedy, left, 1));
    network.cbr(CbrConfig { rate: 8_000_000, ..cbr(greedy, right) });
    for i in 0..3 {
        let host = network.node(&format!("host {i}"));
        network.duplex(link(host, left, 1 + i));
        network.flow(tcp(&format!("flow {i}"), host, right, "newreno"));
    }
    network.run(Time(20_000 * MS), &mut ()).expect("a sound network");
    [0, 1, 2, 3].map(|i| {
        network.flow_report(FlowId(i)).map_or(0, |flow| flow.bytes_acked) as f64 * 8.0 / 200e6
    })
}

/// RED drops from all flows alike, so that who does not respond gets the link; FRED gives each flow
/// about a quarter.
#[test]
fn fred_holds_a_greedy_flow_to_its_share() {
    let red = Red {
        limit: 64,
        min_th: 16.0,
        max_th: 32.0,
        w_q: 0.002,
        max_p: 0.02,
        gentle: false,
        wait: false,
        queue_in_bytes: false,
        byte_mode: false,
        mean_packet_size: 1000,
        ecn: false,
    };
    let fred = Fred {
        limit: 64,
        min_th: 16.0,
        max_th: 32.0,
        w_q: 0.002,
        max_p: 0.02,
        minq: 4,
        many_flows: false,
        mean_packet_size: 1000,
    };
    let (red, fred) = (shares(Queue::Red(red)), shares(Queue::Fred(fred)));
    assert!(red[0] > 0.7, "{red:?}");
    assert!(fred.iter().all(|share| (0.2..0.3).contains(share)), "{fred:?}");
}

/// Ten segments in slow start, two of them first, then two more. In the third round trip the last
/// four are under way with the last two of four ACKs. Nothing takes more room, and what has left
/// makes room for what comes later.
#[test]
fn wires_take_the_memory_of_the_largest_burst() {
    let mut network = Network::new(1);
    let [a, b] = ["a", "b"].map(|name| network.node(name));
    network.duplex(link(a, b, 200));
    let write = |s, bytes| TimedWrite { after: Span::from_secs(s), bytes };
    let source = Source::Stalls(vec![write(0, 10_000), write(4, 1000), write(8, 1000)]);
    network.flow(FlowConfig { source, ..tcp("flow", a, b, "newreno") });
    let places = |until: u64| {
        network.run(Time(until * MS), &mut ()).expect("it runs");
        network.simulator.wires.places()
    };
    assert_eq!([50, 3_900, 6_000, 12_000].map(places), [2, 6, 6, 6]);
}
