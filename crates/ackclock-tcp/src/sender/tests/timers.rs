//! The retransmission timer: values by hand, back-off, and what a timeout does.

use super::*;
use crate::strategy::Axis;

const NO_MIN: Option<Span> = Some(Span::ZERO);

fn one_by_one(timestamps: bool) -> SenderConfig {
    SenderConfig { initial_window: Some(1), min_rto: NO_MIN, timestamps, ..config() }
}

/// RFC 6298 section 2: 100 ms, then 200 ms.
#[test]
fn rfc6298_values() {
    run_with("reno", one_by_one(false), |x| {
        // (2.1)
        x.write(30_000).sends("0").deadline(1000);
        // (2.2): SRTT 100, RTTVAR 50, RTO 300.
        x.at(100).ack(1).sends("1 2").deadline(400);
        // (2.3): RTTVAR 37.5 + 25, SRTT 87.5 + 25, RTO 112.5 + 4 * 62.5 = 362.5.
        x.at(300).ack(2).sends("3 4");
        assert_eq!(x.sender.next_deadline(), Time(662_500_000));
        // Sent together with the segment just measured: no sample of this round trip (section 3).
        x.at(310).ack(3).sends("5 6");
        assert_eq!(x.sender.next_deadline(), Time(672_500_000));
    });
    // Nor is one due where nothing was sent since.
    run_with("reno", one_by_one(false), |x| {
        x.write(3_000).sends("0").at(100).ack(1).sends("1 2").at(300).ack(2).sends("");
        x.at(310).ack(3).sends("").write(1_000).sends("3");
        assert_eq!(x.sender.next_deadline(), Time(672_500_000));
    });
    // (2.4)
    run("reno", 1, |x| {
        x.write(30_000).sends("0").at(100).ack(1).sends("1 2").deadline(1100);
        x.at(2000);
    });
}

/// RFC 6298 sections 5.2 to 5.6 and 2.5: doubled each time, 60 s at most, off when all is
/// acknowledged.
#[test]
fn timeouts_double_up_to_a_minute() {
    run("reno", 1, |x| {
        x.write(1_000).sends("0");
        for at in [1, 3, 7, 15, 31, 63, 123, 183] {
            x.fire(at * 1000).sends("0T").windows(1_000, 2_000);
        }
        x.deadline(243_000).classes([1, 0, 0, 7]);
        x.at(183_100).ack(1).sends("").no_deadline();
    });
}

/// Karn: an ACK of a retransmission is no sample and leaves the back-off; one of new data collapses
/// it (section 5).
#[test]
fn karn_without_timestamps() {
    run_with("reno", one_by_one(false), |x| {
        x.write(30_000).sends("0").at(100).ack(1).sends("1 2").deadline(400);
        x.fire(400).sends("1T").deadline(1000).fire(1000).sends("1T").deadline(2200);
        // Still four times 300.
        x.at(1100).ack(2).sends("2S 3").deadline(2300);
        x.at(1200).ack(3).sends("4").deadline(2400);
        // 3 was sent once, at 1100: R = 200, RTO 362.5.
        x.at(1300).ack(4).sends("5");
        assert_eq!(x.sender.next_deadline(), Time(1_662_500_000));
    });
}

/// RFC 7323 section 4.1: with timestamps the ACK of a retransmission is a sample too.
#[test]
fn karn_with_timestamps() {
    run_with("reno", one_by_one(true), |x| {
        x.write(30_000).sends("0");
        x.echo = Some(0);
        x.at(100).ack(1).sends("1 2").deadline(400).fire(400).sends("1T").deadline(1000);
        x.echo = Some(400);
        // R = 100: RTTVAR 37.5, SRTT 100, RTO 250.
        x.at(500).ack(2).sends("2S 3").deadline(750);
    });
    // Also when a window was under way, which the timeout gives up; then one sample a round trip
    // again.
    run_with("reno", SenderConfig { initial_window: Some(10), ..one_by_one(true) }, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.echo = Some(0);
        x.at(100).ack(1).sends("10 11").deadline(400).fire(400).sends("1T").deadline(1000);
        x.echo = Some(400);
        x.at(500).ack(2).sends("2S 3S").deadline(750);
        x.echo = Some(500);
        // 2 was sent after that sample: R = 200, RTTVAR 53.125, SRTT 112.5. 3 was sent together
        // with it.
        x.at(700).ack(3).sends("4S 5S").deadline(1025).ack(4).sends("6S 7S").deadline(1025);
    });
    // An echo from before the segment was first sent is none: what 500 ms ago would make of the
    // timer is refused.
    run_with("reno", one_by_one(true), |x| {
        x.write(30_000).sends("0");
        x.echo = Some(0);
        x.at(600).ack(1).sends("1 2").deadline(2400).fire(2400).sends("1T").deadline(6000);
        x.echo = Some(100);
        x.at(2500).ack(2).sends("2S 3").deadline(6100);
    });
    // An echo of the future is none.
    run_with("reno", one_by_one(true), |x| {
        x.write(30_000).sends("0").fire(1000).sends("0T").deadline(3000);
        x.echo = Some(1101);
        x.at(1100).ack(1).sends("1 2").deadline(3100);
    });
}

