//! PRR: Dukkipati et al. 2011 figures 2 to 4 and RFC 6937 section 3.1 ACK by ACK, and RFC 9937.

use super::path::Path;
use super::*;
use crate::recovery::regulate::Prr;
use crate::recovery::regulate::Regulate;
use crate::summary::AckSummary;

/// What the paper's traces ran, with segments counted from 0 and not from 1.
const PAPER: &str = "rate-halving+prr-ssrb";

/// Each ACK's cwnd, in segments, and what it released.
fn steps(path: &mut Path, ssthresh: u64, rows: &[(u64, &str)]) {
    for (i, &(cwnd, sent)) in rows.iter().enumerate() {
        assert_eq!(
            (path.step().as_str(), path.windows()),
            (sent, (cwnd * MSS, ssthresh)),
            "ACK {i}"
        );
    }
}

/// Figure 2, top: 1 to 4 of 20 are lost. "PRR retransmits one segment every other ACK"; recovery
/// ends with cwnd = ssthresh = 10, and what the application writes at 500 ms is "sent in one RTT".
#[test]
fn figure_2_prr() {
    run_with(PAPER, window(20), |x| {
        x.write(20_000).sends(&numbers(0, 20));
        let mut path = Path::new(x, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
        let rows = [
            (18, "0F"),
            (16, ""),
            (15, "1P"),
            (14, ""),
            (14, "2P"),
            (13, ""),
            (13, "3P"),
            (12, ""),
            (12, ""),
            (10, ""),
            (10, ""),
            (10, ""),
            (10, ""),
            (10, ""),
            (10, ""),
            (10, ""),
        ];
        steps(&mut path, 10_000, &rows);
        steps(&mut path, 10_000, &[(10, ""), (10, ""), (10, ""), (10, "")]);
        assert_eq!(path.phase(), Phase::Open);
        x.at(500).write(10_000).sends(&numbers(20, 30)).windows(10_000, 10_000);
    });
}

/// Figure 2, bottom, RFC 3517: "the 2nd retransmission happens after about half of the cwnd of ACKs
/// are received".
#[test]
fn figure_2_rfc_3517() {
    run_with("fack", window(20), |x| {
        x.write(20_000).sends(&numbers(0, 20));
        let mut path = Path::new(x, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
        let rows = [
            (10, "0F"),
            (10, ""),
            (10, ""),
            (10, ""),
            (10, ""),
            (10, ""),
            (10, ""),
            (10, "1P"),
            (10, "2P"),
        ];
        steps(&mut path, 10_000, &rows);
    });
}

/// Figure 3: 1 to 4 and 11 to 16 are lost. Alternate ACKs first; after the second cluster "PRR
/// operates in slow start part and transmits two segments for every ACK".
#[test]
fn each_ack_sends_two_after_the_second_cluster_of_figure_3() {
    let lost = [0, 1, 2, 3, 10, 11, 12, 13, 14, 15].map(|n| (n, 1));
    run_with(PAPER, window(20), |x| {
        x.write(20_000).sends(&numbers(0, 20));
        let mut path = Path::new(x, &lost);
        steps(
            &mut path,
            10_000,
            &[(18, "0F"), (16, ""), (15, "1P"), (14, ""), (14, "2P"), (13, "")],
        );
        steps(&mut path, 10_000, &[(10, "3P 10P"), (10, "11P 12P"), (10, "13P 14P"), (10, "15P")]);
        steps(&mut path, 10_000, &[(10, ""); 10]);
        assert_eq!(path.phase(), Phase::Open);
    });
    // With every hole lost at once, four sending opportunities had been banked by then, and are
    // used at once.
    run_with("fack+prr-ssrb", window(20), |x| {
        x.write(20_000).sends(&numbers(0, 20));
        let mut path = Path::new(x, &lost);
        steps(
            &mut path,
            10_000,
            &[(16, "0F"), (15, ""), (15, "1P"), (14, ""), (14, "2P"), (13, "")],
        );
        steps(&mut path, 10_000, &[(10, "3P 10P 11P 12P"), (10, "13P"), (10, "14P"), (10, "15P")]);
    });
}

/// Figure 4: one of 20 is lost, and the application writes 10 more in the middle of recovery. The
/// burst is "ratio * (prr_delivered - prr_out) which in this example is three segments": 0.5 * (7 -
/// 1).
#[test]
fn figure_4() {
    run_with(PAPER, window(20), |x| {
        x.write(20_000).sends(&numbers(0, 20));
        x.sack(0, &[(1, 2)])
            .sends("")
            .sack(0, &[(1, 3)])
            .sends("")
            .sack(0, &[(1, 4)])
            .sends("0F")
            .windows(17_000, 10_000);
        for (right, cwnd) in (5..).zip([16, 16, 15, 15, 14, 14]) {
            x.sack(0, &[(1, right)]).sends("").windows(cwnd * MSS, 10_000);
        }
        x.write(10_000).sends("20 21 22").pipe(14);
        let rows = [
            (13, ""),
            (13, "23"),
            (12, ""),
            (12, "24"),
            (11, ""),
            (10, ""),
            (10, "25"),
            (10, "26"),
            (10, "27"),
            (10, "28"),
        ];
        for (right, (cwnd, sent)) in (11..).zip(rows) {
            x.sack(0, &[(1, right)]).sends(sent).windows(cwnd * MSS, 10_000);
        }
        x.ack(20).sends("29").windows(10_000, 10_000).phase(Phase::Open);
    });
    // "Linux does not achieve this property since its congestion window tracks pipe closely."
    run_with("rate-halving", window(20), |x| {
        x.write(20_000).sends(&numbers(0, 20));
        for right in 2..=10 {
            x.sack(0, &[(1, right)]).sends(if right == 4 { "0F" } else { "" });
        }
        x.write(10_000).sends("20");
    });
}

/// RFC 6937 section 3.1: the first 15 of 20 are lost, with limited transmit; each bound in turn.
#[test]
fn rfc_6937_fifteen_losses() {
    for (bound, rows) in [
        ("prr-crb", ["0F", "1P", "2P"]),
        ("prr-ssrb", ["0F 1P", "2P 3P", "4P 5P"]),
        // Section 5: "sends ssthresh-pipe bursts when pipe falls below ssthresh".
        ("prr-ub", ["0F 1P 2P 3P 4P 5P", "6P", "7P"]),
    ] {
        run_with(&format!("sack+lt+{bound}"), window(20), |x| {
            x.write(60_000).sends(&numbers(0, 20));
            x.sack(0, &[(15, 16)]).sends("20+").sack(0, &[(15, 17)]).sends("21+");
            for (right, sent) in (18..).zip(rows) {
                x.sack(0, &[(15, right)]).sends(sent);
            }
            assert_eq!(x.sender.state().ssthresh, 10_000);
        });
    }
}

/// RFC 9937 counts bytes: 1 of 20 is lost, RecoverFS = 20 - 3 SACKed + 1 of them by this ACK = 18.
/// cwnd = in flight + SndCnt.
#[test]
fn rfc_9937_proportional_part() {
    run_with("prr", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20)).sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("");
        // 10/18 of a segment: the first one is sent all the same.
        x.sack(0, &[(1, 4)]).sends("0F").windows(17_000, 10_000).pipe(17);
        // ceil(2000 * 10/18) - 1000, and so on.
        x.sack(0, &[(1, 5)]).sends("").windows(16_112, 10_000);
        x.sack(0, &[(1, 6)]).sends("").windows(15_667, 10_000);
        x.sack(0, &[(1, 7)]).sends("20").windows(14_000 + 1_223, 10_000).pipe(15);
        x.sack(0, &[(1, 8)]).sends("").windows(14_000 + 778, 10_000);
        x.sack(0, &[(1, 9)]).sends("21").windows(13_000 + 1_334, 10_000);
        x.sack(0, &[(1, 10)]).sends("").windows(13_000 + 889, 10_000);
        x.sack(0, &[(1, 11)]).sends("22").windows(12_000 + 1_445, 10_000);
        x.sack(0, &[(1, 12)]).sends("23").windows(12_000 + 1_000, 10_000);
        x.ack(20).windows(10_000, 10_000).phase(Phase::Open).sends("24 25 26 27 28 29");
    });
}

