//! Miyake & Inamura 2005: lost retransmissions of NewReno, Reno and SACK, the three responses, and
//! DAC.

use super::*;
use crate::recovery::response::{LowerOnce, Response, Response2};
use crate::recovery::window::{RenoWindow, Windows};

fn start(x: &mut Script) {
    x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9").windows(10_000, UNSET);
}

/// Segment 0 is lost; nine duplicates in all. Four new segments go for those of the first window (4
/// to 9).
fn nine_duplicates(x: &mut Script) {
    start(x);
    x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
    x.acks(0, ["", "", "10", "11", "12", "13"]);
    x.windows(14_000, 5_000);
}

/// As above, and the duplicates of 10 to 12. cumulativeFS = 10 + 3.
fn twelve_duplicates(x: &mut Script) {
    nine_duplicates(x);
    x.acks(0, ["14", "15", "16"]).windows(17_000, 5_000).phase(Phase::Recovery);
}

/// Segments 0, 4 and 5 are lost; the retransmissions arrive, until the partial ACK of 4.
fn until_partial_ack(x: &mut Script) {
    start(x);
    x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
    // 6 to 9: deltaFS = 2.
    x.acks(0, ["", "", "10", "11"]).windows(12_000, 5_000);
    // 12000 - 4000 + 1000 for 4 to 11. cumulativeFS = 2 + 1, and deltaFS = 1.
    x.ack(4).sends("4P 12").windows(9_000, 5_000);
}

const NEWRENO: [&str; 3] = ["newreno-lrx-1", "newreno-lrx-2", "newreno-lrx-3"];

/// Section 3.1, steps 1, 2, 5 and 6: the thirteenth duplicate sends 0 again, and nothing else; cwnd
/// does not grow.
#[test]
fn the_retransmission_that_begins_recovery_is_lost() {
    for preset in ["newreno-lrx-1", "reno-lrx"] {
        run(preset, 10, |x| {
            twelve_duplicates(x);
            x.ack(0).sends("0L").windows(17_000, 5_000);
            // Those of 14 to 16.
            x.ack(0)
                .sends("17")
                .windows(18_000, 5_000)
                .ack(0)
                .sends("18")
                .ack(0)
                .sends("19")
                .windows(20_000, 5_000);
            // Step 4: cwnd = ssthresh, and three are outstanding.
            x.ack(17)
                .sends("20 21")
                .windows(5_000, 5_000)
                .phase(Phase::Open)
                .ack(18)
                .sends("22")
                .windows(5_200, 5_000);
            assert_eq!((x.sender.stats().timeouts, x.sender.stats().retransmissions), (0, 2));
        });
    }
    // Without the mechanism the thirteenth duplicate is like any other, and only the timeout
    // repairs the loss.
    run("newreno+inflate-to-ssthresh", 10, |x| {
        twelve_duplicates(x);
        x.ack(0).sends("17").windows(18_000, 5_000);
        x.fire(1000).sends("0T").classes([0, 0, 1]);
    });
}

/// The timer goes on from the last new ACK, or from step 5 where it is one that retransmissions
/// restart.
#[test]
fn the_timer_decides_whether_step_5_restarts_it() {
    for (timer, deadline) in [("rfc6298-timer", 1000), ("ns2-timer", 1300), ("careful-timer", 1300)]
    {
        run(&format!("newreno-lrx-1+{timer}"), 10, |x| {
            twelve_duplicates(x);
            x.at(300).ack(0).sends("0L").deadline(deadline);
        });
    }
}