/// BSD's 500 ms ticks: the first one comes `tick_phase` after the origin.
#[test]
fn bsd_ticks() {
    for (phase, first, second) in
        [(0, 6000, 1500), (100, 5600, 1600), (499, 5999, 1499), (500, 6000, 1500)]
    {
        let config = SenderConfig {
            initial_window: Some(1),
            tick_phase: Span::from_millis(phase),
            ..config()
        };
        run_with("reno+bsd-timer", config, |x| {
            // 12 ticks.
            x.write(30_000).sends("0").deadline(first);
            // Measured: no tick, or with a phase of 100 ms one. SRTT 1 or 2 ticks, deviation 2 or 4
            // quarters of one: 3 or 6 ticks.
            let second = if phase == 100 { second + 1500 } else { second };
            x.at(100).ack(1).sends("1 2").deadline(second);
        });
    }
    // Later samples: 700 ms are two ticks from 100 (phase 0); delta 1, SRTT 9/8, deviation 2 + 1: 1
    // + 3 ticks.
    let config = SenderConfig { initial_window: Some(1), ..config() };
    run_with("reno+bsd-timer", config, |x| {
        x.write(30_000)
            .sends("0")
            .at(100)
            .ack(1)
            .sends("1 2")
            .at(1100)
            .ack(2)
            .sends("3 4")
            .deadline(3000);
    });
}

/// A timeout of BSD takes no more than 64 s (`TCPTV_REXMTMAX`).
#[test]
fn bsd_backs_off_to_64_s() {
    run("reno+bsd-timer", 1, |x| {
        x.write(30_000).sends("0");
        for ms in [6_000, 18_000, 42_000, 90_000, 154_000] {
            x.fire(ms).sends("0T");
        }
        x.deadline(218_000);
    });
}

/// Linux: a variance term of at least 200 ms, and a sample with every ACK.
#[test]
fn linux_values() {
    let config = SenderConfig { initial_window: Some(1), ..config() };
    run_with("reno+linux-timer", config, |x| {
        x.write(30_000).sends("0").deadline(1004);
        // 100 + 4 * 50.
        x.at(100).ack(1).sends("1 2").deadline(404);
        x.at(200).ack(2).sends("3 4").deadline(504);
        // Error 200; mdev 37.5 + 162.5 / 4 = 78.125; SRTT 125: 437.5.
        x.at(500).ack(3).sends("5 6");
        // 2 was sent at 100: error 300; mdev 37.5 + 262.5 / 4 = 103.125; SRTT 137.5: 550, in ticks
        // of 4 ms 552.
        assert_eq!(x.sender.next_deadline(), Time(1_056_000_000));
    });
}

/// RFC 5681 section 3.1: cwnd of one segment; ssthresh held constant while the timer sends the same
/// segment again.
#[test]
fn timeout_windows() {
    run("newreno", 10, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.fire(1000).sends("0T").windows(1_000, 5_000).phase(Phase::Loss);
        x.fire(3000).sends("0T").windows(1_000, 5_000);
        x.at(3100).ack(1).sends("1S 2S").windows(2_000, 5_000).deadline(7100);
        // Another segment, retransmitted by slow start and not by the timer: half of the two sent
        // since, but at least 2.
        x.fire(7100).sends("1T").windows(1_000, 2_000);
        x.at(7200).ack(10).sends("10 11").windows(2_000, 2_000).phase(Phase::Open);
    });
    // BSD halves every time.
    run("newreno+half-window", 10, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.fire(1000).sends("0T").windows(1_000, 5_000).fire(3000).sends("0T").windows(1_000, 2_000);
    });
}

