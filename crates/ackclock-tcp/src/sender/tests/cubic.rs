//! RFC 9438: windows after every ACK. Window sizes in the comments are in segments, as in the RFC's
//! equations.

use super::*;
use crate::recovery::window::cube_root;

/// Acknowledges up to each of these segments; the cwnd after each.
pub(super) fn acks(x: &mut Script, to: impl Iterator<Item = u64>) -> Vec<u64> {
    to.map(|n| {
        x.ack(n);
        x.sent.clear();
        x.sender.state().cwnd
    })
    .collect()
}

/// At this time, an ACK for each segment outstanding.
pub(super) fn round(x: &mut Script, ms: u64) -> Vec<u64> {
    x.at(ms);
    let (una, max) = (x.sender.state().snd_una / MSS, x.sender.state().snd_max / MSS);
    acks(x, una + 1..=max)
}

/// Ten segments, the first one lost: W_max = cwnd_prior = 10, cwnd = ssthresh = 10 * 0.7 = 7, K =
/// cbrt(3 / 0.4) = 1.9574 s. The stage begins after two round trips.
fn recover(x: &mut Script, rtt: u64) {
    x.at(rtt).sack(0, &[(1, 4)]).sends("0F").windows(7_000, 7_000);
    for n in 5..=10 {
        x.sack(0, &[(1, n)]).sends(&(n + 5).to_string());
    }
    x.echo = Some(rtt as u32);
    x.at(2 * rtt).ack(10).sends("16").windows(7_000, 7_000);
}

fn run_recovered(
    config: SenderConfig,
    composition: &str,
    bytes: u64,
    rtt: u64,
    script: impl Fn(&mut Script),
) {
    run_with(composition, config, |x| {
        x.echo = Some(0);
        x.write(bytes).sends("0 1 2 3 4 5 6 7 8 9");
        recover(x, rtt);
        script(x);
    });
}

/// The first six ACKs of the stage, in which t = 0 and W_cubic(0) = 7 is below W_est: 7 + 9/17/7 =
/// 7.0756, then 7.0756 + 9/17/7.0756 = 7.1504, 7.2245, 7.2978, 7.3703, 7.4421.
const FIRST_ROUND: [u64; 6] = [7_075, 7_150, 7_224, 7_297, 7_370, 7_442];

/// Section 4.3: at a round trip of 100 ms W_cubic(0.1) = 10 - 0.4 * 1.8574^3 = 7.437 and so on stay
/// below W_est.
#[test]
fn reno_friendly_region() {
    run_recovered(config(), "sack+cubic", 100_000, 100, |x| {
        assert_eq!(acks(x, 11..=16), FIRST_ROUND);
        assert_eq!(round(x, 300), [7_513, 7_583, 7_653, 7_722, 7_791, 7_859, 7_926]);
        assert_eq!(round(x, 400), [7_993, 8_059, 8_125, 8_190, 8_255, 8_319, 8_382]);
        assert_eq!(round(x, 500), [8_446, 8_508, 8_570, 8_632, 8_694, 8_754, 8_815, 8_875]);
        assert_eq!(round(x, 600), [8_935, 8_994, 9_053, 9_111, 9_169, 9_227, 9_284, 9_341]);
        assert_eq!(round(x, 700), [9_398, 9_454, 9_510, 9_566, 9_621, 9_676, 9_731, 9_786, 9_840]);
        // From W_est >= cwnd_prior = 10 on, alpha is 1: 10.0003 + 1 / 10.0003 = 10.1003.
        assert_eq!(
            round(x, 800),
            [9_893, 9_947, 10_000, 10_100, 10_199, 10_297, 10_394, 10_491, 10_586]
        );
    });
    // NewReno's recovery ends with cwnd = min(ssthresh, FlightSize + SMSS), here 7 as well.
    run("newreno+cubic", 10, |x| {
        x.write(100_000)
            .sends("0 1 2 3 4 5 6 7 8 9")
            .at(100)
            .ack(0)
            .ack(0)
            .sends("")
            .ack(0)
            .sends("0F");
        x.windows(10_000, 7_000).acks(0, ["10", "11", "12", "13"]);
        x.ack(0).sends("14").ack(0).sends("15").at(200).ack(10).sends("16").windows(7_000, 7_000);
        assert_eq!(acks(x, 11..=16), FIRST_ROUND);
    });
}

