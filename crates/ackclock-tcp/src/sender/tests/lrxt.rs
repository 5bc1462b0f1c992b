//! The ACK clock of Lin & Kung, sections 6.2 and 6.3.

use super::*;

/// Figures 3 and 4: segment 0 stands for packet 638. The window is 34, and the first three packets
/// are lost.
fn figure_4(composition: &str, script: impl Fn(&mut Script)) {
    run(composition, 34, |x| {
        x.write(90_000);
        x.sent.clear();
        // 31 duplicates, for 641 to 671.
        for dupack in 1..=31 {
            let sends = match dupack {
                3 => "0F".into(),
                18 => "1P".into(),
                19 => "2P".into(),
                20.. => (34 + dupack - 20).to_string(),
                _ => String::new(),
            };
            x.sack(0, &[(3, 3 + dupack)]).sends(&sends);
        }
        // The retransmission of 638 is lost, those of 639 and 640 arrive, and the new packets 672
        // to 674.
        x.sack(0, &[(1, 2), (3, 34)]).sends("46").sack(0, &[(1, 34)]).sends("47");
        x.sack(0, &[(1, 35)])
            .sends("48")
            .sack(0, &[(1, 36)])
            .sends("49")
            .sack(0, &[(1, 37)])
            .sends("50");
        assert_eq!(x.sender.state().dupacks, 36);
        script(x);
    });
}

/// Figure 3: without the clock new packets keep flowing until the timer expires.
#[test]
fn without_the_clock_a_lost_retransmission_ends_in_a_timeout() {
    figure_4("sack-ff96", |x| {
        for right in 38..=50 {
            x.sack(0, &[(1, right)]).sends(&(right + 13).to_string());
        }
        x.fire(1000).sends("0T").classes([0, 0, 1]);
    });
}

/// Figure 4: "when dupacks reached 40 (3 + RTT + 3)", of which 37 were received.
#[test]
fn the_clock_recovers_a_lost_retransmission() {
    for composition in ["sack-ls+lrxt+response-1", "sack-ff96+lrxt+response-1"] {
        figure_4(composition, |x| {
            x.sack(0, &[(1, 38)]).sends("0L");
            assert_eq!(x.sender.state().dupacks, 37);
            // The ACKs of 676 to 688, and then of the retransmission: "a huge right shift [...] at
            // (1659, 688)".
            for right in 39..=51 {
                x.sack(0, &[(1, right)]).sends(&(right + 12).to_string());
            }
            x.windows(x.sender.state().cwnd, 17_000);
            x.ack(51).phase(Phase::Open).classes([0, 0, 0]);
            x.sent.clear();
        });
    }
}

/// The guard of section 5.3 may send a segment again later than on the positive ACK: then the round
/// trip begins there.
#[test]
fn the_round_trip_begins_with_the_retransmission() {
    run("newreno-ls+order-guard+lrxt", 10, |x| {
        x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
        // 0 and 9 are lost: D = 10 - 9, so that 9 goes again on the second duplicate after the
        // partial ACK.
        for sends in ["", "", "0F", "", "", "10", "11", "12"] {
            x.ack(0).sends(sends);
        }
        x.acks(9, ["13", "14", "9P"]);
        // Five ticks, one of them its own, and three duplicates. From the partial ACK it would be
        // two fewer.
        for sends in ["15", "16", "17", "18", "19", "20"] {
            x.ack(9).sends(sends);
        }
        x.ack(9).sends("9L");
    });
}

/// Ten segments sent. 0 and its retransmission are lost: 14 duplicates, for 1 to 14.
fn first_is_lost_twice(x: &mut Script) {
    x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
    for sends in ["", "", "0F", "", "", "10", "11", "12", "13", "14", "15", "16", "17", "18"] {
        x.ack(0).sends(sends);
    }
}

