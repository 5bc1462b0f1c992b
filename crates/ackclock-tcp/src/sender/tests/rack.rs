//! RACK (RFC 8985 section 6): the examples of sections 3 and 9, reordering within and beyond the
//! window, the window itself.

use super::*;

/// RACK alone, with what the preset `rack-tlp` has beside it, and the pipe in place of PRR.
const RACK: &str = "rack+recovery-point+lost-first+pipe";

/// Segment 0 has given a round trip of 100 ms; 1 to 9 were sent at 0 ms, 10 and 11 at 100 ms.
fn start(x: &mut Script) -> &mut Script {
    x.write(200_000)
        .sends("0 1 2 3 4 5 6 7 8 9")
        .at(100)
        .ack(1)
        .sends("10 11")
        .windows(11_000, UNSET)
}

/// As `start`, but the application writes segments 1, 2 and 3 at 200, 230 and 260 ms.
fn start_slowly(x: &mut Script) -> &mut Script {
    x.write(1_000).sends("0").at(100).ack(1).sends("").at(200).write(1_000).sends("1");
    x.at(230).write(1_000).sends("2").at(260).write(1_000).sends("3")
}

/// Section 9.1 example 1: P1 and P3 of three are lost. 200 + 100 + 25 ms is over when P2 is SACKed.
#[test]
fn drops_at_the_end_of_a_flight() {
    run(RACK, 10, |x| {
        start_slowly(x).at(330).sack(1, &[(2, 3)]).sends("1F").windows(2_000, 2_000).pipe(2);
        // R1 was sent after P3, which shows P3 lost; within recovery there is no reordering window.
        x.at(430).ack(3).sends("3P").pipe(1);
        x.at(530).ack(4).sends("").phase(Phase::Open).no_deadline().classes([0, 0, 0]);
    });
    // Neither has a segment or a sequence count enough to go by.
    run("sack", 10, |x| {
        start_slowly(x).at(330).sack(1, &[(2, 3)]).sends("").fire(1200).sends("1T");
    });
}

/// Section 9.1 example 2: P1 and P2 of three are lost, then R1.
#[test]
fn a_lost_retransmission_in_a_small_flight() {
    run(RACK, 10, |x| {
        start_slowly(x).at(360).sack(1, &[(3, 4)]).sends("1F 2P").windows(2_000, 2_000);
        // R1 and R2 were sent at the same time; the end of the segment breaks the tie.
        x.at(460).sack(1, &[(2, 4)]).sends("1L");
        x.at(560).ack(4).sends("").phase(Phase::Open).classes([0, 0, 0]);
    });
}

/// A known bug of other implementations: lost retransmission never found. It was sent at 100 ms,
/// and what was sent after it, at 150 ms, is SACKed; then it is lost once more.
#[test]
fn lost_retransmission_never_found() {
    run(RACK, 10, |x| {
        start(x).sack(1, &[(2, 5)]).sends("1F").windows(5_500, 5_500).pipe(8);
        x.at(150).sack(1, &[(2, 9)]).sends("12").pipe(5);
        // 12 was sent after the retransmission; 100 + 100 ms were over before. RFC 5681 section
        // 4.3: lowered twice.
        x.at(250).sack(1, &[(12, 13), (2, 9)]).sends("1L 9P").windows(2_750, 2_750).pipe(2);
        x.at(350).sack(1, &[(2, 10), (12, 13)]).sends("1L 10P").windows(2_000, 2_000).pipe(2);
    });
    // RFC 6675 never sends it again.
    run("sack", 10, |x| {
        start(x).sack(1, &[(2, 5)]).sends("1F").at(150).sack(1, &[(2, 9)]).sends("12");
        x.at(250)
            .sack(1, &[(12, 13), (2, 9)])
            .sends("13")
            .windows(5_500, 5_500)
            .fire(1100)
            .sends("1T");
    });
}

