//! The oracle (own: `recovery/detect/notified.rs`): what it does with its notices, input by input.

use super::*;
use crate::recovery::detect::{Notice, Transmission};

fn notice(n: u64, number: u32, at_once: bool) -> Notice {
    Notice { lost: Transmission { seq: n * MSS, number }, at_once }
}

impl Script {
    /// The network notifies that this transmission of segment `n` is lost, when its ACK would have
    /// come.
    fn lost(&mut self, n: u64, transmission: u32) -> &mut Script {
        self.input(|s, now| s.on_notice(now, notice(n, transmission, false)))
    }

    /// As [`lost`](Self::lost), at the moment of the loss.
    fn lost_now(&mut self, n: u64, transmission: u32) -> &mut Script {
        self.input(|s, now| s.on_notice(now, notice(n, transmission, true)))
    }
}

/// Segments 0 to 9 are out, and 0 to 2 acknowledged: 3 to 15 are outstanding.
fn start(x: &mut Script) -> &mut Script {
    x.write(100_000)
        .sends("0 1 2 3 4 5 6 7 8 9")
        .at(100)
        .ack(3)
        .sends("10 11 12 13")
        .windows(11_000, UNSET)
}

/// The first news begins a recovery, whichever segment it is of, and half of what leaves is
/// replaced, lost or delivered: the first, third, fifth of eleven. Below ssthresh one goes for
/// each.
#[test]
fn half_of_what_leaves_is_replaced() {
    run("oracle", 10, |x| {
        start(x)
            .no_deadline()
            .lost(5, 1)
            .sends("5F")
            .windows(11_000, 5_500)
            .phase(Phase::Recovery)
            .pipe(11);
        x.ack(4).sends("").pipe(10).ack(5).sends("14").pipe(10);
        x.sack(5, &[(6, 7)]).sends("").sack(5, &[(6, 8)]).sends("15");
        x.sack(5, &[(6, 9)]).sends("").sack(5, &[(6, 10)]).sends("16");
        x.sack(5, &[(6, 11)]).sends("").sack(5, &[(6, 12)]).sends("17");
        x.sack(5, &[(6, 13)]).sends("").sack(5, &[(6, 14)]).sends("18").pipe(6);
        x.ack(14)
            .sends("")
            .windows(5_500, 5_500)
            .phase(Phase::Open)
            .no_deadline()
            .ack(15)
            .sends("19");
    });
}

/// What was notified is retransmitted before new data, and in order.
#[test]
fn several_losses() {
    run("oracle", 10, |x| {
        start(x).lost(5, 1).sends("5F").lost(8, 1).sends("").lost(3, 1).sends("3P").pipe(10);
        x.sack(3, &[(4, 5)])
            .sends("")
            .sack(3, &[(4, 5), (6, 7)])
            .sends("8P")
            .windows(9_000, 5_500)
            .pipe(9);
    });
}

/// No duplicate, SACK or time means a loss.
#[test]
fn nothing_is_inferred() {
    run("oracle", 10, |x| {
        start(x).sack(3, &[(4, 13)]).sends("").at(10_000).input(|s, now| s.on_deadline(now));
        x.sends("")
            .windows(11_000, UNSET)
            .phase(Phase::Open)
            .no_deadline()
            .ack(13)
            .sends("14 15 16 17 18 19 20 21 22 23 24");
    });
}

/// News of what is acknowledged, sacked, retransmitted since, or was never sent; and news that
/// nobody asked for.
#[test]
fn news_that_says_nothing() {
    run("oracle", 10, |x| {
        start(x)
            .sack(3, &[(7, 8)])
            .sends("")
            .lost(2, 1)
            .lost(7, 1)
            .lost(14, 1)
            .lost(4, 2)
            .lost_now(4, 1)
            .sends("");
        x.windows(11_000, UNSET).phase(Phase::Open);
        x.lost(4, 1).sends("4F").lost(4, 1).sends("").windows(10_000, 5_500);
    });
    run("sack", 10, |x| {
        start(x)
            .lost(5, 1)
            .lost_now(5, 1)
            .sends("")
            .windows(11_000, UNSET)
            .phase(Phase::Open)
            .pipe(11);
    });
}

/// Everything is lost, the retransmission of the first segment as well: it goes out again whatever
/// the window.
#[test]
fn everything_lost() {
    run("oracle", 4, |x| {
        x.write(4_000).sends("0 1 2 3").at(100);
        x.lost(0, 1)
            .sends("0F")
            .lost(1, 1)
            .sends("")
            .lost(2, 1)
            .sends("1P")
            .lost(3, 1)
            .sends("")
            .pipe(2);
        x.at(200).lost(0, 2).sends("0L").windows(2_000, 2_000).pipe(2).at(300).ack(1).sends("2P");
        x.ack(2).sends("3P").at(400).ack(4).sends("").phase(Phase::Open).classes([0, 0, 0]);
    });
}

