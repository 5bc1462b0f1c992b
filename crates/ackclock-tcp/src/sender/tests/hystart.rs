//! RFC 9406: cwnd after every ACK.

use super::cubic::{acks, round};
use super::*;

/// Room for 128 segments.
fn run_wide(composition: &str, script: impl Fn(&mut Script)) {
    run_with(composition, SenderConfig { wscale: 1, initial_rwnd: 128_000, ..config() }, |x| {
        x.write(1_000_000).sends("0 1 2 3 4 5 6 7 8 9");
        script(x);
    });
}

/// This many values from the first one on, by steps of `step`.
fn steps(first: u64, step: u64, count: u64) -> Vec<u64> {
    (0..count).map(|n| first + n * step).collect()
}

/// The first round takes 80 ms, the others 90 ms: RttThresh = 80 / 8 = 10 ms. Rounds end with the
/// ACKs of segments 10, 28 (what had been sent when 10 was acknowledged) and so on.
#[test]
fn a_rise_of_the_round_trip_time_ends_slow_start() {
    run_wide("sack+cubic+hystart", |x| {
        assert_eq!(round(x, 80), steps(11_000, 1_000, 10));
        // The eighth sample of the round begins CSS: a quarter of the growth.
        let expected = [steps(21_000, 1_000, 8), steps(28_250, 250, 12)].concat();
        assert_eq!(round(x, 170), expected);
        assert_eq!(round(x, 260), steps(31_250, 250, 31));
        assert_eq!(round(x, 350), steps(39_000, 250, 38));
        assert_eq!(round(x, 440), steps(48_500, 250, 48));
        // The round in which CSS began counts: this is the end of the fifth.
        let una = x.at(530).sender.state().snd_una / MSS;
        assert_eq!(acks(x, una + 1..=una + 46), steps(60_500, 250, 46));
        x.windows(71_750, UNSET);
        assert_eq!(acks(x, una + 47..=una + 47), [72_000]);
        x.windows(72_000, 72_000);
        // RFC 9438 section 4.10: K = 0, W_max = cwnd_prior = cwnd, thus alpha = 1: 72 + 1 / 72.
        assert_eq!(acks(x, una + 48..=una + 48), [72_013]);
    });
}

/// RttThresh = max(4 ms, min(lastRoundMinRTT / 8, 16 ms)).
#[test]
fn the_rise_has_to_reach_the_threshold() {
    for (rtt, rise, enters) in [
        (80, 9, false),
        (80, 10, true),
        (8, 3, false),
        (8, 4, true),
        (200, 15, false),
        (200, 16, true),
    ] {
        run_wide("newreno+hystart", |x| {
            round(x, rtt);
            let cwnd = if enters { 31_000 } else { 40_000 };
            assert_eq!(round(x, 2 * rtt + rise).last(), Some(&cwnd), "{rtt} ms and {rise} ms");
        });
    }
    run_wide("newreno", |x| {
        round(x, 80);
        assert_eq!(round(x, 170).last(), Some(&40_000));
    });
}

/// N_RTT_SAMPLE = 8: seven ACKs in the second round.
#[test]
fn seven_samples_say_nothing() {
    run_wide("sack+cubic+hystart", |x| {
        round(x, 80);
        x.at(170);
        let to = [12, 14, 16, 18, 20, 23, 28];
        assert_eq!(
            acks(x, to.into_iter()),
            [22_000, 24_000, 26_000, 28_000, 30_000, 33_000, 38_000]
        );
        assert_eq!(acks(x, 29..=30), [39_000, 40_000]);
    });
}

/// A round trip of 89 ms < cssBaselineMinRtt = 90 ms. Two samples of the round were taken at 90 ms
/// already.
#[test]
fn a_spurious_exit_resumes_slow_start() {
    run_wide("sack+cubic+hystart", |x| {
        round(x, 80);
        assert_eq!(round(x, 170).last(), Some(&31_000));
        let expected = [steps(31_250, 250, 6), steps(33_500, 1_000, 25)].concat();
        assert_eq!(round(x, 259), expected);
        // HyStart++ goes on: 89 ms and an eighth of it are 100.1 ms. The round that begins with the
        // 48th ACK has its eighth sample at the 55th.
        let expected = [steps(58_500, 1_000, 55), steps(112_750, 250, 2)].concat();
        assert_eq!(round(x, 360), expected);
    });
}

/// L = 8, in the slow start with ssthresh unset only: in the one after a timeout an ACK adds a
/// segment at most.
#[test]
fn an_ack_adds_eight_segments_at_most() {
    run_wide("sack+cubic+hystart", |x| {
        assert_eq!(acks(x.at(80), 10..=10), [18_000]);
    });
    run_wide("sack+cubic+hystart", |x| {
        x.fire(1000).sends("0T").windows(1_000, 7_000);
        assert_eq!(acks(x.at(1100), 10..=10), [2_000]);
    });
}

/// RFC 9438 section 5.8 holds with HyStart++ too; Reno grows whatever is sent.
#[test]
fn the_law_decides_whether_to_grow() {
    for (composition, cwnd) in [("sack+cubic+hystart", 10_000), ("sack+hystart", 11_000)] {
        run(composition, 10, |x| {
            x.write(3_000).sends("0 1 2").ack(1).sends("").windows(cwnd, UNSET);
        });
    }
}

/// A spurious timeout leaves ssthresh unset again, and slow start goes on with HyStart++.
#[test]
fn an_undo_resumes_slow_start() {
    run_with("sack+cubic+hystart+eifel", SenderConfig { timestamps: true, ..config() }, |x| {
        x.write(100_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.echo = Some(0);
        x.fire(1000).sends("0T").windows(1_000, 7_000);
        assert_eq!(acks(x.at(1100), [4].into_iter()), [14_000]);
        x.windows(14_000, UNSET);
    });
}
