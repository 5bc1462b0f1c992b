use super::super::direction::MOST_SEGMENTS;
use super::*;
use ackclock_tcp::Seq;

fn end(port: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], port))
}

fn flows(mss: Option<u32>) -> FlowTable {
    let settings = Settings { mss, header: 40, ack_size: 40, count_options: true };
    FlowTable::new(vec![settings; 2], 1, settings)
}

/// A segment from port `from` to port `to`.
fn segment(from: u16, to: u16, seq: u32, len: u32, control: Control) -> Headers {
    let tcp = TcpHeader {
        seq: Seq(seq),
        ack: Seq(0),
        control,
        len,
        option_len: 12,
        mss: Some(1460),
        timestamps: true,
    };
    Headers {
        len: 52 + len,
        from: end(from),
        to: end(to),
        protocol: 6,
        codepoint: Default::default(),
        tcp: Some(tcp),
    }
}

fn datagram(from: u16, to: u16) -> Headers {
    Headers {
        len: 100,
        from: end(from),
        to: end(to),
        protocol: 17,
        codepoint: Default::default(),
        tcp: None,
    }
}

/// The flow, its segment and the transmission of a segment of 1000 bytes that begins at `seq`.
fn seen(flows: &mut FlowTable, headers: &Headers) -> (u32, u64, u32) {
    let (packet, _) = flows.enter(headers);
    (packet.flow, packet.position, packet.transmission)
}

#[test]
fn flows_have_the_numbers_of_the_scenario() {
    let mut flows = flows(None);
    let mut number = |headers: &Headers| flows.enter(headers).0.flow;
    let syn = |from, to| segment(from, to, 0, 0, Control::SYN);
    assert_eq!(number(&datagram(53, 1)), 2);
    assert_eq!(number(&syn(7, 80)), 0);
    assert_eq!(number(&datagram(53, 2)), 3);
    assert_eq!(number(&syn(8, 80)), 1);
    assert_eq!(number(&syn(9, 80)), 4);
    // Both directions, and again.
    assert_eq!(number(&segment(80, 7, 0, 0, Control::ACK)), 0);
    assert_eq!(number(&datagram(1, 53)), 2);
    // A SYN again is no other connection; with another sequence number it is.
    assert_eq!(number(&syn(7, 80)), 0);
    assert_eq!(number(&segment(7, 80, 1_000_000, 0, Control::SYN)), 5);
    assert_eq!(number(&segment(80, 7, 0, 0, Control::ACK)), 5);
}

#[test]
fn what_is_data() {
    let mut flows = flows(Some(1000));
    let mut kind = |len, control| flows.enter(&segment(7, 80, 0, len, control)).0.kind;
    assert_eq!(kind(0, Control::SYN), Kind::Data);
    assert_eq!(kind(0, Control::ACK), Kind::Ack);
    assert_eq!(kind(0, Control::RST), Kind::Ack);
    assert_eq!(kind(1, Control::ACK), Kind::Data);
    assert_eq!(kind(0, Control::FIN), Kind::Data);
    assert_eq!(flows.enter(&datagram(7, 80)).0.kind, Kind::Datagram);
}

#[test]
fn sizes_are_those_of_the_simulator() {
    let size = |header, ack_size, count_options, len| {
        let settings = Settings { mss: None, header, ack_size, count_options };
        FlowTable::new(vec![], 0, settings).enter(&segment(7, 80, 0, len, Control::ACK)).0.size
    };
    assert_eq!(size(40, 40, true, 1448), 1500);
    assert_eq!(size(0, 40, false, 1000), 1000);
    assert_eq!(size(0, 40, false, 0), 40);
    assert_eq!(size(0, 0, false, 0), 0);
    assert_eq!(size(58, 58, true, 0), 70);
}

/// Of both SYNs the smaller MSS, less the timestamps.
#[test]
fn the_unit_is_what_full_segments_carry() {
    let unit = |configured, other: Option<u16>, timestamps| {
        let mut flows = flows(configured);
        flows.enter(&segment(7, 80, 0, 0, Control::SYN));
        let mut answer = segment(80, 7, 0, 0, Control::SYN.with(Control::ACK));
        if let Some(tcp) = &mut answer.tcp {
            (tcp.mss, tcp.timestamps) = (other, timestamps);
        }
        flows.enter(&answer);
        flows.mss(0)
    };
    assert_eq!(unit(None, Some(1460), true), 1448);
    assert_eq!(unit(None, Some(1000), false), 1000);
    assert_eq!(unit(None, None, false), 536);
    assert_eq!(unit(Some(512), Some(1000), true), 512);
}

