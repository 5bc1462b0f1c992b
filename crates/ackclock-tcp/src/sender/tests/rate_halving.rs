//! Linux's rate halving: RFC 6937 section 3.1 and Dukkipati et al. 2011 figure 2, ACK by ACK.

use super::path::Path;
use super::*;

/// RFC 6937 section 3.1, the row "Rate-Halving (Linux)": one loss in 20, with limited transmit.
#[test]
fn rfc_6937_one_loss() {
    run_with("sack+lt+rate-halving", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20));
        x.sack(0, &[(1, 2)])
            .sends("20+")
            .windows(20_000, UNSET)
            .sack(0, &[(1, 3)])
            .sends("21+")
            .windows(20_000, UNSET);
        let rows = [
            (19, "0F"),
            (18, ""),
            (18, "22"),
            (17, ""),
            (17, "23"),
            (16, ""),
            (16, "24"),
            (15, ""),
            (15, "25"),
            (14, ""),
            (14, "26"),
            (13, ""),
            (13, "27"),
            (12, ""),
            (12, "28"),
            (11, ""),
            (11, "29"),
        ];
        for (ack, (cwnd, sent)) in (3..).zip(rows) {
            x.sack(0, &[(1, ack + 1)]).sends(sent).windows(cwnd * MSS, 10_000);
        }
    });
}

/// With CUBIC, whose ssthresh is 14 of 20, halving stops there and every ACK releases a segment;
/// with Reno's floor it goes on.
#[test]
fn halving_stops_where_the_window_law_has_it() {
    let halving = [
        (19, "0F"),
        (18, ""),
        (18, "22"),
        (17, ""),
        (17, "23"),
        (16, ""),
        (16, "24"),
        (15, ""),
        (15, "25"),
        (14, ""),
    ];
    for (regulator, rest) in [
        ("rate-halving-to-ssthresh", [(14, "26"), (14, "27"), (14, "28"), (14, "29")]),
        ("rate-halving", [(14, "26"), (13, ""), (13, "27"), (12, "")]),
    ] {
        run_with(&format!("sack+lt+cubic+{regulator}"), window(20), |x| {
            x.write(60_000).sends(&numbers(0, 20));
            x.sack(0, &[(1, 2)]).sends("20+").sack(0, &[(1, 3)]).sends("21+");
            for (ack, (cwnd, sent)) in (3..).zip(halving.into_iter().chain(rest)) {
                x.sack(0, &[(1, ack + 1)]).sends(sent).windows(cwnd * MSS, 14_000);
            }
        });
    }
}

/// RFC 6937 section 3.1: the first 15 of 20 are lost. One segment for each ACK, and cwnd stays at
/// 5.
#[test]
fn rfc_6937_fifteen_losses() {
    run_with("sack+lt+rate-halving", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20));
        x.sack(0, &[(15, 16)]).sends("20+").pipe(20).sack(0, &[(15, 17)]).sends("21+").pipe(20);
        x.sack(0, &[(15, 18)]).sends("0F").windows(5_000, 10_000).pipe(5);
        x.sack(0, &[(15, 19)]).sends("1P").windows(5_000, 10_000).pipe(5);
        x.sack(0, &[(15, 20)]).sends("2P").windows(5_000, 10_000).pipe(5);
    });
}

