//! Where packets are seen, to the microsecond: a byte takes 1 us on each link, 10 ms to the router
//! and 5 ms from there.

use ackclock_tcp::wire::Control;

use super::*;

/// Each packet as `time place way number: what`, on a path of so many links.
struct Places(Vec<String>, u32);

impl Recorder for Places {
    fn event(&mut self, _: FlowId, _: &Event) {}

    fn packet(&mut self, _: FlowId, at: Place, seen: &Sighting) {
        let place = match at {
            Place::Sender => "sender",
            Place::Receiver => "receiver",
            Place::Node(_) => "router",
        };
        let way = if seen.to_receiver { '>' } else { '<' };
        let what = match seen.sent {
            Some(Sending { cause, transmission }) => {
                format!("{} {} {transmission}", seen.header.seq.0, cause.name())
            }
            None if seen.header.control.contains(Control::SYN) => "syn".into(),
            None => format!("ack {}", seen.header.ack.0),
        };
        let links = match at {
            _ if (at == Place::Sender) == seen.to_receiver && !matches!(at, Place::Node(_)) => 0,
            Place::Node(_) => 1,
            _ => self.1,
        };
        assert_eq!(seen.hops, links, "{seen:?}");
        self.0.push(format!("{} {place} {way} {}: {what}", seen.at.0 / 1000, seen.number));
    }
}

fn path(network: &mut Network, loss: Vec<Loss>) -> (NodeId, NodeId) {
    let (a, router, b) = (network.node("a"), network.node("router"), network.node("b"));
    network.duplex(link(a, router, 10));
    network.link(LinkConfig { loss, ..link(router, b, 5) });
    network.link(link(b, router, 5));
    (a, b)
}

/// Segment 1 is lost on the link behind the router and retransmitted when the timer of 1 s expires.
#[test]
fn what_is_lost_behind_the_router_is_seen_there() {
    let mut network = Network::new(1);
    let lost = LossModel::Listed(vec![ListedLoss::first(1)]);
    let (a, b) = path(&mut network, vec![Loss { model: lost, applies: Applies::Data, flow: None }]);
    network.flow(FlowConfig { source: Source::Fixed(2000), ..tcp("f", a, b, "newreno") });
    let mut seen = Places(Vec::new(), 2);
    network.run(Time(2000 * MS), &mut seen).expect("a sound network");
    let expected = [
        "0 sender > 1: 0 new 1",
        "0 sender > 2: 1000 new 1",
        "11000 router > 1: 0 new 1",
        "12000 router > 2: 1000 new 1",
        "17000 receiver > 1: 0 new 1",
        "17000 receiver < 1: ack 1000",
        "22040 router < 1: ack 1000",
        "32080 sender < 1: ack 1000",
        "1032080 sender > 3: 1000 timeout 2",
        "1043080 router > 3: 1000 timeout 2",
        "1049080 receiver > 3: 1000 timeout 2",
        "1049080 receiver < 2: ack 2000",
        "1054120 router < 2: ack 2000",
        "1064160 sender < 2: ack 2000",
    ];
    assert_eq!(seen.0, expected);
}

/// A duplicate that a link makes has the number of its original, options or not.
#[test]
fn duplicates_have_the_number_of_their_original() {
    for strategy in ["newreno", "sack"] {
        let mut network = Network::new(1);
        let (a, b) = (network.node("a"), network.node("b"));
        network.duplex(LinkConfig { duplicate: 1.0, ..link(a, b, 10) });
        network.flow(FlowConfig { source: Source::Fixed(1000), ..tcp("f", a, b, strategy) });
        let mut seen = Places(Vec::new(), 1);
        network.run(Time(100 * MS), &mut seen).expect("a sound network");
        let data = ["11000 receiver > 1: 0 new 1", "11000 receiver > 1: 0 new 1"];
        assert_eq!(
            seen.0.iter().filter(|line| line.contains("receiver >")).collect::<Vec<_>>(),
            data,
            "{strategy}"
        );
        let acks: Vec<&str> = seen
            .0
            .iter()
            .filter_map(|line| line.split_once("sender < "))
            .map(|(_, ack)| ack)
            .collect();
        assert_eq!(
            acks,
            ["1: ack 1000", "1: ack 1000", "2: ack 1000", "2: ack 1000"],
            "{strategy}"
        );
    }
}

/// What a host drops for its checksum is not seen from where it was corrupted on.
#[test]
fn what_is_corrupt_is_not_seen() {
    let mut network = Network::new(1);
    let (a, router, b) = (network.node("a"), network.node("router"), network.node("b"));
    network.link(LinkConfig { corrupt: 1.0, ..link(a, router, 10) });
    network.link(link(router, b, 5));
    network.link(link(b, a, 5));
    network.flow(FlowConfig { source: Source::Fixed(1000), ..tcp("f", a, b, "newreno") });
    let mut seen = Places(Vec::new(), 2);
    network.run(Time(100 * MS), &mut seen).expect("a sound network");
    assert_eq!(seen.0, ["0 sender > 1: 0 new 1"]);
}

/// A connection that opens is seen from its SYN on, at either end.
#[test]
fn a_connection_that_opens() {
    let mut network = Network::new(1);
    let (a, b) = (network.node("a"), network.node("b"));
    network.duplex(link(a, b, 10));
    network.flow(handshake::with_handshake(a, b, "sack", Source::Fixed(10)));
    let mut seen = Places(Vec::new(), 1);
    network.run(Time(40 * MS), &mut seen).expect("a sound network");
    let expected = [
        "0 sender > 1: syn",
        "10040 receiver > 1: syn",
        "10040 receiver < 1: syn",
        "20080 sender < 1: syn",
        // Its ACK of the SYN/ACK goes with the data, whose header counts no bytes here.
        "20080 sender > 2: 1 new 1",
        "30090 receiver > 2: 1 new 1",
        "30090 receiver < 2: ack 12",
    ];
    assert_eq!(seen.0, expected);
}
