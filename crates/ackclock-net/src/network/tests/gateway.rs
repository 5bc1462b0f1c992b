//! A gateway of a scenario does to the same packets what the network of it does.
//!
//! The endpoints of a network's flows are taken out of it and joined by a gateway instead, which
//! sees what it would of foreign TCP: addresses, ports and headers. Everything that happens to
//! every packet, and when, has to be the same to the nanosecond.

use std::net::SocketAddr;

use ackclock_tcp::wire::Control;
use ackclock_tcp::{Registry, Transmit};

use super::*;
use crate::gateway::{Exit, Gateway, Headers, Outcome, TcpHeader};
use crate::scenario::{BuildOptions, BuiltFlow, Scenario};

/// What became of packets: those that were lost and data that arrived, as an event without the
/// sender's state, and ACKs that arrived.
#[derive(Debug, Default, PartialEq)]
struct Fates {
    data: Vec<(u32, Time, EventKind)>,
    acks: Vec<(u32, Time, Segment)>,
}

/// What a driver keeps of a packet.
enum Kept {
    Data { flow: usize, segment: Segment, position: u64, transmission: u32 },
    Ack { flow: usize, segment: Segment, acknowledged: u64 },
    Datagram { flow: usize, position: u64, len: u32 },
}

/// The flows of a network around a gateway.
struct Driver {
    gateway: Gateway,
    flows: Vec<Flow>,
    kept: Vec<Kept>,
    fates: Fates,
}

fn ends(flow: usize) -> (SocketAddr, SocketAddr) {
    // The client's port is the higher or the lower one by turns.
    let (a, b) = if flow.is_multiple_of(2) { (1000, 2000) } else { (2000, 1000) };
    (SocketAddr::from(([10, 0, 1, flow as u8], a)), SocketAddr::from(([10, 0, 1, flow as u8], b)))
}

fn headers(flow: usize, back: bool, segment: &Segment, control: Control) -> Headers {
    let (from, to) = ends(flow);
    let (from, to) = if back { (to, from) } else { (from, to) };
    let tcp = TcpHeader {
        seq: segment.seq,
        ack: segment.ack,
        control,
        len: segment.len,
        option_len: segment.option_len(),
        mss: None,
        timestamps: segment.timestamps.is_some(),
    };
    Headers {
        len: 40 + segment.len + segment.option_len(),
        from,
        to,
        protocol: 6,
        codepoint: Default::default(),
        tcp: Some(tcp),
    }
}

impl Driver {
    fn new(scenario: &Scenario, built: &[BuiltFlow], flows: Vec<Flow>) -> Driver {
        let mut gateway = Gateway::new(scenario, 7).expect("a sound scenario");
        // The handshakes, past the links.
        for (index, flow) in built.iter().enumerate() {
            let syn = Segment { seq: flow.isn - 1, ..Segment::default() };
            gateway.note(&headers(index, false, &syn, Control::SYN));
            gateway.note(&headers(
                index,
                true,
                &Segment::default(),
                Control::SYN.with(Control::ACK),
            ));
        }
        Driver { gateway, flows, kept: Vec::new(), fates: Fates::default() }
    }

    fn enter(&mut self, now: u64, headers: &Headers, kept: Kept) {
        let (flow, back) = match &kept {
            Kept::Data { flow, .. } | Kept::Datagram { flow, .. } => (*flow, false),
            Kept::Ack { flow, .. } => (*flow, true),
        };
        let (from, to) = (NodeId(self.flows[flow].from), NodeId(self.flows[flow].to));
        let (from, to) = if back { (to, from) } else { (from, to) };
        self.kept.push(kept);
        assert!(self.gateway.enter(Time(now), from, to, headers, self.kept.len() as u64 - 1));
    }

    fn run(&mut self, until: u64) {
        loop {
            let packets = self.gateway.next_deadline().0;
            let due = |flow: &Flow| match &flow.agent {
                Agent::Established(tcp) => {
                    let sender = if flow.stop > tcp.sender.next_deadline().0 {
                        tcp.sender.next_deadline().0
                    } else {
                        u64::MAX
                    };
                    [sender, tcp.receiver.next_deadline().0, flow.next_write]
                }
                Agent::Cbr(_) | Agent::Handshake(_) => [u64::MAX, u64::MAX, flow.next_write],
            };
            let (other, flow, what) = (0..self.flows.len())
                .flat_map(|flow| {
                    due(&self.flows[flow])
                        .into_iter()
                        .zip(0..)
                        .map(move |(at, what)| (at, flow, what))
                })
                .min_by_key(|&(at, flow, what)| (at, what, flow))
                .expect("flows");
            let now = packets.min(other);
            if now > until {
                return;
            }
            if packets <= other {
                while let Some(exit) = self.gateway.poll(Time(now)) {
                    assert_eq!(exit.at, Time(now));
                    self.left(&exit);
                }
            } else {
                self.timer(now, flow, what);
            }
        }
    }