/// Sections 4.4 and 4.5, at a round trip of 1 s. W_cubic(1) = 10 - 0.4 * 0.9574^3 = 9.6489,
/// W_cubic(2) = 10.00003, W_cubic(3) = 10.4533, W_cubic(4) = 13.4087, W_cubic(5) = 21.27.
#[test]
fn concave_and_convex_regions() {
    run_recovered(config(), "sack+cubic", 100_000, 1000, |x| {
        assert_eq!(acks(x, 11..=16), FIRST_ROUND);
        // t = 1: target = W_cubic(2): 7.4421 + (10.00003 - 7.4421) / 7.4421 = 7.7858, then +
        // (10.00003 - 7.7858) / 7.7858.
        assert_eq!(round(x, 3000), [7_785, 8_070, 8_309, 8_512, 8_687, 8_838, 8_970]);
        // t = 2, target = W_cubic(3); t = 3, target = W_cubic(4).
        assert_eq!(round(x, 4000), [9_135, 9_279, 9_406, 9_517, 9_615, 9_702, 9_780, 9_849]);
        let convex = [10_210, 10_523, 10_797, 11_039, 11_254, 11_445, 11_617, 11_771, 11_910];
        assert_eq!(round(x, 5000), convex);
        // t = 4: target is at most 1.5 * cwnd, half a segment for each ACK, until W_cubic(5) is
        // less: cwnd > 14.18.
        let limited = [
            12_410, 12_910, 13_410, 13_910, 14_410, 14_886, 15_314, 15_703, 16_057, 16_382, 16_680,
        ];
        assert_eq!(round(x, 6000), limited);
    });
}

/// Section 4.7: the second loss finds cwnd = 7 < W_max = 10, so that W_max = 7 * 0.85 = 5.95; K =
/// cbrt(1.05 / 0.4) = 1.3795 s.
#[test]
fn fast_convergence() {
    run_recovered(config(), "sack+cubic", 100_000, 1000, |x| {
        x.at(3000).sack(10, &[(11, 14)]).sends("10F").windows(4_900, 4_900);
        x.sack(10, &[(11, 15)])
            .sends("17")
            .sack(10, &[(11, 16)])
            .sends("18")
            .sack(10, &[(11, 17)])
            .sends("19");
        x.at(4000).ack(17).sends("20").windows(4_900, 4_900);
        // t = 0, Reno-friendly: 4.9 + 9/17/4.9 = 5.0080.
        assert_eq!(acks(x, 18..=20), [5_008, 5_113, 5_217]);
        // t = 1, target = W_cubic(2) = 5.95 + 0.4 * 0.6205^3 = 6.0456: 5.2178 + (6.0456 - 5.2178) /
        // 5.2178 = 5.3765.
        assert_eq!(round(x, 5000), [5_376, 5_500, 5_599, 5_679, 5_743]);
        // t = 2, target = W_cubic(3) = 7.6523. At the fifth ACK W_est has passed W_cubic(2), but is
        // below cwnd, which stays.
        assert_eq!(round(x, 6000), [6_076, 6_335, 6_543, 6_712, 6_712]);
    });
}

/// Section 4.8: ssthresh = 0.7 * flight, cwnd = 1; the stage then begins with K = 0 and W_max =
/// cwnd = 7.
#[test]
fn timeout() {
    run("sack+cubic", 10, |x| {
        x.write(100_000).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T").windows(1_000, 7_000);
        x.at(2000).ack(10).sends("10 11").windows(2_000, 7_000);
        assert_eq!(round(x, 3000), [3_000, 4_000]);
        // Congestion avoidance from cwnd = ssthresh on, t = 0: 7 + 9/17/7.
        assert_eq!(round(x, 4000), [5_000, 6_000, 7_000, 7_075]);
        // t = 1: W_cubic(1) = 7 + 0.4 = 7.4, target = W_cubic(2) = 7 + 0.4 * 8 = 10.2: 7.0756 +
        // 3.1244 / 7.0756 = 7.5172. At the fifth ACK W_est has passed 7.4.
        assert_eq!(round(x, 5000), [7_517, 7_874, 8_169, 8_418, 8_418, 8_418, 8_418]);
        // t = 2: target = W_cubic(3) = 17.8, but at most 1.5 * cwnd until cwnd > 11.87.
        assert_eq!(round(x, 6000), [8_918, 9_418, 9_918, 10_418, 10_918, 11_418, 11_918, 12_411]);
    });
    // An earlier W_max = 10 is forgotten: W_max = 5, W_cubic(1) = 5.4 < W_est. With 10, W_cubic(1)
    // would be 9.08.
    run_recovered(config(), "sack+cubic", 100_000, 1000, |x| {
        x.fire(3000)
            .sends("10T")
            .windows(1_000, 4_900)
            .at(4000)
            .ack(17)
            .sends("17 18")
            .windows(2_000, 4_900);
        assert_eq!(round(x, 5000), [3_000, 4_000]);
        assert_eq!(round(x, 6000), [5_000, 5_105, 5_209, 5_311]);
        assert_eq!(round(x, 7000), [5_410, 5_508, 5_604, 5_699, 5_792]);
    });
    // RFC 5681 section 3.1: a second timeout of the same segment leaves ssthresh alone.
    run("sack+cubic", 10, |x| {
        x.write(100_000)
            .sends("0 1 2 3 4 5 6 7 8 9")
            .fire(1000)
            .sends("0T")
            .fire(3000)
            .sends("0T")
            .windows(1_000, 7_000);
    });
    // Section 4.6: ssthresh is at least 2.
    run("sack+cubic", 2, |x| {
        x.write(100_000).sends("0 1").fire(1000).sends("0T").windows(1_000, 2_000);
    });
}

