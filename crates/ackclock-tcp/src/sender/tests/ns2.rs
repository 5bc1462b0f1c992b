//! ns-2's agents where they depart from the RFCs: what each mechanism of the family sends, beside
//! what is sent without it.

use super::*;

/// A window of ten, ten segments sent, `more` to come.
fn start(x: &mut Script, more: u64) {
    x.write(10_000 + more * MSS).sends("0 1 2 3 4 5 6 7 8 9");
}

/// `send_much(0, 0, 2)`: the receiver's window has held back what the partial ACK makes room for.
#[test]
fn a_partial_ack_releases_two_segments_at_most() {
    for (strategy, sent) in [
        ("ns2-newreno", "6P 10 11"),
        ("ns2-newreno+ns2-inflate-limited+ns2-release", "6P 10 11 12 13"),
        ("newreno", "6P 10 11 12 13"),
    ] {
        run_with(strategy, SenderConfig { initial_rwnd: 10_000, ..window(10) }, |x| {
            start(x, 20);
            x.window = 10_000;
            x.acks(0, ["", "", "0F"]);
            for _ in 0..5 {
                x.ack(0).sends("");
            }
            // 0 and 6 are lost: cwnd is 5 + 8 - 6 + 1 segments, four are outstanding.
            x.window = 64_000;
            x.ack(6).sends(sent).windows(8_000, 5_000);
        });
    }
}

/// What `maxburst_` has held back goes on an ACK of new data, or from the third duplicate on.
#[test]
fn the_first_two_duplicates_release_nothing() {
    let config = SenderConfig { max_burst: Some(6), ..window(10) };
    for (strategy, sent) in [
        ("reno+ns2-inflate", ["6 7 8 9", "", "0F"]),
        ("ns2-reno", ["", "", "0F 6 7"]),
        ("ns2-newreno", ["", "", "0F 6 7"]),
        ("ns2-sack", ["", "", "0F"]),
        ("ns2-sack+ns2-release", ["", "", "0F 6 7"]),
    ] {
        run_with(strategy, config.clone(), |x| {
            x.write(30_000).sends("0 1 2 3 4 5");
            for (i, sent) in sent.iter().enumerate() {
                x.sack(0, &[(1, 2 + i as u64)]).sends(sent);
            }
        });
    }
}

/// After a timeout the first duplicates send the segments that come next, which are old.
#[test]
fn limited_transmit_sends_old_data() {
    for (probe, sent) in [("ns2-lt", ["1S", "2S", ""]), ("lt", ["", "", ""])] {
        run(&format!("newreno+{probe}"), 10, |x| {
            start(x, 20);
            x.fire(1000).sends("0T").windows(1000, 5000);
            for sent in sent {
                x.ack(0).sends(sent);
            }
        });
    }
}

/// `exitFastRetrans_ 0`: after a timeout the bugfix refuses a recovery, and the window opens by a
/// segment for each of the duplicates all the same, as far as an ACK may release.
#[test]
fn duplicates_that_begin_no_recovery_open_the_window() {
    for (strategy, sent) in [
        ("ns2-reno+bugfix+ns2-refused", ["", "", "1S 2S 3S", "4S"]),
        ("ns2-newreno+ns2-refused", ["", "", "1S 2S", "3S 4S"]),
        ("ns2-newreno+ns2-lt+ns2-refused", ["1S", "2S", "3S", "4S"]),
        ("ns2-newreno+ns2-refused-undeflated", ["", "", "", ""]),
        ("ns2-newreno", ["", "", "", ""]),
    ] {
        run(strategy, 10, |x| {
            start(x, 20);
            x.fire(1000).sends("0T");
            for sent in sent {
                x.ack(0).sends(sent);
            }
            x.windows(1_000, 5_000);
            // Until an ACK advances.
            let opened = !sent[3].is_empty();
            x.ack(1).sends(if opened { "" } else { "1S 2S" }).windows(2_000, 5_000);
        });
    }
    // New data too, and not where they begin a recovery.
    run("ns2-reno+bugfix+ns2-refused", 10, |x| {
        start(x, 20);
        x.ack(0).ack(0).ack(0).sends("0F").ack(10).sends("10 11 12 13 14");
        x.ack(10).acks(10, ["", "15+ 16+ 17+", "18+"]);
        x.ack(12).sends("");
        x.ack(12).ack(12).sends("").ack(12).sends("12F");
    });
}