    fn timer(&mut self, now: u64, index: usize, what: usize) {
        let flow = &mut self.flows[index];
        match (&mut flow.agent, what) {
            (Agent::Established(tcp), 0) => tcp.sender.on_deadline(Time(now)),
            (Agent::Established(tcp), 1) => tcp.receiver.on_deadline(Time(now)),
            (Agent::Established(tcp), _) => {
                let write = tcp.writer.write(now);
                tcp.sender.write(Time(now), write.bytes);
                if write.last {
                    tcp.sender.close(Time(now));
                }
                tcp.total = tcp.writer.total();
                flow.next_write = write.next;
                flow.check_completion(now);
            }
            (Agent::Handshake(_), _) => unreachable!("flows here are established"),
            (Agent::Cbr(cbr), _) => {
                flow.next_write = if now >= flow.stop { u64::MAX } else { cbr.next(now) };
                if now < flow.stop {
                    let packet = cbr.datagram(index as u32, 0, &mut Default::default());
                    let (from, to) = ends(index);
                    let headers = Headers {
                        len: packet.size,
                        from,
                        to,
                        protocol: 17,
                        codepoint: Default::default(),
                        tcp: None,
                    };
                    self.enter(
                        now,
                        &headers,
                        Kept::Datagram { flow: index, position: packet.position, len: packet.len },
                    );
                }
            }
        }
        self.pump(now, index);
    }

    fn left(&mut self, exit: &Exit) {
        let now = exit.at;
        let kept = &self.kept[exit.token as usize];
        let &(Kept::Data { flow: index, .. }
        | Kept::Ack { flow: index, .. }
        | Kept::Datagram { flow: index, .. }) = kept;
        let flow = &mut self.flows[index];
        let lost = match exit.outcome {
            Outcome::Delivered { node, flip: None, .. } => {
                let end = if matches!(kept, Kept::Ack { .. }) { flow.from } else { flow.to };
                assert_eq!(node, NodeId(end));
                None
            }
            // The network says so of the last link.
            Outcome::Delivered { node, flip: Some(_), .. } => {
                Some((if node == NodeId(2) { 2 } else { 1 }, "corrupt"))
            }
            Outcome::Dropped { link, why } => Some((link.0, why)),
        };
        let seen = match (lost, kept) {
            (Some((link, why)), &Kept::Data { segment, position, transmission, .. }) => {
                EventKind::Dropped { seq: position, len: segment.len, transmission, link, why }
            }
            (Some((link, why)), &Kept::Datagram { position, len, .. }) => {
                EventKind::Dropped { seq: position, len, transmission: 1, link, why }
            }
            (Some((link, why)), &Kept::Ack { acknowledged: ack, .. }) => {
                EventKind::AckDropped { ack, link, why }
            }
            (None, &Kept::Data { segment, position, .. }) => {
                let Agent::Established(tcp) = &mut flow.agent else { return };
                let spurious = !tcp.receiver.on_segment(now, &segment);
                EventKind::Arrived { seq: position, len: segment.len, spurious }
            }
            (None, &Kept::Datagram { position: seq, len, .. }) => {
                EventKind::Arrived { seq, len, spurious: false }
            }
            (None, &Kept::Ack { segment, .. }) => {
                let Agent::Established(tcp) = &mut flow.agent else { return };
                if now.0 >= flow.stop {
                    return;
                }
                self.fates.acks.push((index as u32, now, segment));
                tcp.sender.on_segment(now, &segment);
                if let Some(at) = flow.check_completion(now.0) {
                    flow.next_write = at;
                }
                return self.pump(now.0, index);
            }
        };
        self.fates.data.push((index as u32, now, seen));
        self.pump(now.0, index);
    }

    fn pump(&mut self, now: u64, index: usize) {
        loop {
            let Agent::Established(tcp) = &mut self.flows[index].agent else { return };
            while tcp.sender.poll_event().is_some() {}
            if let Some(Transmit { segment, position, transmission, .. }) =
                tcp.sender.poll_transmit(Time(now))
            {
                let headers = headers(index, false, &segment, Control::ACK);
                self.enter(
                    now,
                    &headers,
                    Kept::Data { flow: index, segment, position, transmission },
                );
            } else if let Some(segment) = tcp.receiver.poll_transmit(Time(now)) {
                let acknowledged = tcp.receiver.rcv_nxt();
                let headers = headers(index, true, &segment, Control::ACK);
                self.enter(now, &headers, Kept::Ack { flow: index, segment, acknowledged });
            } else {
                return;
            }
        }
    }
}

