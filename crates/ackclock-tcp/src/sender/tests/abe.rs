//! RFC 8511 section 3. After a segment's number "e" stands for ECT(0), "ecwr" for ECT(0) and CWR.

use super::ecn::capable;
use super::*;

/// ECN, and ssthresh from the start: above it is congestion avoidance.
fn ecn(initial_window: u32, ssthresh: u64) -> SenderConfig {
    SenderConfig { ecn: true, initial_ssthresh: Some(ssthresh), ..window(initial_window) }
}

/// Of a flight of 10, 8 stay: 0.8 * 10000. Nine are outstanding then, so that two ACKs release
/// nothing. Then cwnd grows by 1000^2 / 8000 = 125, and a mark of the next window leaves 0.8 of the
/// eight outstanding.
#[test]
fn a_mark_leaves_four_fifths() {
    for composition in ["newreno+abe", "sack+abe", "reno+abe", "newreno+abc+abe"] {
        run_with(composition, ecn(10, 2_000), |x| {
            x.write(60_000).sends(&capable(0, 10));
            x.at(100).echoes(1).sends("").windows(8_000, 8_000).phase(Phase::Open);
            x.echoes(2).sends("").windows(8_000, 8_000);
            x.echoes(3).sends("10ecwr").echoes(10).sends(&capable(11, 18));
            x.windows(8_000, 8_000);
            if composition.contains("abc") {
                return;
            }
            x.ack(11).sends("18e").windows(8_125, 8_000);
            x.echoes(12).sends("").windows(6_400, 6_400);
            assert_eq!(x.sender.stats().ecn_reductions, 2);
        });
    }
}

/// Without it half stays.
#[test]
fn without_it_a_mark_leaves_half() {
    run_with("newreno", ecn(10, 2_000), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).echoes(1).windows(5_000, 5_000);
    });
}

/// Section 3.1: CUBIC's beta_ecn is 0.85. Its curve begins anew as after a loss: W_max and
/// cwnd_prior are 10000, and so alpha is 9/17. W_est = 8500 + 9/17 * 1000 * 1000 / 8500 = 8562.28,
/// where the curve is still at 8500.
#[test]
fn around_cubic_it_leaves_more() {
    run_with("newreno+cubic+abe", ecn(10, 2_000), |x| {
        x.write(60_000).sends(&capable(0, 10));
        x.at(100).echoes(1).sends("").windows(8_500, 8_500);
        x.echoes(10).sends("10ecwr 11e 12e 13e 14e 15e 16e 17e");
        x.at(200).ack(11).sends("18e").windows(8_562, 8_500);
    });
    // Other laws around CUBIC do not hide it.
    for composition in
        ["newreno+cubic+hystart+abe", "newreno+cubic+abe+hystart", "sack+linux-cubic+abe"]
    {
        run_with(composition, ecn(10, 2_000), |x| {
            x.write(60_000).sends(&capable(0, 10)).at(100).echoes(1).sends("");
            x.windows(8_500, 8_500);
        });
    }
}

/// The lower bound: 0.8 * 2000 = 1600, but two segments stay.
#[test]
fn two_segments_stay() {
    run_with("newreno+abe", ecn(2, 1_000), |x| {
        x.write(60_000).sends("0e 1e").at(100).echoes(1).sends("2ecwr").windows(2_000, 2_000);
    });
}

/// FlightSize counts up to what the receiver's window holds: 5 were sent of 5000, and the ACK of
/// the first leaves 4000: 0.8 * 4000.
#[test]
fn flight_counts_up_to_the_receivers_window() {
    run_with("newreno+abe", SenderConfig { initial_rwnd: 5_000, ..ecn(10, 2_000) }, |x| {
        x.write(60_000).sends("0e 1e 2e 3e 4e").at(100).window = 4_000;
        x.echoes(1).sends("").windows(3_200, 3_200);
    });
}

/// Section 4: not in slow start, where a mark halves, and not at cwnd = ssthresh.
#[test]
fn in_slow_start_a_mark_halves() {
    for ssthresh in [UNSET, 10_001, 10_000] {
        run_with("newreno+abe", ecn(10, ssthresh), |x| {
            x.write(60_000).sends(&capable(0, 10)).at(100).echoes(1).windows(5_000, 5_000);
        });
    }
    run_with("newreno+abe", ecn(10, 9_999), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).echoes(1).windows(8_000, 8_000);
    });
}

/// Section 3.1: "ABE does not change the value of beta_loss". Three duplicates halve, with 3 on
/// top, and so does the timer, which leaves one segment.
#[test]
fn a_loss_halves() {
    run_with("newreno+abe", ecn(10, 2_000), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100);
        x.ack(0).ack(0).sends("").ack(0).sends("0F").windows(8_000, 5_000);
    });
    run_with("newreno+abe", ecn(10, 2_000), |x| {
        x.write(60_000).sends(&capable(0, 10)).fire(1000).sends("0T").windows(1_000, 5_000);
    });
}

/// PRR spreads the reduction over a round trip: RecoverFS = 9000 + 1000 and ssthresh 8000, so that
/// 0.8 of what is delivered may go.
#[test]
fn prr_spreads_it_over_a_round_trip() {
    run_with("sack+prr+abe", ecn(10, 2_000), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100);
        x.echoes(1).sends("10ecwr").windows(10_000, 8_000);
        // 1600 of 2000 delivered: 600 are allowed beside the segment sent, and 9 are outstanding.
        x.ack(2).sends("").windows(9_600, 8_000);
        // Eight are outstanding, as many as ssthresh: PRR fills up to that, and no more.
        x.ack(3).sends("").windows(8_000, 8_000);
        x.ack(4).sends("11e").windows(8_000, 8_000);
    });
}

/// A law by rate answers as without it: BBR does not lower cwnd for what it would for another law.
#[test]
fn a_law_by_rate_answers_as_without_it() {
    let windows = |composition| {
        let seen = core::cell::Cell::new((0, 0));
        run_with(composition, ecn(10, 2_000), |x| {
            x.sender.write(x.now, 60_000);
            while x.sender.poll_transmit(x.now).is_some() {}
            let echo = Segment { ecn: Ecn::NONE.with_ece(), ..x.header(1) };
            x.sender.on_segment(Time(100_000_000), &echo);
            seen.set((x.sender.state().cwnd, x.sender.state().ssthresh));
            assert_eq!(x.sender.stats().ecn_reductions, 1);
        });
        seen.get()
    };
    assert_eq!(windows("bbr+abe"), windows("bbr"));
}