/// A timeout within recovery ends it, and lowers ssthresh a second time (RFC 5681 section 4.3),
/// whatever inflation let out.
#[test]
fn timeout_within_recovery() {
    run("newreno", 10, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").ack(0).ack(0).ack(0).sends("0F");
        x.acks(0, ["", "", "10", "11"]).windows(12_000, 5_000);
        x.fire(1000).sends("0T").windows(1_000, 2_500).phase(Phase::Loss).classes([0, 0, 1]);
        // Duplicates of what had been in the network begin nothing.
        x.ack(0).ack(0).ack(0).ack(0).sends("").windows(1_000, 2_500);
        x.at(1100).ack(12).sends("12 13").windows(2_000, 2_500).phase(Phase::Open);
    });
}

/// Lin & Kung 1998 section 4.1.
#[test]
fn timeout_classes() {
    // Fast retransmit was not triggered.
    run("reno", 4, |x| {
        x.write(30_000)
            .sends("0 1 2 3")
            .ack(0)
            .ack(0)
            .sends("")
            .fire(1000)
            .sends("0T")
            .classes([1, 0, 0]);
        // And once more: what was lost is a retransmission.
        x.fire(3000).sends("0T").classes([1, 0, 0, 1]);
    });
    // 0 was retransmitted, 5 was not.
    run("reno", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(0).ack(0).ack(0).sends("0F");
        x.at(200).ack(5).sends("").fire(1200).sends("5T").classes([0, 1, 0]);
    });
    // The fast retransmission was lost.
    run("reno", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(0).ack(0).ack(0).sends("0F");
        x.fire(1000).sends("0T").classes([0, 0, 1]);
    });
    // A retransmission long before, or at the moment when the segment is first sent, is another
    // period's.
    run("reno", 10, |x| {
        x.write(11_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(0).ack(0).ack(0).sends("0F");
        x.ack(0)
            .ack(0)
            .sends("")
            .ack(0)
            .sends("10")
            .ack(10)
            .sends("")
            .fire(1100)
            .sends("10T")
            .classes([1, 0, 0]);
    });
}

/// The event of a timeout tells the window before it, the class, the back-off and the interval.
#[test]
fn timeout_event() {
    run_with("reno", SenderConfig { events: true, ..config() }, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T").fire(3000).sends("0T");
        let mut timeouts = Vec::new();
        while let Some(event) = x.sender.poll_event() {
            if let EventKind::TimedOut { seq, class, backoff, flight, cwnd_before, rto } =
                event.kind
            {
                timeouts.push((
                    seq,
                    class.name(),
                    backoff,
                    flight,
                    cwnd_before,
                    rto,
                    event.cwnd,
                    event.ssthresh,
                ));
            }
        }
        let first = (0, "non_trigger", 0, 10_000, 10_000, 1_000_000_000, 1_000, 5_000);
        let second = (0, "backed_off", 1, 10_000, 1_000, 2_000_000_000, 1_000, 5_000);
        assert_eq!(timeouts, [first, second]);
    });
}

/// Gurtov & Floyd: three spurious retransmissions draw three duplicates; with the bugfix they begin
/// nothing.
#[test]
fn bugfix_after_a_timeout() {
    let until_duplicates = |x: &mut Script| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T").at(1100);
        // All but 0 had arrived late.
        x.ack(1)
            .sends("1S 2S")
            .ack(2)
            .sends("3S 4S")
            .ack(10)
            .sends("10 11 12 13")
            .windows(4_000, 5_000);
        x.ack(10).ack(10).sends("");
    };
    run("newreno", 10, |x| {
        until_duplicates(x);
        x.ack(10).sends("").phase(Phase::Open).windows(4_000, 5_000);
    });
    run("newreno+no-bugfix", 10, |x| {
        until_duplicates(x);
        x.ack(10).sends("10F 14").phase(Phase::Recovery).windows(5_000, 2_000);
    });
}