/// Step 4: after a partial ACK, the first duplicate beyond what was outstanding (10 and 11) shows
/// it.
#[test]
fn the_retransmission_of_a_partial_ack_is_lost() {
    run("newreno-lrx-1", 10, |x| {
        until_partial_ack(x);
        x.ack(4).sends("13").windows(10_000, 5_000).ack(4).sends("14").windows(11_000, 5_000);
        x.ack(4).sends("4L").windows(11_000, 5_000);
        x.ack(4).sends("15").ack(4).sends("16").windows(13_000, 5_000);
        // 13000 - 1000 + 1000 for 5 to 16. cumulativeFS = 2 + 1 again.
        x.ack(5).sends("5P 17").windows(13_000, 5_000);
        x.ack(5).sends("18").ack(5).sends("19").windows(15_000, 5_000);
        x.ack(17).sends("20 21").windows(5_000, 5_000).phase(Phase::Open);
        assert_eq!((x.sender.stats().timeouts, x.sender.stats().retransmissions), (0, 4));
    });
    // The retransmission of 5 is lost as well: 15 and 16 were sent since 4L, so that the third
    // duplicate shows it.
    run("newreno-lrx-1", 10, |x| {
        until_partial_ack(x);
        x.acks(4, ["13", "14", "4L", "15", "16"]);
        x.acks(5, ["5P 17", "18", "19", "5L"]).windows(15_000, 5_000);
    });
    run("newreno", 10, |x| {
        until_partial_ack(x);
        x.acks(4, ["13", "14", "15"]).windows(12_000, 5_000);
        x.fire(1000).sends("4T").classes([0, 0, 1]);
    });
}

/// What a partial ACK releases besides the retransmission goes after it, and counts for the next
/// one.
#[test]
fn every_partial_ack_counts_anew() {
    run("newreno-lrx-1", 10, |x| {
        until_partial_ack(x);
        x.ack(4).sends("13").ack(4).sends("14").windows(11_000, 5_000);
        // 4 arrives: sent since 4P are 12 to 14, so that the fourth duplicate is one too many.
        x.ack(5).sends("5P 15").windows(11_000, 5_000);
        x.acks(5, ["16", "17", "18"]).windows(14_000, 5_000);
        x.ack(5).sends("5L").windows(14_000, 5_000);
    });
}

/// Step 5 sets deltaFS and dupacks, not cumulativeFS: after a fast retransmit 13 further
/// duplicates, after a partial ACK 3.
#[test]
fn the_second_copy_is_lost_too() {
    run("newreno-lrx-1", 10, |x| {
        twelve_duplicates(x);
        x.ack(0).sends("0L");
        for n in 17..29 {
            x.ack(0).sends(&format!("{n}"));
        }
        x.windows(29_000, 5_000).ack(0).sends("0L").windows(29_000, 5_000);
    });
    run("newreno-lrx-1", 10, |x| {
        until_partial_ack(x);
        x.acks(4, ["13", "14", "4L", "15", "16"]);
        x.windows(13_000, 5_000).ack(4).sends("4L").windows(13_000, 5_000);
    });
}

/// The count of a later recovery begins from its own FlightSize.
#[test]
fn the_next_recovery_counts_from_its_own_flight() {
    run("newreno-lrx-1", 10, |x| {
        twelve_duplicates(x);
        x.acks(0, ["0L", "17", "18", "19"]);
        x.ack(17).sends("20 21").ack(18).sends("22").windows(5_200, 5_000);
        // 18 is lost, five are outstanding: cumulativeFS = 8.
        x.ack(18).ack(18).sends("").ack(18).sends("18F").windows(5_500, 2_500);
        x.acks(18, ["23", "24", "25", "26"]).windows(9_500, 2_500);
        x.ack(18).sends("18L").windows(9_500, 2_500);
    });
}

/// And deltaFS begins at 0: the four segments of the first recovery do not count in the second.
#[test]
fn the_next_recovery_counts_its_own_segments() {
    run("newreno-lrx-1", 10, |x| {
        nine_duplicates(x);
        x.ack(10).sends("14").windows(5_000, 5_000);
        // 11 and 13 are lost, and 13 once more.
        x.ack(11).sends("15").windows(5_200, 5_000);
        x.ack(11).ack(11).sends("").ack(11).sends("11F").windows(5_500, 2_500);
        // Five are outstanding. The partial ACK comes before any new segment: cumulativeFS = 0 + 1.
        x.ack(13).sends("13P 16").windows(4_500, 2_500).ack(13).sends("13L").windows(4_500, 2_500);
    });
}