impl Fates {
    fn of(log: &Log) -> Fates {
        let seen = |kind: &EventKind| {
            matches!(
                kind,
                EventKind::Arrived { .. }
                    | EventKind::Dropped { .. }
                    | EventKind::AckDropped { .. }
            )
        };
        let data = log.events.iter().filter(|(_, event)| seen(&event.kind));
        let acks = log.packets.iter().filter(|packet| !packet.2);
        Fates {
            data: data.map(|(flow, event)| (flow.0, event.at, event.kind)).collect(),
            acks: acks.map(|(flow, at, _, segment, _)| (flow.0, *at, *segment)).collect(),
        }
    }
}

/// Runs a scenario both ways; returns what became of its packets.
fn both_ways(text: &str) -> Fates {
    let scenario = Scenario::from_toml(text, &Registry::default())
        .map_err(|e| e.to_string())
        .expect("a sound scenario");
    let registry = Registry::default();
    let options = BuildOptions::new(&registry, 7).events(true);
    let build = || scenario.build(&options).expect("a sound scenario");
    let mut network = build();
    let mut log = Log::default();
    network.run(&mut log).expect("a sound network");

    let mut other = build();
    other.network.start().expect("routes");
    let until = other.until.0;
    let mut driver =
        Driver::new(&scenario, &other.flows, std::mem::take(&mut other.network.simulator.flows));
    driver.run(until);
    let in_network = Fates::of(&log);
    for (ours, theirs) in driver.fates.data.iter().zip(&in_network.data) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(driver.fates, in_network);
    for (built, report) in driver.gateway.link_reports(Time(until)) {
        assert_eq!(Some(report), network.network.link_report(built.id));
        assert_eq!(built, network.links[built.id.0 as usize]);
    }
    // Nothing is held of what has left.
    while driver.gateway.poll(Time(2 * until)).is_some() {}
    assert_eq!(driver.gateway.under_way(), 0);
    in_network
}

/// Two links in a row, the second one with these settings.
fn over(link: &str) -> Fates {
    both_ways(&format!(
        r#"
        duration = "20s"
        [tcp]
        mss = 1000
        isn = 4294900000
        [[link]]
        from = "a"
        to = "r"
        rate = "8mbit"
        delay = "1ms"
        [[link]]
        from = "r"
        to = "b"
        rate = "2mbit"
        delay = "20ms"
        {link}
        [[flow]]
        from = "a"
        to = "b"
        strategy = "sack"
        [[flow]]
        from = "b"
        to = "a"
        start = "1s"
        strategy = "newreno"
        tcp = {{ mss = 700, timestamps = true, header = 0, count_options = false }}
        source = {{ web = {{ responses = 20, size = {{ fixed = "30kb" }}, think = "100ms" }} }}
        [[cbr]]
        from = "a"
        to = "b"
        rate = "200kbit"
        packet_size = 500
        start = "2s"
        dither = 0.5
        "#
    ))
}

impl Fates {
    fn drops(&self, of: &str) -> usize {
        let dropped = |kind: &EventKind| match kind {
            EventKind::Dropped { why, .. } | EventKind::AckDropped { why, .. } => *why == of,
            _ => false,
        };
        self.data.iter().filter(|(_, _, kind)| dropped(kind)).count()
    }
}

