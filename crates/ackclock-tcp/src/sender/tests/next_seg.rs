//! RFC 6675, RFC 3517 and Fall & Floyd's SACK: pipe after every ACK, by hand.

use super::*;

fn start(x: &mut Script) {
    x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").windows(10_000, UNSET);
}

/// RFC 6675 section 5; segment 0 is lost.
#[test]
fn sack_repairs_one_loss() {
    run("sack", 10, |x| {
        start(x);
        x.sack(0, &[(1, 2)]).sends("").pipe(9);
        // IsLost wants more than 2 * SMSS bytes: 2000 are not more.
        x.sack(0, &[(1, 3)]).sends("").pipe(8).phase(Phase::Open);
        // Step 4.2: ssthresh = cwnd = 10000 / 2. In the pipe: 4 to 9 and the retransmission.
        x.sack(0, &[(1, 4)]).sends("0F").windows(5_000, 5_000).pipe(7).phase(Phase::Recovery);
        x.sack(0, &[(1, 5)]).sends("").pipe(6);
        x.sack(0, &[(1, 6)]).sends("").pipe(5);
        x.sack(0, &[(1, 7)]).sends("10").pipe(5);
        x.sack(0, &[(1, 8)]).sends("11").pipe(5);
        x.sack(0, &[(1, 9)]).sends("12").pipe(5);
        x.sack(0, &[(1, 10)]).sends("13").pipe(5);
        x.ack(10).sends("14").windows(5_000, 5_000).pipe(5).phase(Phase::Open);
        x.ack(11).sends("15").windows(5_200, 5_000);
        assert_eq!((x.sender.stats().recoveries, x.sender.stats().retransmissions), (1, 1));
    });
}

/// Segments 0, 4 and 5 are lost: NextSeg rule 1, then rule 2.
#[test]
fn sack_repairs_three_losses_in_a_round_trip() {
    run("sack", 10, |x| {
        start(x);
        x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sack(0, &[(1, 4)]).sends("0F").pipe(7);
        x.sack(0, &[(6, 7), (1, 4)]).sends("").pipe(6);
        x.sack(0, &[(6, 8), (1, 4)]).sends("").pipe(5);
        // Now three segments above 4 and 5 have arrived: in the pipe are 9 and the retransmission
        // of 0.
        x.sack(0, &[(6, 9), (1, 4)]).sends("4P 5P 10").pipe(5);
        x.sack(0, &[(6, 10), (1, 4)]).sends("11").pipe(5);
        x.sack(4, &[(6, 10)]).sends("12").pipe(5);
        x.sack(5, &[(6, 10)]).sends("13").pipe(5);
        x.ack(10).sends("14").windows(5_000, 5_000).pipe(5).phase(Phase::Open);
    });
}

/// Section 5 step 2: a single ACK that tells enough begins recovery.
#[test]
fn sack_enters_before_the_third_duplicate() {
    run("sack", 10, |x| {
        start(x);
        x.sack(0, &[(1, 4)]).sends("0F").windows(5_000, 5_000).pipe(7);
        assert_eq!(x.sender.state().dupacks, 1);
    });
    // RFC 3517 waits for the third duplicate.
    run("rfc3517", 10, |x| {
        start(x);
        x.sack(0, &[(1, 4)]).sends("").sack(0, &[(1, 5)]).sends("").windows(10_000, UNSET);
        x.sack(0, &[(1, 6)]).sends("0F").windows(5_000, 5_000).pipe(5);
    });
}

fn bytes(x: &Script, blocks: &[(u64, u64)]) -> Segment {
    let mut segment = x.header(0);
    for &(l, r) in blocks {
        segment.sack.push(SackBlock { left: Seq::at(x.isn, l), right: Seq::at(x.isn, r) });
    }
    segment
}

/// IsLost by bytes: "more than (DupThresh - 1) * SMSS bytes"; RFC 3517: at least DupThresh * SMSS.
#[test]
fn is_lost_by_bytes() {
    let three_and_a_byte = |x: &mut Script| {
        x.write(3_001).sends("0 1 2 3[0..1]");
        let segment = bytes(x, &[(1_000, 3_000)]);
        x.segment(segment).sends("").phase(Phase::Open);
        let segment = bytes(x, &[(1_000, 3_001)]);
        x.segment(segment);
    };
    run("sack", 10, |x| {
        three_and_a_byte(x);
        x.sends("0F").windows(2_000, 2_000);
    });
    run("rfc3517", 10, |x| {
        three_and_a_byte(x);
        x.sends("").phase(Phase::Open);
    });
}