/// The second segment's numbers wrap.
#[test]
fn segments_count_from_the_syn_and_transmissions_until_they_are_acknowledged() {
    for isn in [0_u32, u32::MAX - 1500] {
        let mut flows = flows(Some(1000));
        let data = |k: u32| segment(7, 80, isn.wrapping_add(1 + 1000 * k), 1000, Control::ACK);
        flows.enter(&segment(7, 80, isn, 0, Control::SYN));
        flows.enter(&segment(80, 7, 5000, 0, Control::SYN.with(Control::ACK)));
        for k in [0, 1, 2] {
            assert_eq!(seen(&mut flows, &data(k)), (0, 1000 * u64::from(k), 1));
        }
        assert_eq!(seen(&mut flows, &data(1)), (0, 1000, 2));
        let ack = |k: u32| {
            let headers = segment(80, 7, 5001, 0, Control::ACK);
            let tcp = headers
                .tcp
                .map(|tcp| TcpHeader { ack: Seq(isn.wrapping_add(1 + 1000 * k)), ..tcp });
            Headers { tcp, ..headers }
        };
        // It has entered, and not left.
        let (_, left) = flows.enter(&ack(2));
        assert_eq!(seen(&mut flows, &data(1)), (0, 1000, 3));
        flows.acknowledged(0, &left.expect("an ACK"));
        assert_eq!(seen(&mut flows, &data(1)), (0, 1000, u32::MAX));
        assert_eq!(seen(&mut flows, &data(2)), (0, 2000, 2));
        let Some(Some(flow)) = flows.flows.first() else { panic!("a flow") };
        assert_eq!(
            flow.directions
                .iter()
                .map(|direction| direction.transmissions.len())
                .collect::<Vec<_>>(),
            [1, 0]
        );
    }
}

/// A retransmission of the first unacknowledged segment after a duplicate ACK, and no other.
#[test]
fn fast_retransmissions_are_inferred() {
    let mut flows = flows(Some(1000));
    let data = |k: u32| segment(7, 80, 1 + 1000 * k, 1000, Control::ACK);
    flows.enter(&segment(7, 80, 0, 0, Control::SYN));
    for k in 0..4 {
        flows.enter(&data(k));
    }
    let ack = Ack { to: 0, ack: Seq(1001), pure: true, reset: false };
    let fast = |flows: &mut FlowTable, k| flows.enter(&data(k)).0.fast_retransmission;
    flows.acknowledged(0, &ack);
    assert!(!fast(&mut flows, 1));
    flows.acknowledged(0, &ack);
    assert!(fast(&mut flows, 1));
    assert!(!fast(&mut flows, 2));
    flows.acknowledged(0, &Ack { ack: Seq(2001), ..ack });
    assert!(!fast(&mut flows, 2));
    assert!(!fast(&mut flows, 4));
}

#[test]
fn a_connection_that_was_there_before_has_no_segments() {
    let mut flows = flows(Some(1000));
    for _ in 0..2 {
        let (packet, _) = flows.enter(&segment(7, 80, 50_001, 1000, Control::ACK));
        assert_eq!(
            (packet.kind, packet.flow, packet.len, packet.transmission),
            (Kind::Data, 0, 0, 1)
        );
    }
    // Its ports are used anew.
    flows.enter(&segment(7, 80, 9, 0, Control::SYN));
    assert_eq!(seen(&mut flows, &segment(7, 80, 10, 1000, Control::ACK)), (1, 0, 1));
}

#[test]
fn segments_far_beyond_the_window_take_no_memory() {
    let mut flows = flows(Some(1));
    flows.enter(&segment(7, 80, 0, 0, Control::SYN));
    for seq in [70_000, 1 << 30, u32::MAX] {
        assert_eq!(flows.enter(&segment(7, 80, seq, 1, Control::ACK)).0.len, 0);
    }
    flows.enter(&segment(7, 80, 65_000, 60_000, Control::ACK));
    let Some(Some(flow)) = flows.flows.first() else { panic!("a flow") };
    assert_eq!(flow.directions[0].transmissions.len(), MOST_SEGMENTS as usize);
}