/// RFC 9937: below ssthresh as much as was delivered; a segment more on a SafeACK, which advances
/// and shows no new loss.
#[test]
fn rfc_9937_safe_ack() {
    run_with("prr", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20));
        // 0 to 11 are lost, RecoverFS = 20.
        x.sack(0, &[(12, 15)]).sends("0F 1P 2P").windows(8_000, 10_000).pipe(8);
        x.sack(0, &[(12, 16)]).sends("3P").windows(8_000, 10_000).pipe(8);
        // Advances: one more than was delivered.
        x.sack(1, &[(12, 16)]).sends("4P 5P").windows(9_000, 10_000).pipe(9);
        // Advances, and shows 16 lost.
        x.sack(2, &[(17, 20), (12, 16)]).sends("6P 7P 8P 9P").windows(8_000, 10_000).pipe(8);
        // ssthresh bounds it.
        x.sack(4, &[(17, 20), (12, 16)]).sends("10P 11P 16P").windows(9_000, 10_000).pipe(9);
        x.sack(5, &[(17, 20), (12, 16)]).sends("20 21").windows(10_000, 10_000).pipe(10);
        x.sack(6, &[(17, 20), (12, 16)]).sends("22").windows(10_000, 10_000).pipe(10);
    });
}

/// The non-SACK form: a duplicate is one segment, an advance what it acknowledges less the
/// duplicates before it.
#[test]
fn newreno_with_prr() {
    run_with("newreno+prr", SenderConfig { sack: false, ..config() }, |x| {
        x.write(30_000).sends(&numbers(0, 10));
        // In flight are 9 without the lost one, less three.
        x.ack(0).ack(0).sends("").ack(0).sends("0F").windows(7_000, 5_000);
        x.ack(0).sends("").windows(6_000, 5_000).ack(0).sends("").windows(5_000, 5_000);
        x.ack(0).sends("10").windows(5_000, 5_000).ack(0).sends("11").windows(5_000, 5_000);
        x.ack(0).sends("12").windows(5_000, 5_000);
        // 9 is lost too: 0's retransmission arrived, and the five that duplicates stood for, as
        // three of eight did.
        x.ack(9).sends("9P 13").windows(5_000, 5_000);
        x.ack(9).sends("14").windows(5_000, 5_000).ack(9).sends("15").windows(5_000, 5_000);
        x.ack(13).windows(5_000, 5_000).phase(Phase::Open).sends("16 17");
    });
}

