use std::collections::BTreeSet;

use super::*;

fn config() -> Red {
    Red {
        limit: 100,
        min_th: 1.0,
        max_th: 3.0,
        w_q: 0.5,
        max_p: 0.5,
        gentle: false,
        wait: false,
        queue_in_bytes: false,
        byte_mode: false,
        mean_packet_size: 1000,
        ecn: false,
    }
}

/// On a link that carries 1000 packets of mean size a second.
fn red(config: Red) -> RedState {
    RedState::new(config, 8_000_000, Rng::new(1, "test"))
}

fn waiting(packets: u32) -> Waiting {
    Waiting { packets, idle_for: None }
}

#[test]
fn the_average_follows_the_queue_and_decays_over_idle_time() {
    let mut red = red(config());
    let averages = [4, 4, 4, 0].map(|packets| {
        red.avg.update(f64::from(packets), None);
        red.avg.value
    });
    assert_eq!(averages, [2.0, 3.0, 3.5, 1.75]);
    // 3.9 ms idle: three packets could have been sent, then this one finds the queue empty.
    red.avg.update(0.0, Some(0.0039));
    assert_eq!(red.avg.value, 1.75 / 16.0);
}

#[test]
fn an_idle_time_of_hours_leaves_nothing_of_the_average() {
    let mut red = red(config());
    red.avg.value = 50.0;
    red.avg.update(0.0, Some(1e9));
    assert_eq!(red.avg.value, 0.0);
}

#[test]
fn the_base_probability_rises_from_min_th_to_max_th() {
    let at = |gentle, avg| {
        let mut red = red(Red { gentle, ..config() });
        red.avg.value = avg;
        red.base_probability()
    };
    assert_eq!(
        [1.0, 1.5, 2.0, 2.5, 3.0, 9.0].map(|avg| at(false, avg)),
        [0.0, 0.125, 0.25, 0.375, 1.0, 1.0]
    );
    assert_eq!([2.0, 3.0, 4.5, 6.0, 9.0].map(|avg| at(true, avg)), [0.25, 0.5, 0.75, 1.0, 1.0]);
}

#[test]
fn the_probability_grows_with_the_packets_since_the_last_drop() {
    // The base probability is 1/4.
    let at = |wait, count| {
        let mut red = red(Red { wait, ..config() });
        red.avg.value = 2.0;
        red.count = count;
        red.probability(1000)
    };
    assert_eq!([1, 2, 3, 4].map(|count| at(false, count)), [1.0 / 3.0, 0.5, 1.0, 1.0]);
    let waits = [0.0, 0.0, 0.0, 0.25, 1.0 / 3.0, 0.5, 1.0, 1.0];
    assert_eq!([1, 2, 3, 4, 5, 6, 7, 8].map(|count| at(true, count)), waits);
}

#[test]
fn in_byte_mode_the_probability_is_in_proportion_to_the_size() {
    let mut red = red(Red { byte_mode: true, ..config() });
    red.avg.value = 2.0;
    red.count = 99;
    red.count_bytes = 1999;
    assert_eq!(red.probability(500), 1.0 / 6.0);
    assert_eq!(red.probability(1000), 1.0 / 3.0);
    assert_eq!(red.probability(9000), 1.0);
}

#[test]
fn a_queue_in_bytes_scales_limit_and_thresholds() {
    let mut red = red(Red { queue_in_bytes: true, limit: 3, ..config() });
    assert_eq!((red.limit, red.min_th, red.max_th), (3000.0, 1000.0, 3000.0));
    let verdicts = [5, 6]
        .map(|packets| red.arrive(waiting(packets), (500, false), || u64::from(packets) * 500));
    assert_eq!(verdicts, [Verdict::Enqueue, Verdict::Full]);
    assert_eq!(red.avg.value, 0.5 * (0.5 * 2500.0) + 0.5 * 3000.0);
}

#[test]
fn the_packet_that_finds_the_average_just_across_min_th_passes() {
    let mut red = red(Red { w_q: 1.0, ..config() });
    red.count = 50;
    // The average is at once beyond `max_th`, where every packet but the first is dropped.
    let verdicts =
        [9, 9, 9, 1, 9, 9].map(|packets| red.arrive(waiting(packets), (1000, false), || 0));
    use Verdict::{Early, Enqueue};
    assert_eq!(verdicts, [Enqueue, Early, Early, Enqueue, Enqueue, Early]);
}

