//! Tahoe, Reno and NewReno: windows 10, segments lost from the first window.

use super::*;

/// Ten segments out, initial ssthresh unset, 30 segments to send.
fn start(x: &mut Script) {
    x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").windows(10_000, UNSET);
}

/// RFC 5681 section 3.2; segment 0 is lost.
#[test]
fn reno_repairs_one_loss() {
    run("reno", 10, |x| {
        start(x);
        x.ack(0).sends("").windows(10_000, UNSET);
        x.ack(0).sends("").windows(10_000, UNSET);
        // Step 2: ssthresh = 10000 / 2; step 3: cwnd = ssthresh + 3.
        x.ack(0).sends("0F").windows(8_000, 5_000).phase(Phase::Recovery);
        // Step 4: a segment for each further duplicate; what is outstanding fills the first two.
        x.ack(0).sends("").windows(9_000, 5_000);
        x.ack(0).sends("").windows(10_000, 5_000);
        x.ack(0).sends("10").windows(11_000, 5_000);
        x.ack(0).sends("11").windows(12_000, 5_000);
        x.ack(0).sends("12").windows(13_000, 5_000);
        x.ack(0).sends("13").windows(14_000, 5_000);
        // Step 6: cwnd = ssthresh. Four are outstanding.
        x.ack(10).sends("14").windows(5_000, 5_000).phase(Phase::Open);
        // Equation 3: 1000 * 1000 / 5000 = 200, then 1000 * 1000 / 5200 = 192.
        x.ack(11).sends("15").windows(5_200, 5_000);
        x.ack(12).sends("16").windows(5_392, 5_000);
        assert_eq!((x.sender.stats().recoveries, x.sender.stats().retransmissions), (1, 1));
    });
}

/// Two losses: Reno halves twice, and the first new ACK ends the first recovery (Fall & Floyd 1996
/// section 4).
#[test]
fn reno_recovers_twice_from_two_losses() {
    run("reno", 10, |x| {
        start(x);
        x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
        x.acks(0, ["", "", "10", "11", "12"]).windows(13_000, 5_000);
        // 5 was lost as well: eight outstanding, cwnd of five.
        x.ack(5).sends("").windows(5_000, 5_000).phase(Phase::Open);
        x.ack(5).sends("").ack(5).sends("");
        x.ack(5).sends("5F").windows(4_000 + 3_000, 4_000).phase(Phase::Recovery);
        x.ack(13).sends("13 14 15 16").windows(4_000, 4_000).phase(Phase::Open);
        assert_eq!(x.sender.stats().recoveries, 2);
    });
}

/// RFC 6582 section 3.2: partial ACKs retransmit, deflate by what they acknowledge, and add a
/// segment back.
#[test]
fn newreno_repairs_a_loss_for_each_partial_ack() {
    run("newreno", 10, |x| {
        start(x);
        x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
        // 0, 4 and 5 are lost, so there are seven duplicates.
        x.acks(0, ["", "", "10", "11"]).windows(12_000, 5_000);
        // 12000 - 4000 + 1000 = 9000 for 4 to 11: room for one.
        x.ack(4).sends("4P 12").windows(9_000, 5_000);
        x.ack(4).sends("13").windows(10_000, 5_000);
        x.ack(4).sends("14").windows(11_000, 5_000);
        // 11000 - 1000 + 1000 = 11000 for 5 to 14: room for one.
        x.ack(5).sends("5P 15").windows(11_000, 5_000);
        x.ack(5).sends("16").windows(12_000, 5_000);
        // Full: six outstanding (10 was the recovery point; 11 to 16), so min(5000, 6000 + 1000).
        x.ack(11).sends("").windows(5_000, 5_000).phase(Phase::Open);
        x.ack(13).sends("17").windows(5_200, 5_000);
        assert_eq!((x.sender.stats().recoveries, x.sender.stats().retransmissions), (1, 3));
    });
}