/// 3 + 10 + 3 = 16, less the tick of the retransmission: the 15th duplicate.
#[test]
fn the_clock_counts_duplicates_and_retransmissions() {
    run("newreno", 10, |x| {
        first_is_lost_twice(x);
        x.ack(0).sends("19");
    });
    for composition in ["newreno+lrxt", "reno+lrxt"] {
        run(composition, 10, |x| {
            first_is_lost_twice(x);
            x.windows(19_000, 5_000);
            // The retransmission takes the place of the segment that this ACK would release.
            x.ack(0).sends("0L").phase(Phase::Recovery);
        });
    }
}

/// W is `snd_nxt - snd_una`, wherever in the stream: 3 + 10 + 3 with five segments acknowledged
/// before.
#[test]
fn the_window_of_the_clock_begins_at_the_first_unacknowledged_segment() {
    run("newreno+lrxt", 5, |x| {
        x.write(60_000).sends("0 1 2 3 4").ack(1).sends("5 6").ack(2).sends("7 8");
        x.ack(3).sends("9 10").ack(4).sends("11 12").ack(5).sends("13 14");
        for sends in ["", "", "5F", "", "", "15", "16", "17", "18", "19", "20", "21", "22", "23"] {
            x.ack(5).sends(sends);
        }
        x.ack(5).sends("5L");
    });
}

/// W is `snd_nxt - snd_una`, with what was sent on the first two duplicates.
#[test]
fn the_window_of_the_clock_includes_limited_transmit() {
    run("newreno+lt+lrxt", 10, |x| {
        x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
        for sends in [
            "10+", "11+", "0F", "", "", "", "", "12", "13", "14", "15", "16", "17", "18", "19",
            "20",
        ] {
            x.ack(0).sends(sends);
        }
        x.ack(0).sends("0L");
        assert_eq!(x.sender.state().dupacks, 3 + 12 + 3 - 1);
    });
}

/// A segment retransmitted again is counted from then on, with half the window: 5 + 3 ticks, one of
/// them its own.
#[test]
fn it_is_found_lost_again_half_a_window_later() {
    run("newreno+lrxt", 10, |x| {
        first_is_lost_twice(x);
        x.ack(0).sends("0L").windows(16_500, 2_500);
        // W/2 stays what it was, although the response has halved the window once more: fewer ACKs
        // are under way, and the clock takes longer. After 15 to 18 nothing comes any more.
        for sends in ["", "", "", "19", "20", "21"] {
            x.ack(0).sends(sends);
        }
        x.ack(0).sends("0L");
    });
}

/// A partial ACK begins the round trip of the next segment: W/2 ticks, then three duplicates.
#[test]
fn a_positive_ack_records_the_clock() {
    let until_second_lost = |x: &mut Script| {
        x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
        // 0 and 5 are lost: eight duplicates.
        for sends in ["", "", "0F", "", "", "10", "11", "12"] {
            x.ack(0).sends(sends);
        }
        // One tick for the retransmission of 5, which is lost; 10, 11 and 12 were sent before it.
        x.acks(5, ["5P 13", "14", "15", "16"]);
        // The first evidence: 13 was sent after it.
        x.ack(5).sends("17").ack(5).sends("18");
    };
    run("newreno+lrxt", 10, |x| {
        until_second_lost(x);
        x.ack(5).sends("19");
        x.ack(5).sends("5L");
    });
    // Reordered by one or by two, it is not lost.
    for duplicates in [1, 2] {
        run("newreno+lrxt", 10, |x| {
            x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
            for sends in ["", "", "0F", "", "", "10", "11", "12"] {
                x.ack(0).sends(sends);
            }
            x.acks(5, ["5P 13", "14", "15", "16"]);
            for n in 0..duplicates {
                x.ack(5).sends(&(17 + n).to_string());
            }
            x.ack(13 + duplicates);
            assert!(!x.sent.contains('L'), "{}", x.sent);
            x.sent.clear();
            x.phase(Phase::Open);
        });
    }
}