/// Three new segments may overtake the retransmission that begins recovery.
#[test]
fn reordering_by_up_to_three_does_not_act() {
    for preset in NEWRENO {
        for late in 0..=3 {
            run(preset, 10, |x| {
                nine_duplicates(x);
                for n in 0..late {
                    x.ack(0).sends(&format!("{}", 14 + n));
                }
                x.ack(10 + late)
                    .sends(&format!("{}", 14 + late))
                    .windows(5_000, 5_000)
                    .phase(Phase::Open);
                assert_eq!(x.sender.stats().retransmissions, 1);
            });
        }
    }
}

/// Reordering by one and by two does not even begin a recovery.
#[test]
fn reordering_of_new_data_does_not_act() {
    for preset in ["newreno-lrx-1", "reno-lrx", "dac", "dac-revised"] {
        for by in [1, 2] {
            run(preset, 10, |x| {
                start(x);
                for _ in 0..by {
                    x.ack(0).sends("");
                }
                let more = if by == 1 { "10 11 12" } else { "10 11 12 13" };
                x.ack(1 + by).sends(more).windows(11_000, UNSET).phase(Phase::Open);
            });
        }
    }
}

/// "cumulativeFS <- deltaFS + 1" has no slack: one new segment that overtakes the retransmission is
/// enough.
#[test]
fn reordering_by_one_after_a_partial_ack_acts() {
    run("newreno-lrx-1", 10, |x| {
        until_partial_ack(x);
        x.acks(4, ["13", "14", "4L"]);
        // 4P, overtaken by 12, arrives now.
        x.ack(5).sends("5P 15");
    });
}

/// A lost ACK delays the count, and never hastens it.
#[test]
fn a_lost_ack_only_delays() {
    run("newreno-lrx-1", 10, |x| {
        nine_duplicates(x);
        // The duplicate of 10 is lost; those of 11, 12 and 13 arrive.
        x.acks(0, ["14", "15", "16"]).windows(17_000, 5_000);
        x.ack(0).sends("0L").windows(17_000, 5_000);
    });
    // The retransmission arrives and its ACK is lost: that of 10 ends recovery as well.
    run("newreno-lrx-1", 10, |x| {
        nine_duplicates(x);
        x.ack(11).sends("14 15").windows(5_000, 5_000).phase(Phase::Open);
    });
}

/// Without new data there are not enough duplicates: nine of thirteen, and none at all after a
/// partial ACK.
#[test]
fn limited_data_does_not_act() {
    for preset in NEWRENO {
        run(preset, 10, |x| {
            x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9").ack(0).ack(0).ack(0).sends("0F");
            for _ in 0..6 {
                x.ack(0).sends("");
            }
            x.windows(14_000, 5_000).fire(1000).sends("0T").windows(1_000, 2_500);
        });
        run(preset, 10, |x| {
            x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9").ack(0).ack(0).ack(0).sends("0F");
            x.ack(0).ack(0).ack(0).ack(0).sends("").ack(4).sends("4P").windows(9_000, 5_000);
            x.fire(1000).sends("4T");
        });
    }
}

/// An ACK that is no duplicate, since it moves the window, does not count (RFC 5681 section 2).
#[test]
fn window_updates_do_not_count() {
    run("newreno-lrx-1", 10, |x| {
        twelve_duplicates(x);
        x.window = 63_000;
        // It reports a duplicate segment, too, so that mechanisms see it.
        x.sack(0, &[(3, 4), (3, 5)]).sends("").windows(17_000, 5_000);
        x.ack(0).sends("0L").windows(17_000, 5_000);
    });
}

