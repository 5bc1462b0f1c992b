//! A slow start that goes on through a few losses: draft-ietf-ccwg-bbr-06, Exiting Startup Based on
//! Packet Loss.

use super::ecn::capable;
use super::*;

/// This many segments are outstanding, the first `lost` of which are lost.
fn lose(x: &mut Script, outstanding: u64, lost: u64) {
    x.write(1_000_000);
    assert_eq!(x.sender.state().flight(), outstanding * MSS);
    x.sent.clear();
    x.at(100).sack(0, &[(lost, lost + 1)]).sack(0, &[(lost, lost + 2)]).sends("");
    x.sack(0, &[(lost, lost + 3)]);
    x.sent.clear();
}

/// Of ten segments the first is lost. cwnd stays at ten: seven are in the pipe, and three new ones
/// go. The ACK that ends the recovery leaves ten; from the next one on slow start goes on.
#[test]
fn a_loss_leaves_the_window() {
    run("sack+tolerant-start", 10, |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100);
        x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("").sack(0, &[(1, 4)]);
        x.sends("0F 10 11 12").windows(10_000, 10_000).phase(Phase::Recovery);
        x.at(200).ack(10).sends(&numbers(13, 20)).windows(10_000, 10_000).phase(Phase::Open);
        x.ack(11).sends("20 21").windows(11_000, UNSET);
    });
    run("sack", 10, |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100);
        x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("").sack(0, &[(1, 4)]);
        x.sends("0F").windows(5_000, 5_000);
        x.at(200).ack(10).sends("10 11 12 13 14").windows(5_000, 5_000);
    });
}

/// Six losses are too many: half of the flight stays.
#[test]
fn six_losses_are_too_many() {
    for (lost, ssthresh) in [(5, 20_000), (6, 10_000)] {
        run("sack+tolerant-start", 20, |x| {
            lose(x, 20, lost);
            x.windows(ssthresh, ssthresh);
        });
    }
}

/// But not if they are 2 % or less: 6 * 50 = 300.
#[test]
fn two_percent_are_not_too_many() {
    for (outstanding, ssthresh) in [(299, 149_500), (300, 300_000)] {
        let config =
            SenderConfig { wscale: 4, initial_rwnd: 900_000, ..window(outstanding as u32) };
        run_with("sack+tolerant-start", config, |x| {
            lose(x, outstanding, 6);
            x.windows(ssthresh, ssthresh);
        });
    }
}

/// The sixth turns out to be lost within the recovery: the next ACK halves what the recovery held,
/// 20 segments, and PRR lowers cwnd from there on. RFC 6675 leaves cwnd alone until the recovery is
/// over; the ACK after that lowers it.
#[test]
fn the_sixth_loss_may_come_later() {
    run("sack+tolerant-start", 20, |x| {
        lose(x, 20, 5);
        x.windows(20_000, 20_000).sack(0, &[(5, 8), (9, 12)]).windows(20_000, 20_000);
        x.sent.clear();
        x.sack(0, &[(5, 8), (9, 13)]).windows(20_000, 10_000);
        x.sent.clear();
        let end = x.sender.state().recover / MSS;
        x.at(200).ack(end).windows(20_000, 10_000).phase(Phase::Open);
        x.sent.clear();
        x.ack(end + 1).sends("").windows(10_000, 10_000);
        x.ack(end + 2).sends("").windows(10_100, 10_000);
    });
    run("prr+tolerant-start", 20, |x| {
        lose(x, 20, 5);
        x.sack(0, &[(5, 8), (9, 12)]);
        x.sent.clear();
        x.sack(0, &[(5, 8), (9, 13)]);
        x.sent.clear();
        let end = x.sender.state().recover / MSS;
        x.at(200).ack(end).windows(10_000, 10_000).phase(Phase::Open);
        x.sent.clear();
    });
}

/// A loss that a tail loss probe repaired is one, too.
#[test]
fn what_a_probe_repaired_leaves_the_window() {
    let config = SenderConfig { handshake_rtt: Some(Span::from_millis(50)), ..window(10) };
    for (composition, cwnd, ssthresh) in
        [("linux", 7_000, 7_000), ("linux+tolerant-start", 10_000, UNSET)]
    {
        run_with(composition, config.clone(), |x| {
            x.write(2_000).sends("0 1").at(50).ack(1).sends("").fire(304).sends("1+");
            x.at(310).write(1_000).sends("2").at(350).ack(3).sends("").windows(cwnd, ssthresh);
        });
    }
}

/// Once slow start is over, a loss halves.
#[test]
fn only_the_first_slow_start_is_so() {
    let config = SenderConfig { initial_ssthresh: Some(40_000), ..window(10) };
    run_with("sack+tolerant-start", config, |x| {
        lose(x, 10, 1);
        x.windows(5_000, 5_000);
    });
    // A timeout ends it, whether a recovery was going on or not. Eight are outstanding that no
    // SACK reports.
    run("sack+tolerant-start", 10, |x| {
        x.write(60_000).sends(&numbers(0, 10)).fire(1000).sends("0T").windows(1_000, 5_000);
    });
    run("sack+tolerant-start", 10, |x| {
        lose(x, 10, 1);
        x.fire(1000).sends("0T");
        assert_eq!(x.sender.state().ssthresh, 5_000);
        x.at(1100).ack(13).phase(Phase::Open);
        x.sent.clear();
        x.ack(14);
        x.sent.clear();
        assert_eq!(x.sender.state().ssthresh, 5_000);
    });
}

/// A mark halves, and slow start does not go on after it.
#[test]
fn a_mark_halves() {
    run_with("sack+tolerant-start", SenderConfig { ecn: true, ..window(10) }, |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).echoes(1).sends("").windows(5_000, 5_000);
    });
    run_with("sack+tolerant-start", SenderConfig { ecn: true, ..window(10) }, |x| {
        lose(x, 10, 1);
        x.windows(10_000, 10_000).at(200).ack(10).phase(Phase::Open);
        x.sent.clear();
        x.echoes(11);
        x.sent.clear();
        x.ack(12);
        x.sent.clear();
        assert_ne!(x.sender.state().ssthresh, UNSET);
    });
}

/// An undo restores what was before.
#[test]
fn an_undo_ends_it() {
    run("linux+tolerant-start", 10, |x| {
        x.write(60_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 2)]).sends("10+");
        x.sack(0, &[(1, 3)]).sends("11+").sack(0, &[(1, 4)]).sends("0F");
        // 0 was late, and its retransmission is reported as a duplicate.
        x.at(110).sack(12, &[(0, 1)]).phase(Phase::Open);
        x.sent.clear();
        assert_eq!(x.sender.state().ssthresh, UNSET);
        // The next loss leaves the window as well.
        let cwnd = x.sender.state().cwnd;
        x.at(200).sack(12, &[(13, 16)]).phase(Phase::Recovery);
        x.sent.clear();
        assert_eq!(x.sender.state().ssthresh, cwnd);
    });
}

/// BBR answers as without it.
#[test]
fn a_law_by_rate_answers_as_without_it() {
    for law in ["bbr", "bbr3"] {
        let seen = |composition: &str| {
            let cwnd = core::cell::Cell::new(0);
            run(composition, 10, |x| {
                x.write(60_000);
                x.sent.clear();
                x.at(100).sack(0, &[(1, 4)]);
                x.sent.clear();
                x.at(200).ack(10);
                x.sent.clear();
                assert_eq!(x.sender.stats().recoveries, 1);
                cwnd.set(x.sender.state().cwnd);
            });
            cwnd.get()
        };
        assert_eq!(seen(&format!("{law}+tolerant-start")), seen(law));
    }
}
