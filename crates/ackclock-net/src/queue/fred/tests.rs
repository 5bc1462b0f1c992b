use std::collections::BTreeSet;

use super::*;
use Verdict::{Early, Enqueue, Full};

/// With a weight of 0 the average stays where a test puts it.
fn config() -> Fred {
    Fred {
        limit: 100,
        min_th: 8.0,
        max_th: 16.0,
        w_q: 0.0,
        max_p: 0.5,
        minq: 2,
        many_flows: false,
        mean_packet_size: 1000,
    }
}

/// On a link that carries 1000 packets of mean size a second.
fn fred(config: Fred) -> FredState {
    FredState::new(config, 8_000_000, Rng::new(1, "test"))
}

impl FredState {
    /// Packets of these flows arrive while the transmitter is busy, and none departs.
    fn arrivals<const N: usize>(&mut self, flows: [u32; N]) -> [Verdict; N] {
        flows.map(|flow| {
            let packets = self.queue.len() as u32;
            self.arrive(Waiting { packets, idle_for: None }, flow)
        })
    }

    /// A packet of `flow` finds the transmitter idle for so many milliseconds.
    fn arrives_idle(&mut self, ms: f64, flow: u32) -> Verdict {
        self.arrive(Waiting { packets: 0, idle_for: Some(ms * 1e-3) }, flow)
    }

    fn departs(&mut self, packets: usize) {
        self.depart_until((self.queue.len() - packets) as u32);
    }

    fn account(&self, flow: usize) -> (u32, u32) {
        (self.accounts[flow].qlen, self.accounts[flow].strike)
    }
}

#[test]
fn the_average_sees_what_arrivals_find_and_departures_leave() {
    let mut fred = fred(Fred { w_q: 0.5, min_th: 50.0, max_th: 100.0, ..config() });
    let found = [0, 1, 0, 0].map(|flow| {
        assert_eq!(fred.arrivals([flow]), [Enqueue]);
        fred.avg.value
    });
    assert_eq!(found, [0.0, 0.5, 1.25, 2.125]);
    assert_eq!((fred.nactive, fred.account(0), fred.account(1)), (2, (3, 0), (1, 0)));
    let left = [3, 2, 1, 0].map(|_| {
        fred.departs(1);
        fred.avg.value
    });
    assert_eq!(left, [2.5625, 2.28125, 1.640625, 0.8203125]);
    assert_eq!((fred.nactive, fred.account(0), fred.account(1)), (0, (0, 0), (0, 0)));
}

#[test]
fn a_dropped_packet_moves_the_average_only_if_the_queue_is_empty() {
    let mut fred = fred(Fred { w_q: 0.5, min_th: 1.0, max_th: 6.0, limit: 2, ..config() });
    // One packet is the most that a flow may have; the buffer holds two.
    assert_eq!(fred.arrivals([0, 0, 1, 2]), [Enqueue, Early, Enqueue, Full]);
    assert_eq!((fred.avg.value, fred.dropped_early), (0.5, 1));
    fred.departs(2);
    fred.avg.value = 16.0;
    assert_eq!((fred.arrivals([0]), fred.avg.value), ([Early], 8.0));
    assert_eq!((fred.arrivals([0]), fred.avg.value), ([Enqueue], 4.0));
}

#[test]
fn idle_time_counts_once() {
    let mut fred = fred(Fred { w_q: 0.5, ..config() });
    fred.avg.value = 1024.0;
    // Two packets could have been sent, and this one finds the queue empty; then one more; then two
    // more.
    assert_eq!((fred.arrives_idle(2.9, 0), fred.avg.value), (Early, 128.0));
    assert_eq!((fred.arrives_idle(4.0, 0), fred.avg.value), (Early, 32.0));
    assert_eq!((fred.arrives_idle(6.5, 0), fred.avg.value), (Enqueue, 4.0));
    // Its departure left the queue empty; then a new time of 1 ms.
    assert_eq!((fred.arrives_idle(1.5, 0), fred.avg.value), (Enqueue, 0.5));
}

#[test]
fn no_flow_holds_more_than_maxq() {
    let mut fred = fred(Fred { min_th: 3.0, ..config() });
    assert_eq!(fred.arrivals([0, 0, 0, 0, 1]), [Enqueue, Enqueue, Enqueue, Early, Enqueue]);
    assert_eq!((fred.account(0), fred.account(1)), ((3, 1), (1, 0)));
    // A threshold between whole numbers: four packets reach it, three do not.
    let mut fred = self::fred(Fred { min_th: 3.5, ..config() });
    assert_eq!(fred.arrivals([0, 0, 0, 0, 0]), [Enqueue, Enqueue, Enqueue, Enqueue, Early]);
}

#[test]
fn a_flow_with_two_strikes_is_held_to_the_average_flow() {
    for (drops, third_packet) in [(1, Enqueue), (2, Early)] {
        let mut fred = fred(Fred { min_th: 4.0, ..config() });
        fred.arrivals([0, 0, 0, 0, 1, 2]);
        for _ in 0..drops {
            assert_eq!(fred.arrivals([0]), [Early]);
        }
        // Three flows: two packets each on average.
        fred.avg.value = 3.9;
        fred.departs(2);
        assert_eq!((fred.account(0), fred.arrivals([0])), ((2, drops), [third_packet]));
        // An average of a packet, and flow 0 has one.
        fred.departs(1);
        fred.avg.value = 2.0;
        fred.departs(if drops == 1 { 1 } else { 0 });
        assert_eq!(fred.account(0).0, 1);
        assert_eq!(fred.arrivals([0]), [third_packet]);
    }
}