/// Section 4.2: Reno with bugfix leaves at the first new ACK and may not begin another recovery
/// below `recover`.
#[test]
fn reno_times_out_on_a_second_loss() {
    run("reno-lrx", 10, |x| {
        start(x);
        x.at(100).ack(0).ack(0).ack(0).sends("0F");
        // 0 and 5 are lost: eight duplicates of the first window, then 10 to 14.
        x.acks(0, ["", "", "10", "11", "12"]);
        x.acks(0, ["13", "14", "15", "16"]).windows(17_000, 5_000);
        x.ack(0).sends("0L").windows(17_000, 5_000);
        x.ack(5).sends("").windows(5_000, 5_000).phase(Phase::Open);
        x.ack(5)
            .ack(5)
            .ack(5)
            .ack(5)
            .sends("")
            .phase(Phase::Open)
            .fire(1100)
            .sends("5T")
            .classes([0, 1, 0]);
    });
}

/// Section 3.2, the windows at detection and at the end.
#[test]
fn the_three_responses() {
    let script = |ssthresh: u64, cwnd: u64, next: &'static str| {
        move |x: &mut Script| {
            twelve_duplicates(x);
            x.ack(0).sends("0L").windows(17_000, ssthresh);
            // Inflation goes on in all three.
            x.acks(0, ["17", "18", "19"]).windows(20_000, ssthresh);
            x.ack(17).sends(next).windows(cwnd, ssthresh).phase(Phase::Open);
        }
    };
    run("newreno-lrx-1", 10, script(5_000, 5_000, "20 21"));
    run("newreno-lrx-2", 10, script(2_500, 2_500, ""));
    run("newreno-lrx-3", 10, script(5_000, 1_000, ""));
    // The same mechanisms by name, on the end of RFC 6582 option 1: min(ssthresh, 3 + 1).
    run("newreno+lrx+response-1", 10, script(5_000, 4_000, "20"));
    run("newreno+lrx+response-2", 10, script(2_500, 2_500, ""));
}

/// Option II: "the proposed algorithm reduces the parameter only once during loss recovery", and in
/// the next one again.
#[test]
fn response_2_lowers_once_a_recovery() {
    run("newreno-lrx-2", 10, |x| {
        until_partial_ack(x);
        x.acks(4, ["13", "14", "4L"]).windows(11_000, 2_500);
        x.acks(4, ["15", "16", "4L"]).windows(13_000, 2_500);
        x.ack(5).sends("5P 17").ack(17).sends("18").windows(2_500, 2_500);
    });
    run("newreno-lrx-1", 10, |x| {
        twelve_duplicates(x);
        let (s, mut response) = (x.sender.state(), Response2::default());
        let mut lost = || response.on_lost(s, &mut RenoWindow).ssthresh;
        assert_eq!([lost(), lost()], [2_500, 5_000]);
        response.on_enter();
        assert_eq!(response.on_lost(s, &mut RenoWindow), Windows { ssthresh: 2_500, cwnd: 17_000 });
        let small = State { ssthresh: 3_000, ..s.clone() };
        assert_eq!(
            Response2::default().on_lost(&small, &mut RenoWindow),
            Windows { ssthresh: 2_000, cwnd: 17_000 }
        );
    });
}

/// "Two indications of congestion" (RFC 5681 section 4.3), and no third: once a recovery.
#[test]
fn lower_once_lowers_once_a_recovery() {
    run("newreno-lrx-1", 10, |x| {
        twelve_duplicates(x);
        let (s, mut response) = (x.sender.state(), LowerOnce::default());
        for ssthresh in [2_500, 5_000, 5_000] {
            let windows = response.on_lost(s, &mut RenoWindow);
            assert_eq!(windows, Windows { ssthresh, cwnd: 17_000 });
        }
        response.on_enter();
        let windows = response.on_lost(s, &mut RenoWindow);
        assert_eq!(windows, Windows { ssthresh: 2_500, cwnd: 17_000 });
    });
}

