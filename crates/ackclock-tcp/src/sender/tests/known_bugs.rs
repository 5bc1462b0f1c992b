//! The bugs that other implementations of loss recovery are known for, most of them fixed in ns-3
//! after years: each test bears the name of its bug, and fails where it is made.
//!
//! | bug | test |
//! | --- | --- |
//! | RecoverFS from the pipe | `recover_fs_from_pipe` |
//! | delivered data counted twice with SACK | `delivered_data_counted_twice` |
//! | a lost retransmission never found | `a_lost_retransmission_is_never_found` |
//! | the pipe leaking when a retransmission is SACKed | `pipe_leaks_on_a_sacked_retransmission` |
//! | 32-bit overflow in `prr_delivered * ssthresh` | `overflow_of_prr_delivered_times_ssthresh` |
//! | the last hole marked lost wrongly | `the_last_hole_is_marked_lost` |
//! | NewReno leaving recovery with a window of one segment | `newreno_leaves_recovery_with_a_window_of_one_segment` |
//! | a partial ACK retransmitting twice | `a_partial_ack_retransmits_twice` |
//! | go-back-N where only the head is due | `go_back_n_where_only_the_head_is_due` |
//! | an undo that forgets ssthresh | `undo_that_forgets_ssthresh` |

use super::path::Path;
use super::*;

/// RecoverFS: 4 of 20 are lost, so that the pipe is 15 as recovery begins, and 2 * 10/15 would
/// release a segment on the second ACK and on two of three after that.
#[test]
fn recover_fs_from_pipe() {
    run_with("fack+prr-crb", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20));
        x.sack(0, &[(4, 5)]).sends("0F").pipe(16);
        x.sack(0, &[(4, 6)]).sends("").sack(0, &[(4, 7)]).sends("1P").sack(0, &[(4, 8)]).sends("");
        x.sack(0, &[(4, 9)])
            .sends("2P")
            .sack(0, &[(4, 10)])
            .sends("")
            .sack(0, &[(4, 11)])
            .sends("3P");
    });
    // RFC 9937: 20 and not 15; ceil(2000 * 10/20) - 1000 = 0, where 15 would give 334.
    run_with("prr+fack", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20));
        x.sack(0, &[(4, 5)])
            .sends("0F")
            .windows(16_000, 10_000)
            .sack(0, &[(4, 6)])
            .sends("")
            .windows(15_000, 10_000);
        x.sack(0, &[(4, 7)]).sends("").windows(14_500, 10_000);
    });
}

/// A cumulative ACK over SACKed data delivers only what was missing.
#[test]
fn delivered_data_counted_twice() {
    run_with("fack+prr-crb", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20));
        // 0, 8 and 12 are lost. Delivered 7, sent 1 + 3.
        x.sack(0, &[(1, 8)]).sends("0F 20 21 22").pipe(16);
        // 8 delivered: ceil(4) - 4; in the pipe 16 less 8 and 9.
        x.sack(0, &[(9, 10), (1, 8)]).sends("").windows(14_000, 10_000);
        // 0 arrives, and acknowledges 7 SACKed segments with it: 9 delivered, ceil(4.5) - 4 = 1.
        // Counted twice it were 4.
        x.sack(8, &[(9, 10)]).sends("8P").windows(14_000, 10_000);
        x.sack(8, &[(9, 11)]).sends("").windows(13_000, 10_000);
    });
}