#[test]
fn drop_tail_by_packets_and_by_bytes() {
    assert!(over("queue = { droptail = { packets = 20 } }").drops("queue") > 5);
    assert!(over(r#"queue = { droptail = { bytes = "20kb" } }"#).drops("queue") > 5);
}

#[test]
fn early_drops() {
    assert!(
        over("queue = { red = { limit = 30, min = 5, max = 15, weight = 0.01 } }").drops("early")
            > 5
    );
    assert!(
        over("queue = { fred = { limit = 30, min = 4, max = 8, weight = 0.01 } }").drops("early")
            > 5
    );
}

#[test]
fn drops_as_packets_leave() {
    let queue = |keys: &str| over(&format!("queue = {{ {keys} }}"));
    let codel = "codel = { target = \"1ms\", interval = \"10ms\" }";
    assert!(queue(codel).drops("early") > 5);
    let fq = "fq_codel = { target = \"1ms\", interval = \"10ms\" }";
    assert!(queue(fq).drops("early") > 5);
    assert!(queue("fq_codel = { limit = 20 }").drops("queue") > 5);
    let pie = "pie = { target = \"1ms\", update = \"1ms\", max_burst = \"0s\" }";
    assert!(queue(pie).drops("early") > 5);
}

#[test]
fn random_losses_of_each_kind() {
    let lost = |loss: &str, name: &str| over(&format!("loss = [{loss}]")).drops(name);
    assert!(lost(r#"{ bernoulli = { p = "1%" } }"#, "bernoulli") > 5);
    assert!(lost(r#"{ bernoulli = { p = "1%", direction = "ack" } }"#, "bernoulli") > 5);
    assert!(
        lost(r#"{ bernoulli = { p = "2%", direction = "both", flow = "cbr0" } }"#, "bernoulli") > 2
    );
    assert!(lost(r#"{ gilbert_elliott = { p = "1%", r = "30%" } }"#, "gilbert_elliott") > 5);
    assert!(lost(r#"{ policer = { rate = "1mbit", burst = "10kb" } }"#, "policer") > 5);
}

#[test]
fn a_fast_retransmission_is_known_for_what_it_is() {
    let states = "second_at = '5s', second_for = '50ms', second_loss = 0.2, third_for = '1s', \
        third_loss = 0";
    let three = |lose: bool| {
        over(&format!(
            "loss = [{{ three_state = {{ {states}, lose_fast_retransmission = {lose} }} }}]"
        ))
    };
    let lost = |fates: Fates| {
        let again = |kind: &EventKind| {
            matches!(kind, EventKind::Dropped { why: "three_state", transmission: 2, .. })
        };
        fates.data.iter().filter(|(_, _, kind)| again(kind)).count()
    };
    assert_eq!((lost(three(true)), lost(three(false))), (1, 0));
}

#[test]
fn drop_lists_name_segments_and_retransmissions_of_a_flow() {
    let listed = |list: &str| over(&format!("loss = [{{ drop = {{ {list} }} }}]"));
    let seen = |fates: &Fates| {
        let drop = |(flow, _, kind): &(u32, Time, EventKind)| match *kind {
            EventKind::Dropped { seq, transmission, why: "listed", .. } => {
                Some((*flow, seq, transmission))
            }
            _ => None,
        };
        let mut drops: Vec<_> = fates.data.iter().filter_map(drop).collect();
        drops.sort();
        drops
    };
    // The sequence numbers of flow 0 wrap after 67 segments.
    let fates = listed(
        r#"segments = [14, 66, 67, 200], retransmissions = ["14:1", "14:2", "67:1"], flow = "flow0""#,
    );
    let expected = [(14, 1), (14, 2), (14, 3), (66, 1), (67, 1), (67, 2), (200, 1)]
        .map(|(k, n)| (0, 1000 * k, n));
    assert_eq!(seen(&fates), expected);
    let fates = listed(r#"segments = [3], retransmissions = ["3:1"], flow = "flow1""#);
    assert_eq!(seen(&fates), [(1, 2100, 1), (1, 2100, 2)]);
    assert_eq!(seen(&listed("segments = [5]")), [(0, 5000, 1), (1, 3500, 1), (2, 2500, 1)]);
}

/// ACKs have the numbers that they have in a network, in either direction of the link.
#[test]
fn single_packets_meet_their_fates() {
    let fates = over(
        r#"fate = [
            { segment = 14, lose = true, flow = "flow0" },
            { segment = 14, transmission = 2, late = "40ms", flow = "flow0" },
            { segment = 30, late = "7ms" },
            { segment = 31, late = "3ms" },
            { ack = 3, lose = true },
            { ack = 9, late = "9ms", flow = "flow1" },
        ]"#,
    );
    assert_eq!(fates.drops("listed"), 3);
}

#[test]
fn the_wire() {
    over(r#"jitter = "5ms""#);
    over(r#"spikes = [{ at = "3s", for = "500ms", delay = "800ms" }]"#);
    over(r#"reorder = { p = "2%", segments = [7], delay = "30ms" }"#);
    over(r#"duplicate = "2%""#);
    assert!(over(r#"corrupt = "1%""#).drops("corrupt") > 5);
    let all = over(
        r#"jitter = "1ms"
        reorder = { p = "1%", delay = "30ms" }
        duplicate = "1%"
        corrupt = "1%"
        loss = [{ bernoulli = { p = "1%", direction = "both" } }]
        queue = { red = { limit = 30, min = 1, max = 3, weight = 0.05 } }"#,
    );
    let drops = ["bernoulli", "early", "corrupt"].map(|name| all.drops(name));
    assert!(drops.iter().all(|&n| n > 0), "{drops:?}");
}