#[test]
fn flows_beyond_the_most_replace_those_unused_for_longest() {
    let mut flows = flows(None);
    let flow = |n: usize| {
        let from = SocketAddr::from(([10, 1, (n >> 8) as u8, n as u8], 1000 + (n >> 16) as u16));
        Headers { from, ..datagram(1, 2) }
    };
    let number = |flows: &mut FlowTable, n| flows.enter(&flow(n)).0.flow;
    // One datagram flow of the scenario, and all the others.
    for n in 0..=MOST_FLOWS {
        assert_eq!(number(&mut flows, n), 2 + n as u32);
    }
    let more: Vec<u32> = (0..3).map(|n| number(&mut flows, MOST_FLOWS + 1 + n)).collect();
    assert!(more.iter().all(|&number| number > 2 && number <= 2 + MOST_FLOWS as u32), "{more:?}");
    assert_eq!(number(&mut flows, 0), 2);
    assert_eq!((flows.flows.len(), flows.numbers.len()), (3 + MOST_FLOWS, 1 + MOST_FLOWS));
}

/// 100 segments, of which an ACK covers all: their memory is kept for the next ones. It goes with
/// the FIN's ACK, and with a reset that arrives also that of the other end.
#[test]
fn a_connection_that_has_ended_keeps_no_memory_of_its_segments() {
    let capacities = |flows: &FlowTable| {
        let flow = flows.flows[0].as_ref().unwrap();
        flow.directions.each_ref().map(|direction| direction.transmissions.capacity())
    };
    let open = || {
        let mut flows = flows(Some(1000));
        for (from, to) in [(7, 80), (80, 7)] {
            flows.enter(&segment(from, to, 0, 0, Control::SYN));
            flows.enter(&segment(from, to, 1, 50_000, Control::ACK));
            flows.enter(&segment(from, to, 50_001, 50_000, Control::ACK));
        }
        flows
    };
    let ack = |to, ack, reset| Ack { to, ack: Seq(ack), pure: true, reset };

    let mut flows = open();
    flows.acknowledged(0, &ack(0, 100_001, false));
    assert!(capacities(&flows).iter().all(|&capacity| capacity >= 100), "{:?}", capacities(&flows));
    flows.enter(&segment(7, 80, 100_001, 0, Control::FIN));
    flows.acknowledged(0, &ack(0, 100_002, false));
    assert_eq!(capacities(&flows)[0], 0);
    assert!(capacities(&flows)[1] >= 100);

    let mut flows = open();
    let (_, sent) = flows.enter(&segment(80, 7, 100_001, 0, Control::RST.with(Control::ACK)));
    assert!(capacities(&flows)[0] >= 100, "it has not arrived");
    assert_eq!(capacities(&flows)[1], 0);
    flows.acknowledged(0, &sent.unwrap());
    assert_eq!(capacities(&flows), [0, 0]);
}

/// The connections of the scenario keep their numbers; each of the rest takes the place of the one
/// before, which was closed by both ends or reset, also if its SYNs were not seen.
#[test]
fn connections_that_have_ended_make_room_for_the_next() {
    let mut flows = flows(Some(1000));
    let number = |flows: &mut FlowTable, headers: &Headers| {
        let (packet, ack) = flows.enter(headers);
        ack.inspect(|ack| flows.acknowledged(packet.flow, ack));
        packet.flow
    };
    let with_ack = |mut headers: Headers, ack| {
        headers.tcp.as_mut().unwrap().ack = Seq(ack);
        headers
    };
    for n in 0..300 {
        let from = 1000 + n;
        let end = if n % 3 == 2 { Control::RST } else { Control::FIN }.with(Control::ACK);
        let mut seen = Vec::new();
        if n < 200 {
            seen.push(number(&mut flows, &segment(from, 80, 0, 0, Control::SYN)));
            let answer = segment(80, from, 0, 0, Control::SYN.with(Control::ACK));
            seen.push(number(&mut flows, &with_ack(answer, 1)));
        }
        seen.push(number(&mut flows, &with_ack(segment(from, 80, 1, 0, end), 1)));
        if end.contains(Control::FIN) {
            seen.push(number(&mut flows, &with_ack(segment(80, from, 1, 0, end), 2)));
            seen.push(number(&mut flows, &with_ack(segment(from, 80, 2, 0, Control::ACK), 2)));
        }
        let expected = if n < 2 { u32::from(n) } else { 3 };
        assert!(seen.iter().all(|&number| number == expected), "{n}: {seen:?}");
    }
    // One that is open keeps its place.
    assert_eq!(number(&mut flows, &segment(7, 80, 0, 0, Control::SYN)), 3);
    assert_eq!(number(&mut flows, &segment(8, 80, 0, 0, Control::SYN)), 4);
    assert_eq!(number(&mut flows, &segment(7, 80, 1, 9, Control::ACK)), 3);
    assert_eq!((flows.flows.len(), flows.numbers.len()), (5, 4));
}