#[test]
fn strikes_are_forgotten_with_the_last_packet() {
    let mut fred = fred(Fred { min_th: 2.0, ..config() });
    assert_eq!(fred.arrivals([0, 0, 0, 0]), [Enqueue, Enqueue, Early, Early]);
    fred.departs(1);
    assert_eq!((fred.account(0), fred.arrivals([0])), ((1, 2), [Early]));
    fred.departs(1);
    assert_eq!((fred.account(0), fred.arrivals([0, 0])), ((0, 0), [Enqueue, Enqueue]));
}

/// Line B: more than twice the average flow, when nothing is let in any more, is a strike.
#[test]
fn more_than_twice_the_average_flow_is_a_strike_above_max_th() {
    for (avg, packets, strikes) in [(16.0, 8, 0), (16.0, 9, 1), (15.9, 9, 0)] {
        let mut fred = fred(Fred { min_th: 12.0, ..config() });
        for _ in 0..packets {
            fred.arrivals([0]);
        }
        // Four flows: four packets each on average.
        fred.arrivals([1, 2, 3]);
        fred.avg.value = avg;
        fred.count = -50;
        let verdict = if avg < 16.0 { Enqueue } else { Early };
        assert_eq!(
            (fred.arrivals([0]), fred.account(0).1),
            ([verdict], strikes),
            "{avg} {packets}"
        );
    }
    // Forty flows: less than a packet each on average, which counts as one.
    let mut fred = fred(config());
    (0..40).for_each(|flow| assert_eq!(fred.arrivals([flow]), [Enqueue]));
    fred.avg.value = 16.0;
    assert_eq!((fred.arrivals([0]), fred.account(0)), ([Early], (1, 0)));
}

/// Line C.
#[test]
fn from_max_th_on_nothing_is_let_in() {
    let mut fred = fred(config());
    fred.arrivals([0]);
    fred.avg.value = 15.999;
    assert_eq!(fred.arrivals([1]), [Enqueue]);
    fred.avg.value = 16.0;
    fred.count = 7;
    assert_eq!((fred.arrivals([2]), fred.account(2), fred.count), ([Early], (0, 0), 0));
}

/// Line A instead.
#[test]
fn with_many_flows_each_may_have_two_packets_from_max_th_on() {
    let mut fred = fred(Fred { many_flows: true, limit: 6, ..config() });
    assert_eq!(fred.arrivals([0, 0, 0]), [Enqueue; 3]);
    fred.avg.value = 16.0;
    assert_eq!(fred.arrivals([0, 1, 1, 1, 2, 2]), [Early, Enqueue, Enqueue, Early, Enqueue, Full]);
    assert_eq!((fred.account(0), fred.account(1), fred.account(2)), ((3, 1), (2, 1), (1, 0)));
}

/// Between the thresholds with a base probability of 1/4: 1/4, 1/3, 1/2, 1 for the first four
/// packets.
#[test]
fn only_robust_flows_lose_packets_at_random() {
    for (minq, packets, fate) in [(2, 1, Enqueue), (2, 2, Early), (3, 2, Enqueue), (3, 3, Early)] {
        let mut fred = fred(Fred { minq, ..config() });
        for _ in 0..packets {
            fred.arrivals([0]);
        }
        assert_eq!(fred.count, -1);
        // 16 flows or more: less than a packet each on average.
        assert_eq!(
            fred.arrivals([11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]),
            [Enqueue; 15]
        );
        fred.avg.value = 12.0;
        // The packets of the others count; theirs are safe even when the probability is 1.
        assert_eq!((fred.arrivals([1, 2, 3, 4]), fred.count), ([Enqueue; 4], 3));
        assert_eq!((fred.arrivals([0]), fred.account(0).1), ([fate], 0), "{minq} {packets}");
        assert_eq!(fred.count, if fate == Early { 0 } else { 4 });
    }
}

#[test]
fn with_few_flows_the_average_flow_is_safe_from_random_drops() {
    for (packets, fate) in [(5, Enqueue), (6, Early)] {
        let mut fred = fred(config());
        for _ in 0..packets {
            fred.arrivals([0]);
        }
        fred.arrivals([1]);
        fred.avg.value = 12.0;
        fred.count = 2;
        // Two flows: six packets each on average.
        assert_eq!(fred.arrivals([0]), [fate], "{packets}");
    }
}

/// From one random drop to the next: at most three packets, evenly.
#[test]
fn random_drops_are_evenly_spread() {
    let mut fred = fred(Fred { limit: 2, ..config() });
    fred.arrivals([0, 0]);
    fred.avg.value = 12.0;
    fred.nactive = 12;
    let drops: Vec<usize> = (0..30_000).filter(|_| fred.arrivals([0]) == [Early]).collect();
    let distances: Vec<usize> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(distances.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from([1, 2, 3]));
    for distance in 1..=3 {
        let share =
            distances.iter().filter(|&&d| d == distance).count() as f64 / distances.len() as f64;
        assert!((share - 1.0 / 3.0).abs() < 0.02, "{distance}: {share}");
    }
}

#[test]
fn below_min_th_nothing_is_dropped_at_random() {
    let mut fred = fred(config());
    fred.arrivals([0, 0, 0, 0]);
    fred.avg.value = 7.999;
    fred.count = 1000;
    assert_eq!((fred.arrivals([0]), fred.count), ([Enqueue], -1));
    fred.avg.value = 8.0;
    assert_eq!((fred.arrivals([0]), fred.count), ([Enqueue], 0));
}
