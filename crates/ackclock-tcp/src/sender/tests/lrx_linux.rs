//! Lost retransmissions by SACK of later data, for every hole: Dukkipati et al. 2011 section 3.2.

use super::*;
use crate::recovery::retransmission::LrxLinux;
use crate::recovery::retransmission::{DetectRetransmission, Tick};
use crate::summary::AckSummary;

const LINUX: &str = "sack+lost-first+lrx-linux+response-1";

/// 0 and 1 of 10 are lost; 10 to 12 go out after their retransmissions.
fn two_holes(composition: &str, script: impl Fn(&mut Script)) {
    run(composition, 10, |x| {
        x.write(60_000).sends(&numbers(0, 10));
        x.sack(0, &[(2, 5)]).sends("0F").windows(5_000, 5_000).pipe(6);
        x.sack(0, &[(2, 6)])
            .sends("")
            .sack(0, &[(2, 7)])
            .sends("1P")
            .sack(0, &[(2, 8)])
            .sends("10");
        // Up to what had been sent before them, and not beyond.
        x.sack(0, &[(2, 9)]).sends("11").sack(0, &[(2, 10)]).sends("12").pipe(5);
        script(x);
    });
}

/// "If any new data sent after a retransmission is later SACKed": 10 was sent after both.
#[test]
fn every_retransmission_is_found_lost() {
    two_holes(LINUX, |x| {
        // In the pipe are 11 and 12, and after that three more.
        x.sack(0, &[(2, 11)]).sends("0L 1L 13").windows(5_000, 5_000).pipe(5);
        x.sack(0, &[(2, 12)]).sends("14").sack(0, &[(2, 13)]).sends("15").pipe(5);
        // 13 went out in the same instant as the third transmissions, but after them.
        x.sack(0, &[(2, 14)]).sends("0L 1L 16").pipe(5);
        x.ack(15).sends("17 18 19").phase(Phase::Open);
        assert_eq!(x.sender.stats().timeouts, 0);
    });
    // The head only, and no lost one at all.
    two_holes("sack+lost-first+lrx-sack+response-1", |x| {
        x.sack(0, &[(2, 11)]).sends("0L 13").pipe(5);
    });
    two_holes("sack+lost-first", |x| {
        x.sack(0, &[(2, 11)]).sends("13").pipe(5);
    });
    // The response is another axis: RFC 5681 section 4.3.
    two_holes("sack+lost-first+lrx-linux", |x| {
        x.sack(0, &[(2, 11)]).sends("0L").windows(2_500, 2_500).pipe(3);
    });
}

/// A hole above the head: the retransmission of 0 arrives, that of 1 is lost.
#[test]
fn a_hole_that_is_not_the_head() {
    run(LINUX, 10, |x| {
        x.write(60_000).sends(&numbers(0, 10));
        // 0, 1 and 3 are lost.
        x.sack(0, &[(4, 7), (2, 3)]).sends("0F 1P").sack(0, &[(4, 8), (2, 3)]).sends("3P");
        x.sack(0, &[(4, 9), (2, 3)]).sends("10").sack(0, &[(4, 10), (2, 3)]).sends("11").pipe(5);
        // The retransmission of 3 arrives, which is no new data, then that of 0.
        x.sack(0, &[(2, 10)]).sends("12").pipe(5).ack(1).sends("13").pipe(5);
        x.sack(1, &[(2, 11)]).sends("1L 14").pipe(5).windows(5_000, 5_000);
    });
}

/// Each retransmission is compared with what had been sent before it: 10 and 11 before that of 8,
/// 12 after it.
#[test]
fn each_with_what_was_sent_before_it() {
    run(LINUX, 10, |x| {
        x.write(60_000).sends(&numbers(0, 10));
        x.sack(0, &[(1, 4)]).sends("0F").sack(0, &[(1, 5)]).sends("").sack(0, &[(1, 6)]).sends("");
        x.sack(0, &[(1, 7)])
            .sends("10")
            .sack(0, &[(1, 8)])
            .sends("11")
            .sack(0, &[(9, 10), (1, 8)])
            .sends("12");
        // 10 and 11 arrive: 8 is lost by three.
        x.sack(0, &[(9, 11), (1, 8)]).sends("0L 13");
        x.sack(0, &[(9, 12), (1, 8)]).sends("8P 14").ack(8).sends("15").pipe(5);
        // 12 and 13 went out before 8P, 14 after it.
        x.sack(8, &[(9, 13)])
            .sends("16")
            .sack(8, &[(9, 14)])
            .sends("17")
            .sack(8, &[(9, 15)])
            .sends("8L 18")
            .pipe(5);
    });
}

/// No loss of a retransmission: originals out of order, a lost ACK, and nothing sent after the
/// retransmission.
#[test]
fn must_not_act() {
    run(LINUX, 10, |x| {
        x.write(60_000).sends(&numbers(0, 10));
        // 1 and 2 arrive after 3, 4 and 5.
        x.sack(0, &[(3, 4)]).sack(0, &[(3, 5)]).sends("").sack(0, &[(3, 6)]).sends("0F");
        x.sack(0, &[(1, 2), (3, 6)])
            .sends("")
            .sack(0, &[(1, 6)])
            .sends("")
            .sack(0, &[(1, 7)])
            .sends("10");
        x.sack(0, &[(1, 10)])
            .sends("11 12 13")
            .ack(10)
            .sends("14")
            .windows(5_000, 5_000)
            .phase(Phase::Open);
        assert_eq!(x.sender.stats().retransmissions, 1);
    });
    // The ACK for the retransmissions is lost, and the next one is cumulative.
    two_holes(LINUX, |x| {
        x.ack(11).sends("13 14 15").windows(5_000, 5_000).phase(Phase::Open);
    });
    run(LINUX, 10, |x| {
        x.write(10_000)
            .sends(&numbers(0, 10))
            .sack(0, &[(2, 5)])
            .sends("0F")
            .sack(0, &[(2, 10)])
            .sends("1P");
        x.fire(1000).sends("0T");
    });
}

/// "If any reordering is detected then FACK and some of the related algorithms are disabled", for
/// good.
#[test]
fn off_after_reordering() {
    two_holes(LINUX, |x| {
        let s = x.sender.state();
        let sacked = AckSummary { newly_sacked: 1_000, ..AckSummary::default() };
        let mut lrx = LrxLinux::default();
        assert_eq!(lrx.on_ack(s, &sacked), Tick::LostBefore(10_000));
        assert_eq!(lrx.on_ack(s, &AckSummary::default()), Tick::Nothing);
        assert_eq!(lrx.on_ack(&State { dupthresh: 4, ..s.clone() }, &sacked), Tick::Nothing);
        assert_eq!(lrx.on_ack(s, &sacked), Tick::Nothing);
    });
}