/// Equation 4 with an ACK of eight segments at cwnd = 2: it adds alpha = 1 and not 8 / 2.
#[test]
fn an_ack_of_more_than_cwnd_adds_a_segment() {
    run("newreno+cubic", 10, |x| {
        x.write(100_000).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T").windows(1_000, 7_000);
        x.at(1100).ack(1).sends("1S 2S").fire(3100).sends("1T").windows(1_000, 2_000);
        x.at(3200)
            .ack(2)
            .sends("2S 3S")
            .windows(2_000, 2_000)
            .ack(10)
            .sends("10 11 12")
            .windows(3_000, 2_000);
    });
}

/// Section 5.8: cwnd does not grow for a sender that leaves room for a segment in it, nor for a
/// receiver that does.
#[test]
fn no_growth_while_application_limited() {
    for (bytes, cwnd) in [(3_000, 10_000), (9_000, 10_000), (9_001, 11_000), (10_000, 11_000)] {
        run("sack+cubic", 10, |x| {
            x.write(bytes).sent.clear();
            assert_eq!(acks(x, 1..=1), [cwnd]);
        });
    }
    run_with("sack+cubic", SenderConfig { initial_rwnd: 5_000, ..config() }, |x| {
        x.window = 5_000;
        x.write(30_000)
            .sends("0 1 2 3 4")
            .ack(1)
            .sends("5")
            .ack(2)
            .sends("6")
            .windows(10_000, UNSET);
    });
}

/// Sections 4.2 and 5.8: t leaves out ten seconds without data. With them target would be 1.5 *
/// cwnd, and the first ACK would add half a segment.
#[test]
fn an_idle_time_is_no_part_of_the_curve() {
    run_recovered(
        SenderConfig { idle_restart: false, ..config() },
        "sack+cubic",
        23_000,
        100,
        |x| {
            assert_eq!(acks(x, 11..=16), FIRST_ROUND);
            // Only for the first of the seven ACKs was cwnd in use.
            assert_eq!(round(x, 300), [7_513; 7]);
            x.at(10_300).write(30_000).sends("23 24 25 26 27 28 29");
            assert_eq!(round(x, 10_400), [7_583, 7_653, 7_722, 7_791, 7_859, 7_926, 7_993]);
        },
    );
}

/// RFC 5681 section 4.1 sets cwnd back after an idle time: W_est = 5.12 does not bring it back at
/// once.
#[test]
fn a_restart_window_begins_a_new_stage() {
    let config =
        SenderConfig { initial_window: Some(4), initial_ssthresh: Some(4_000), ..config() };
    run_with("newreno+cubic", config, |x| {
        x.write(8_000).sends("0 1 2 3");
        // Section 4.10: no loss yet, so K = 0 and W_max = cwnd_prior = 4, and alpha = 1.
        assert_eq!(round(x, 100), [4_250, 4_485, 4_708, 4_920]);
        assert_eq!(round(x, 200), [5_123; 4]);
        x.at(1300).write(8_000).sends("8 9 10 11").windows(4_000, 4_000);
        assert_eq!(round(x, 1400), [4_250, 4_485, 4_708, 4_920]);
    });
}

/// Section 4.9.2: after a recovery that was spurious, growth goes on as in
/// [`concave_and_convex_regions`].
#[test]
fn an_undo_restores_the_curve() {
    for composition in ["sack+cubic+eifel", "sack+cubic+hystart+eifel"] {
        run_recovered(
            SenderConfig { timestamps: true, ..config() },
            composition,
            100_000,
            1000,
            |x| {
                assert_eq!(acks(x, 11..=16), FIRST_ROUND);
                // Segment 16 is late: it was sent at 2 s, and again at 3 s.
                x.at(3000).sack(16, &[(17, 20)]).sends("16F").windows(4_900, 4_900);
                x.echo = Some(2000);
                assert_eq!(acks(x, 20..=23), [7_785, 8_070, 8_309, 8_512]);
                assert_eq!(x.sender.state().ssthresh, 7_000);
            },
        );
    }
}

/// To a few units in the last place of 53 bits.
#[test]
fn cube_roots() {
    assert_eq!(cube_root(0.0), 0.0);
    for root in [1e-3, 0.5, 1.0, 1.3795, 1.9574338205844317, 3.0, 1e3, 3.6e6] {
        let found = cube_root(root * root * root);
        assert!((found / root - 1.0).abs() < 1e-15, "{found} for {root}");
    }
}