/// RFC 6298 restarts on new acknowledgments only, ns-2 with the fast retransmit, RFC 6675 section
/// 6's careful variant with every retransmission of a recovery.
#[test]
fn what_restarts_the_timer() {
    for (composition, fast, second) in
        [("sack", 1000, 1000), ("sack+ns2-timer", 1100, 1100), ("sack+careful-timer", 1100, 1200)]
    {
        run(composition, 10, |x| {
            x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
            x.at(100).sack(0, &[(2, 5)]).sends("0F").deadline(fast);
            x.at(200).sack(0, &[(2, 7)]).sends("1P").deadline(second);
        });
    }
}

/// Within a recovery too "an ACK [...] that acknowledges new data" restarts it (RFC 6298 section
/// 5.3), and no other does. RFC 6675 has a rescue retransmission then (rule 4 of NextSeg).
#[test]
fn what_restarts_the_timer_within_recovery() {
    let rack = "rack+recovery-point+lost-first+pipe";
    for (composition, rescue) in [("sack", "5L"), (rack, "")] {
        run(composition, 10, |x| {
            x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(1).sends("").deadline(1_100);
            x.at(110).sack(1, &[(2, 5)]).sends("1F").deadline(1_100);
            x.at(120).sack(1, &[(6, 10), (2, 5)]).sends("5P").deadline(1_100);
            x.at(210).sack(5, &[(6, 10)]).sends(rescue).phase(Phase::Recovery).deadline(1_210);
        });
    }
}

/// ns-2.26 waits 6 s before there is a sample, then as long as any other: 100 + 4 * 50 ms is less
/// than 1 s.
#[test]
fn ns2_waited_six_seconds_at_first() {
    run("newreno+ns2-timer-6s", 10, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").deadline(6000);
        x.at(50).ack(0).ack(0).ack(0).sends("0F").deadline(6050);
    });
    run("newreno+ns2-timer-6s", 2, |x| {
        x.write(30_000).sends("0 1").deadline(6000).at(100).ack(1).sends("2 3").deadline(1100);
    });
}

/// Linux: a sample far below the mean raises the deviation by an eighth of what one above it does.
#[test]
fn linux_weighs_a_short_sample_less() {
    run_with("reno+linux-timer", SenderConfig { initial_window: Some(1), ..config() }, |x| {
        x.write(30_000).sends("0").at(100).ack(1).sends("1 2");
        // Error 90; mdev 50 + 40 / 32 = 51.25; SRTT 100 - 11.25: 88.75 + 205, which makes 74 ticks,
        // from 108 ms on, and one more.
        x.at(110).ack(2).sends("3 4");
        assert_eq!(x.sender.next_deadline(), Time(408_000_000));
    });
}

/// BSD restarts with the fast retransmit: twelve ticks from 600 ms on.
#[test]
fn bsd_restarts_with_the_fast_retransmit() {
    run("reno+bsd-timer", 10, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").deadline(6000);
        x.at(600).ack(0).ack(0).ack(0).sends("0F").deadline(6500);
    });
}

/// Duplicates from before a timeout do not count after it.
#[test]
fn a_timeout_forgets_duplicates() {
    run("reno", 10, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").ack(0).ack(0).sends("").fire(1000).sends("0T");
        x.ack(0).sends("").windows(1_000, 5_000).phase(Phase::Loss);
    });
}

/// A bound of nothing would let the timer expire at the moment that sets it, for ever.
#[test]
fn a_timeout_takes_time() {
    run_with(
        "reno",
        SenderConfig { initial_window: Some(1), max_rto: Some(Span::ZERO), ..config() },
        |x| {
            x.write(1000).sends("0").deadline(1).fire(1).sends("0T").deadline(2);
        },
    );
}

/// Karn's rule (RFC 6298 section 3) keeps what the ACK of a retransmission measures out of the mean
/// too.
#[test]
fn round_trips_are_summed_up() {
    run("reno", 4, |x| {
        x.write(4_000).sends("0 1 2 3").at(100).ack(1).at(150).ack(2);
        assert_eq!(
            (x.sender.stats().rtt_samples, x.sender.stats().rtt_sum),
            (2, Span::from_millis(250))
        );
        // 7/8 of 100 ms and 1/8 of 150 ms.
        assert_eq!(x.sender.stats().rtt_least, Span::from_millis(100));
        assert_eq!(x.sender.stats().rtt_smoothed, Span::from_micros(106_250));
        x.fire(1150).sends("2T").at(1300).ack(3).sends("3S");
        assert_eq!(
            (x.sender.stats().rtt_samples, x.sender.stats().rtt_sum),
            (2, Span::from_millis(250))
        );
    });
}

