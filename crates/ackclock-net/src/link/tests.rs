use super::*;
use crate::config::{Reorder, Spike};
use crate::fates::{Fate, ListedFate, ListedPacket};
use crate::ids::NodeId;
use crate::loss::{Applies, ListedLoss, Loss, LossModel};
use crate::packet::{Kind as PacketKind, Options};
use ackclock_tcp::{Segment, Time};

fn packet(size: u32) -> Packet {
    let segment = Segment { len: size, ..Segment::default() };
    Packet::new(PacketKind::Data, &segment, &mut Options::default())
}

/// 8 Mb/s, so that a byte takes a microsecond, and 5 ms.
fn config(queue: Queue) -> LinkConfig {
    LinkConfig::new(NodeId(0), NodeId(1), 8_000_000, Span::from_millis(5), queue)
}

/// Arrival times at the other end, or why dropped, of packets given as (time in microseconds,
/// bytes); times in microseconds.
fn pass(link: &mut Link, packets: &[(u64, u32)]) -> Vec<Result<u64, &'static str>> {
    let us = |&(at, size): &(u64, u32)| match link.admit_if_idle(at * 1000, size) {
        Some(arrival) => Ok(arrival / 1000),
        None => link.admit(at * 1000, &packet(size), || 1000).map(|arrival| arrival / 1000),
    };
    packets.iter().map(us).collect()
}

#[test]
fn a_packet_arrives_after_its_transmission_and_the_delay() {
    let mut link = Link::new(config(Queue::DropTail(Limit::Packets(9))), 0, "a>b#0");
    let sent = [(0, 1000), (0, 40), (500, 1000), (9000, 1000)];
    assert_eq!(pass(&mut link, &sent), [Ok(6000), Ok(6040), Ok(7040), Ok(15_000)]);
}

/// Two wires by turns: each keeps its order, and what has left makes room for what comes next, on
/// whichever wire.
#[test]
fn wires_share_their_memory() {
    let mut links = [(); 2].map(|()| Link::new(config(Queue::DropTail(Limit::Packets(9))), 0, ""));
    let (mut heap, mut wires) = (Heap::default(), Wires::default());
    let put = |link: &mut Link, heap: &mut Heap, wires: &mut Wires, at: u64| {
        let packet = Packet { position: at, ..packet(1000) };
        link.put(Key::new(at, 0, Kind::Wire, 0), &packet, false, heap, wires);
    };
    let mut left = Vec::new();
    for (nth, at, places) in [(0, 1, 1), (1, 2, 2), (0, 3, 3), (0, 4, 4)] {
        put(&mut links[nth], &mut heap, &mut wires, at);
        assert_eq!(wires.places(), places);
    }
    for nth in [0, 0, 1, 0, 0, 1] {
        let key = wires.first(&links[nth].wire).map(|first| first.key);
        // The heap has the first packet of each wire only.
        let mut heap = Heap::default();
        key.into_iter().for_each(|key| heap.push(key));
        heap.peek();
        let packet = key.and_then(|key| links[nth].take(key, &mut heap, &mut wires));
        left.push(packet.map(|packet| packet.position));
        assert_eq!(heap.peek(), wires.first(&links[nth].wire).map(|first| first.key));
    }
    assert_eq!(left, [Some(1), Some(3), Some(2), Some(4), None, None]);
    for at in 5..9 {
        put(&mut links[1], &mut heap, &mut wires, at);
    }
    assert_eq!(wires.places(), 4);
    put(&mut links[0], &mut heap, &mut wires, 9);
    assert_eq!(wires.places(), 5);
    let first = |nth: usize| wires.first(&links[nth].wire).map(|first| first.packet.position);
    assert_eq!([first(0), first(1)], [Some(9), Some(5)]);
}