/// The retransmission of segment 0 is lost as well. Found, it goes out a third time, and no timer
/// expires.
#[test]
fn a_lost_retransmission_is_never_found() {
    for (composition, timeouts) in [
        ("newreno-lrx-1", 0),
        ("newreno+lrxt", 0),
        ("sack-lrx", 0),
        ("rack-tlp", 0),
        ("linux", 0),
        ("linux-2.6", 0),
        ("newreno", 1),
        ("sack", 1),
        ("rate-halving", 1),
    ] {
        run(composition, 10, |x| {
            x.write(60_000).sends(&numbers(0, 10));
            let mut path = Path::new(x, &[(0, 1), (0, 2)]);
            while path.in_network() > 0 {
                path.step();
            }
            // What is written has arrived, or nothing moves before the timer expires.
            let arrived = x.sender.is_idle();
            assert_eq!(arrived, timeouts == 0, "{composition}");
            if !arrived {
                x.fire(1000).sends("0T");
            }
            let stats = x.sender.stats();
            assert_eq!((stats.timeouts, stats.retransmissions), (timeouts, 2), "{composition}");
        });
    }
}

/// Every way for a retransmitted segment to leave the pipe takes it out once, so that cwnd = pipe +
/// sndcnt stays exact.
#[test]
fn pipe_leaks_on_a_sacked_retransmission() {
    run_with("fack+prr-ssrb", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20));
        x.sack(0, &[(10, 11)]).sends("0F").windows(10_000, 10_000).pipe(10);
        x.sack(0, &[(10, 12)]).sends("1P").windows(10_000, 10_000).pipe(10);
        // The retransmission of 1 overtakes that of 0.
        x.sack(0, &[(1, 2), (10, 12)]).sends("2P").windows(10_000, 10_000).pipe(10);
        x.sack(0, &[(1, 2), (10, 12)]).sends("").pipe(10);
        x.sack(2, &[(10, 12)]).sends("3P").windows(10_000, 10_000).pipe(10);
    });
    run("sack", 10, |x| {
        x.write(30_000).sends(&numbers(0, 10));
        x.sack(0, &[(2, 6)]).sends("0F").pipe(5);
        x.sack(0, &[(2, 7)]).sends("1P").pipe(5);
        // The retransmission of 1 arrives, then the ACK for it again, then both cumulatively.
        x.sack(0, &[(1, 7)]).sends("10").pipe(5);
        x.sack(0, &[(1, 7)]).sends("").pipe(5);
        x.ack(7).sends("11").pipe(5);
    });
}

/// 60 segments delivered * ssthresh of 100 = 6 * 10^9 > 2^32.
#[test]
fn overflow_of_prr_delivered_times_ssthresh() {
    let config =
        SenderConfig { initial_window: Some(200), initial_rwnd: 640_000, wscale: 4, ..config() };
    for composition in ["fack+prr-ssrb", "prr"] {
        run_with(composition, config.clone(), |x| {
            x.write(1_000_000).sends(&numbers(0, 200));
            // ceil(60 * 100 / 200) = 30, the retransmission among them.
            x.sack(0, &[(1, 61)])
                .sends(&format!("0F {}", numbers(200, 229)))
                .windows(139_000 + 30_000, 100_000);
        });
    }
}

/// A hole with less than dupthresh segments SACKed above it is not lost, although it is the last
/// one, and others below it are: 0, 4 and 8 of 10. Nor is it retransmitted while there is new data,
/// which comes before rule 3 of NextSeg.
#[test]
fn the_last_hole_is_marked_lost() {
    for composition in ["sack", "rfc3517", "prr", "fack+fack-linux"] {
        run(composition, 10, |x| {
            x.write(60_000).sends(&numbers(0, 10));
            x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("").sack(0, &[(1, 4)]).sends("0F");
            x.sack(0, &[(5, 8), (1, 4)]).sent.clear();
            x.sack(0, &[(9, 10), (5, 8), (1, 4)]).sent.clear();
            let board = |x: &Script| [0, 4, 8].map(|n| x.sender.state().board.get(n).unwrap().lost);
            assert_eq!(board(x), [true, true, false], "{composition}");
            assert_eq!(x.sender.state().board.get(8).unwrap().transmissions, 1, "{composition}");
            // Two above it, and three.
            x.sack(0, &[(9, 11), (5, 8), (1, 4)]).sent.clear();
            assert_eq!(board(x), [true, true, false], "{composition}");
            x.sack(0, &[(9, 12), (5, 8), (1, 4)]).sent.clear();
            assert_eq!(board(x), [true, true, true], "{composition}");
        });
    }
}