/// The counters take the handshake too, and go by no timer's ticks.
#[test]
fn the_handshake_is_among_the_round_trips() {
    for composition in ["reno", "reno+ns2-timer", "reno+bsd-timer", "linux"] {
        let handshake_rtt = Some(Span::from_millis(20));
        run_with(composition, SenderConfig { handshake_rtt, ..one_by_one(false) }, |x| {
            let shown = |x: &Sender| {
                let s = x.stats();
                [s.rtt_least, s.rtt_smoothed].map(|span| span.0 / 1000)
            };
            assert_eq!(shown(&x.sender), [20_000, 20_000]);
            x.write(1000).sends("0").at(100).ack(1);
            // 7/8 of 20 ms and 1/8 of 100 ms.
            assert_eq!(shown(&x.sender), [20_000, 30_000]);
            assert_eq!(x.sender.stats().rtt_samples, 1);
        });
    }
}

/// RFC 6298 section 2.2 with the handshake as its sample, and section 2.3 for the first of data.
#[test]
fn the_handshake_is_the_first_sample() {
    let config = SenderConfig { handshake_rtt: Some(Span::from_millis(100)), ..one_by_one(false) };
    for composition in ["reno", "reno+careful-timer", "reno+ns2-timer"] {
        run_with(composition, config.clone(), |x| {
            // SRTT 100, RTTVAR 50.
            x.write(30_000).sends("0").deadline(300);
            // RTTVAR 37.5 + 25, SRTT 87.5 + 25.
            x.at(200).ack(1).sends("1 2");
            assert_eq!(x.sender.next_deadline(), Time(562_500_000));
            assert_eq!(
                (x.sender.stats().rtt_samples, x.sender.state().srtt),
                (1, Span(112_500_000))
            );
        });
    }
    // SRTT 100, and four times a variance of at least 50 ms.
    run_with("reno+linux-timer", config.clone(), |x| {
        x.write(30_000).sends("0").deadline(304);
    });
    // As after any first sample within a tick: one of 500 ms, and a deviation of two.
    run_with("reno+bsd-timer", SenderConfig { min_rto: None, ..config }, |x| {
        let measured = x.sender.timers.rto();
        assert_eq!(measured, Span::from_millis(500 * (1 + 2)));
        x.write(1_000).sends("0");
    });
}

/// BSD counts the ticks that came while the handshake was under way, one at its end included: none
/// in 400 ms, or one. So does ns-2 with ticks of 100 ms, on a clock that is ahead by the phase. A
/// handshake that would have begun before the origin of time began there.
#[test]
fn the_ticks_of_a_handshake_are_those_of_its_time() {
    let waits = |composition: &str, [phase, rtt, end]: [u64; 3], expected: u64| {
        let config = SenderConfig {
            handshake_rtt: Some(Span::from_millis(rtt)),
            handshake_end: Time(end * 1_000_000),
            tick_phase: Span::from_millis(phase),
            ..one_by_one(false)
        };
        run_with(composition, config, |x| {
            let waits = x.sender.timers.rto();
            assert_eq!(waits, Span::from_millis(expected), "{composition} {phase} {end}");
        });
    };
    for (phase, end, expected) in [
        (0, 0, 1500),
        (0, 400, 1500),
        (0, 499, 1500),
        (0, 500, 3000),
        (0, 899, 3000),
        (0, 900, 1500),
        (100, 0, 3000),
        (100, 499, 3000),
        (100, 500, 1500),
        (100, 600, 3000),
        (100, 100_600, 3000),
        (100, 101_050, 1500),
    ] {
        waits("reno+bsd-timer", [phase, 400, end], expected);
    }
    for (phase, end, ticks) in [(0, 150, 1), (0, 190, 1), (0, 200, 2), (0, 249, 2), (60, 149, 2)] {
        // A sample, and four times half of it.
        waits("reno+ns2-timer-100ms", [phase, 150, end], 300 * ticks);
    }
    // To who counts no ticks it is all the same.
    for (composition, expected) in [("reno", 1200), ("reno+ns2-timer", 1200), ("linux", 1200)] {
        for end in [0, 777] {
            waits(composition, [0, 400, end], expected);
        }
    }
}

