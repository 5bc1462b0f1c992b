//! FACK: threshold retransmission and marking.

use super::*;

fn start(x: &mut Script) {
    x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").windows(10_000, UNSET);
}

/// Dukkipati et al. 2011 section 3.2: "triggered immediately by the very first SACK". 0 to 2 are
/// lost.
#[test]
fn the_first_sack_begins_recovery() {
    for (composition, pipe) in [("fack", 7), ("fack+fack-linux", 9)] {
        run(composition, 10, |x| {
            start(x);
            // fack - snd_una = 4 segments, more than three; in Linux's marking 1 and 2 are not
            // three below it yet.
            x.sack(0, &[(3, 4)])
                .sends("0F")
                .windows(5_000, 5_000)
                .pipe(pipe)
                .phase(Phase::Recovery);
        });
    }
    for composition in ["sack", "rfc3517", "sack-ff96"] {
        run(composition, 10, |x| {
            start(x);
            x.sack(0, &[(3, 4)]).sends("").windows(10_000, UNSET);
        });
    }
}

/// fack - snd_una = 3 segments is not more than three.
#[test]
fn three_segments_are_not_beyond_the_threshold() {
    for composition in ["fack", "fack+fack-linux"] {
        run(composition, 10, |x| {
            start(x);
            x.sack(0, &[(2, 3)]).sends("").windows(10_000, UNSET).phase(Phase::Open);
            x.sack(0, &[(2, 4)]).sends("0F").phase(Phase::Recovery);
            assert_eq!(x.sender.state().dupacks, 2);
        });
    }
}

/// "All holes below the highest SACK block are assumed to be lost": 0, 4 and 5 are lost.
#[test]
fn every_hole_is_lost_at_once() {
    run("fack", 10, |x| {
        start(x);
        x.sack(0, &[(1, 4)]).sends("0F").pipe(7);
        // In the pipe: 7 to 9, the retransmission of 0, and now that of 4.
        x.sack(0, &[(6, 7), (1, 4)]).sends("4P").pipe(5);
        x.sack(0, &[(6, 8), (1, 4)]).sends("5P").pipe(5);
        x.sack(0, &[(6, 9), (1, 4)]).sends("10").pipe(5);
    });
    run("fack+is-lost", 10, |x| {
        start(x);
        x.sack(0, &[(1, 4)]).sends("0F").sack(0, &[(6, 7), (1, 4)]).sends("").pipe(6);
    });
    run("fack+fack-linux", 10, |x| {
        start(x);
        x.sack(0, &[(1, 4)]).sends("0F").sack(0, &[(6, 7), (1, 4)]).sends("").pipe(6);
        // 4 is three segments below 8, then 5 below 9.
        x.sack(0, &[(6, 8), (1, 4)]).sends("4P").pipe(5);
        x.sack(0, &[(6, 9), (1, 4)]).sends("5P 10").pipe(5);
    });
}

/// Within recovery the threshold does not count any more: 4 is lost as soon as 5 is SACKed.
#[test]
fn a_hole_near_snd_una_is_lost_too() {
    run("fack", 10, |x| {
        start(x);
        x.sack(0, &[(1, 4)]).sends("0F").pipe(7).ack(4).sends("").pipe(6).phase(Phase::Recovery);
        x.sack(4, &[(5, 6)]).sends("4P").pipe(5);
    });
}

/// Reordering by one and by two segments, a lost ACK, and the end of the data: nothing is lost.
#[test]
fn does_not_act_on_reordering_a_lost_ack_or_limited_data() {
    for composition in ["fack", "fack+fack-linux"] {
        run(composition, 10, |x| {
            start(x);
            x.sack(0, &[(1, 2)]).sends("").ack(2).sends("10 11 12");
            x.sack(2, &[(3, 4)]).sends("").sack(2, &[(3, 5)]).sends("").ack(5).sends("13 14 15 16");
            x.ack(7).sends("17 18 19").windows(13_000, UNSET).phase(Phase::Open);
            assert_eq!((x.sender.stats().recoveries, x.sender.stats().retransmissions), (0, 0));
        });
        run(composition, 10, |x| {
            x.write(3_000)
                .sends("0 1 2")
                .sack(0, &[(1, 2)])
                .sack(0, &[(1, 3)])
                .sends("")
                .phase(Phase::Open);
        });
    }
}

/// The threshold counts bytes; three duplicates of small segments are enough too, as they are
/// without SACK.
#[test]
fn three_duplicates_are_enough() {
    run("fack", 10, |x| {
        for n in 0..5 {
            x.write(100).sends(&format!("0[{}..{}]", n * 100, n * 100 + 100));
        }
        for (right, sends) in [(200, ""), (300, ""), (400, "0[0..100]F")] {
            let mut segment = x.header(0);
            segment
                .sack
                .push(SackBlock { left: Seq::at(x.isn, 100), right: Seq::at(x.isn, right) });
            x.segment(segment).sends(sends);
        }
    });
    run_with("fack", SenderConfig { sack: false, ..config() }, |x| {
        start(x);
        x.ack(0).ack(0).sends("").ack(0).sends("0F").phase(Phase::Recovery);
    });
}
