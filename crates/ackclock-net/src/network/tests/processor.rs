//! Hosts whose processors take time: a byte takes 1 us on the link, the way 10 ms.

use super::*;
use crate::config::Processor;

fn millis(send: u64, receive: u64, sack_block: u64) -> Processor {
    let [send, receive, sack_block] = [send, receive, sack_block].map(Span::from_millis);
    Processor { send, receive, sack_block }
}

/// Two of them, with these losses on the way of the data.
fn two_hosts(a: Processor, b: Processor, loss: Vec<Loss>) -> (Network, NodeId, NodeId) {
    let mut network = Network::new(1);
    let (from, to) = (network.node("a"), network.node("b"));
    network.link(LinkConfig { loss, ..link(from, to, 10) });
    network.link(link(to, from, 10));
    network.processor(from, a);
    network.processor(to, b);
    (network, from, to)
}

/// When packets were sent and received at the sender's host, in microseconds.
fn seen(log: &Log) -> Vec<u64> {
    log.packets.iter().map(|(_, at, ..)| at.0 / 1000).collect()
}

/// `a` is done with the two segments after 2 and 4 ms, so that they reach `b` after 13 and 15 ms.
/// `b` takes 3 ms for each of them, and so is done after 16 and 19 ms. The second one waited before
/// the first one's ACK did, so the ACKs are sent after 20 and 21 ms. They reach `a` after 30.04 and
/// 31.04 ms, and take 1 ms there.
#[test]
fn what_is_sent_and_what_is_received_wait_in_one_line() {
    let built = || {
        let (mut network, a, b) = two_hosts(millis(2, 1, 0), millis(1, 3, 0), Vec::new());
        let flow = tcp("f", a, b, "newreno");
        let flow = network.flow(FlowConfig { source: Source::Fixed(2000), ..flow });
        (network, flow)
    };
    let (mut network, flow) = built();
    let log = run(&mut network, 1000);
    assert_eq!(log.arrivals(), [(0, 0, 16_000), (0, 1000, 19_000)]);
    assert_eq!(seen(&log), [0, 0, 31_040, 32_040]);
    let (mut ahead, _) = built();
    ahead.run(Time(1000 * MS), &mut ()).expect("a sound network");
    for network in [network, ahead] {
        let done = network.flow_report(flow).and_then(|report| report.completed);
        assert_eq!(done, Some(Time(32_040_000)));
    }
}

/// The first of two segments is lost on the link. The other one is with `b` after 11 ms. Its ACK
/// has one SACK block, which takes `b` and `a` 4 ms each: 11 + 4 + 10.04 + 4.
#[test]
fn a_sack_block_takes_its_time_at_both_ends() {
    let lost = LossModel::Listed(vec![ListedLoss::first(0)]);
    let loss = vec![Loss { model: lost, applies: Applies::Data, flow: None }];
    let (mut network, a, b) = two_hosts(millis(0, 0, 4), millis(0, 0, 4), loss);
    network.flow(FlowConfig { source: Source::Fixed(2000), ..tcp("f", a, b, "sack") });
    assert_eq!(seen(&run(&mut network, 100)), [0, 0, 29_040]);
}

#[test]
fn a_host_has_one_processor() {
    let (mut network, a, _) = two_hosts(millis(1, 1, 0), millis(1, 1, 0), Vec::new());
    network.processor(a, millis(1, 1, 0));
    let error = network.run(Time(1), &mut ()).expect_err("two processors");
    assert_eq!(error.to_string(), "processor of node 0: it has one already");
}

/// The checksum is the host's business, and the drop is the link's that flipped the bit.
#[test]
fn a_corrupt_packet_is_dropped_by_the_link_before_the_processor() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    network.link(LinkConfig { corrupt: 1.0, ..link(a, b, 10) });
    network.link(link(b, a, 10));
    network.processor(b, millis(0, 3, 0));
    network.cbr(CbrConfig { stop: Some(Time(MS)), ..cbr(a, b) });
    let dropped = |(_, event): &(FlowId, Event)| match event.kind {
        EventKind::Dropped { link, why, .. } => Some((link, why, event.at.0 / 1000)),
        _ => None,
    };
    let log = run(&mut network, 100);
    assert_eq!(log.events.iter().find_map(dropped), Some((0, "corrupt", 14_000)));
}

/// The notice of a loss takes no time of processors: segment 0 is lost as it leaves `a` after 2 ms,
/// and `a` is notified after 11 + 10.04 ms more. The retransmission takes 2 + 11 + 3 ms, its ACK
/// 1 + 10.04 + 1 ms.
#[test]
fn the_oracle_is_notified_past_the_processors() {
    let lost = LossModel::Listed(vec![ListedLoss::first(0)]);
    let loss = vec![Loss { model: lost, applies: Applies::Data, flow: None }];
    let (mut network, a, b) = two_hosts(millis(2, 1, 0), millis(1, 3, 0), loss);
    let flow = network.flow(FlowConfig { source: Source::Fixed(2000), ..tcp("f", a, b, "oracle") });
    network.run(Time(1000 * MS), &mut ()).expect("a sound network");
    let done = network.flow_report(flow).and_then(|report| report.completed);
    assert_eq!(done, Some(Time(51_080_000)));
}