/// Two losses without SACK: "the sum of DeliveredData must agree with the forward progress" (RFC
/// 6937 section 2).
#[test]
fn newreno_with_prr_and_two_losses() {
    run_with("newreno+prr", SenderConfig { sack: false, ..config() }, |x| {
        x.write(30_000).sends(&numbers(0, 10));
        // 0 and 4 are lost: eight duplicates.
        for sent in ["", "", "0F", "", "", "10", "11", "12"] {
            x.ack(0).sends(sent);
        }
        // Four are acknowledged, eight had been reported by duplicates: nothing is delivered. What
        // goes out is the first unacknowledged segment.
        x.ack(4).sends("4P").windows(4_000, 5_000);
        // 10 to 12 arrive; in flight is the retransmission of 4, and what each of them releases, a
        // segment less than ssthresh.
        x.ack(4).sends("13").windows(5_000, 5_000).ack(4).sends("14").windows(5_000, 5_000);
    });
}

/// Seven losses without SACK, with RFC 9937: a partial ACK shows another loss, so that it is no
/// SafeACK, and Linux agrees (`tcp_newreno_mark_lost`). Before ACK 6 prr_delivered = 4 and prr_out
/// = 5; in flight are 10 less three that arrived, six that were acknowledged less these three, 6
/// which is lost, and what was sent since.
#[test]
fn a_partial_ack_is_no_safe_ack() {
    for strategy in ["newreno+prr", "newreno+linux-prr"] {
        run_with(strategy, SenderConfig { sack: false, ..config() }, |x| {
            x.write(30_000).sends(&numbers(0, 10));
            // 0 to 6 are lost: three duplicates.
            x.ack(0).ack(0).sends("").ack(0).sends("0F");
            for segment in 1..6 {
                x.ack(segment).sends(&format!("{segment}P"));
            }
            x.ack(6).sends("6P");
        });
    }
}