/// Dukkipati et al. 2011 figure 2, middle: 1 to 4 of 20 are lost. The retransmissions go out on
/// alternate ACKs, and without new data cwnd shrinks with the pipe. "pipe is 1 right before
/// recovery completes", so that slow start begins with two.
#[test]
fn figure_2_linux() {
    let every_hole = [
        (16, "0F"),
        (15, ""),
        (15, "1P"),
        (14, ""),
        (14, "2P"),
        (13, ""),
        (13, "3P"),
        (12, ""),
        (12, ""),
    ];
    // Where 2 and 3 are found lost one ACK later each, the pipe falls by two on these ACKs.
    let linux = [
        (18, "0F"),
        (17, "1P"),
        (16, "2P"),
        (15, ""),
        (15, "3P"),
        (14, ""),
        (14, ""),
        (13, ""),
        (12, ""),
    ];
    for (composition, rows) in [("rate-halving+fack", every_hole), ("rate-halving", linux)] {
        run_with(composition, window(20), |x| {
            x.write(20_000).sends(&numbers(0, 20));
            let mut path = Path::new(x, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
            let rest = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map(|cwnd| (cwnd, ""));
            for (i, (cwnd, sent)) in rows.into_iter().chain(rest).enumerate() {
                assert_eq!(
                    (path.step().as_str(), path.windows()),
                    (sent, (cwnd * MSS, 10_000)),
                    "{composition}: ACK {i}"
                );
            }
            assert_eq!(
                (path.step().as_str(), path.windows(), path.phase()),
                ("", (2_000, 10_000), Phase::Open)
            );
            x.at(500).write(10_000).sends("20 21").ack(21).sends("22 23").ack(22).sends("24 25");
        });
    }
}

/// An ACK that tells nothing halves nothing; a D-SACK tells of a segment that has left.
#[test]
fn an_ack_without_news_does_not_count() {
    run_with("rate-halving", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20));
        x.sack(0, &[(1, 5)]).sends("0F").windows(16_000, 10_000);
        x.sack(0, &[(1, 5)]).sends("").windows(16_000, 10_000);
        x.sack(0, &[(1, 2), (1, 5)]).sends("").windows(15_000, 10_000);
        x.sack(0, &[(1, 6)]).sends("").windows(15_000, 10_000);
    });
}

/// Without SACK duplicates stand for what has left the network.
#[test]
fn newreno_halves_its_rate() {
    run_with("newreno+rate-halving", SenderConfig { sack: false, ..config() }, |x| {
        x.write(30_000).sends(&numbers(0, 10));
        x.ack(0).ack(0).sends("").ack(0).sends("0F").windows(7_000, 5_000);
        x.ack(0).sends("").windows(6_000, 5_000).ack(0).sends("10").windows(6_000, 5_000);
        x.ack(0).sends("").windows(5_000, 5_000).ack(0).sends("11").windows(5_000, 5_000);
        x.ack(0).sends("").windows(4_000, 5_000).ack(0).sends("12").windows(4_000, 5_000);
        x.ack(10).sends("13").windows(4_000, 5_000).phase(Phase::Open);
    });
}

/// Two losses without SACK: the partial ACK acknowledges what duplicates had stood for, and is one
/// of the ACKs that count.
#[test]
fn a_partial_ack_counts() {
    run_with("newreno+rate-halving", SenderConfig { sack: false, ..config() }, |x| {
        x.write(30_000).sends(&numbers(0, 10));
        x.ack(0)
            .ack(0)
            .ack(0)
            .sends("0F")
            .windows(7_000, 5_000)
            .ack(0)
            .sends("")
            .windows(6_000, 5_000);
        x.ack(0).sends("10").windows(6_000, 5_000);
        // In flight: 4 and its retransmission, 8 to 10, less the two that duplicates stood for
        // beyond 4. The sixth ACK.
        x.ack(4).sends("4P").windows(5_000, 5_000);
    });
}

/// Forged duplicates are believed up to the window that was outstanding: the third to the twelfth.
#[test]
fn forged_duplicates_release_a_window_at_most() {
    run_with("newreno+rate-halving", SenderConfig { sack: false, ..config() }, |x| {
        x.write(60_000).sends(&numbers(0, 10));
        for _ in 0..100 {
            x.ack(0);
            x.sent.clear();
        }
        assert_eq!((x.sender.state().snd_max, x.sender.state().cwnd), (14_000, 2_000));
    });
}

/// A recovery that is over before the window is halved ends with ssthresh, and the next one counts
/// its ACKs from the first.
#[test]
fn ends_with_ssthresh_at_most() {
    run_with("rate-halving", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20));
        x.sack(0, &[(1, 5)]).sends("0F").windows(16_000, 10_000);
        x.ack(20).sends(&numbers(20, 30)).windows(10_000, 10_000).phase(Phase::Open);
        x.sack(20, &[(21, 25)]).sends("20F").windows(6_000, 5_000);
        x.sack(20, &[(21, 26)]).sends("").windows(5_000, 5_000);
    });
}
