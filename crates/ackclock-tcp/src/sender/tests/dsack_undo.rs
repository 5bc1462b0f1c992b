//! Undo by D-SACK (RFC 3708).

use super::*;
use crate::recovery::undo::DsackUndo;
use crate::recovery::undo::{Undo, Verdict};
use crate::summary::AckSummary;

fn ten(composition: &str, script: impl Fn(&mut Script)) {
    run(composition, 10, |x| {
        x.write(40_000).sends("0 1 2 3 4 5 6 7 8 9").at(100);
        script(x);
    });
}

/// Step B.1: 0 was late by three; its D-SACK comes a round trip after the recovery.
#[test]
fn a_spurious_recovery_is_undone() {
    for (composition, sends, windows) in
        [("sack+dsack-undo", "15 16 17 18 19", (10_000, UNSET)), ("sack", "", (5_000, 5_000))]
    {
        ten(composition, |x| {
            x.sack(0, &[(1, 4)]).sends("0F").windows(5_000, 5_000).ack(10).sends("10 11 12 13 14");
            x.at(200)
                .sack(10, &[(0, 1)])
                .sends(sends)
                .windows(windows.0, windows.1)
                .phase(Phase::Open);
        });
    }
    // It has SACK negotiated where nothing else makes use of it.
    ten("newreno+dsack-undo", |x| {
        x.sack(0, &[(1, 2)])
            .sack(0, &[(1, 3)])
            .sack(0, &[(1, 4)])
            .sends("0F")
            .windows(8_000, 5_000);
        x.ack(10).sends("10 11").windows(2_000, 5_000);
        x.at(200).sack(10, &[(0, 1)]).sends("12 13 14 15 16 17 18 19").windows(10_000, UNSET);
    });
}

/// Step B.2: two segments were retransmitted, and one of them was lost, or is not reported yet.
#[test]
fn every_retransmission_has_to_be_reported() {
    ten("sack+dsack-undo", |x| {
        x.sack(0, &[(2, 7)]).sends("0F 1P").ack(10).sends("10 11 12 13 14");
        x.at(200).sack(10, &[(0, 1)]).sends("").windows(5_000, 5_000);
        x.sack(10, &[(1, 2)]).sends("15 16 17 18 19").windows(10_000, UNSET);
    });
    // Half of a segment is not the segment.
    ten("sack+dsack-undo", |x| {
        x.sack(0, &[(1, 4)]).sends("0F").ack(10).sends("10 11 12 13 14").at(200);
        let mut half = x.header(10);
        half.sack.push(SackBlock { left: Seq::at(x.isn, 0), right: Seq::at(x.isn, 999) });
        x.segment(half).sends("").windows(5_000, 5_000);
    });
}

/// Step A.1: all ACKs of a window are lost, the timeout is genuine for the path back. Not so if
/// there is SACK information.
#[test]
fn the_loss_of_all_acks_is_not_undone() {
    ten("sack+dsack-undo", |x| {
        x.fire(1000).sends("0T").at(1100).sack(10, &[(0, 1)]).sends("10 11").windows(2_000, 5_000);
        x.sack(10, &[(0, 1)]).sends("").windows(2_000, 5_000);
    });
    ten("sack+dsack-undo", |x| {
        x.fire(1000)
            .sends("0T")
            .at(1100)
            .sack(8, &[(0, 1), (9, 10)])
            .sends("10 11 12 13 14 15 16 17 18")
            .windows(11_000, UNSET);
    });
    ten("sack+dsack-undo", |x| {
        x.fire(1000).sends("0T").at(1100).ack(1).sends("1S 2S").windows(2_000, 5_000);
        x.sack(10, &[(0, 1)]).sends("10 11 12").windows(3_000, 5_000);
        x.sack(10, &[(1, 2)])
            .sends("")
            .sack(10, &[(2, 3)])
            .sends("13 14 15 16 17 18 19")
            .windows(10_000, UNSET);
    });
}

/// Step A.3: what was retransmitted twice proves nothing for this window, whatever else is
/// reported.
#[test]
fn sent_again_twice() {
    ten("sack+dsack-undo", |x| {
        x.fire(1000).sends("0T").fire(3000).sends("0T").at(3100).ack(9).sends("9S 10");
        x.sack(10, &[(0, 1)]).sends("11 12").sack(10, &[(9, 10)]).sends("").windows(3_000, 5_000);
    });
}