/// RFC 6298 section 5.7: 3 s until there is a sample; that of the handshake is one.
#[test]
fn the_timeout_before_the_first_sample() {
    let config = SenderConfig { initial_rto: Some(Span::from_secs(3)), ..window(1) };
    // Linux counts ticks of 4 ms, and one more.
    for (composition, tick) in [("reno", 0), ("reno+linux-timer", 4)] {
        run_with(composition, config.clone(), |x| {
            x.write(30_000).sends("0").fire(3_000 + tick).sends("0T").deadline(9_000 + 2 * tick);
        });
        run_with(
            composition,
            SenderConfig { max_rto: Some(Span::from_secs(2)), ..config.clone() },
            |x| {
                x.write(1_000).sends("0").deadline(2_000 + tick);
            },
        );
        let both = SenderConfig { handshake_rtt: Some(Span::from_millis(500)), ..config.clone() };
        run_with(composition, both, |x| {
            x.write(1_000).sends("0").deadline(1_500 + tick);
        });
    }
    run_with("reno", config, |x| {
        x.write(30_000).sends("0").at(100).ack(1).sends("1 2").deadline(1_100);
    });
}

/// A device that is full takes nothing when the application writes. A call without reason in
/// between takes nothing away, and grants no more either: two go with each input here.
#[test]
fn an_early_call_before_all_is_sent() {
    for composition in ["newreno", "linux", "ns2-newreno", "ns2-sack", "linux+linux-tso"] {
        let strategy = Registry::default().parse(composition).unwrap().build();
        let config = SenderConfig { max_burst: Some(2), ..window(10) };
        let mut sender = Sender::new(config, strategy);
        sender.write(Time::ZERO, 10_000);
        sender.on_deadline(Time::ZERO);
        assert!(sender.poll_transmit(Time::ZERO).is_some(), "{composition}");
        sender.on_deadline(Time::ZERO);
        assert!(sender.poll_transmit(Time::ZERO).is_some(), "{composition}");
        sender.on_deadline(Time::ZERO);
        assert_eq!(sender.poll_transmit(Time::ZERO), None, "{composition}");
    }
}

/// Settings that make no sense are taken for the least that does.
#[test]
fn settings_of_nothing() {
    let config = SenderConfig {
        max_cwnd: Some(0),
        initial_ssthresh: Some(0),
        initial_rto: Some(Span::ZERO),
        ..window(10)
    };
    let mut sender = Sender::new(config, Registry::default().parse("newreno").unwrap().build());
    sender.write(Time::ZERO, 3000);
    assert!(sender.poll_transmit(Time::ZERO).is_some());
    assert_eq!(sender.next_deadline(), Time(1_000_000));
    sender.on_segment(Time(1), &Segment { ack: Seq(1000), wnd: 8000, ..Segment::default() });
    assert_eq!(sender.state().cwnd, 1);
}

/// The axis of the deadline: where one timer serves all ends, and where each end has its own.
#[test]
fn a_driver_is_told_what_the_sender_waits_for() {
    run("newreno", 2, |x| {
        assert_eq!(x.sender.waits_for(), None);
        x.write(2_000).sends("0 1");
        assert_eq!(x.sender.waits_for(), Some(Axis::Timer));
    });
    for strategy in ["rack-tlp", "linux"] {
        run(strategy, 4, |x| {
            x.write(4_000).sends("0 1 2 3").at(100).ack(1);
            assert_eq!(x.sender.waits_for(), Some(Axis::Probe), "{strategy}");
            x.at(101).sack(1, &[(2, 3)]).sends("");
            assert_eq!(x.sender.waits_for(), Some(Axis::Detect), "{strategy}");
        });
    }
    run("newreno+linux-pacing", 20, |x| {
        x.write(20_000).sends(&numbers(0, 10));
        assert_eq!(x.sender.waits_for(), Some(Axis::Pacing));
    });
}