/// IsLost by ranges: three of them, however small.
#[test]
fn is_lost_by_ranges() {
    run("sack", 10, |x| {
        for n in 0..7 {
            let (l, r) = (n * 100, n * 100 + 100);
            x.write(100).sends(&format!("0[{l}..{r}]"));
        }
        let segment = bytes(x, &[(300, 400), (100, 200)]);
        x.segment(segment).sends("").phase(Phase::Open);
        let segment = bytes(x, &[(500, 600), (300, 400), (100, 200)]);
        x.segment(segment).sends("0[0..100]F 0[200..300]P 0[400..500]P").phase(Phase::Recovery);
        let lost: Vec<bool> = x.sender.state().board.iter().map(|r| r.lost).collect();
        assert_eq!(lost, [true, false, false, false, false, false, false]);
    });
}

/// Section 5 step 1: three duplicates count where their segments are too small for IsLost.
#[test]
fn three_small_duplicates_count() {
    for composition in ["sack", "rfc3517"] {
        run(composition, 10, |x| {
            for n in 0..7 {
                x.write(100).sends(&format!("0[{}..{}]", n * 100, n * 100 + 100));
            }
            for right in [200, 300] {
                let segment = bytes(x, &[(100, right)]);
                x.segment(segment).sends("").phase(Phase::Open);
            }
            let segment = bytes(x, &[(100, 400)]);
            x.segment(segment).sends("0[0..100]F").phase(Phase::Recovery);
        });
    }
}

/// NextSeg rule 3: without new data, a hole that is not lost yet; it counts twice in the pipe.
#[test]
fn next_seg_rule_3() {
    let script = |rescue: &'static str| {
        move |x: &mut Script| {
            x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
            x.sack(0, &[(1, 4)]).sends("0F").pipe(7);
            x.sack(0, &[(1, 7)]).sends("").pipe(4);
            x.sack(0, &[(1, 8)]).sends("").pipe(3);
            // 8 is missing below 9, and one segment above it is not enough for IsLost.
            x.sack(0, &[(9, 10), (1, 8)]).sends("8P").pipe(3);
            // Rule 4 then repeats the highest outstanding segment, which is 8 again, and the pipe
            // does not count it.
            x.sack(8, &[(9, 10)]).sends(rescue).pipe(2);
            x.ack(10).sends("").phase(Phase::Open);
        }
    };
    run("sack", 10, script("8L"));
    run("sack+next-seg-3517", 10, script(""));
}

/// NextSeg rule 4: one rescue retransmission a recovery, of the highest segment, and not in the
/// pipe.
#[test]
fn next_seg_rule_4_rescues_once() {
    run("sack", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.sack(0, &[(1, 4)]).sends("0F");
        x.sack(0, &[(1, 8)]).sends("").pipe(3);
        // 8 and 9 are lost as well, and nothing will tell.
        x.sack(8, &[]).sends("9P").pipe(2);
        x.sack(8, &[]).sends("");
        x.sack(8, &[(9, 10)]).sends("8P").pipe(2);
        x.ack(10).sends("").phase(Phase::Open);
    });
}

/// Rule 4: "If HighACK is greater than RescueRxt", which is the end of the first retransmission.
#[test]
fn no_rescue_at_the_first_retransmission() {
    run("sack", 10, |x| {
        x.write(6_000).sends("0 1 2 3 4 5");
        x.sack(0, &[(2, 5)]).sends("0F 1P").windows(3_000, 3_000).pipe(3);
        x.sack(1, &[(2, 5)]).sends("").pipe(2);
        x.ack(5).sends("5P").pipe(1);
        x.ack(6).sends("").phase(Phase::Open);
    });
}

/// RFC 6675 section 2 counts an ACK that advances and SACKs something new; RFC 5681's duplicates it
/// is none of.
#[test]
fn an_advance_with_sack_news_is_a_duplicate_in_rfc_6675_only() {
    run("sack", 10, |x| {
        start(x);
        x.sack(1, &[(2, 3)]).sends("10 11").windows(11_000, UNSET);
        x.sack(1, &[(2, 4)]).sends("");
        assert_eq!(x.sender.state().dupacks, 2);
        // 11 outstanding.
        x.sack(1, &[(2, 5)]).sends("1F").windows(5_500, 5_500);
    });
    for composition in ["rfc3517", "sack-ff96"] {
        run(composition, 10, |x| {
            start(x);
            x.sack(1, &[(2, 3)])
                .sends("10 11")
                .sack(1, &[(2, 4)])
                .sends("")
                .sack(1, &[(2, 5)])
                .sends("");
            assert_eq!(x.sender.state().dupacks, 2);
            x.sack(1, &[(2, 6)]).sends("1F").windows(5_500, 5_500);
        });
    }
}

