use super::*;

/// Nine segments that are half as long as SMSS, each lost by itself, and four in two runs.
#[test]
fn a_run_is_of_one_segment_at_least() {
    assert_eq!([mean_run(4.5, 9), mean_run(4.0, 2), mean_run(0.0, 0)], [1.0, 2.0, 1.0]);
}

/// A queue of 20 packets, of which one leaves each millisecond, and bursts that fill it at once, so
/// that what went out nearest to a loss has waited for less. Between bursts a packet comes each
/// 1.25 ms, and each fifth is recorded. `queue`: of a token bucket that is as large, nothing waits.
fn of_bursts(queue: bool) -> Option<LossCause> {
    let (size, most) = (1500.0, 20.0);
    let mut moments: Vec<Moment> = Vec::new();
    let (mut waiting, mut last, mut packets) = (0.0_f64, 0.0, 0.0);
    for cycle in 0..8 {
        for n in 0..200 {
            let at = f64::from(cycle) + f64::from(n) * 0.00125;
            waiting = (waiting - (at - last) * 1000.0).max(0.0);
            last = at;
            let delay = Some(if queue { waiting / 1000.0 } else { 0.0 });
            let burst = if n == 0 || n == 64 { 25 } else { 1 };
            for k in 0..burst {
                let lost = waiting + 1.0 > most;
                let begins = lost && moments.last().is_some_and(|m| !m.lost);
                if lost || k == 0 && n % 5 == 0 {
                    let before = packets * size;
                    let weight = before - moments.last().map_or(0.0, |m| m.before);
                    moments.push(Moment { at, before, weight, flight: 0.0, delay, lost, begins });
                }
                if !lost {
                    (waiting, packets) = (waiting + 1.0, packets + 1.0);
                }
            }
        }
    }
    let (segments, lost_segments) = (packets, moments.iter().filter(|m| m.lost).count() as f64);
    let (complete, runs, most_at_once) = (true, 16, 25.0);
    let line = Timeline { moments, size, complete, segments, lost_segments, runs, most_at_once };
    cause(&line, Some(12e6))
}

#[test]
fn a_queue_that_bursts_fill_is_no_policer() {
    let Some(LossCause::DropTail { delay, .. }) = of_bursts(true) else {
        panic!("{:?}", of_bursts(true))
    };
    assert!((0.017..0.021).contains(&delay.secs_f64()), "{delay:?}");
    let Some(LossCause::Policer { rate_bps, .. }) = of_bursts(false) else {
        panic!("{:?}", of_bursts(false))
    };
    assert!((rate_bps / 12e6 - 1.0).abs() < 0.02, "{rate_bps}");
}