#[test]
fn drop_tail_counts_the_packet_in_transmission() {
    let mut link = Link::new(config(Queue::DropTail(Limit::Packets(2))), 0, "a>b#0");
    // Departures at 1000 and 2000; the third finds both, the fourth comes as the first leaves.
    let sent = [(0, 1000), (0, 1000), (999, 1000), (1000, 1000), (1999, 1000), (5000, 1000)];
    assert_eq!(
        pass(&mut link, &sent),
        [Ok(6000), Ok(7000), Err("queue"), Ok(8000), Err("queue"), Ok(11_000)]
    );
    let report = link.report(5_500_000);
    let expected = LinkReport {
        packets: 6,
        bytes: 6000,
        dropped_queue: 2,
        marked: 0,
        dropped_early: 0,
        dropped_loss: 0,
        corrupted: 0,
        departed: 3,
        max_queue: 2,
    };
    assert_eq!(report, expected);
    assert_eq!(link.report(6_000_000).departed, 4);
}

#[test]
fn drop_tail_in_bytes_holds_so_many() {
    let mut link = Link::new(config(Queue::DropTail(Limit::Bytes(2000))), 0, "a>b#0");
    let sent = [(0, 1500), (0, 501), (0, 500), (1500, 1500), (1500, 1), (9000, 2001)];
    assert_eq!(
        pass(&mut link, &sent),
        [Ok(6500), Err("queue"), Ok(7000), Ok(8500), Err("queue"), Err("queue")]
    );
}

#[test]
fn a_queue_of_none_takes_none() {
    for limit in [Limit::Packets(0), Limit::Bytes(0)] {
        let mut link = Link::new(config(Queue::DropTail(limit)), 0, "a>b#0");
        assert_eq!(pass(&mut link, &[(0, 1000)]), [Err("queue")]);
    }
}

#[test]
fn transmission_times_are_rounded_to_the_nearest_nanosecond() {
    assert_eq!(transmission_time(1000, 1_200_000), 6_666_667);
    assert_eq!(transmission_time(1, 3_000_000_000), 3);
    assert_eq!(transmission_time(1, 16_000_000_000), 1);
    assert_eq!(transmission_time(1, 16_000_000_001), 0);
    assert_eq!(transmission_time(0, 1), 0);
    assert_eq!(transmission_time(u32::MAX, 1), u64::MAX);
    assert_eq!(transmission_time(u32::MAX, 8), 4_294_967_295_000_000_000);
    assert_eq!(transmission_time(u32::MAX, u64::MAX), 2);
}

#[test]
fn red_sees_the_queue_without_the_packet_in_transmission() {
    let red = crate::queue::Red {
        limit: 2,
        min_th: 100.0,
        max_th: 200.0,
        w_q: 0.5,
        max_p: 0.1,
        gentle: false,
        wait: false,
        queue_in_bytes: false,
        byte_mode: false,
        mean_packet_size: 1000,
        ecn: false,
    };
    let mut link = Link::new(config(Queue::Red(red)), 0, "a>b#0");
    // One in transmission and two waiting; the fourth does not fit, until the first has left.
    let sent = [(0, 1000), (0, 1000), (0, 1000), (0, 1000), (1000, 1000)];
    assert_eq!(pass(&mut link, &sent), [Ok(6000), Ok(7000), Ok(8000), Err("queue"), Ok(9000)]);
}

#[test]
fn a_lost_packet_takes_no_time_of_the_link() {
    let loss = Loss { model: LossModel::Bernoulli(1.0), applies: Applies::Acks, flow: None };
    let mut link = Link::new(
        LinkConfig { loss: vec![loss], ..config(Queue::DropTail(Limit::Packets(9))) },
        0,
        "a>b#0",
    );
    let ack = Packet { kind: PacketKind::Ack, ..packet(1000) };
    assert_eq!(link.admit(0, &ack, || 1000), Err("bernoulli"));
    assert_eq!(pass(&mut link, &[(0, 1000)]), [Ok(6000)]);
    assert_eq!(link.report(9_000_000).dropped_loss, 1);
}