/// `partial_window_deflation_ 0`: 0 and 5 are lost, then 10. If no duplicate follows the partial
/// ACK, the fourth duplicate of 10 opens the window, though the third may not begin a recovery.
#[test]
fn a_recovery_that_ends_without_inflation_ends_unnoticed() {
    let undeflated = "ns2-newreno+ns2-inflate-undeflated";
    for (mechanism, inflated, sent) in [
        ("+ns2-refused-undeflated", false, ["", "", "", "15+", "16+"]),
        ("+ns2-refused-undeflated", true, ["", "", "", "", ""]),
        ("", false, ["", "", "", "", ""]),
    ] {
        run(&format!("{undeflated}{mechanism}"), 10, |x| {
            start(x, 20);
            x.ack(0).ack(0).ack(0).sends("0F").ack(5).sends("5P");
            if inflated {
                x.ack(5).sends("10");
            }
            x.ack(10);
            x.sent.clear();
            for sent in sent {
                x.ack(10).sends(sent);
            }
        });
    }
}

/// FACK: recovery begins when the highest SACKed segment is more than three above the first
/// unacknowledged one, with a window of one, and each ACK opens it.
#[test]
fn fack_recovers_by_a_slow_start() {
    let fack = "fack+no-bugfix+ns2-fack-holes+ns2-fack+ns2-release-sack+ns2-window+ns2-timer";
    run(fack, 10, |x| {
        start(x, 20);
        x.sack(0, &[(1, 2)]).sends("").sack(0, &[(1, 3)]).sends("");
        x.sack(0, &[(1, 4)]).sends("0F").windows(1_000, 5_000);
        x.sack(0, &[(1, 5)]).sends("").sack(0, &[(1, 6)]).sends("").sack(0, &[(1, 7)]).sends("");
        // 8 and 9 are in the network, and 0 again.
        x.windows(4_000, 5_000).sack(0, &[(1, 8)]).sends("10 11").windows(5_000, 5_000);
        x.sack(0, &[(1, 9)]).sends("12").windows(5_200, 5_000);
        x.sack(0, &[(1, 10)]).sends("13").windows(5_392, 5_000);
        // All that had been sent, which is not enough to end it: the retransmission of 10 would be
        // due at once.
        x.ack(10).sends("14").windows(5_577, 5_000);
        assert_eq!(x.sender.state().phase, Phase::Recovery);
        x.ack(11).sends("15").windows(5_756, 5_000);
        assert_eq!(x.sender.state().phase, Phase::Open);
    });
    // Three are missing, which the first SACK shows; they go before new data.
    run(fack, 10, |x| {
        start(x, 20);
        x.sack(0, &[(3, 4)]).sends("0F");
        // 9 and 0 are in the network; then 9, and what goes again.
        x.sack(0, &[(3, 9)]).sends("").sack(1, &[(3, 9)]).sends("1P 2P");
        x.sack(1, &[(3, 10)]).sends("10 11").windows(4_000, 5_000);
        x.sack(1, &[(3, 11)]).sends("12 13").sack(11, &[(12, 13)]);
        assert_eq!(x.sender.state().phase, Phase::Recovery, "a block is left");
        x.sent.clear();
    });
}

/// Before a timeout it is RFC 3042's; with SACK too it goes by duplicates.
#[test]
fn limited_transmit_sends_one_segment_for_each_of_two_duplicates() {
    for strategy in ["ns2-reno+ns2-lt", "ns2-sack+ns2-lt"] {
        run(strategy, 10, |x| {
            start(x, 20);
            x.sack(0, &[(1, 2)]).sends("10+").sack(0, &[(1, 3)]).sends("11+");
            x.sack(0, &[(1, 4)]).sends("0F");
        });
    }
    // Three segments at once: RFC 6675 sends as many.
    for (strategy, sent) in [("ns2-sack+ns2-lt", "10+"), ("rfc3517+lt", "10+ 11+ 12+")] {
        run(strategy, 10, |x| {
            start(x, 20);
            x.sack(0, &[(1, 4)]).sends(sent);
        });
    }
}

/// After a timeout ns-2's SACK counts no duplicates until an ACK advances.
#[test]
fn with_sack_duplicates_after_a_timeout_send_nothing() {
    run("ns2-sack+ns2-lt", 10, |x| {
        start(x, 20);
        x.fire(1000).sends("0T").sack(0, &[(5, 6)]).sends("");
        x.ack(1).sends("1S 2S").sack(1, &[(5, 7)]).sends("3S");
    });
}