/// Step A.4: the network duplicates segments, so that D-SACK means nothing on this connection.
#[test]
fn duplication_by_the_network_ends_it() {
    ten("sack+dsack-undo", |x| {
        x.ack(2).sends("10 11 12").sack(2, &[(0, 1)]).sends("").windows(11_000, UNSET);
        x.sack(2, &[(3, 6)]).sends("2F").ack(13).sends("13 14 15 16 17");
        x.at(200).sack(13, &[(2, 3)]).sends("").windows(5_500, 5_500);
    });
}

/// A D-SACK of an earlier recovery is neither a sign of duplication nor one for the recovery at
/// hand.
#[test]
fn each_recovery_is_judged_by_its_own() {
    ten("sack+dsack-undo", |x| {
        x.sack(0, &[(1, 4)]).sends("0F").ack(10).sends("10 11 12 13 14").at(200);
        x.sack(10, &[(11, 14)])
            .sends("10F")
            .windows(2_500, 2_500)
            .sack(10, &[(0, 1), (11, 14)])
            .sends("");
        x.windows(2_500, 2_500).ack(15).sends("15 16");
        x.at(300).sack(15, &[(10, 11)]).sends("17 18 19").windows(5_000, 5_000);
    });
}

/// What no composition of today brings about: tail probes, and a timeout within a recovery for a
/// segment not retransmitted before.
#[test]
fn what_belongs_to_a_window() {
    let state = |phase, segment: u64| {
        let s = Sender::new(config(), Registry::default().parse("sack").unwrap().build()).s;
        State { phase, snd_una: segment * MSS, snd_max: (segment + 10) * MSS, ..s }
    };
    let dsack = |segment: u64| AckSummary {
        prior_una: 90 * MSS,
        dsack: Some((segment * MSS, (segment + 1) * MSS)),
        ..AckSummary::default()
    };
    let len = MSS as u32;
    let (open, recovery) = (state(Phase::Open, 0), state(Phase::Recovery, 0));

    // A probe of what is outstanding when the recovery begins counts.
    let mut undo = DsackUndo::default();
    undo.on_retransmit(&open, 9 * MSS, len);
    undo.on_response(&open, false);
    undo.on_retransmit(&recovery, 0, len);
    assert_eq!(undo.on_ack(&recovery, &dsack(0)), Verdict::Open);
    assert_eq!(undo.on_ack(&recovery, &dsack(9)), Verdict::Spurious);

    // So does what was retransmitted before a timeout within the recovery.
    let mut undo = DsackUndo::default();
    undo.on_response(&open, false);
    undo.on_retransmit(&recovery, 0, len);
    let partial = state(Phase::Recovery, 1);
    undo.on_response(&partial, true);
    undo.on_retransmit(&partial, MSS, len);
    assert_eq!(undo.on_ack(&partial, &dsack(1)), Verdict::Open);
    assert_eq!(undo.on_ack(&partial, &dsack(0)), Verdict::Spurious);

    // What ends where the next window begins belongs to the one before.
    let mut undo = DsackUndo::default();
    undo.on_response(&open, false);
    undo.on_retransmit(&recovery, 9 * MSS, len);
    undo.on_response(&state(Phase::Open, 10), false);
    undo.on_retransmit(&state(Phase::Recovery, 10), 10 * MSS, len);
    assert_eq!(undo.on_ack(&state(Phase::Recovery, 10), &dsack(10)), Verdict::Spurious);

    // Step A.4: the D-SACK of the segment before a retransmitted one is not of that.
    let mut undo = DsackUndo::default();
    undo.on_response(&open, false);
    undo.on_retransmit(&recovery, 5 * MSS, len);
    assert_eq!(undo.on_ack(&recovery, &dsack(4)), Verdict::Open);
    assert_eq!(undo.on_ack(&recovery, &dsack(5)), Verdict::Open);

    // A probe within a window of the recovery belongs to it; a later one does not, and the recovery
    // stands.
    for (segment, after) in [(10, Verdict::Spurious), (11, Verdict::Open)] {
        let mut undo = DsackUndo::default();
        undo.on_response(&open, false);
        undo.on_retransmit(&recovery, 0, len);
        undo.on_retransmit(&state(Phase::Open, segment), (segment + 9) * MSS, len);
        assert_eq!(undo.on_ack(&open, &dsack(0)), Verdict::Open);
        assert_eq!(undo.on_ack(&open, &dsack(segment + 9)), after);
    }
}