#[test]
fn jitter_delays_but_keeps_the_order() {
    let jittery = LinkConfig {
        jitter: Span::from_millis(3),
        ..config(Queue::DropTail(Limit::Packets(1000)))
    };
    let mut link = Link::new(jittery, 3, "a>b#0");
    let arrivals: Vec<u64> =
        (0..1000).map(|_| link.admit(0, &packet(10), || 1).unwrap_or(0)).collect();
    assert!(arrivals.is_sorted());
    let late = |(i, &at): (usize, &u64)| at - (5_000_000 + 10_000 * (i as u64 + 1));
    let extra: Vec<u64> = arrivals.iter().enumerate().map(late).collect();
    assert!(extra.iter().all(|&e| e <= 3_000_000));
    assert!(extra.iter().any(|&e| e > 2_900_000));
}

/// A transmission takes 1 ms and the wire 5 ms. From 2 to 4 ms it takes 3 ms longer: the packets
/// that enter it at 2 and at 3 ms, but not those at 1 and 4 ms. The one at 4 ms, and the one at 5,
/// find those before them still under way.
#[test]
fn a_delay_spike_holds_up_what_enters_the_wire_in_its_time() {
    let spike = |at: u64, lasts, delay| Spike {
        at: Time(at * 1_000_000),
        lasts: Span::from_millis(lasts),
        delay: Span::from_millis(delay),
    };
    let arrivals = |spikes| {
        let spiky = LinkConfig { spikes, ..config(Queue::DropTail(Limit::Packets(9))) };
        assert!(Link::is_deterministic(&spiky));
        let mut link = Link::new(spiky, 0, "a>b#0");
        assert!(link.keeps_order());
        pass(&mut link, &[(0, 1000), (0, 1000), (0, 1000), (0, 1000), (0, 1000), (6000, 1000)])
    };
    assert_eq!(
        arrivals(vec![spike(2, 2, 3)]),
        [Ok(6000), Ok(10_000), Ok(11_000), Ok(11_000), Ok(11_000), Ok(12_000)]
    );
    // Two at the same time add up.
    assert_eq!(
        arrivals(vec![spike(2, 2, 3), spike(3, 1, 10)]),
        [Ok(6000), Ok(10_000), Ok(21_000), Ok(21_000), Ok(21_000), Ok(21_000)]
    );
}

#[test]
fn reordering_duplication_and_corruption_mark_packets() {
    let reorder =
        Some(Reorder { probability: 1.0, segments: Vec::new(), extra_delay: Span::from_millis(2) });
    let mut link = Link::new(
        LinkConfig {
            reorder,
            duplicate: 1.0,
            corrupt: 1.0,
            ..config(Queue::DropTail(Limit::Packets(9)))
        },
        0,
        "a>b#0",
    );
    assert_eq!(link.admit(0, &packet(1000), || 1000), Ok(8_000_000));
    assert_eq!(link.effects(), Effects { late: true, twice: true, corrupt: true, marked: false });
    assert_eq!(link.report(8_000_000).corrupted, 1);
    assert!(!link.keeps_order());
}

#[test]
fn a_listed_segment_is_late_once() {
    let reorder =
        Some(Reorder { probability: 0.0, segments: vec![3], extra_delay: Span::from_millis(2) });
    let mut link =
        Link::new(LinkConfig { reorder, ..config(Queue::DropTail(Limit::Packets(9))) }, 0, "a>b#0");
    let segment = |position| Packet { position, len: 1000, ..packet(1000) };
    let mut arrives =
        |p: Packet| link.admit(0, &p, || 1000).map(|at| (at / 1_000_000, link.effects().late));
    assert_eq!(arrives(segment(2000)), Ok((6, false)));
    assert_eq!(arrives(segment(3000)), Ok((9, true)));
    assert_eq!(arrives(segment(4000)), Ok((8, false)));
    assert_eq!(arrives(Packet { transmission: 2, ..segment(3000) }), Ok((9, false)));
    assert_eq!(arrives(Packet { kind: PacketKind::Ack, ..segment(3000) }), Ok((10, false)));
    assert_eq!(arrives(Packet { copy: true, ..segment(3000) }), Ok((11, false)));
}