/// cwnd is a real number in ns-2, which neither growth nor halving rounds.
#[test]
fn the_window_is_not_rounded() {
    run("ns2-sack", 5, |x| {
        x.write(200_000).sent.clear();
        let (mut una, mut cwnd) = (0, 5.0);
        for acks in [9, 14, 5, 40] {
            for above in 2..5 {
                x.sack(una, &[(una + 1, una + above)]);
            }
            assert!(x.sent.starts_with(&format!("{una}F")), "{}", x.sent);
            x.sent.clear();
            cwnd /= 2.0;
            una = x.sender.state().snd_max / MSS;
            x.ack(una).sent.clear();
            for _ in 0..acks {
                una += 1;
                x.ack(una).sent.clear();
                cwnd += 1.0 / cwnd;
                assert_eq!(x.sender.state().cwnd, (cwnd * MSS as f64) as u64);
            }
        }
    });
}

/// A partial ACK takes back all inflation, or what it acknowledges.
#[test]
fn partial_window_deflation() {
    for (regulate, windows) in [
        ("ns2-inflate-undeflated", (5_000, 5_000)),
        ("ns2-inflate", (5_000 + 4_000 - 2_000 + 1_000, 5_000)),
    ] {
        run(&format!("newreno+{regulate}+ns2-window"), 10, |x| {
            start(x, 0);
            x.ack(0).ack(0).ack(0).sends("0F").ack(0).sends("").windows(9_000, 5_000);
            x.ack(2).sends("2P").windows(windows.0, windows.1);
        });
    }
}

/// A partial ACK of more than the inflation takes the rest from the window, which a timeout halves.
#[test]
fn a_timeout_halves_the_window_that_partial_acks_have_deflated() {
    run("ns2-newreno", 10, |x| {
        start(x, 0);
        x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
        // 5 + 3 - 7 + 1, one of them inflation.
        x.ack(7).sends("7P").windows(2_000, 5_000);
        let at = x.sender.next_deadline().0 / 1_000_000;
        x.fire(at).sends("7T").windows(1_000, 2_000);
    });
    // The same with RFC 6582's inflation, which does not tell the two apart.
    run("newreno+ns2-window", 10, |x| {
        start(x, 0);
        x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
        x.ack(7).sends("7P").windows(2_000, 5_000);
    });
}

/// The window of one segment that a timeout leaves is halved too, to less than a segment.
#[test]
fn half_a_segment_is_left_of_one() {
    run("ns2-reno", 10, |x| {
        start(x, 0);
        x.fire(1000).sends("0T").windows(1_000, 5_000);
        x.ack(0).sends("").ack(0).sends("");
        x.ack(0).sends("0F 1S 2S").windows(3_500, 2_000);
    });
}

/// Of an odd window the half segment is left out (`precisionReduce_ 0`).
#[test]
fn halving_in_whole_segments() {
    for (strategy, cwnd) in [
        ("ns2-reno", 7_500 + 3_000),
        ("ns2-reno+ns2-whole", 7_000 + 3_000),
        ("ns2-sack", 7_500),
        ("ns2-sack+ns2-whole", 7_000),
    ] {
        run(strategy, 15, |x| {
            x.write(15_000).sends(&numbers(0, 15));
            for right in 2..4 {
                x.sack(0, &[(1, right)]).sends("");
            }
            x.sack(0, &[(1, 4)]).sends("0F").windows(cwnd, 7_000);
        });
    }
}

/// Tahoe's count of duplicates outlives a timeout.
#[test]
fn tahoe_goes_on_counting() {
    for (detect, sent, ssthresh) in [("ns2-dupack", "0F", 2_000), ("dupack", "", 5_000)] {
        run(&format!("tahoe+no-bugfix+ns2-window+{detect}"), 10, |x| {
            start(x, 0);
            x.ack(0).ack(0).sends("").fire(1000).sends("0T").windows(1_000, 5_000);
            x.ack(0).sends(sent).windows(1_000, ssthresh);
        });
    }
}