/// Option III: a recovery without a lost retransmission ends as any other, also after one that had
/// one.
#[test]
fn response_3_is_for_lost_retransmissions_only() {
    run("newreno-lrx-3", 10, |x| {
        nine_duplicates(x);
        x.ack(10).sends("14").windows(5_000, 5_000);
    });
    run("newreno-lrx-3", 10, |x| {
        twelve_duplicates(x);
        x.acks(0, ["0L", "17", "18", "19"]).ack(17).sends("");
        // Slow start up to ssthresh.
        x.ack(18).sends("").windows(2_000, 5_000).ack(19).sends("20 21").windows(3_000, 5_000);
        x.ack(20).sends("22 23").windows(4_000, 5_000);
        x.ack(20).ack(20).ack(20).sends("20F 24").windows(5_000, 2_000);
        x.ack(25).sends("25 26").windows(2_000, 2_000);
    });
}

/// RFC 5681 section 4.3, where no response is named.
#[test]
fn without_a_response_the_windows_are_lowered_twice() {
    run("reno+lrx", 10, |x| {
        twelve_duplicates(x);
        x.ack(0).sends("0L").windows(14_500, 2_500);
    });
}

/// Section 2: DAC sends two segments on one ACK, although only one has left the network.
#[test]
fn dac_breaks_packet_conservation() {
    run("dac", 10, |x| {
        twelve_duplicates(x);
        x.ack(0).sends("0L 17").windows(18_000, 5_000);
        x.ack(0).sends("18").ack(17).sends("19 20 21").windows(5_000, 5_000);
    });
    run("dac", 10, |x| {
        until_partial_ack(x);
        x.acks(4, ["13", "14", "4L 15"]).windows(12_000, 5_000);
    });
}

/// Section 2: the revised DAC deflates cwnd within recovery, and then sends "only one segment in
/// response to one partial ACK per RTT", where option I goes on with new data.
#[test]
fn dac_revised_starves_the_rest_of_recovery() {
    // 0, 4 and 5 are lost, and 0 again: seven duplicates of the first window, those of 10 to 15,
    // and 16 is on its way.
    let until_lost = |x: &mut Script| {
        start(x);
        x.ack(0).ack(0).ack(0).sends("0F");
        x.acks(0, ["", "", "10", "11"]).windows(12_000, 5_000);
        x.acks(0, ["12", "13", "14", "15", "16"]);
        x.windows(17_000, 5_000).ack(0).sends("0L");
    };
    run("dac-revised", 10, |x| {
        until_lost(x);
        x.windows(2_500, 2_500).ack(0).sends("").windows(3_500, 2_500);
        x.ack(4).sends("4P").windows(1_000, 2_500).ack(5).sends("5P").windows(1_000, 2_500);
        x.ack(17).sends("17 18").windows(2_500, 2_500).phase(Phase::Open);
    });
    run("newreno-lrx-1", 10, |x| {
        until_lost(x);
        x.windows(17_000, 5_000).ack(0).sends("17").windows(18_000, 5_000);
        x.ack(4).sends("4P 18").windows(15_000, 5_000).ack(4).sends("19").windows(16_000, 5_000);
        x.ack(5)
            .sends("5P 20")
            .windows(16_000, 5_000)
            .ack(5)
            .sends("21")
            .ack(5)
            .sends("22")
            .windows(18_000, 5_000);
        x.ack(20).sends("23 24").windows(5_000, 5_000).phase(Phase::Open);
    });
}

/// Each detection of the revised DAC lowers both, down to two segments.
#[test]
fn dac_revised_lowers_each_time() {
    run("dac-revised", 10, |x| {
        until_partial_ack(x);
        x.acks(4, ["13", "14", "4L"]).windows(2_500, 2_500);
        x.ack(4).ack(4).sends("").windows(4_500, 2_500).ack(4).sends("4L").windows(2_000, 2_000);
    });
}

