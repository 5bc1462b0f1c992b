//! RFC 8257 section 3.3. After a segment's number "e" stands for ECT(0), "ecwr" for ECT(0) and CWR.

use super::ecn::capable;
use super::*;

/// ECN, and ssthresh from the start: above it is congestion avoidance.
fn ecn(initial_window: u32) -> SenderConfig {
    SenderConfig { ecn: true, initial_ssthresh: Some(2_000), ..window(initial_window) }
}

/// Alpha is 1 at first, so that the first mark halves cwnd: M = 1000 / 1000.
#[test]
fn the_first_mark_halves() {
    for composition in ["newreno+dctcp", "sack+dctcp", "newreno+cubic+dctcp"] {
        run_with(composition, ecn(10), |x| {
            x.write(60_000).sends(&capable(0, 10)).at(100).echoes(1).sends("");
            x.windows(5_000, 5_000).phase(Phase::Open);
        });
    }
}

/// The first ACK ends the first window: M = 0, alpha = 15/16, WindowEnd = 10. The echo that follows
/// leaves 10100 * (1 - 15/32) = 5365. The ACK of 10 does not end the window yet, that of 11 does:
/// 1000 of 10000 bytes were marked, alpha = 15/16 * 15/16 + 0.1 / 16 = 0.88515625. The next echo
/// leaves 5731 * (1 - 0.442578125) = 3194.
#[test]
fn alpha_follows_the_marks_once_a_window() {
    for composition in ["newreno+dctcp", "sack+dctcp"] {
        run_with(composition, ecn(10), |x| {
            x.write(60_000).sends(&capable(0, 10)).at(100).ack(1).sends("10e");
            x.windows(10_100, 2_000).echoes(2).sends("").windows(5_365, 5_365);
            x.ack(10).sends("11ecwr 12e 13e 14e").windows(5_551, 5_365);
            x.ack(11).sends("15e").windows(5_731, 5_365);
            x.echoes(12).sends("").windows(3_194, 3_194);
            assert_eq!(x.sender.stats().ecn_reductions, 2);
        });
    }
}

/// An echo that ends a window counts in the alpha that answers it: 1000 of 10000 bytes were marked,
/// and 10199 * (1 - 0.442578125) = 5685 stay. Marks of the same window lower nothing again: its end
/// is 20.
#[test]
fn the_ack_that_ends_a_window_counts() {
    run_with("newreno+dctcp", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).ack(1).sends("10e");
        x.ack(10).sends(&capable(11, 20)).windows(10_199, 2_000);
        x.echoes(11).sends("").windows(5_685, 5_685);
        x.echoes(14).sends("").windows(5_685, 5_685);
        x.echoes(20).sends("20ecwr 21e 22e 23e 24e").windows(5_685, 5_685);
        assert_eq!(x.sender.stats().ecn_reductions, 1);
    });
}

/// Windows without a mark let alpha decay: three ACKs that end a window each leave (15/16)^3 =
/// 0.823974609375. The end of the last one is 21, so that the echo of 22 is a window by itself,
/// with M = 1: alpha = 0.823974609375 * 15/16 + 1/16 = 0.834976196, and 10297 * 0.582511902 = 5998
/// stay.
#[test]
fn without_marks_alpha_decays() {
    run_with("newreno+dctcp", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).ack(1).sends("10e");
        x.ack(11).sends(&capable(11, 21)).windows(10_199, 2_000);
        x.ack(21).sends(&capable(21, 31)).windows(10_297, 2_000);
        x.echoes(22).sends("").windows(5_998, 5_998);
    });
}

/// Without it half of the flight stays, whatever the fraction.
#[test]
fn without_it_a_mark_halves() {
    run_with("newreno", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).ack(1).sends("10e");
        x.echoes(2).sends("").windows(5_000, 5_000);
    });
}

/// Half of two segments is one, but two stay.
#[test]
fn two_segments_stay() {
    run_with("newreno+dctcp", ecn(2), |x| {
        x.write(60_000).sends("0e 1e").at(100).echoes(1).sends("2ecwr").windows(2_000, 2_000);
    });
}

/// Section 3.5: losses are answered as by any TCP, whatever alpha is. Three duplicates halve the
/// flight, with 3 on top, and so does the timer, which leaves one segment.
#[test]
fn a_loss_halves() {
    run_with("newreno+dctcp", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).ack(1).sends("10e");
        x.ack(1).ack(1).sends("").ack(1).sends("1F").windows(8_000, 5_000);
    });
    run_with("newreno+dctcp", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).fire(1000).sends("0T").windows(1_000, 5_000);
    });
}

/// PRR spreads the reduction over a round trip, towards the ssthresh that alpha gives.
#[test]
fn prr_spreads_it_over_a_round_trip() {
    run_with("sack+prr+dctcp", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).ack(1).sends("10e");
        x.echoes(2).sends("11ecwr").windows(10_000, 5_365);
    });
}