/// RFC 5681 section 4.3: ssthresh is "lowered twice" for the loss of a retransmission, and not for
/// each one.
#[test]
fn lost_retransmissions() {
    let lowered = |law: &str, first, twice| {
        run(&format!("oracle{law}"), 10, |x| {
            start(x)
                .lost(5, 1)
                .sends("5F")
                .windows(11_000, first)
                .at(200)
                .lost(5, 2)
                .sends("5L")
                .windows(10_000, twice);
            // Not the first unacknowledged segment, and the window has no room.
            x.at(300).lost(5, 3).sends("").windows(10_000, twice).ack(4).sends("");
        });
    };
    lowered("", 5_500, 2_750);
    // As a timeout would (RFC 9438 section 4.8), and not by half.
    lowered("+cubic", 7_700, 5_390);
}

/// A loss of data above the recovery point is repaired at once, and begins the next recovery when
/// this one ends.
#[test]
fn losses_in_two_windows() {
    run("oracle", 4, |x| {
        x.write(20_000).sends("0 1 2 3").at(100).lost(0, 1).sends("0F").windows(4_000, 2_000);
        x.sack(0, &[(1, 2)])
            .sends("")
            .sack(0, &[(1, 3)])
            .sends("4")
            .sack(0, &[(1, 4)])
            .sends("")
            .pipe(2);
        x.at(200)
            .lost(4, 1)
            .sends("4P")
            .phase(Phase::Recovery)
            .ack(4)
            .sends("5")
            .windows(2_000, 2_000);
        x.phase(Phase::Recovery).at(300).ack(5).sends("6").windows(2_000, 2_000).phase(Phase::Open);
        assert_eq!(x.sender.stats().recoveries, 2);
    });
}

/// A retransmission lost after the end of its recovery begins another one.
#[test]
fn a_retransmission_lost_after_recovery() {
    run("oracle", 4, |x| {
        x.write(6_000).sends("0 1 2 3").at(100).lost(0, 1).sends("0F");
        x.sack(0, &[(1, 2)]).sends("").sack(0, &[(1, 3)]).sends("4").sack(0, &[(1, 4)]).sends("");
        x.at(200)
            .lost(4, 1)
            .sends("4P")
            .ack(4)
            .sends("5")
            .at(300)
            .lost(4, 2)
            .sends("4L")
            .ack(4)
            .sends("");
        x.at(400).sack(4, &[(5, 6)]).sends("").ack(6).sends("").phase(Phase::Open).no_deadline();
    });
}

/// `oracle-drop`: another transmission takes the place of the lost one, and the window learns of it
/// a round trip later.
#[test]
fn notified_at_once() {
    run("oracle-drop", 10, |x| {
        start(x).lost_now(5, 1).sends("5F").windows(11_000, UNSET).phase(Phase::Open).pipe(11);
        x.lost_now(5, 2)
            .sends("5L")
            .windows(11_000, UNSET)
            .pipe(11)
            .ack(4)
            .sends("14 15")
            .windows(12_000, UNSET);
        x.at(200).lost(5, 1).sends("").windows(12_000, 6_000).phase(Phase::Recovery).pipe(12);
        // This one and the next were sent before the window was lowered for the first time.
        x.lost(5, 2).sends("").windows(12_000, 6_000).lost_now(5, 3).sends("5L").pipe(12);
        x.lost_now(5, 4).sends("5L").at(300).lost(5, 3).sends("").windows(12_000, 6_000);
        x.lost(5, 4).sends("").windows(12_000, 3_000).pipe(12);
        // Two retransmissions have taken the places of more than a quarter of those that left.
        x.ack(5)
            .sends("")
            .windows(11_000, 3_000)
            .ack(16)
            .sends("16 17 18")
            .windows(3_000, 3_000)
            .phase(Phase::Open);
    });
}

/// Without SACK it hears of losses only, and has a timer.
#[test]
fn without_sack() {
    run_with("oracle", SenderConfig { sack: false, ..config() }, |x| {
        x.write(100_000)
            .sends("0 1 2 3 4 5 6 7 8 9")
            .deadline(1000)
            .at(100)
            .lost(0, 1)
            .sends("0F")
            .deadline(1000);
    });
}

/// What is notified is not undone: a copy of 0 that the network made, echoed as the original, would
/// leave 1 lost for good.
#[test]
fn nothing_notified_is_spurious() {
    run_with("oracle+eifel", SenderConfig { timestamps: true, ..window(10) }, |x| {
        x.write(10_000)
            .sends("0 1 2 3 4 5 6 7 8 9")
            .at(100)
            .lost(0, 1)
            .sends("0F")
            .lost(1, 1)
            .sends("");
        x.echo = Some(0);
        x.ack(1).sends("1P").phase(Phase::Recovery);
    });
}