/// Fall & Floyd 1996 section 3.4: the pipe falls by one for a duplicate and by two for a partial
/// ACK, whatever was lost.
#[test]
fn ff96_counts_segments() {
    run("sack-ff96", 10, |x| {
        start(x);
        x.sack(0, &[(1, 2)])
            .sack(0, &[(1, 3)])
            .sends("")
            .sack(0, &[(1, 4)])
            .sends("0F")
            .windows(5_000, 5_000);
        x.sack(0, &[(6, 7), (1, 4)]).sends("").sack(0, &[(6, 8), (1, 4)]).sends("");
        // 10 - 3 - 3 = 4: room for one. Any hole will do, lost or not.
        x.sack(0, &[(6, 9), (1, 4)]).sends("4P");
        x.sack(0, &[(6, 10), (1, 4)]).sends("5P");
        x.sack(4, &[(6, 10)]).sends("10 11");
        x.sack(5, &[(6, 10)]).sends("12 13");
        x.ack(10).sends("14").windows(5_000, 5_000).phase(Phase::Open);
    });
}

/// RFC 3042, and RFC 5681 section 3.2 step 2: what limited transmit sent is not in FlightSize.
#[test]
fn limited_transmit() {
    for (composition, cwnd) in [("reno+lt", 8_000), ("newreno+lt", 8_000), ("tahoe+lt", 1_000)] {
        run(composition, 10, |x| {
            start(x);
            x.ack(0).sends("10+").windows(10_000, UNSET);
            x.ack(0).sends("11+").windows(10_000, UNSET);
            x.ack(0).sends("0F").windows(cwnd, 5_000);
        });
    }
    run("sack+lt", 10, |x| {
        start(x);
        x.sack(0, &[(1, 2)]).sends("10+").pipe(10);
        x.sack(0, &[(1, 3)]).sends("11+").pipe(10);
        x.sack(0, &[(1, 4)]).sends("0F").windows(5_000, 5_000).pipe(9);
    });
}

/// Duplicates from reordering: what limited transmit sent counts as any other data once the window
/// has moved on.
#[test]
fn limited_transmit_under_reordering() {
    run("reno+lt", 10, |x| {
        start(x);
        x.ack(0).sends("10+");
        x.ack(2).sends("11 12").windows(11_000, UNSET);
        x.acks(2, ["13+", "14+", "2F"]).windows(5_500 + 3_000, 5_500);
    });
}

/// Two segments at most, also when the third duplicate must not begin a recovery.
#[test]
fn limited_transmit_sends_two() {
    run("newreno+lt", 10, |x| {
        start(x);
        x.acks(0, ["10+", "11+", "0F"]);
        x.ack(12).sends("12 13").windows(2_000, 5_000);
        x.acks(12, ["14+", "15+", "", ""]).windows(2_000, 5_000);
    });
}

/// RFC 6675 section 5 step 3.3 is about cwnd - pipe, also in the slow start after a timeout.
#[test]
fn limited_transmit_after_a_timeout_counts_sacked_data_once() {
    run("sack+lt", 4, |x| {
        x.write(30_000).sends("0 1 2 3");
        x.fire(1000).sends("0T").windows(1_000, 2_000);
        x.at(1100).ack(1).sends("1S 2S").windows(2_000, 2_000);
        x.sack(1, &[(2, 4)]).sends("4").pipe(2);
    });
}

/// RFC 6675 section 5 step 3 is for a duplicate ACK. None is counted once an ACK advances with SACK
/// blocks that are known already: then what is SACKed is no room, for a short segment neither.
#[test]
fn limited_transmit_sends_nothing_without_a_duplicate() {
    for written in [3_500, 4_000] {
        run("sack+lt", 10, |x| {
            x.write(10_000).sends(&numbers(0, 10));
            x.sack(0, &[(1, 2)]).sends("").sack(0, &[(9, 10), (1, 2)]).sends("");
            x.sack(2, &[(9, 10)]).sends("").windows(11_000, UNSET);
            x.write(written).sends("10 11 12");
        });
    }
}

/// RFC 6675 section 5.1: no new recovery until the recovery point of the timeout is acknowledged;
/// RFC 2018 section 8: SACK information from before the timeout is ignored, and used again as it
/// comes in anew.
#[test]
fn sack_after_a_timeout() {
    run("sack", 10, |x| {
        start(x);
        x.sack(0, &[(1, 3)]).sends("").fire(1000).sends("0T").windows(1_000, 5_000).pipe(1);
        // The receiver has reneged: nothing is reported any more.
        x.at(1100).ack(1).sends("1S 2S").windows(2_000, 5_000).pipe(2);
        // 1 is lost again; 4 to 9 had arrived.
        x.sack(1, &[(2, 3)]).sends("3S").pipe(2);
        x.sack(1, &[(4, 10), (2, 3)]).sends("").pipe(2).phase(Phase::Loss).windows(2_000, 5_000);
        // 1's retransmission was late; 3's arrives, and so everything.
        x.ack(10).sends("10 11 12").windows(3_000, 5_000).phase(Phase::Open);
    });
}