/// RFC 6582 section 3.2 step 3: `min(ssthresh, max(FlightSize, SMSS) + SMSS)`. Without the larger
/// of the two a full ACK of everything leaves a window of one segment, whose ACK a receiver delays.
#[test]
fn newreno_leaves_recovery_with_a_window_of_one_segment() {
    // Full segments beyond the first ten, and bytes after them.
    for (segments, bytes, cwnd) in
        [(0, 0, 2_000), (0, 400, 2_000), (1, 0, 2_000), (2, 0, 3_000), (4, 0, 5_000)]
    {
        run("newreno", 10, |x| {
            x.write(10_000)
                .sends(&numbers(0, 10))
                .ack(0)
                .ack(0)
                .ack(0)
                .sends("0F")
                .windows(8_000, 5_000);
            x.write(segments * MSS + bytes).close_now();
            for _ in 0..6 {
                x.ack(0).sent.clear();
            }
            assert_eq!(x.sender.state().flight(), (10 + segments) * MSS + bytes);
            x.ack(10).sends("").windows(cwnd, 5_000).phase(Phase::Open);
        });
    }
}

/// A partial ACK up to a hole that was retransmitted already: that retransmission is on its way. 2
/// and 4 to 7 of 20 are lost, as in ns-3's issue 69; each is retransmitted once.
#[test]
fn a_partial_ack_retransmits_twice() {
    let lost = [2, 4, 5, 6, 7].map(|n| (n, 1));
    for composition in [
        "newreno",
        "sack",
        "sack-ff96",
        "rfc3517",
        "fack",
        "prr",
        "rate-halving",
        "rack-tlp",
        "linux",
        "linux-2.6",
    ] {
        run_with(composition, window(10), |x| {
            x.write(20_000).sends(&numbers(0, 10));
            let mut path = Path::new(x, &lost);
            while path.in_network() > 0 {
                path.step();
            }
            assert!(x.sender.is_idle(), "{composition}");
            assert_eq!(x.sender.stats().retransmissions, 5, "{composition}");
        });
    }
    // Duplicates after a partial ACK send nothing again either.
    run("newreno", 10, |x| {
        x.write(60_000).sends(&numbers(0, 10)).ack(0).ack(0).ack(0).sends("0F");
        x.ack(3).sends("3P");
        for _ in 0..4 {
            x.ack(3).sent.clear();
        }
        assert_eq!(x.sender.stats().retransmissions, 2);
    });
}

/// After a timeout only the first segment is due, and not everything behind it: nothing was lost.
#[test]
fn go_back_n_where_only_the_head_is_due() {
    for (composition, retransmissions) in [("newreno+f-rto", 1), ("sack+f-rto", 1), ("newreno", 10)]
    {
        run(composition, 10, |x| {
            x.write(40_000).sends(&numbers(0, 10)).fire(1000).sends("0T").at(1100);
            for n in 1..=10 {
                x.ack(n).sent.clear();
            }
            assert_eq!(x.sender.stats().retransmissions, retransmissions);
        });
    }
}

/// ssthresh is restored as well as cwnd, so that cwnd is above it and grows by congestion
/// avoidance.
#[test]
fn undo_that_forgets_ssthresh() {
    let config =
        SenderConfig { initial_window: Some(10), initial_ssthresh: Some(8_000), ..config() };
    run_with("sack+dsack-undo", config, |x| {
        x.write(40_000).sends(&numbers(0, 10)).at(100);
        x.sack(0, &[(1, 4)]).sends("0F").windows(5_000, 5_000).ack(10).sends("10 11 12 13 14");
        x.at(200).sack(10, &[(0, 1)]).sends("15 16 17 18 19").windows(10_000, 8_000);
        x.ack(11).sends("20").windows(10_100, 8_000);
    });
}
