use ackclock_tcp::{Segment, Span};

use super::*;
use crate::packet::{Kind, Options, Packet};
use crate::queue::Found;

const MS: u64 = 1_000_000;

/// 1024 queues, a quantum of 1500 bytes.
fn fq(limit: u32) -> FqCodelState {
    FqCodelState::new(&FqCodel { quantum: 1500, ..FqCodel::new(limit) }, Rng::new(1, "test"))
}

fn packet(flow: u32, size: u32, number: u32, since: u64) -> Queued {
    let packet = Packet::new(Kind::Datagram, &Segment::default(), &mut Options::default());
    // The number stands where nothing else is looked at.
    let packet = Packet { flow, size, transmission: number, ..packet };
    Queued {
        packet,
        late_by: Span::ZERO,
        since,
        found: Found::default(),
        marked: false,
        noted: false,
    }
}

impl FqCodelState {
    /// Packets number 0, 1, ... of these flows and sizes come; what is dropped for want of room.
    fn come(&mut self, packets: &[(u32, u32)], since: u64) -> Vec<u32> {
        let mut dropped = Vec::new();
        for (number, &(flow, size)) in (0..).zip(packets) {
            self.enqueue(packet(flow, size, number, since), |p| {
                dropped.push(p.packet.transmission)
            });
        }
        dropped
    }

    /// The numbers of those sent next.
    fn sent(&mut self, now: u64, count: usize) -> Vec<u32> {
        let next = |_| self.dequeue(now, |_| {}).map(|p| p.packet.transmission);
        (0..count).map_while(next).collect()
    }
}

/// Flow 0 sends 1000 + 1000 of its quantum of 1500 (its deficit is -500) and goes to the old list
/// with 1000. Flow 1 likewise. Flow 0 sends 1000, and with a deficit of 0 gets a quantum: 1500.
/// Flow 1: 1000, then 1500; flow 0: 2 more.
#[test]
fn quanta_go_around() {
    let mut fq = fq(100);
    let packets: Vec<(u32, u32)> = (0..12).map(|k| (k / 6, 1000)).collect();
    assert_eq!(fq.come(&packets, 0), [0u32; 0]);
    assert_eq!((fq.len(), fq.bytes()), (12, 12_000));
    assert_eq!(fq.sent(0, 20), [0, 1, 6, 7, 2, 8, 3, 4, 9, 10, 5, 11]);
    assert_eq!((fq.len(), fq.bytes()), (0, 0));
}

/// A packet of 4000 bytes leaves a deficit of -2500: after two quanta it is 500.
#[test]
fn a_large_packet_waits_for_its_quanta() {
    let mut fq = fq(100);
    assert_eq!(
        fq.come(&[(0, 4000), (0, 100), (1, 1500), (1, 1500), (1, 1500), (1, 1500)], 0),
        [0u32; 0]
    );
    assert_eq!(fq.sent(0, 6), [0, 2, 3, 1, 4, 5]);
}

/// A sparse flow's packet goes before those of a flow with a queue, but not twice before its turn.
#[test]
fn new_queues_go_first_once() {
    let mut fq = fq(100);
    fq.come(&[(0, 1500), (0, 1500), (0, 1500), (0, 1500)], 0);
    assert_eq!(fq.sent(0, 1), [0]);
    // Flow 0 has used its quantum up: it is next in the list, and goes to the old one.
    fq.enqueue(packet(1, 100, 10, 0), |_| {});
    assert_eq!(fq.sent(0, 1), [10]);
    // Its empty queue, with 1400 left, is still in the new list. It may send again.
    fq.enqueue(packet(1, 100, 11, 0), |_| {});
    assert_eq!(fq.sent(0, 2), [11, 1]);
    // Found empty, it has gone through the old list. Back within one round, it is behind flow 0.
    fq.enqueue(packet(1, 100, 12, 0), |_| {});
    assert_eq!(fq.sent(0, 3), [12, 2, 3]);
    assert!(fq.dequeue(0, |_| {}).is_none());
    assert!(fq.flows.iter().all(|flow| !flow.active));
    // Forgotten, it is new again.
    fq.come(&[(0, 1500), (0, 1500)], 0);
    fq.sent(0, 1);
    fq.enqueue(packet(1, 100, 13, 0), |_| {});
    assert_eq!(fq.sent(0, 2), [13, 1]);
}