/// RFC 5681 section 4.3: "Loss in two successive windows of data [...] should be taken as two
/// indications of congestion". Recovery ends, and the next one begins at once; what is on its way
/// is not retransmitted again.
#[test]
fn losses_above_the_recovery_point_begin_another_recovery() {
    // 1 and 14 are lost, and 16 to 18, sent after the recovery point. 19 tells of them while the
    // retransmission of 14, which was sent later, is on its way.
    run("rack-tlp", 14, |x| {
        x.write(200_000).sends(&numbers(0, 14)).at(100).ack(1).sends("14 15");
        x.sack(1, &[(2, 5)]).sends("1F 16").windows(13_000, 7_500);
        x.at(120).sack(1, &[(2, 8)]).sends("17").at(140).sack(1, &[(2, 10)]).sends("18");
        x.at(160).sack(1, &[(2, 12)]).sends("19").at(180).sack(1, &[(2, 14)]).sends("");
        x.at(200).ack(14).sends("20").at(210).sack(14, &[(15, 16)]).sends("14P 21");
        x.at(300).sack(14, &[(19, 20), (15, 16)]).sends("16P 17P 18P 22").windows(7_500, 7_500);
        // Seven are outstanding.
        x.at(310).sack(16, &[(19, 20)]).sends("23").windows(7_000, 3_500).phase(Phase::Recovery);
        x.at(400).ack(23).sends("24 25").windows(3_500, 3_500).phase(Phase::Open);
        assert_eq!((x.sender.stats().recoveries, x.sender.stats().retransmissions), (2, 5));
    });
    // 13 and 14 are lost and wait for room when it begins, and 12, the head, is on its way.
    run("rack-tlp", 10, |x| {
        start(x).sack(1, &[(2, 5)]).sends("1F 12").at(150).sack(1, &[(2, 8)]).sends("13");
        x.at(170).sack(1, &[(2, 10)]).sends("").at(200).ack(10).sends("14");
        x.at(210).sack(10, &[(11, 12)]).sends("10P 15").windows(5_500, 5_500);
        // The retransmission of 10 was sent with 15, and counts as lost too.
        x.at(270).sack(10, &[(15, 16), (11, 12)]).sends("10L 12P").windows(2_750, 2_750);
        x.at(310).sack(12, &[(15, 16)]).sends("13F").windows(2_000, 2_000);
        x.at(370).sack(13, &[(15, 16)]).sends("14P").at(410).sack(14, &[(15, 16)]).sends("16");
        x.at(470).ack(17).sends("17 18").windows(2_000, 2_000).phase(Phase::Open);
    });
}

/// Section 9.1 example 3, and step 5: 25 ms after its round trip a missing segment is lost, and not
/// before.
#[test]
fn reordering_within_and_beyond_the_window() {
    run(RACK, 10, |x| {
        start(x).sack(1, &[(2, 3)]).sends("").sack(1, &[(2, 4)]).sends("").deadline(125);
        x.at(124)
            .ack(4)
            .sends("12 13 14 15")
            .windows(12_000, UNSET)
            .phase(Phase::Open)
            .deadline(1124);
    });
    run(RACK, 10, |x| {
        start(x)
            .sack(1, &[(2, 3)])
            .sends("")
            .fire(125)
            .sends("1F")
            .windows(5_500, 5_500)
            .pipe(10)
            .deadline(1100);
        // The original, whose ACK comes 5 ms after the retransmission: section 6.2 step 2 makes
        // nothing of it.
        x.at(130).ack(3).sends("").pipe(9).deadline(1130);
        assert_eq!(x.sender.state().board.lost_bytes(), 0);
    });
}

/// Step 1: "Use the RTT measurements obtained via [RFC6298]", of which the handshake's is the first
/// (section 2.2 there). A quarter of 40 ms is the window then.
#[test]
fn the_least_round_trip_may_be_the_handshakes() {
    let handshake_rtt = Some(Span::from_millis(40));
    for composition in [RACK, "rack+er-2+recovery-point+lost-first+pipe"] {
        run_with(composition, SenderConfig { handshake_rtt, ..window(10) }, |x| {
            start(x).sack(1, &[(2, 3)]).sends("").fire(110).sends("1F");
        });
    }
}

/// Step 2: RACK.segment is "the most recently sent segment that has been delivered". 1, sent
/// before 2 and 3 and delivered after 3, is not, and leaves the deadline of 2: 210 + 111 + 25 ms.
#[test]
fn what_was_sent_earlier_does_not_become_the_latest() {
    run(RACK, 10, |x| {
        x.write(1_000).sends("0").at(100).ack(1).sends("").at(200).write(1_000).sends("1");
        x.at(210).write(2_000).sends("2 3").at(310).sack(1, &[(3, 4)]).sends("").deadline(335);
        x.at(311).sack(2, &[(3, 4)]).sends("").fire(346).sends("2F");
    });
}

/// "timeout = max(remaining, timeout)": one timer for all that is in the window. 1 would be lost 10
/// ms before.
#[test]
fn the_timer_waits_for_the_last_segment_in_the_window() {
    run(RACK, 10, |x| {
        x.write(1_000).sends("0").at(100).ack(1).sends("").at(200).write(1_000).sends("1");
        x.at(210).write(1_000).sends("2").at(220).write(1_000).sends("3");
        x.at(320).sack(1, &[(3, 4)]).sends("").fire(335).sends("1F 2P");
    });
}