/// With SACK the next segment has been retransmitted long before; it is timed from the positive ACK
/// all the same.
#[test]
fn with_sack_the_next_segment_is_timed_from_the_positive_ack() {
    run("sack-ff96+lrxt", 10, |x| {
        x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
        // 0 and 1 are lost, and the retransmission of 1.
        for (n, sends) in (3..).zip(["", "", "0F", "", "", "1P", "10", "11"]) {
            x.sack(0, &[(2, n)]).sends(sends);
        }
        x.sack(1, &[(2, 10)]).sends("12 13");
        for right in 11..=17 {
            x.sack(1, &[(2, right)]).sends(&(right + 3).to_string());
        }
        // Five ticks and three duplicates.
        x.sack(1, &[(2, 18)]).sends("1L");
    });
}

/// What says nothing about the order of arrival is no tick: here a D-SACK.
#[test]
fn an_ack_that_is_no_duplicate_is_no_tick() {
    figure_4("sack-ff96+lrxt", |x| {
        x.sack(0, &[(5, 6), (1, 37)]).sends("51");
        x.sack(0, &[(1, 38)]).sends("0L");
    });
}

/// An ACK lost makes the clock slow, never fast.
#[test]
fn an_ack_lost_delays_the_clock_by_one() {
    run("newreno+lrxt", 10, |x| {
        x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
        // The duplicate that 5 drew is missing: 0L goes out on what 16 drew, and not 15.
        for sends in ["", "", "0F", "", "", "10", "11", "12", "13", "14", "15", "16", "17", "18"] {
            x.ack(0).sends(sends);
        }
        x.ack(0).sends("0L");
        assert_eq!(x.sender.state().dupacks, 15);
    });
}

/// The clock needs ACKs, and there are none without data to send.
#[test]
fn without_new_data_the_clock_stalls() {
    run("newreno+lrxt", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.ack(0).ack(0).ack(0).sends("0F");
        x.ack(0).ack(0).ack(0).ack(0).ack(0).ack(0).sends("");
        x.fire(1000).sends("0T").classes([0, 0, 1]);
    });
}

/// Twenty segments sent, 0 and its retransmission lost, and all above 7: the fifth and the seventh
/// duplicate each release a marked segment. Timestamps are those of the milliseconds in which the
/// duplicates come.
fn more_than_half_is_lost(composition: &str, marks: [&str; 7], script: impl Fn(&mut Script)) {
    let config = SenderConfig { initial_window: Some(20), timestamps: true, ..config() };
    run_with(composition, config, |x| {
        x.write(60_000);
        x.sent.clear();
        x.echo = Some(0);
        for (n, sends) in (1..).zip(marks) {
            x.at(100 + n).sack(0, &[(1, 1 + n)]).sends(sends);
        }
        x.at(200);
        script(x);
    });
}

const MARKED: [&str; 7] = ["", "", "0F", "", "20+", "", "21+"];

#[test]
fn a_marker_ends_the_first_round_trip() {
    let found = |x: &mut Script, ack: fn(&mut Script, u64)| {
        // The first marker: the window opens as if all ten had been flushed.
        ack(x, 20);
        x.windows(23_000, 10_000).sends("22");
        ack(x, 21);
        x.sends("23");
        ack(x, 22);
        x.sends("24");
        // The third duplicate after the marker's.
        ack(x, 23);
        x.sends("0L").phase(Phase::Recovery);
    };
    for composition in ["newreno+marks-ts", "ns2-newreno+marks-ts"] {
        more_than_half_is_lost(composition, MARKED, |x| {
            found(x, |x, n| {
                x.echo = Some([105, 107, 200, 201][n as usize - 20]);
                x.ack(0);
            });
        });
    }
    more_than_half_is_lost("newreno+is-lost+marks-sack", MARKED, |x| {
        found(x, |x, n| {
            x.sack(0, &[(20, n + 1), (1, 8)]);
        });
    });
}

