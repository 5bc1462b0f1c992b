//! The duplicate threshold that adapts to reordering.

use super::*;
use crate::recovery::detect::Fack;
use crate::recovery::detect::{Detect, Lost};
use crate::summary::AckSummary;

fn dupthresh(x: &Script) -> u32 {
    x.sender.state().dupthresh
}

fn timestamps(initial_window: u32) -> SenderConfig {
    SenderConfig { timestamps: true, initial_rwnd: 640_000, wscale: 4, ..window(initial_window) }
}

/// The first of 30 segments is late by `late`; the ACK for it echoes `echo`: 0 for its first
/// transmission.
fn late(x: &mut Script, late: u64, echo: u32) {
    x.write(300_000).sends(&numbers(0, 30)).at(100);
    x.echo = Some(0);
    for n in 1..=late {
        x.sack(0, &[(1, n + 1)]).sent.clear();
    }
    x.echo = Some(echo);
    x.ack(late + 1).sent.clear();
}

/// The threshold is one more than the duplicates that the late segment drew, and at least three.
#[test]
fn one_more_than_the_duplicates() {
    for (n, expected) in [(1, 3), (2, 3), (3, 4), (5, 6), (29, 30)] {
        for (composition, adapts) in
            [("sack+dyn-dupthresh", true), ("rate-halving+dyn-dupthresh", true), ("sack", false)]
        {
            run_with(composition, timestamps(30), |x| {
                late(x, n, 0);
                assert_eq!(dupthresh(x), if adapts { expected } else { 3 }, "{composition}: {n}");
            });
        }
    }
    run_with("sack+dyn-dupthresh", timestamps(200), |x| {
        x.write(300_000).sends(&numbers(0, 200)).at(100);
        x.echo = Some(0);
        x.sack(0, &[(1, 150)]).sent.clear();
        x.ack(150).sent.clear();
        assert_eq!(dupthresh(x), 127);
    });
}

/// A segment in part counts as one: 0 is late by three segments, of which the last has 400 bytes.
#[test]
fn a_short_segment_counts() {
    run_with("sack+dyn-dupthresh", timestamps(10), |x| {
        x.echo = Some(0);
        x.write(3_400).sends("0 1 2 3[0..400]").at(100);
        let mut late = x.header(0);
        late.sack.push(SackBlock { left: Seq::at(x.isn, 1_000), right: Seq::at(x.isn, 3_400) });
        x.segment(late).sends("0F").ack_bytes(3_400).sends("");
        assert_eq!(dupthresh(x), 4);
    });
}

/// Of several that were retransmitted the echoed timestamp is that of the lowest (RFC 7323 section
/// 4.3), which came latest.
#[test]
fn the_lowest_that_was_sent_again() {
    run_with("fack+prr-ub+dyn-dupthresh", timestamps(10), |x| {
        x.echo = Some(0);
        x.write(10_000).sends(&numbers(0, 10)).at(100).sack(0, &[(2, 7)]).sends("0F 1P");
        x.ack(7).sends("");
        assert_eq!(dupthresh(x), 7);
    });
}

/// 0 and 2 are lost, and so is the retransmission of 0. That of 2 is SACKed, by an ACK that echoes
/// the last segment in order (RFC 7323 section 4.3): that says nothing of 2.
#[test]
fn a_retransmission_that_is_sacked_is_not_late() {
    for echo in [None, Some(0)] {
        run_with("sack+dyn-dupthresh", timestamps(10), |x| {
            x.echo = echo;
            x.write(10_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 2), (3, 10)]).sent.clear();
            x.at(200).sack(0, &[(1, 10)]);
            assert_eq!(dupthresh(x), 3);
        });
    }
}

/// A smaller extent later leaves it, a timeout sets it back.
#[test]
fn it_grows_until_a_timeout() {
    run_with("sack+dyn-dupthresh", timestamps(30), |x| {
        late(x, 5, 0);
        x.ack(30).sends(&numbers(30, 45)).sack(30, &[(31, 34)]).ack(34).sent.clear();
        assert_eq!(dupthresh(x), 6);
        x.fire(1100).sends("34T").ack(35).sent.clear();
        assert_eq!(dupthresh(x), 3);
    });
}