/// Segment 0 is lost with SACK; up to the four new segments that half of the window allows.
fn sacked(x: &mut Script) {
    start(x);
    x.sack(0, &[(1, 2)])
        .sack(0, &[(1, 3)])
        .sends("")
        .sack(0, &[(1, 4)])
        .sends("0F")
        .windows(5_000, 5_000);
    x.sack(0, &[(1, 5)]).sends("").sack(0, &[(1, 6)]).sends("").sack(0, &[(1, 7)]).sends("10");
    x.sack(0, &[(1, 8)]).sends("11").sack(0, &[(1, 9)]).sends("12");
    // Up to `recovery`, and not beyond.
    x.sack(0, &[(1, 10)]).sends("13").windows(5_000, 5_000);
}

/// Figure 9: 10 was sent after 0F. Then `recovery` is 14: the loss of the second copy shows with
/// 14.
#[test]
fn sack_beyond_recovery() {
    run("sack-lrx", 10, |x| {
        sacked(x);
        x.sack(0, &[(1, 11)]).sends("0L").windows(5_000, 5_000).phase(Phase::Recovery);
        x.sack(0, &[(1, 12)])
            .sends("14")
            .sack(0, &[(1, 13)])
            .sends("15")
            .sack(0, &[(1, 14)])
            .sends("16");
        x.sack(0, &[(1, 15)])
            .sends("0L")
            .sack(0, &[(1, 16)])
            .sends("17")
            .sack(0, &[(1, 17)])
            .sends("18");
        // Two are outstanding.
        x.ack(17).sends("19 20 21").windows(5_000, 5_000).phase(Phase::Open);
        assert_eq!(x.sender.stats().timeouts, 0);
    });
    run("sack-ff96", 10, |x| {
        sacked(x);
        x.sack(0, &[(1, 11)])
            .sends("14")
            .sack(0, &[(1, 12)])
            .sends("15")
            .fire(1000)
            .sends("0T")
            .classes([0, 0, 1]);
    });
    run("sack-lrx+response-2", 10, |x| {
        sacked(x);
        x.sack(0, &[(1, 11)]).sends("0L").windows(5_000, 2_500);
    });
}

/// The RFC 6675 pipe knows that 0F has left the network, so that a new segment goes as well.
#[test]
fn sack_beyond_recovery_on_rfc_6675() {
    run("sack+lrx-sack", 10, |x| {
        start(x);
        x.sack(0, &[(1, 4)]).sends("0F").sack(0, &[(1, 10)]).sends("10 11 12 13").pipe(5);
        // Half of ssthresh (lower-twice), and as much off cwnd: 2.5 segments for 11, 12, 13 and 0.
        x.sack(0, &[(1, 11)]).sends("0L").windows(2_500, 2_500).pipe(4);
    });
    run("sack+lrx-sack+response-1", 10, |x| {
        start(x);
        x.sack(0, &[(1, 4)]).sends("0F").sack(0, &[(1, 10)]).sends("10 11 12 13").pipe(5);
        x.sack(0, &[(1, 11)]).sends("0L 14").windows(5_000, 5_000).pipe(5);
    });
}

/// Reordering within the first window, and a lost ACK whose next one is cumulative, show nothing.
#[test]
fn sack_beyond_recovery_must_not_act() {
    run("sack-lrx", 10, |x| {
        start(x);
        // 1 and 2 arrive after 3, 4 and 5.
        x.sack(0, &[(3, 4)])
            .sack(0, &[(3, 5)])
            .sends("")
            .sack(0, &[(3, 6)])
            .sends("0F")
            .windows(5_000, 5_000);
        x.sack(0, &[(1, 2), (3, 6)])
            .sends("")
            .sack(0, &[(1, 6)])
            .sends("")
            .sack(0, &[(1, 7)])
            .sends("10");
        x.sack(0, &[(1, 8)]).sends("11").ack(10).sends("12 13 14").phase(Phase::Open);
        assert_eq!(x.sender.stats().retransmissions, 1);
    });
    run("sack-lrx", 10, |x| {
        sacked(x);
        x.ack(11).sends("14 15").windows(5_000, 5_000).phase(Phase::Open);
    });
    // Limited data: nothing lies beyond `recovery`.
    run("sack-lrx", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.sack(0, &[(1, 2)])
            .sack(0, &[(1, 3)])
            .sack(0, &[(1, 4)])
            .sends("0F")
            .sack(0, &[(1, 10)])
            .sends("");
        x.fire(1000).sends("0T");
    });
}