/// Flow 0 has 4 * 1000 bytes, flow 1 3 * 1000, and the limit is 6 packets: half of 4000 bytes go,
/// from the head.
#[test]
fn too_many_packets_cost_the_flow_with_most_bytes_its_first_half() {
    let mut fq = fq(6);
    let packets = [(0, 1000), (0, 1000), (0, 1000), (0, 1000), (1, 1000), (1, 1000), (1, 1000)];
    assert_eq!(fq.come(&packets, 0), [0, 1]);
    assert_eq!((fq.len(), fq.bytes()), (5, 5000));
    assert_eq!(fq.sent(0, 9), [2, 3, 4, 5, 6]);
}

/// Half of 200 packets would be 100.
#[test]
fn at_most_64_packets_go_at_once() {
    let mut fq = fq(200);
    assert_eq!(fq.come(&[(0, 100); 201], 0), (0..64).collect::<Vec<u32>>());
    assert_eq!((fq.len(), fq.bytes()), (137, 13_700));
}

/// 3001 bytes are too many, of which 2001 are flow 0's: 1000 of them go.
#[test]
fn too_many_bytes_do_too() {
    let config = FqCodel { memory: 3000, ..FqCodel::new(100) };
    let mut fq = FqCodelState::new(&config, Rng::new(1, "test"));
    assert_eq!(fq.come(&[(0, 1000), (0, 1000), (1, 1000)], 0), [0u32; 0]);
    fq.enqueue(packet(0, 1, 3, 0), |p| assert_eq!(p.packet.transmission, 0));
    assert_eq!(fq.len(), 3);
}

/// Both queues are above the target from 1000 on; each drops its first packet at 1100 (the
/// pseudocode of RFC 8289), and then for itself.
#[test]
fn each_queue_has_a_codel_of_its_own() {
    let mut fq = fq(1000);
    let packets: Vec<(u32, u32)> = (0..400).map(|k| (k % 2, 1500)).collect();
    fq.come(&packets, 0);
    let mut drops = Vec::new();
    for ms in 1000..1202 {
        fq.dequeue(ms * MS, |p| drops.push((ms, p.packet.flow)));
    }
    assert_eq!(drops, [(1100, 0), (1101, 1), (1200, 0), (1201, 1)]);
    assert_eq!(fq.dropped_early(), 4);
}

#[test]
fn packets_dropped_for_room_raise_the_count() {
    let mut fq = fq(6);
    fq.come(&[(0, 1000); 7], 0);
    let counts: Vec<u32> = fq.flows.iter().map(|f| f.codel.count).filter(|&n| n > 0).collect();
    // Half of 7000 bytes: the fourth packet passes 3500.
    assert_eq!(counts, [4]);
}

/// The seed decides which flows share a queue, and all queues are used.
#[test]
fn flows_are_hashed_by_the_seed() {
    let queues = |seed| {
        let config = FqCodel { flows: 4, ..FqCodel::new(10) };
        let fq = FqCodelState::new(&config, Rng::new(seed, "test"));
        (0..64).map(|flow| fq.queue_of(flow)).collect::<Vec<usize>>()
    };
    assert_eq!(queues(1), queues(1));
    assert_ne!(queues(1), queues(2));
    (0..4).for_each(|queue| assert!(queues(1).contains(&queue)));
    let used = queues(1).iter().filter(|&&queue| queue == 0).count();
    assert!((4..32).contains(&used), "{used}");
}

#[test]
fn the_last_packets_are_those_of_all_queues() {
    let mut fq = fq(100);
    // With the two packets of flow 1, more than 1500 bytes wait behind the last one of flow 0.
    fq.come(&[(0, 100), (0, 100), (1, 1000), (1, 1000)], 0);
    assert_eq!(fq.sent(1000 * MS, 1), [0]);
    let mut dropped = Vec::new();
    let sent = fq.dequeue(1100 * MS, |p| dropped.push(p.packet.transmission));
    assert_eq!((dropped, sent.map(|p| p.packet.transmission)), (vec![1], Some(2)));
}