/// RFC 6582 section 3.2 step 3, option 1: a full ACK that leaves little outstanding releases at
/// most one segment more.
#[test]
fn newreno_leaves_recovery_without_a_burst() {
    run("newreno", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
        x.write(20_000).sends("");
        // Everything acknowledged: min(5000, max(0, 1000) + 1000).
        x.ack(10).sends("10 11").windows(2_000, 5_000);
    });
    run("newreno+inflate-to-ssthresh", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
        x.write(20_000).sends("");
        x.ack(10).sends("10 11 12 13 14").windows(5_000, 5_000);
    });
    run("newreno+inflate-bsd", 10, |x| {
        start(x);
        x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
        // At cwnd = ssthresh BSD is still in slow start.
        x.ack(10).sends("10 11 12 13 14 15").windows(6_000, 5_000);
        // 1000 * 1000 / 6000 above it.
        x.ack(11).sends("16").windows(6_166, 5_000);
    });
}

/// A partial ACK of less than a segment adds nothing back.
#[test]
fn newreno_adds_back_a_segment_only_for_a_segment() {
    run("newreno", 10, |x| {
        start(x);
        x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
        x.ack_bytes(400).sends("0[400..1000]L").windows(7_600, 5_000);
    });
}

/// RFC 6582 section 3.2: the first partial ACK restarts the timer, later ones do not; RFC 2582's
/// every one does.
#[test]
fn newreno_timer_variants() {
    let until_second_partial = |x: &mut Script| {
        start(x);
        x.deadline(1000);
        x.at(100).ack(0).ack(0).ack(0).sends("0F").deadline(1000);
        x.at(200).ack(3).sends("3P").deadline(1200);
        x.at(300).ack(4).sends("4P");
    };
    run("newreno", 10, |x| {
        until_second_partial(x);
        x.deadline(1200);
        x.at(400).ack(10).sends("10 11").deadline(1400);
    });
    run("newreno+slow-but-steady", 10, |x| {
        until_second_partial(x);
        x.deadline(1300);
    });
}

/// RFC 6582 section 3.2 step 2: after a recovery, duplicates have to acknowledge more than the
/// recovery point.
#[test]
fn bugfix_prevents_a_second_fast_retransmit_at_the_recovery_point() {
    let until_left = |x: &mut Script| {
        start(x);
        x.ack(0).ack(0).ack(0).sends("0F");
        x.ack(10).sends("10 11").windows(2_000, 5_000);
        x.ack(10).sends("").ack(10).sends("");
    };
    run("newreno", 10, |x| {
        until_left(x);
        x.ack(10).sends("").phase(Phase::Open).windows(2_000, 5_000);
        // A fourth duplicate is none to begin with either.
        x.ack(10).sends("").phase(Phase::Open);
        // One byte more than the recovery point.
        x.ack_bytes(10_001).sends("").ack_bytes(10_001).sends("").ack_bytes(10_001).sends("");
        x.ack_bytes(10_001).sends("10[1..1000]F 12 13 14").windows(5_000, 2_000);
    });
    run("newreno+no-bugfix", 10, |x| {
        until_left(x);
        x.ack(10).sends("10F 12 13 14").phase(Phase::Recovery).windows(5_000, 2_000);
    });
}

/// Fall & Floyd 1996 section 2: after a fast retransmit, slow start from the first unacknowledged
/// segment.
#[test]
fn tahoe_goes_back() {
    run("tahoe", 10, |x| {
        start(x);
        x.ack(0).sends("").ack(0).sends("");
        x.ack(0).sends("0F").windows(1_000, 5_000).phase(Phase::Loss);
        x.acks(0, ["", "", ""]).windows(1_000, 5_000);
        // 4 was lost as well.
        x.ack(4).sends("4S 5S").windows(2_000, 5_000);
        x.ack(10).sends("10 11 12").windows(3_000, 5_000).phase(Phase::Open);
        x.ack(11).sends("13 14").windows(4_000, 5_000);
        // The spurious 5 makes one duplicate; growth goes on.
        x.ack(12).sends("15 16").windows(5_000, 5_000);
        x.ack(13).sends("17").windows(5_200, 5_000);
        assert_eq!(x.sender.stats().timeouts, 0);
    });
}

