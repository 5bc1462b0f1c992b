//! F-RTO (RFC 5682).

use super::*;

/// The timer expires with ten segments out, and `bytes` written.
fn timed_out(composition: &str, bytes: u64, script: impl Fn(&mut Script)) {
    run(composition, 10, |x| {
        x.write(bytes).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T").windows(1_000, 5_000);
        x.at(1100);
        script(x);
    });
}

/// Section 2.1: two new segments on the first ACK, undone on the second.
#[test]
fn a_spurious_timeout_is_undone() {
    for composition in ["newreno+f-rto", "sack+f-rto"] {
        timed_out(composition, 40_000, |x| {
            x.ack(1).sends("10+ 11+").windows(2_000, 5_000).phase(Phase::Loss);
            x.at(1110).ack(2).sends("12").windows(11_000, UNSET).phase(Phase::Open);
            x.ack(3).sends("13 14").windows(12_000, UNSET);
        });
    }
    timed_out("newreno", 40_000, |x| {
        x.ack(1).sends("1S 2S").ack(2).sends("3S 4S").windows(3_000, 5_000);
    });
}

/// Step 3a: the new segments draw duplicates, since the others are lost. The slow start goes on
/// from the head.
#[test]
fn a_genuine_timeout_goes_on() {
    timed_out("newreno+f-rto", 40_000, |x| {
        x.ack(1).sends("10+ 11+").ack(1).sends("1S 2S").windows(2_000, 5_000).phase(Phase::Loss);
        x.ack(1).sends("").at(1200).ack(2).sends("3S 4S").windows(3_000, 5_000);
    });
    // With SACK, 10 has arrived, so that only 11 is in flight.
    timed_out("sack+f-rto", 40_000, |x| {
        x.ack(1)
            .sends("10+ 11+")
            .pipe(2)
            .sack(1, &[(10, 11)])
            .sends("1S")
            .windows(2_000, 5_000)
            .phase(Phase::Loss);
        x.sack(1, &[(10, 12)]).sends("2S");
    });
}

/// Step 2a: a duplicate first, or an ACK of all that is outstanding, or not of all that was
/// retransmitted.
#[test]
fn the_first_ack_has_to_advance_below_recover() {
    timed_out("newreno+f-rto", 40_000, |x| {
        x.ack(0).sends("").ack(1).sends("1S 2S").ack(2).sends("3S 4S").windows(3_000, 5_000);
    });
    for composition in ["newreno+f-rto", "sack+f-rto"] {
        timed_out(composition, 40_000, |x| {
            x.ack(10).sends("10 11").windows(2_000, 5_000).phase(Phase::Open);
            x.ack(11).sends("12 13").windows(3_000, 5_000);
        });
        timed_out(composition, 40_000, |x| {
            x.ack(9).sends("10+ 11+").windows(2_000, 5_000).phase(Phase::Loss);
        });
        timed_out(composition, 40_000, |x| {
            x.ack_bytes(999)
                .sends("1S")
                .ack(1)
                .sends("2S")
                .windows(2_000, 5_000)
                .phase(Phase::Loss);
        });
    }
}

/// "The TCP sender SHOULD ignore such segments", which neither acknowledge new data nor are
/// duplicates: those with data (RFC 5681 section 2), and with SACK those that report nothing but
/// what had arrived before.
#[test]
fn what_is_neither_an_advance_nor_a_duplicate_is_ignored() {
    timed_out("newreno+f-rto", 40_000, |x| {
        x.segment(with_payload(x.header(0), false)).sends("").ack(1).sends("10+ 11+");
        x.segment(with_payload(x.header(1), false)).sends("").phase(Phase::Loss);
        x.ack(2).sends("12").windows(11_000, UNSET).phase(Phase::Open);
    });
    timed_out("sack+f-rto", 40_000, |x| {
        x.ack(1).sends("10+ 11+").sack(1, &[(0, 1)]).sends("").windows(2_000, 5_000);
        x.phase(Phase::Loss).ack(2).sends("12").windows(11_000, UNSET).phase(Phase::Open);
    });
}

/// Step 2b: without new data, or without window for it, the slow start goes on; one new segment is
/// enough.
#[test]
fn without_new_data_there_is_no_test() {
    timed_out("newreno+f-rto", 10_000, |x| {
        x.ack(1).sends("1S 2S").ack(2).sends("3S 4S").windows(3_000, 5_000);
    });
    timed_out("newreno+f-rto", 40_000, |x| {
        x.window = 9_000;
        x.ack(1).sends("1S 2S");
    });
    timed_out("newreno+f-rto", 11_000, |x| {
        x.ack(1).sends("10+").ack(2).sends("").windows(11_000, UNSET).phase(Phase::Open);
    });
}

