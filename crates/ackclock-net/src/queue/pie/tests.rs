use super::*;

const MS: u64 = 1_000_000;

/// A target of 15 ms, updates every 15 ms, alpha 1/8, beta 5/4, bursts of 150 ms.
fn pie(config: Pie) -> PieState {
    PieState::new(config, Rng::new(1, "test"))
}

impl PieState {
    /// The last packet waited for so many milliseconds.
    fn with_delays(mut self, old: f64, current: f64, drop_prob: f64) -> PieState {
        (self.qdelay_old, self.current_qdelay) = (old * 1e-3, current * 1e-3);
        self.drop_prob = drop_prob;
        self
    }

    fn updated(mut self) -> f64 {
        self.calculate_drop_prob();
        self.drop_prob
    }
}

fn assert_close(is: f64, should: f64) {
    assert!((is - should).abs() <= 1e-12, "{is} is not {should}");
}

/// 35 ms after 25 ms: 1/8 * (0.035 - 0.015) + 5/4 * (0.035 - 0.025) = 0.0025 + 0.0125 = 0.015, over
/// the divisor of the table of section 4.2.
#[test]
fn the_probability_follows_delay_and_trend() {
    for (before, divisor) in [
        (0.0, 2048.0),
        (0.000_000_9, 2048.0),
        (0.000_001, 512.0),
        (0.000_009, 512.0),
        (0.000_01, 128.0),
        (0.000_09, 128.0),
        (0.000_1, 32.0),
        (0.000_9, 32.0),
        (0.001, 8.0),
        (0.009, 8.0),
        (0.01, 2.0),
        (0.09, 2.0),
        (0.1, 1.0),
        (0.5, 1.0),
    ] {
        let pie = pie(Pie::new(1000)).with_delays(25.0, 35.0, before);
        assert_close(pie.updated(), before + 0.015 / divisor);
    }
}

/// 5 ms after 10 ms: 1/8 * -0.010 + 5/4 * -0.005 = -0.00125 - 0.00625 = -0.0075. Not below 0, nor
/// above 1.
#[test]
fn the_probability_falls_and_has_bounds() {
    let after =
        |old, current, before| pie(Pie::new(1000)).with_delays(old, current, before).updated();
    assert_close(after(10.0, 5.0, 0.2), 0.1925);
    assert_eq!(after(10.0, 5.0, 0.000_001), 0.0);
    assert_eq!(after(0.0, 2000.0, 0.9), 1.0);
}

/// 1/8 * -0.015 = -0.001875, and two percent of the rest go if both delays were 0.
#[test]
fn the_probability_decays_when_nothing_waits() {
    let after = |old, before| pie(Pie::new(1000)).with_delays(old, 0.0, before).updated();
    assert_close(after(0.0, 0.4), 0.398_125 * 0.98);
    // 0.4 - 0.001875 - 5/4 * 0.001.
    assert_close(after(1.0, 0.4), 0.396_875);
}

/// 1/8 * 0.985 + 5/4 * 0.5 = 0.748125 in one step; with a cap 0.02, but not below 0.1, where the
/// step is half as large, and not downwards: -1/8 * 0.015 - 5/4 * 0.5 = -0.626875.
#[test]
fn a_cap_keeps_steps_small() {
    let after = |cap, old, current, before| {
        let config = Pie { cap, ..Pie::new(1000) };
        pie(config).with_delays(old, current, before).updated()
    };
    assert_close(after(false, 500.0, 1000.0, 0.1), 0.848_125);
    assert_close(after(true, 500.0, 1000.0, 0.1), 0.12);
    assert_close(after(true, 500.0, 1000.0, 0.099), 0.099 + 0.748_125 / 2.0);
    assert_close(after(true, 500.0, 0.0, 0.9), 0.273_125);
}

/// Ten updates take 150 ms of allowance; until then nothing is dropped, whatever the probability.
#[test]
fn a_burst_is_let_in() {
    let mut pie = pie(Pie::new(1000));
    assert_eq!(pie.arrive(0, 0, 0, false), Verdict::Enqueue);
    assert_eq!(pie.burst_allowance, 150 * MS);
    pie.leave(MS, 0, false);
    pie.current_qdelay = 10.0;
    assert_eq!(pie.arrive(149 * MS, 100, 100_000, false), Verdict::Enqueue);
    assert_eq!((pie.burst_allowance, pie.next_update), (15 * MS, 150 * MS));
    assert_eq!(pie.arrive(150 * MS, 100, 100_000, false), Verdict::Early);
    assert_eq!((pie.burst_allowance, pie.drop_prob), (0, 1.0));
}

/// The allowance comes back if nothing is dropped and both delays are below half of the target.
#[test]
fn the_allowance_comes_back_in_calm() {
    let back = |old, current, drop_prob| {
        let mut pie = pie(Pie::new(1000)).with_delays(old, current, drop_prob);
        pie.arrive(0, 0, 0, false);
        pie.burst_allowance > 0
    };
    assert!(back(7.4, 7.4, 0.0));
    assert!(!back(7.5, 7.4, 0.0));
    assert!(!back(7.4, 7.5, 0.0));
    assert!(!back(7.4, 7.4, 1e-9));
}