/// What the bounds make of more sent than delivered (a retransmission found lost is sent whatever
/// the window says), and of another recovery after the first.
#[test]
fn prr_out_is_of_this_recovery() {
    run_with("fack", window(20), |x| {
        x.write(60_000).sends(&numbers(0, 20)).sack(0, &[(10, 11)]).sends("0F").pipe(10);
        let s = &State { ssthresh: 12_000, ..x.sender.state().clone() };
        let sacked = AckSummary { newly_sacked: 1_000, ..AckSummary::default() };
        // One delivered, nothing sent: CRB 1, SSRB 2, RFC 9937 1, UB 12 - 10.
        for (mut prr, [first, later]) in [
            (Prr::conservative(), [11, 10]),
            (Prr::slow_start(), [12, 12]),
            (Prr::rfc9937(), [11, 11]),
            (Prr::unlimited(), [12, 12]),
        ] {
            for _ in 0..2 {
                assert_eq!(prr.on_enter(s, &sacked), first * MSS);
                prr.on_transmit(s, Cause::Recovery, 5_000);
                assert_eq!(prr.on_ack(s, &sacked), later * MSS);
            }
        }
        let mut prr = Prr::rfc9937();
        prr.on_enter(s, &sacked);
        let advance = AckSummary { newly_acked: 1_000, ..AckSummary::default() };
        assert_eq!(prr.on_ack(s, &advance), 12_000);
        prr.on_enter(s, &sacked);
        prr.on_transmit(s, Cause::Recovery, 1_000);
        assert_eq!(prr.on_ack(s, &AckSummary { retransmission_lost: true, ..advance }), 11_000);
        assert_eq!(prr.on_ack(s, &AckSummary { newly_lost: 1_000, ..advance }), 12_000);
        // What is left of SndCnt is of this recovery too.
        assert_eq!(prr.on_enter(s, &AckSummary::default()), 10_000);
    });
}

/// `prr` is a preset in first place, and the mechanism after that.
#[test]
fn a_preset_with_the_name_of_a_mechanism() {
    let detect =
        |text: &str| Registry::default().parse(text).expect("a composition").build().detect.name();
    assert_eq!(
        (detect("prr"), detect("newreno+prr"), detect("fack+prr")),
        ("is-lost", "dupack", "fack")
    );
}

/// RFC 9937: no more duplicates count than what was outstanding, however many are forged.
#[test]
fn forged_duplicates_release_a_window_at_most() {
    run_with("newreno+prr", SenderConfig { sack: false, ..config() }, |x| {
        x.write(60_000).sends(&numbers(0, 10));
        for _ in 0..100 {
            x.ack(0);
            x.sent.clear();
        }
        // Ten count, the third to the twelfth; from the sixth on each of them finds less than
        // ssthresh in flight.
        assert_eq!(x.sender.state().snd_max, 17_000);
    });
}