/// Step 1: again for the same segment, but not for the next one.
#[test]
fn a_second_timeout() {
    timed_out("newreno+f-rto", 40_000, |x| {
        x.fire(3000)
            .sends("0T")
            .at(3100)
            .ack(1)
            .sends("10+ 11+")
            .ack(2)
            .sends("12")
            .windows(11_000, UNSET);
    });
    timed_out("newreno+f-rto", 40_000, |x| {
        x.ack(1)
            .sends("10+ 11+")
            .fire(3100)
            .sends("1T")
            .at(3200)
            .ack(2)
            .sends("2S 3S")
            .ack(3)
            .sends("4S 5S");
        x.phase(Phase::Loss);
    });
}

/// A timeout within a recovery is not judged.
#[test]
fn not_within_a_recovery() {
    run("newreno+f-rto", 10, |x| {
        x.write(40_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(0).ack(0).ack(0).sends("0F");
        x.fire(1000)
            .sends("0T")
            .at(1100)
            .ack(4)
            .sends("4S 5S")
            .ack(5)
            .sends("6S 7S")
            .windows(3_000, 2_500);
    });
}

/// Section 3.1 step 1: "If RecoveryPoint is larger than or equal to SND.UNA". Reno's recovery ends
/// with the first ACK that advances, and leaves the second loss to the timer.
#[test]
fn not_below_an_earlier_recovery_point() {
    run("reno+is-lost+f-rto", 10, |x| {
        x.write(40_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).sack(0, &[(1, 4)]).sends("0F");
        x.at(200).ack(4).sends("").phase(Phase::Open).fire(1200).sends("4T");
        x.at(1300).ack(5).sends("5S 6S").phase(Phase::Loss);
    });
}

/// Section 3.1: duplicates before the first ACK are waited through, and SACK blocks up to the
/// recovery point, and not beyond it, answer originals.
#[test]
fn with_sack() {
    timed_out("sack+f-rto", 40_000, |x| {
        x.sack(0, &[(3, 4)]).sends("").sack(1, &[(3, 4)]).sends("10+ 11+").windows(2_000, 5_000);
        x.sack(1, &[(3, 5)]).sends("").windows(10_000, UNSET).phase(Phase::Open);
        // "If there are unacknowledged holes [...], those segments are retransmitted".
        x.sack(1, &[(3, 6)]).sends("1F").windows(5_500, 5_500).phase(Phase::Recovery);
    });
    timed_out("sack+f-rto", 40_000, |x| {
        x.ack(1)
            .sends("10+ 11+")
            .sack(1, &[(9, 10)])
            .sends("")
            .windows(10_000, UNSET)
            .phase(Phase::Open);
    });
    // All originals arrived, but 10 did too before their ACKs came.
    timed_out("sack+f-rto", 40_000, |x| {
        x.ack(1).sends("10+ 11+").ack(11).sends("12 13").windows(3_000, 5_000).phase(Phase::Open);
    });
    timed_out("sack+f-rto", 40_000, |x| {
        x.ack(1)
            .sends("10+ 11+")
            .ack(10)
            .sends("12 13 14 15 16 17 18 19 20")
            .windows(11_000, UNSET);
    });
}

/// "Thus allowing fast recovery on incoming duplicate acknowledgments."
#[test]
fn a_loss_after_a_spurious_timeout_is_recovered() {
    timed_out("newreno+f-rto", 40_000, |x| {
        x.ack(1).sends("10+ 11+").acks(2, ["12", "", "", "2F"]);
    });
}

/// Another mechanism was first: there is nothing left to find out.
#[test]
fn beside_others() {
    run_with(
        "newreno+eifel+f-rto",
        SenderConfig { initial_window: Some(10), timestamps: true, ..config() },
        |x| {
            x.write(40_000).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T");
            x.echo = Some(0);
            x.at(1100)
                .ack(1)
                .sends("10 11")
                .windows(11_000, UNSET)
                .ack(2)
                .sends("12 13")
                .windows(12_000, UNSET);
        },
    );
    timed_out("sack+dsack-undo+f-rto", 40_000, |x| {
        x.ack(1)
            .sends("10+ 11+")
            .sack(1, &[(0, 1)])
            .sends("")
            .windows(10_000, UNSET)
            .phase(Phase::Open);
        x.sack(1, &[(10, 11)])
            .sends("")
            .ack(12)
            .sends("12 13 14 15 16 17 18 19 20 21 22")
            .windows(11_000, UNSET);
    });
}