/// A response that is undone may leave a loss above a head that was retransmitted. It begins
/// another recovery at once.
#[test]
fn a_loss_that_an_undone_response_left_behind() {
    run_with(
        "rack+recovery-point+lost-first+pipe+eifel",
        SenderConfig { timestamps: true, ..config() },
        |x| {
            x.echo = Some(0);
            x.write(5_000)
                .sends("0 1 2 3 4")
                .at(100)
                .ack(1)
                .sends("")
                .sack(1, &[(4, 5)])
                .sends("")
                .fire(125)
                .sends("1F 2P");
            x.at(130).sack(2, &[(4, 5)]).sends("3F").phase(Phase::Recovery);
            x.echo = Some(130);
            x.at(230).ack(5).sends("").phase(Phase::Open);
        },
    );
}

/// Step 4: without reordering three SACKed segments leave no window; two do.
#[test]
fn three_sacked_segments_without_reordering_are_enough() {
    run(RACK, 10, |x| {
        start(x)
            .sack(1, &[(2, 4)])
            .sends("")
            .sack(1, &[(2, 5)])
            .sends("1F")
            .windows(5_500, 5_500)
            .pipe(8);
    });
}

/// Step 3: once a segment has come out of order, no number of SACKed segments begins a recovery
/// before its time.
#[test]
fn after_reordering_only_time_counts() {
    run(RACK, 10, |x| {
        start(x).sack(1, &[(2, 3)]).sends("").at(101).ack(3).sends("12 13 14");
        // 115 ms of round trip now, 25 ms of window.
        x.at(115)
            .sack(3, &[(4, 10)])
            .sends("")
            .deadline(140)
            .fire(140)
            .sends("3F")
            .windows(6_000, 6_000);
        // Within recovery too: 10 and 11, sent at 100 ms, have until 240 ms once 12, sent at 101
        // ms, is SACKed.
        x.at(201)
            .sack(3, &[(12, 13), (4, 10)])
            .sends("15")
            .deadline(225)
            .fire(225)
            .sends("10P 11P");
    });
    // PRR: 3 and 15 have gone out for the one segment delivered, 12. cwnd has room for both; the
    // conservative bound, with which 3 alone has gone out, leaves none.
    let sends = [
        ("prr-ssrb", "15", "10P 11P", 6_000, "16"),
        ("prr-crb", "", "", 3_000, "10P"),
        ("prr", "15", "10P 11P", 6_000, "16"),
        ("prr-ub", "15", "10P 11P", 6_000, "16"),
    ];
    // cwnd is the pipe, 3 and 13 to 15, and what may go.
    for (regulation, first, by_timer, cwnd, second) in sends {
        run(&format!("rack+recovery-point+lost-first+{regulation}"), 10, |x| {
            start(x).sack(1, &[(2, 3)]).sends("").at(101).ack(3).sends("12 13 14");
            x.at(115).sack(3, &[(4, 10)]).sends("").fire(140).sends("3F");
            x.at(201).sack(3, &[(12, 13), (4, 10)]).sends(first).fire(225).sends(by_timer);
            x.windows(cwnd, 6_000);
            x.at(226).sack(3, &[(12, 14), (4, 10)]).sends(second);
        });
    }
    // The blocks of one ACK are no reordering, in whatever order they stand, nor is what was sent
    // again: 10, sent with 11, is lost without a window.
    run(RACK, 10, |x| {
        start(x)
            .sack(1, &[(5, 6), (3, 4)])
            .sends("")
            .sack(1, &[(5, 7), (3, 4)])
            .sends("1F")
            .pipe(6);
        x.at(110)
            .ack(2)
            .sends("")
            .at(200)
            .sack(2, &[(11, 12), (5, 7), (3, 4)])
            .sends("2P 4P 7P 8P 9P");
        assert_eq!(x.sender.state().board.lost_bytes(), 6_000);
    });
}

/// Step 2: the echoed timestamp tells that an ACK does not answer the retransmission.
#[test]
fn the_ack_of_an_original_says_nothing_of_its_retransmission() {
    let after = |echo: u32, sends: &'static str, lost: u64| {
        run_with(RACK, SenderConfig { timestamps: true, ..config() }, |x| {
            x.echo = Some(0);
            start(x).sack(1, &[(2, 3)]).sends("").fire(125).sends("1F").pipe(10);
            x.echo = Some(echo);
            x.at(240).ack(3).sends(sends);
            assert_eq!(x.sender.state().board.lost_bytes(), lost);
        });
    };
    after(124, "", 0);
    // 3 to 11 were sent before the retransmission.
    after(125, "3P 4P 5P 6P 7P", 9_000);
}