/// Reordering of the same extent begins no recovery again; one duplicate more does.
#[test]
fn the_same_reordering_again() {
    for (composition, enough) in [
        ("sack+dyn-dupthresh", 6),
        ("rfc3517+dyn-dupthresh", 6),
        ("sack-ff96+dyn-dupthresh", 6),
        ("fack+dyn-dupthresh", 6),
        ("sack", 3),
    ] {
        run_with(composition, timestamps(30), |x| {
            late(x, 5, 0);
            x.ack(30).sends(&numbers(30, 45)).phase(Phase::Open);
            for n in 1..=enough {
                assert_eq!(x.sender.state().phase, Phase::Open, "{composition}: {n}");
                x.sack(30, &[(31, 31 + n)]).sent.clear();
            }
            assert_eq!(x.sender.state().phase, Phase::Recovery, "{composition}");
        });
    }
}

/// What was not retransmitted needs no timestamp: 4 and 5 are marked lost when 8 is SACKed, and
/// come after it.
#[test]
fn a_segment_that_was_not_sent_again() {
    run_with("sack+dyn-dupthresh", timestamps(30), |x| {
        x.write(300_000).sends(&numbers(0, 30)).sack(0, &[(1, 4)]).sends("0F");
        x.sack(0, &[(6, 9), (1, 4)]).sends("").pipe(22);
        assert_eq!(dupthresh(x), 3);
        x.sack(0, &[(5, 9), (1, 4)]).sends("").pipe(22);
        assert_eq!(dupthresh(x), 4);
        x.sack(0, &[(1, 9)]).sends("").pipe(22);
        assert_eq!(dupthresh(x), 5);
    });
}

/// "The loss detection falls back to use conventional dupthresh": neither threshold retransmission
/// nor every hole at once.
#[test]
fn fack_falls_back() {
    run_with("fack+dyn-dupthresh", timestamps(30), |x| {
        late(x, 3, 0);
        x.ack(30).sends(&numbers(30, 45)).windows(15_000, 15_000);
        // Four are SACKed by the third duplicate, but RFC 3517 asks for as many duplicates.
        x.sack(30, &[(34, 35)])
            .sends("")
            .sack(30, &[(34, 37)])
            .sends("")
            .sack(30, &[(34, 38)])
            .sends("");
        x.sack(30, &[(34, 39)]).sends("30F").sack(30, &[(43, 44), (34, 39)]).sent.clear();
        let lost = x.sender.state().board.iter().filter(|r| r.lost).count();
        assert_eq!(lost, 4);
        // For good, whatever the threshold is later.
        let (mut fack, s) = (Fack::every_hole(), x.sender.state());
        let sacked = AckSummary { newly_sacked: 1_000, ..AckSummary::default() };
        assert_eq!(fack.on_ack(&State { dupthresh: 3, ..s.clone() }, &sacked), Lost::Below(44_000));
        assert_eq!(fack.on_ack(&State { dupthresh: 4, ..s.clone() }, &sacked), Lost::Below(36_000));
        assert_eq!(fack.on_ack(&State { dupthresh: 3, ..s.clone() }, &sacked), Lost::Below(37_000));
    });
}

/// A loss is no reordering, with and without timestamps, nor is what one ACK tells at once after
/// others were lost.
#[test]
fn must_not_act() {
    for config in [timestamps(30), window(30)] {
        run_with("sack+dyn-dupthresh", config, |x| {
            late(x, 5, 100);
            assert_eq!(dupthresh(x), 3);
        });
    }
    // 0 and 3 are lost, and so are the ACKs for 1 and 2.
    run_with("sack+dyn-dupthresh", timestamps(30), |x| {
        x.write(300_000).sends(&numbers(0, 30)).sack(0, &[(4, 6), (1, 3)]).sends("0F");
        assert_eq!(dupthresh(x), 3);
    });
}