/// The ACK of 2 told of 4 and 5 already.
#[test]
fn the_first_duplicate_after_an_advance_counts_without_news() {
    for (detect, dupacks) in [("ns2-dupack-sack", [1, 1, 2]), ("dupack", [0, 0, 1])] {
        run(&format!("ns2-sack+{detect}"), 10, |x| {
            start(x, 0);
            x.sack(2, &[(4, 6)]).sends("");
            let mut counted = Vec::new();
            for blocks in [(4, 6), (4, 6), (4, 7)] {
                x.sack(2, &[blocks]).sends("");
                counted.push(x.sender.state().dupacks);
            }
            assert_eq!(counted, dupacks);
        });
    }
}

/// At the recovery point itself: after a recovery duplicates begin the next one, after a timeout
/// they do not.
#[test]
fn the_recovery_point_of_a_timeout_is_not_enough() {
    for (ambiguity, sent) in [("ns2-recovery-point", ""), ("recovery-point", "10F")] {
        run(&format!("ns2-sack+{ambiguity}"), 10, |x| {
            start(x, 20);
            x.fire(1000)
                .sends("0T")
                .ack(1)
                .sends("1S 2S")
                .ack(2)
                .sends("3S 4S")
                .ack(3)
                .sends("5S 6S");
            x.ack(10).sends("10 11 12 13 14");
            x.sack(10, &[(11, 12)]).sends("").sack(10, &[(11, 13)]).sends("");
            x.sack(10, &[(11, 14)]).sends(sent);
        });
    }
    for (ambiguity, sent) in [("ns2-recovery-point", "10F"), ("bugfix", "")] {
        run(&format!("ns2-sack+{ambiguity}"), 10, |x| {
            start(x, 20);
            for right in 2..5 {
                x.sack(0, &[(1, right)]);
            }
            x.sent.clear();
            for right in 5..11 {
                x.sack(0, &[(1, right)]);
                x.sent.clear();
            }
            // All ten have arrived, and recovery ends at its point; then 10 is lost.
            x.ack(10).sent.clear();
            x.sack(10, &[(11, 12)]).sent.clear();
            x.sack(10, &[(11, 13)]).sent.clear();
            x.sack(10, &[(11, 14)]);
            assert!(x.sent.starts_with(sent), "{}", x.sent);
            assert_eq!(x.sender.stats().recoveries, 1 + u64::from(!sent.is_empty()));
            x.sent.clear();
        });
    }
}

/// An ACK of the segment that is timed is a sample, also where it covers a retransmission; and a
/// timeout gives up what is timed.
#[test]
fn the_timer_times_one_new_segment() {
    let config = SenderConfig { min_rto: Some(Span::from_millis(200)), ..window(10) };
    for (timer, srtt) in [("ns2-timer", [100, 100, 150]), ("rfc6298-timer", [100, 100, 100])] {
        run_with(&format!("newreno+{timer}"), config.clone(), |x| {
            start(x, 20);
            let at = |x: &Script| x.sender.state().srtt.0 / 1_000_000;
            x.at(100).ack(1).sends("10 11");
            let mut seen = vec![at(x)];
            // 1 is lost; 10 is timed, until the retransmission gives it up. 12 is the next.
            x.at(110).ack(1).ack(1).ack(1).sends("1F");
            for _ in 0..4 {
                x.ack(1);
            }
            assert_eq!(std::mem::take(&mut x.sent), "12");
            seen.push(at(x));
            // 12 took 500 ms: 100 + (500 - 100) / 8.
            x.at(610).ack(13);
            x.sent.clear();
            seen.push(at(x));
            assert_eq!(seen, srtt, "{timer}");
        });
    }
}

/// The fourth timeout in a row forgets SRTT, so that the next sample stands alone: a round trip of
/// 100 ms, and half of that four times.
#[test]
fn the_fourth_timeout_forgets_the_estimate() {
    for timeouts in [3, 4] {
        let config = SenderConfig { min_rto: Some(Span::from_millis(200)), ..window(1) };
        run_with("ns2-tahoe", config, |x| {
            x.write(30_000).sends("0").at(1000).ack(1).sends("1 2");
            assert_eq!(x.sender.state().srtt, Span::from_secs(1));
            for _ in 0..timeouts {
                let at = x.sender.next_deadline();
                x.at(at.0 / 1_000_000).input(|s, now| s.on_deadline(now));
                x.sent.clear();
            }
            let now = x.now.0 / 1_000_000;
            x.at(now).ack(3).sends("3 4");
            x.at(now + 100).ack(4).sent.clear();
            let srtt = if timeouts == 4 { 100_000_000 } else { 1_000_000_000 - 900_000_000 / 8 };
            assert_eq!(x.sender.state().srtt.0, srtt);
        });
    }
}