/// Nor does the timestamp that an ACK of something out of order echoes, that of segment 0: P1 and
/// P2 of three are lost, then R1, as in `a_lost_retransmission_in_a_small_flight`.
#[test]
fn a_retransmission_above_a_hole_is_delivered_whatever_is_echoed() {
    run_with(RACK, SenderConfig { timestamps: true, ..config() }, |x| {
        x.echo = Some(0);
        start_slowly(x)
            .at(360)
            .sack(1, &[(3, 4)])
            .sends("1F 2P")
            .at(460)
            .sack(1, &[(2, 4)])
            .sends("1L");
        x.echo = Some(460);
        x.at(560).ack(4).sends("").phase(Phase::Open).classes([0, 0, 0]);
    });
}

/// A cycle of two segments of which the first is lost; returns how long the reordering window was,
/// in milliseconds.
fn cycle(x: &mut Script, n: u64, at: u64) -> u64 {
    x.at(at)
        .write(2_000)
        .sends(&format!("{n} {}", n + 1))
        .at(at + 100)
        .sack(n, &[(n + 1, n + 2)])
        .sends("");
    let due = x.sender.next_deadline().nanos() / 1_000_000;
    x.fire(due).sends(&format!("{n}F")).at(at + 300).ack(n + 2).sends("").phase(Phase::Open);
    due - at - 100
}

/// RACK_update_reo_wnd: a quarter of min_RTT more for each round trip with a D-SACK, at most SRTT;
/// back after 16 recoveries.
#[test]
fn the_window_adapts_to_dsacks() {
    run(RACK, 10, |x| {
        x.write(1_000).sends("0").at(100).ack(1).sends("");
        assert_eq!(cycle(x, 1, 1_000), 25);
        // The second D-SACK comes within the same round trip.
        x.write(1_000)
            .sends("3")
            .at(1_350)
            .sack(3, &[(1, 2)])
            .sack(3, &[(1, 2)])
            .sends("")
            .at(1_400)
            .ack(4)
            .sends("");
        for k in 0..16 {
            assert_eq!(cycle(x, 4 + 2 * k, 2_000 + 400 * k), 50);
        }
        assert_eq!(cycle(x, 36, 8_400), 25);
    });
    run(RACK, 10, |x| {
        x.write(1_000).sends("0").at(100).ack(1).sends("");
        for (k, window) in [50, 75, 100, 100].into_iter().enumerate() {
            let (n, at) = (1 + 3 * k as u64, 1_000 + 1_000 * k as u64);
            x.at(at)
                .write(1_000)
                .sends(&format!("{n}"))
                .sack(n, &[(0, 1)])
                .sends("")
                .at(at + 100)
                .ack(n + 1)
                .sends("");
            assert_eq!(cycle(x, n + 1, at + 200), window);
        }
    });
}

/// "Or zero if no round-trip time estimate is available" (section 3.3.2).
#[test]
fn without_a_round_trip_there_is_no_window() {
    run(RACK, 10, |x| {
        x.write(3_000).sends("0 1 2").at(100).sack(0, &[(1, 2)]).sends("0F");
    });
}

/// Section 3.5: a timeout marks the first segment only, if the others were sent less than a round
/// trip ago.
#[test]
fn a_timeout_leaves_recent_segments_alone() {
    let late_data = |x: &mut Script| {
        x.write(1_000).sends("0").at(100).ack(1).sends("").at(1_000).write(1_000).sends("1");
        x.at(1_950).write(2_000).sends("2 3").fire(2_000).sends("1T").windows(1_000, 2_000);
        // The ACK of the original.
        x.at(2_010).ack(2);
    };
    run(RACK, 10, |x| {
        late_data(x);
        x.sends("").pipe(2).phase(Phase::Loss).deadline(4_010);
        x.at(2_050).ack(3).sends("").windows(2_500, 2_000).ack(4).sends("").phase(Phase::Open);
    });
    run("sack", 10, |x| {
        late_data(x);
        x.sends("2S 3S");
    });
    // Early retransmit leaves that judgement to the detection that it wraps.
    run("rack+er+recovery-point+lost-first+pipe", 10, |x| {
        late_data(x);
        x.sends("").pipe(2).phase(Phase::Loss);
    });
    // A round trip and the reordering window ago: lost.
    run(RACK, 10, |x| {
        x.write(1_000).sends("0").at(100).ack(1).sends("").at(1_000).write(1_000).sends("1");
        x.at(1_875)
            .write(1_000)
            .sends("2")
            .at(1_876)
            .write(1_000)
            .sends("3")
            .fire(2_000)
            .sends("1T")
            .pipe(2);
        x.at(2_010).ack(2).sends("2S").pipe(2);
    });
}