/// Two packets of 1024 bytes are safe, and so is all while the old delay is below 7.5 ms and the
/// probability below 0.2.
#[test]
fn the_link_is_kept_busy() {
    let fate = |old, drop_prob, bytes| {
        let mut pie = pie(Pie::new(1000)).with_delays(old, 20.0, drop_prob);
        (0..1000).any(|_| pie.arrive(0, 10, bytes, false) == Verdict::Early)
    };
    assert!(!fate(20.0, 0.9, 2048));
    assert!(fate(20.0, 0.9, 2049));
    assert!(!fate(7.4, 0.19, 10_000));
    assert!(fate(7.4, 0.2, 10_000));
    assert!(fate(7.5, 0.19, 10_000));
}

#[test]
fn a_full_queue_drops() {
    let mut pie = pie(Pie::new(5));
    assert_eq!(pie.arrive(0, 4, 4000, false), Verdict::Enqueue);
    assert_eq!((pie.arrive(0, 5, 5000, false), pie.dropped_early), (Verdict::Full, 0));
}

/// With a probability of 1/4, and drawn: the distances from one drop to the next. Without
/// derandomization some are 1; with it the sum reaches 0.85 with the fourth packet, and 8.5 with
/// the 34th.
#[test]
fn drops_are_spread_if_so_chosen() {
    let distances = |derandomize| {
        let mut pie = pie(Pie { derandomize, ..Pie::new(1000) }).with_delays(20.0, 20.0, 0.25);
        let drops: Vec<usize> =
            (0..20_000).filter(|_| pie.arrive(0, 10, 10_000, false) == Verdict::Early).collect();
        let distances: Vec<usize> = drops.windows(2).map(|pair| pair[1] - pair[0]).collect();
        (drops.len(), distances.iter().min().copied(), distances.iter().max().copied())
    };
    let (drops, least, _) = distances(false);
    // 5000 on average, with a standard deviation of 61.
    assert!((4700..5300).contains(&drops), "{drops}");
    assert_eq!(least, Some(1));
    let (_, least, most) = distances(true);
    assert_eq!(least, Some(4));
    assert!(most <= Some(34));
}

/// The sum is 8.5 or more with the 34th packet, and no draw is made.
#[test]
fn a_drop_that_is_overdue_comes() {
    let config = Pie { derandomize: true, ..Pie::new(1000) };
    let mut pie = pie(config).with_delays(20.0, 20.0, 0.25);
    pie.accu_prob = 8.25;
    assert_eq!((pie.arrive(0, 10, 10_000, false), pie.accu_prob), (Verdict::Early, 0.0));
}

/// Updates are made up for: at 15, 30 and 45 ms with the delay that was known then.
#[test]
fn updates_come_in_their_turn() {
    let mut pie = pie(Pie::new(1000));
    pie.drop_prob = 0.5;
    pie.leave(14 * MS, 0, false);
    // At 15: 1/8 * (0.014 - 0.015) + 5/4 * 0.014 = -0.000125 + 0.0175; at 30: -0.000125.
    pie.leave(31 * MS, 0, false);
    assert_close(pie.drop_prob, 0.5 + 0.017_375 - 0.000_125);
    // At 45: 1/8 * (0.031 - 0.015) + 5/4 * (0.031 - 0.014) = 0.002 + 0.02125.
    pie.leave(45 * MS, 45 * MS, true);
    assert_close(pie.drop_prob, 0.517_25 + 0.023_25);
    // An empty queue has no delay.
    assert_eq!(pie.current_qdelay, 0.0);
}

/// A year without packets takes no 2 * 10^9 updates, and the phase stays.
#[test]
fn an_idle_year_is_short() {
    let mut pie = pie(Pie::new(1000));
    let year = 365 * 86_400_000 * MS;
    pie.arrive(year + 20 * MS, 0, 0, false);
    // A year is a multiple of 15 ms.
    assert_eq!(pie.next_update, year + 30 * MS);
}

/// Up to a probability of 10 % a mark takes the place of a drop.
#[test]
fn ecn_capable_packets_are_marked() {
    let fates = |ecn, capable, drop_prob| {
        let mut pie = pie(Pie { ecn, ..Pie::new(1000) }).with_delays(20.0, 20.0, drop_prob);
        (0..1000).for_each(|_| _ = pie.arrive(0, 10, 10_000, capable));
        (pie.marked > 0, pie.dropped_early > 0)
    };
    assert_eq!(fates(true, true, 0.1), (true, false));
    assert_eq!(fates(true, true, 0.101), (false, true));
    assert_eq!(fates(true, false, 0.1), (false, true));
    assert_eq!(fates(false, true, 0.1), (false, true));
}