/// What ends the round trip releases one segment for each ACK from then on, in Fall & Floyd's SACK
/// too.
#[test]
fn a_marker_lets_the_pipe_flow() {
    for composition in ["sack-ff96+marks-sack", "ns2-sack+marks-sack"] {
        more_than_half_is_lost(composition, MARKED, |x| {
            x.sack(0, &[(20, 21), (1, 8)]).sends("8P").sack(0, &[(20, 22), (1, 8)]).sends("9P");
            x.sack(0, &[(1, 9), (20, 22)]).sends("10P").sack(0, &[(1, 10), (20, 22)]).sends("0L");
        });
    }
}

/// A marker tells of the first retransmission only: nothing of the one that a partial ACK drew
/// after the marker was sent.
#[test]
fn a_marker_after_a_positive_ack_does_nothing() {
    more_than_half_is_lost("newreno+marks-ts", MARKED, |x| {
        x.ack(8).sends("8P").windows(10_000, 10_000);
        x.echo = Some(105);
        x.ack(8).sends("").windows(11_000, 10_000);
        x.echo = Some(107);
        x.ack(8).sends("").windows(12_000, 10_000);
    });
}

/// Nor of the retransmission that the clock asks for: SACK blocks above the original window are old
/// news then.
#[test]
fn a_marker_before_the_second_retransmission_does_nothing() {
    more_than_half_is_lost("sack-ls+marks-sack+response-1", MARKED, |x| {
        x.sack(0, &[(20, 21), (1, 8)]).sends("8P").sack(0, &[(20, 22), (1, 8)]).sends("9P");
        x.sack(0, &[(1, 9), (20, 22)]).sends("10P").sack(0, &[(1, 10), (20, 22)]).sends("0L");
        // Ten ticks, of which five are those of 0 and of four holes retransmitted, and three
        // duplicates.
        for (right, sends) in (11..).zip(["11P", "12P", "13P", "14P", "15P", "16P", "17P"]) {
            x.sack(0, &[(1, right), (20, 22)]).sends(sends);
        }
        x.sack(0, &[(1, 18), (20, 22)]).sends("0L");
    });
}

/// A receiver as RFC 7323 section 4.3 has it echoes what advanced its window, and no marker.
/// Nothing comes of them.
#[test]
fn a_marker_that_is_not_echoed_does_nothing() {
    for echo in [0, 103] {
        more_than_half_is_lost("newreno+marks-ts", MARKED, |x| {
            x.echo = Some(echo);
            x.ack(0).sends("").ack(0).sends("").windows(19_000, 10_000);
            x.fire(1000).sends("0T");
        });
    }
    // Nor of SACK blocks within the original window.
    more_than_half_is_lost("newreno+is-lost+marks-sack", MARKED, |x| {
        x.sack(0, &[(19, 20), (1, 8)]).sends("").windows(18_000, 10_000);
        x.sack(0, &[(20, 21), (1, 8)]).sends("22");
    });
}

/// No marked segment without `marks-*`, without data, beside what the window releases, and after a
/// positive ACK.
#[test]
fn when_no_marked_segment_goes_out() {
    more_than_half_is_lost("newreno+lrxt", ["", "", "0F", "", "", "", ""], |_| {});
    run("newreno+marks-ts", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.ack(0).ack(0).ack(0).sends("0F").ack(0).ack(0).ack(0).ack(0).sends("");
    });
    run("newreno+marks-ts", 8, |x| {
        x.write(60_000).sends("0 1 2 3 4 5 6 7");
        for sends in ["", "", "0F", "", "8", "9", "10"] {
            x.ack(0).sends(sends);
        }
    });
    run("newreno+marks-ts", 20, |x| {
        x.write(60_000);
        x.sent.clear();
        x.ack(0).ack(0).ack(0).sends("0F").ack(0).sends("");
        x.ack(6).sends("6P").ack(6).ack(6).ack(6).ack(6).ack(6).sends("").ack(6).sends("20");
    });
}