#[test]
fn a_full_queue_drops_and_counts_anew() {
    let mut red = red(Red { w_q: 1.0, limit: 3, max_th: 100.0, wait: true, ..config() });
    let verdicts = [2, 2, 2, 3, 2].map(|packets| {
        let verdict = red.arrive(waiting(packets), (1000, false), || 0);
        (verdict, red.count, red.count_bytes)
    });
    use Verdict::{Enqueue, Full};
    let counts = [(Enqueue, 1), (Enqueue, 2), (Enqueue, 3), (Full, 0), (Enqueue, 1)];
    assert_eq!(verdicts, counts.map(|(verdict, n)| (verdict, n, 1000 * n)));
}

/// Packets from one early drop to the next at a base probability of 1/4.
fn distances(wait: bool) -> BTreeSet<usize> {
    let mut red = red(Red { w_q: 1.0, wait, ..config() });
    let drops: Vec<usize> = (0..10_000)
        .filter(|_| red.arrive(waiting(2), (1000, false), || 0) == Verdict::Early)
        .collect();
    drops.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn drops_are_evenly_spread() {
    assert_eq!(distances(false), BTreeSet::from([1, 2, 3]));
    assert_eq!(distances(true), BTreeSet::from([4, 5, 6, 7]));
}

#[test]
fn powers() {
    assert_eq!([0, 1, 2, 3, 10].map(|n| power(0.5, n)), [1.0, 0.5, 0.25, 0.125, 1.0 / 1024.0]);
    assert_eq!(power(0.5, u64::MAX), 0.0);
}

#[test]
fn the_automatic_weight_is_that_of_ns_2() {
    // 1000 packets a second: a round trip of 3 * (100 ms + 1 ms), or of 100 ms where that is more.
    let weight = |ms| Red::automatic_w_q(8_000_000, ackclock_tcp::Span::from_millis(ms), 1000);
    assert!((weight(100) - (1.0 - (-1.0f64 / 3030.0).exp())).abs() < 1e-15);
    assert!((weight(10) - (1.0 - (-1.0f64 / 1000.0).exp())).abs() < 1e-15);
}

/// Where the others are dropped early, ECN-capable packets are marked, above the upper threshold
/// too. A full queue drops both.
#[test]
fn ecn_capable_packets_are_marked() {
    use Verdict::{Early, Enqueue, Full, Mark};
    let verdicts = |ecn, capable| {
        let mut red = red(Red { w_q: 1.0, ecn, limit: 20, ..config() });
        let queues = [9, 9, 9, 1, 9, 9, 20];
        let verdicts = queues.map(|n| red.arrive(waiting(n), (1000, capable), || 0));
        (verdicts, red.marked, red.dropped_early)
    };
    let dropped = ([Enqueue, Early, Early, Enqueue, Enqueue, Early, Full], 0, 3);
    assert_eq!(verdicts(true, true), ([Enqueue, Mark, Mark, Enqueue, Enqueue, Mark, Full], 3, 0));
    assert_eq!(verdicts(true, false), dropped);
    assert_eq!(verdicts(false, true), dropped);
}

/// A mark begins the distance to the next one anew, as a drop does.
#[test]
fn marks_are_as_far_apart_as_drops() {
    let places = |capable| -> Vec<usize> {
        let mut red = red(Red { w_q: 1.0, ecn: true, ..config() });
        let marks =
            (0..1000).filter(|_| red.arrive(waiting(2), (1000, capable), || 0) != Verdict::Enqueue);
        marks.collect()
    };
    assert_eq!(places(true), places(false));
}

proptest::proptest! {
    #[test]
    fn soon_means_without_a_chance(
        average in 0.0..1.2_f64, count in 1_u64..2000, max_p in 0.001..1.0_f64, byte_mode: bool
    ) {
        let (min_th, max_th) = (5.0, 15.0);
        let mut red = red(Red { min_th, max_th, max_p, wait: true, byte_mode, ..config() });
        red.avg.value = min_th + average * (max_th - min_th);
        (red.count, red.count_bytes) = (count, 1000 * count);
        let x = count as f64 * red.base_probability();
        let soon = red.is_soon();
        proptest::prop_assert!(!soon || red.probability(1000) == 0.0);
        // But for rounding, nothing else comes too soon.
        proptest::prop_assert!(soon == (x < 0.999) || (x - 0.999).abs() < 1e-9);
    }
}

#[test]
fn a_short_idle_time_counts_as_a_long_one_does() {
    for packets in 0..20 {
        let mut red = red(Red { w_q: 0.002, ..config() });
        red.avg.value = 1.0;
        // Half a packet more, so that rounding has no say.
        red.avg.update(0.0, Some((packets as f64 + 0.5) / 1000.0));
        assert_eq!(red.avg.value, power(0.998, packets) * 0.998);
    }
}