/// With timestamps each ACK of new data is a sample, but partial ACKs.
#[test]
fn with_timestamps_each_ack_is_a_sample() {
    let config = SenderConfig { timestamps: true, ..window(10) };
    run_with("ns2-newreno", config, |x| {
        start(x, 0);
        x.echo = Some(0);
        let srtt = |x: &Script| x.sender.state().srtt.0 / 1_000;
        x.at(80).ack(1).sends("");
        assert_eq!(srtt(x), 80_000);
        // 80 + 80 / 8.
        x.at(160).ack(2).sends("");
        assert_eq!(srtt(x), 90_000);
        x.ack(2).ack(2).ack(2).sends("2F").at(240).ack(4).sends("4P");
        assert_eq!(srtt(x), 90_000);
    });
}

/// `numdupacks_ 4`: the third duplicate is answered by limited transmit, the fourth by the
/// retransmission, and four segments have left.
#[test]
fn another_duplicate_threshold() {
    run("ns2-reno+ns2-numdupacks-4+ns2-lt", 10, |x| {
        start(x, 20);
        x.acks(0, ["10+", "11+", "12+"]);
        x.ack(0).sends("0F").windows(9_000, 5_000);
    });
    // With SACK and without are counted alike.
    run("ns2-sack+ns2-numdupacks-4", 10, |x| {
        start(x, 20);
        x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sack(0, &[(1, 4)]).sends("");
        x.sack(0, &[(1, 5)]).sends("0F");
    });
    run("ns2-tahoe+ns2-numdupacks-none", 10, |x| {
        start(x, 20);
        for _ in 0..9 {
            x.ack(0).sends("");
        }
        x.fire(1000).sends("0T");
    });
}

/// `aggressive_maxburst_ 0`: of a window of 12, four have gone on the ACK of ten.
#[test]
fn an_ack_that_comes_late_releases_nothing() {
    let config = SenderConfig { max_burst: Some(4), ..window(10) };
    for (strategy, sent) in [("ns2-reno+ns2-late", ""), ("ns2-reno", "8 9 10 11")] {
        run_with(strategy, config.clone(), |x| {
            x.write(30_000).sends("0 1 2 3").ack(4).sends("4 5 6 7");
            x.ack(3).sends(sent);
        });
    }
}

/// The duplicate by which F-RTO finds that the timeout was needed does not count as one: the slow
/// start goes on at once with what its window of two has room for.
#[test]
fn f_rto_goes_on_with_retransmissions_on_the_duplicate() {
    for strategy in ["ns2-reno+f-rto", "ns2-newreno+f-rto"] {
        run(strategy, 3, |x| {
            x.write(20_000).sends("0 1 2").fire(1000).sends("0T");
            x.ack(1).sends("3+ 4+").ack(1).sends("1S 2S");
        });
    }
}

/// `ts_resetRTO_ 0`: the echo of a retransmission is a sample, but the back-off lasts until a
/// segment is acknowledged that was sent first after the timeout.
#[test]
fn a_back_off_may_outlast_a_sample() {
    let config = SenderConfig { timestamps: true, ..window(1) };
    for (timer, deadline) in [("ns2-timer", 2100), ("ns2-timer-keep", 3100)] {
        run_with(&format!("ns2-newreno+{timer}"), config.clone(), |x| {
            x.write(30_000).sends("0").fire(1000).sends("0T");
            x.echo = Some(1000);
            x.at(1100).ack(1).sends("1 2").deadline(deadline);
            x.echo = Some(1100);
            x.at(1200).ack(2).sends("3").deadline(2200);
        });
    }
}

/// 250 ms are two ticks of 100 ms, and RTO is 2 + 4 * 1 of them.
#[test]
fn ticks_of_100_ms() {
    let config = SenderConfig { min_rto: Some(Span::from_millis(1)), ..window(1) };
    for (timer, first, second) in [("ns2-timer-100ms", 6000, 850), ("ns2-timer", 1000, 1000)] {
        run_with(&format!("ns2-newreno+{timer}"), config.clone(), |x| {
            x.write(30_000).sends("0").deadline(first);
            x.at(250).ack(1).sends("1 2").deadline(second);
        });
    }
}