/// The third duplicate, not the second, not the fourth, and once.
#[test]
fn the_third_duplicate_begins_recovery() {
    for (composition, third) in [("tahoe", 1_000), ("reno", 8_000), ("newreno", 8_000)] {
        run(composition, 10, |x| {
            start(x);
            x.ack(0).ack(0).sends("").phase(Phase::Open).windows(10_000, UNSET);
            x.ack(0).sends("0F").windows(third, 5_000);
            x.ack(0).sends("");
            assert_eq!(x.sender.stats().recoveries, 1);
        });
    }
}

/// RFC 5681 section 2: what is a duplicate ACK and what is not.
#[test]
fn what_is_no_duplicate() {
    run("reno", 10, |x| {
        start(x);
        x.ack(0).ack(0).sends("");
        // Data, FIN and a changed window.
        let payload = with_payload(x.header(0), false);
        let fin = with_payload(x.header(0), true);
        x.segment(payload).segment(fin).sends("");
        x.window = 63_000;
        x.ack(0).sends("").phase(Phase::Open);
        x.ack(0).sends("0F");
    });
    run("reno", 10, |x| {
        // Nothing outstanding.
        x.ack(0).ack(0).ack(0).ack(0);
        assert_eq!(x.sender.state().dupacks, 0);
        start(x);
    });
}

/// A recovery that begins while data is retransmitted after a timeout ends, and never sends the
/// same segment without end.
#[test]
fn reno_recovery_within_slow_start_after_a_timeout() {
    run("reno", 10, |x| {
        start(x);
        x.fire(1000).sends("0T").windows(1_000, 5_000).phase(Phase::Loss);
        // 3 and 6 were lost as well.
        x.at(1100).ack(3).sends("3S 4S").windows(2_000, 5_000);
        // The spurious 4 and duplicates from the network: without bugfix they begin a recovery.
        // Outstanding since the timeout are two segments.
        x.ack(3).ack(3).sends("");
        x.ack(3).sends("3F 5S 6S 7S").windows(2_000 + 3_000, 2_000).phase(Phase::Recovery);
        x.ack(3).sends("8S").windows(6_000, 2_000);
        // 9 is still to be retransmitted, so this is not the end of the slow start.
        x.ack(6).sends("").windows(2_000, 2_000).phase(Phase::Loss);
        x.ack(8).sends("9S").windows(2_500, 2_000).phase(Phase::Loss);
        x.ack(10).sends("10 11").windows(2_900, 2_000).phase(Phase::Open);
    });
}

/// The third duplicate only: without bugfix a fourth one must not begin the slow start anew.
#[test]
fn tahoe_begins_once() {
    run("tahoe+no-bugfix", 10, |x| {
        start(x);
        x.ack(0).ack(0).ack(0).sends("0F").windows(1_000, 5_000);
        x.ack(0).ack(0).sends("").windows(1_000, 5_000);
        assert_eq!(x.sender.stats().recoveries, 1);
    });
}

/// "For the first partial ACK that arrives during fast recovery": of each recovery.
#[test]
fn newreno_restarts_the_timer_in_each_recovery() {
    run("newreno", 10, |x| {
        start(x);
        x.at(100).ack(0).ack(0).ack(0).sends("0F").at(200).ack(3).sends("3P").deadline(1200);
        x.at(300).ack(10).sends("10 11").deadline(1300);
        x.at(400).ack(11).sends("12 13").deadline(1400);
        x.ack(11)
            .ack(11)
            .sends("")
            .ack(11)
            .sends("11F 14 15")
            .at(500)
            .ack(12)
            .sends("12P 16")
            .deadline(1500);
    });
}