/// 0 and 8 are lost, and 0 is retransmitted; all up to 8 has been SACKed.
fn until_8_is_missing(x: &mut Script) {
    start(x);
    x.sack(0, &[(1, 2)])
        .sack(0, &[(1, 3)])
        .sack(0, &[(1, 4)])
        .sends("0F")
        .sack(0, &[(1, 5)])
        .sends("");
    x.sack(0, &[(1, 6)]).sends("").sack(0, &[(1, 7)]).sends("10").sack(0, &[(1, 8)]).sends("11");
}

/// A hole retransmitted after new data stores `recovery` again: that new data's SACK does not make
/// it look lost.
#[test]
fn each_retransmission_stores_recovery() {
    let until_hole = |x: &mut Script| {
        until_8_is_missing(x);
        x.sack(0, &[(9, 10), (1, 8)]).sends("8P");
        // The retransmission of 0 arrives: a partial ACK takes two off the pipe.
        x.ack(8).sends("12 13");
    };
    run("sack-lrx", 10, |x| {
        until_hole(x);
        // 10 and 11 were sent before 8P.
        x.sack(8, &[(9, 11)]).sends("14").sack(8, &[(9, 12)]).sends("15");
        x.ack(12).sends("16").phase(Phase::Open);
    });
    run("sack-lrx", 10, |x| {
        until_hole(x);
        x.sack(8, &[(9, 11)]).sends("14").sack(8, &[(9, 12)]).sends("15");
        // 12 was sent after it.
        x.sack(8, &[(9, 13)]).sends("8L").windows(5_000, 5_000);
    });
}

/// Step 4 comes before step 5: a partial ACK shows nothing about the next hole, whatever it SACKs.
#[test]
fn a_partial_ack_does_not_reach_step_5() {
    run("sack-lrx", 10, |x| {
        // 9 and 10 overtake the retransmission of 0.
        until_8_is_missing(x);
        x.sack(0, &[(9, 10), (1, 8)]).sends("8P").sack(0, &[(9, 11), (1, 8)]).sends("12");
        x.sack(8, &[(9, 13)]).sends("13 14");
        x.sack(8, &[(9, 14)]).sends("8L").windows(5_000, 5_000);
    });
}

/// A hole that was never retransmitted is not a lost retransmission, although data beyond
/// `recovery` is SACKed.
#[test]
fn a_hole_not_sent_again_is_left_to_selection() {
    run("sack-lrx+response-2", 10, |x| {
        start(x);
        // 0 and 9 are lost.
        x.sack(0, &[(1, 2)])
            .sack(0, &[(1, 3)])
            .sack(0, &[(1, 4)])
            .sends("0F")
            .sack(0, &[(1, 5)])
            .sends("");
        x.sack(0, &[(1, 6)])
            .sends("")
            .sack(0, &[(1, 7)])
            .sends("10")
            .sack(0, &[(1, 8)])
            .sends("11");
        x.sack(0, &[(1, 9)]).sends("12").ack(9).sends("13 14");
        x.sack(9, &[(10, 11)]).sends("9P").windows(5_000, 5_000);
    });
}

/// After a timeout FlightSize is what has been sent since: the rest has been given up.
#[test]
fn after_a_timeout_flight_size_leaves_out_what_was_given_up() {
    run("newreno-nobugfix+lrx", 10, |x| {
        x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.fire(1000).sends("0T").ack(1).sends("1S 2S");
        // Two segments and DupThresh: the fifth duplicate.
        x.ack(1).acks(1, ["", "1F 3S 4S 5S", "6S"]);
        x.ack(1).sends("1L");
    });
}