/// Data sent after the recovery point and lost is a loss of a new window: section 5 step 2 asks for
/// IsLost(HighACK + 1), whatever the earlier recovery retransmitted. What is on its way is not
/// retransmitted again.
#[test]
fn a_loss_beyond_the_recovery_point_begins_another_recovery() {
    for (composition, last) in [("sack", ["", "17", "18"]), ("rfc3517", ["", "", "17 18"])] {
        run(composition, 10, |x| {
            start(x);
            x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sack(0, &[(1, 4)]).sends("0F");
            x.sack(0, &[(1, 10)]).sends("10 11 12 13").pipe(5);
            // 10 is lost; it is retransmitted within this recovery.
            x.sack(0, &[(11, 14), (1, 10)]).sends("10P 14 15 16").pipe(5);
            // Seven are outstanding, cwnd is five.
            x.sack(10, &[(11, 14)]).sends("").phase(Phase::Open).pipe(4);
            for (right, sends) in (15..).zip(last) {
                x.sack(10, &[(11, right)]).sends(sends);
            }
            x.windows(3_500, 3_500).phase(Phase::Recovery).pipe(3);
            x.ack(17).sends("19").windows(3_500, 3_500).phase(Phase::Open);
        });
    }
}

/// As before, but 11 is lost and on its way as well: NextSeg passes over it.
#[test]
fn next_seg_leaves_out_what_is_on_its_way() {
    run("sack", 10, |x| {
        start(x);
        x.sack(0, &[(1, 4)]).sends("0F").sack(0, &[(1, 10)]).sends("10 11 12 13").pipe(5);
        x.sack(0, &[(12, 14), (1, 10)]).sends("14 15").pipe(5);
        x.sack(0, &[(12, 15), (1, 10)]).sends("10P 11P 16").pipe(5);
        x.sack(10, &[(12, 15)]).sends("").phase(Phase::Open).pipe(4);
        x.sack(10, &[(12, 16)]).sends("").windows(3_500, 3_500).pipe(3).phase(Phase::Recovery);
        x.sack(10, &[(12, 17)]).sends("17").pipe(3);
        x.ack(17).sends("18 19").phase(Phase::Open);
    });
}

/// 12 is lost too, and found lost only within the second recovery, whose first
/// retransmission it is. 10 is left out, also by NextSeg.
#[test]
fn the_first_retransmission_is_of_what_is_not_on_its_way() {
    run("sack", 10, |x| {
        start(x);
        x.sack(0, &[(1, 4)]).sends("0F").sack(0, &[(1, 10)]).sends("10 11 12 13").pipe(5);
        x.sack(0, &[(11, 12), (13, 14), (1, 10)]).sends("14 15").pipe(5);
        x.sack(0, &[(13, 15), (11, 12), (1, 10)]).sends("10P 16").pipe(5);
        x.sack(10, &[(13, 15), (11, 12)]).sends("").phase(Phase::Open).pipe(4);
        x.sack(10, &[(13, 16), (11, 12)]).sends("12F").windows(3_500, 3_500).pipe(3);
        x.ack(16).sends("17 18").phase(Phase::Recovery);
        x.ack(17).sends("19").phase(Phase::Open);
    });
}

/// One range of three small segments is neither three ranges nor many bytes.
#[test]
fn a_range_is_not_its_segments() {
    run("sack", 10, |x| {
        for n in 0..7 {
            x.write(100).sends(&format!("0[{}..{}]", n * 100, n * 100 + 100));
        }
        let segment = bytes(x, &[(100, 400)]);
        x.segment(segment).sends("").phase(Phase::Open);
    });
}

/// RFC 6675 section 5.1, with duplicates that are counted: no recovery before the timeout's
/// recovery point.
#[test]
fn duplicates_after_a_timeout_begin_no_sack_recovery() {
    run("sack-ff96", 10, |x| {
        start(x);
        x.fire(1000).sends("0T").sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sack(0, &[(1, 4)]).sends("");
        x.windows(1_000, 5_000).phase(Phase::Loss);
    });
    run("sack-ff96+no-bugfix", 10, |x| {
        start(x);
        x.fire(1000).sends("0T").sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("").sack(0, &[(1, 4)]);
        x.phase(Phase::Recovery);
        x.sent.clear();
    });
}