/// An ACK that delivers nothing releases nothing.
#[test]
fn nothing_delivered_nothing_sent() {
    for composition in ["fack+prr-crb", "fack+prr-ssrb", "fack+prr-ub", "prr"] {
        run_with(composition, window(20), |x| {
            x.write(60_000).sends(&numbers(0, 20)).sack(0, &[(12, 15)]);
            x.sent.clear();
            let pipe = x.sender.state().board.pipe();
            // A D-SACK and nothing else.
            x.sack(0, &[(12, 13), (12, 15)]).sends("").windows(pipe, 10_000);
        });
    }
}

/// RFC 9937 then returns, and leaves what the receive window has held back of SndCnt; the paper has
/// it all in prr_out.
#[test]
fn nothing_delivered_nothing_taken_away() {
    for (composition, held_back, released) in [("prr", 1_223, "20"), ("sack+prr-crb", 1_000, "")] {
        run_with(composition, window(20), |x| {
            x.window = 20_000;
            x.write(60_000).sends(&numbers(0, 20)).sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("");
            for (right, sends) in [(4, "0F"), (5, ""), (6, ""), (7, "")] {
                x.sack(0, &[(1, right)]).sends(sends);
            }
            x.windows(14_000 + held_back, 10_000).pipe(14);
            x.window = 64_000;
            x.sack(0, &[(1, 2), (1, 7)]).sends(released);
        });
    }
}

/// RFC 8985 section 9.3: "A segment marked as lost by RACK-TLP MUST NOT be retransmitted until
/// congestion control deems this appropriate", a retransmission that is lost no less. At 190 ms
/// ceil(8 * 2.75 / 11) - 4 segments may go, at 195 ms ceil(9 * 2.75 / 11) - 4: none.
#[test]
fn a_lost_retransmission_waits_for_its_share() {
    run("rack-tlp", 10, |x| {
        x.write(200_000).sends(&numbers(0, 10)).at(100).ack(1).sends("10 11");
        x.sack(1, &[(2, 5)]).sends("1F 12").windows(9_000, 5_500);
        for (n, sends) in (0..).zip(["", "13", "", "14", ""]) {
            x.at(110 + 10 * n).sack(1, &[(2, 6 + n)]).sends(sends);
        }
        x.at(190).sack(1, &[(2, 11)]).sends("").windows(4_000, 2_750);
        x.at(195).sack(1, &[(2, 12)]).sends("").windows(3_000, 2_750);
        // From here on the pipe is below ssthresh, by less than a segment at first.
        x.at(200).sack(1, &[(2, 13)]).sends("").windows(2_750, 2_750).pipe(2);
        x.at(210).sack(1, &[(2, 14)]).sends("1L").windows(2_750, 2_750).pipe(2);
    });
}

/// No loss: reordering by one and by two segments and a lost ACK.
#[test]
fn does_not_act_without_loss() {
    for composition in ["prr", "fack+prr-ssrb", "fack+prr-crb", "fack+prr-ub"] {
        run(composition, 10, |x| {
            x.write(30_000)
                .sends(&numbers(0, 10))
                .sack(0, &[(1, 2)])
                .sends("")
                .ack(2)
                .sends("10 11 12");
            x.sack(2, &[(3, 4)]).sack(2, &[(3, 5)]).sends("").ack(5).sends("13 14 15 16");
            x.ack(7).sends("17 18 19").windows(13_000, UNSET).phase(Phase::Open);
        });
    }
}

/// RFC 9937: cwnd = ssthresh at the end, also where losses were so heavy that the pipe never
/// reached it.
#[test]
fn ends_with_ssthresh() {
    for composition in ["prr", "fack+prr-crb", "fack+prr-ssrb", "fack+prr-ub"] {
        run_with(composition, window(20), |x| {
            x.write(20_000).sends(&numbers(0, 20));
            let lost: Vec<_> = (0..16).map(|n| (n, 1)).collect();
            let mut path = Path::new(x, &lost);
            while path.phase() != Phase::Open || path.windows().1 == UNSET {
                path.step();
            }
            assert_eq!(path.windows(), (10_000, 10_000), "{composition}");
        });
    }
}