/// The second and the third of five packets are late, the second by so much that it comes last.
#[test]
fn listed_fates_hold_back_no_other_packet() {
    let fate = |segment, fate| ListedFate {
        packet: ListedPacket::Transmission(ListedLoss::first(segment)),
        flow: None,
        fate,
    };
    let late = |ms| Fate::Late(Span::from_millis(ms));
    let fates = vec![fate(1, late(4)), fate(2, late(2)), fate(3, Fate::Lost), fate(9, Fate::Lost)];
    let config = LinkConfig { fates, ..config(Queue::DropTail(Limit::Packets(9))) };
    let mut link = Link::new(config, 0, "a>b#0");
    assert!(!link.keeps_order());
    let (mut heap, mut wires) = (Heap::default(), Wires::default());
    let mut admitted = Vec::new();
    for segment in 0..5 {
        let packet = Packet { position: segment * 1000, len: 1000, ..packet(1000) };
        let arrival = link.admit(0, &packet, || 1000);
        admitted.push(arrival.map(|at| at / 1_000_000));
        if let Ok(at) = arrival {
            let late = link.effects().late;
            let kind = if late { Kind::Late } else { Kind::Wire };
            link.put(Key::new(at, 0, kind, 0), &packet, late, &mut heap, &mut wires);
        }
    }
    // A packet takes a millisecond, but one that is lost takes none.
    assert_eq!(admitted, [Ok(6), Ok(11), Ok(10), Err("listed"), Ok(9)]);
    let mut arrivals = Vec::new();
    while let Some(key) = heap.peek() {
        let packet = link.take(key, &mut heap, &mut wires);
        arrivals.extend(packet.map(|packet| (key.time() / 1_000_000, packet.position / 1000)));
    }
    assert_eq!(arrivals, [(6, 0), (9, 4), (10, 2), (11, 1)]);
    assert_eq!(link.unmet_fates().collect::<Vec<_>>(), [3]);
    assert_eq!(link.report(20_000_000).dropped_loss, 1);
}

/// A packet that the queue drops, and one after it that has no fate, are not late.
#[test]
fn lateness_is_that_of_one_packet() {
    let late = ListedFate {
        packet: ListedPacket::Transmission(ListedLoss::first(1)),
        flow: None,
        fate: Fate::Late(Span::from_millis(4)),
    };
    let queue = Queue::DropTail(Limit::Packets(1));
    let mut link = Link::new(LinkConfig { fates: vec![late], ..config(queue) }, 0, "a>b#0");
    let mut admit = |at: u64, segment: u64| {
        let packet = Packet { position: segment * 1000, len: 1000, ..packet(1000) };
        link.admit(at * 1_000_000, &packet, || 1000).map(|at| at / 1_000_000)
    };
    assert_eq!([admit(0, 0), admit(0, 1), admit(1, 2)], [Ok(6), Err("queue"), Ok(7)]);
}

#[test]
fn fred_accounts_for_each_flow_and_sees_departures() {
    let fred = crate::queue::Fred {
        limit: 9,
        min_th: 1.0,
        max_th: 200.0,
        w_q: 0.5,
        max_p: 0.0,
        minq: 2,
        many_flows: false,
        mean_packet_size: 1000,
    };
    let mut link = Link::new(config(Queue::Fred(fred)), 0, "a>b#0");
    let mut arrives = |us: u64, flow: u32| {
        let arrival = link.admit(us * 1000, &Packet { flow, ..packet(1000) }, || 1000);
        arrival.map(|arrival| arrival / 1000)
    };
    // Beside the packet in transmission each flow may have one; flow 0's begins its transmission at
    // 1000.
    let flows = [(0, 0), (0, 0), (0, 0), (0, 1), (999, 0), (1000, 0), (2000, 1), (2000, 0)];
    let arrivals = flows.map(|(us, flow)| arrives(us, flow));
    assert_eq!(
        arrivals,
        [
            Ok(6000),
            Ok(7000),
            Err("early"),
            Ok(8000),
            Err("early"),
            Ok(9000),
            Ok(10_000),
            Err("early")
        ]
    );
    assert_eq!((link.report(9_000_000).dropped_early, link.report(9_000_000).departed), (3, 5));
}