/// RACK finds a lost retransmission in the slow start after a timeout too, which then goes back for
/// it.
#[test]
fn a_lost_retransmission_after_a_timeout() {
    run(RACK, 10, |x| {
        start(x).fire(1_100).sends("1T").windows(1_000, 5_500).pipe(1);
        x.at(1_200).ack(2).sends("2S 3S").windows(2_000, 5_500);
        x.at(1_300).sack(2, &[(3, 4)]).sends("2S 4S").windows(2_000, 5_500).phase(Phase::Loss);
        x.at(1_400).ack(5).sends("5S 6S 7S");
    });
    // What is on its way above it is left out: 5 is SACKed, 6 and 7 were sent a round trip later.
    run(RACK, 10, |x| {
        start(x)
            .fire(1_100)
            .sends("1T")
            .at(1_200)
            .ack(2)
            .sends("2S 3S")
            .at(1_300)
            .ack(3)
            .sends("4S 5S");
        x.at(1_301)
            .ack(4)
            .sends("6S 7S")
            .at(1_400)
            .sack(4, &[(5, 6)])
            .sends("4S 8S")
            .windows(4_000, 5_500);
    });
    run("sack", 10, |x| {
        start(x).fire(1_100).sends("1T").at(1_200).ack(2).sends("2S 3S");
        x.at(1_300).sack(2, &[(3, 4)]).sends("4S").at(1_400).sack(2, &[(3, 5)]).sends("5S");
    });
}

/// A selection that names nothing twice is overruled: once there is room, the retransmission that
/// was lost goes before anything else.
#[test]
fn a_lost_retransmission_goes_first_whatever_selects() {
    for composition in ["newreno+rack+pipe", "sack+rack"] {
        run(composition, 10, |x| {
            start(x).sack(1, &[(2, 5)]).sends("1F").at(150).sack(1, &[(2, 9)]).sends("12");
            x.at(250).sack(1, &[(12, 13), (2, 9)]).sends("1L 13").windows(2_750, 2_750);
        });
    }
}

/// The window that ns-2 stores as recovery begins does not outlast a lower ssthresh.
#[test]
fn a_lost_retransmission_lowers_the_window_that_ns2_stored() {
    run("ns2-reno+rack", 10, |x| {
        x.write(60_000)
            .sends("0 1 2 3 4 5 6 7 8 9")
            .at(100)
            .sack(0, &[(1, 4)])
            .sends("0F")
            .windows(6_000, 5_000);
        for right in 5..9 {
            x.sack(0, &[(1, right)]).sends("");
        }
        x.sack(0, &[(1, 9)]).sends("10").sack(0, &[(1, 10)]).sends("11");
        x.at(250).sack(0, &[(1, 11)]).sends("").windows(9_500, 2_500);
        x.ack(12).sends("12 13").windows(2_900, 2_500).phase(Phase::Open);
    });
}

/// Section 8 would cancel the retransmission timer, which was set at 1921 ms, while the reordering
/// timer runs, here until 2935 ms. It runs on: 8 and its retransmission are lost.
#[test]
fn a_timeout_may_come_while_the_reordering_timer_runs() {
    let config = SenderConfig { handshake_rtt: Some(Span::from_millis(420)), ..window(20) };
    run_with("rack-tlp", config, |x| {
        for (at, n) in [(0, 0), (500, 2), (1000, 4)] {
            x.at(at).write(2_000).sends(&numbers(n, n + 2)).at(at + 420).ack(n + 2).sends("");
        }
        // Reordering is seen.
        x.at(1500).write(3_000).sends("6 7 8").at(1920).sack(6, &[(7, 8)]).sends("");
        x.at(1921).ack(8).sends("").at(1990).write(2_000).sends("9 10");
        x.at(2410).sack(8, &[(9, 10)]).sends("8F").write(1_000).sends("");
        x.at(2412).sack(8, &[(9, 11)]).sends("11").at(2832).sack(8, &[(9, 12)]).sends("");
        x.fire(2921).sends("8T").classes([0, 0, 1]);
    });
}
