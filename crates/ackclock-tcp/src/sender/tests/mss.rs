//! The path's MTU changes: RFC 1191 section 6.4, RFC 8201 section 5.4.

use super::*;

impl Script {
    fn mss(&mut self, mss: u32) -> &mut Script {
        self.input(|s, now| s.set_mss(now, mss))
    }
}

/// The four segments outstanding go out again in ten of 400 bytes, at once and with the windows as
/// they were.
#[test]
fn what_was_too_big_is_sent_again_at_once() {
    for composition in ["newreno", "sack", "tahoe", "prr", "newreno+cubic"] {
        run(composition, 4, |x| {
            x.write(40_000).sends("0 1 2 3").at(100).mss(400);
            x.sends(
                "0[0..400]S 0[400..800]S 0[800..1000]S 1[0..400]S 1[400..800]S 1[800..1000]S \
                 2[0..400]S 2[400..800]S 2[800..1000]S 3[0..400]S 3[400..800]S 3[800..1000]S",
            );
            x.windows(4_000, UNSET).pipe(4).phase(Phase::Loss);
            // Slow start by 400 bytes an ACK, new data in segments of 400 bytes, and no sample
            // (Karn).
            x.at(200).ack_bytes(400).sends("4[0..400] 4[400..800]").windows(4_400, UNSET);
            assert_eq!(x.sender.stats().rtt_samples, 0);
            x.at(210).ack(4).phase(Phase::Open).windows(4_800, UNSET);
            x.sends(
                "4[800..1200] 5[200..600] 5[600..1000] 6[0..400] 6[400..800] 6[800..1200] \
                 7[200..600] 7[600..1000] \
                 8[0..400] 8[400..800]",
            );
            assert_eq!((x.sender.stats().timeouts, x.sender.stats().recoveries), (0, 0));
        });
    }
}

/// What fits is not retransmitted with SACK, nor is what was SACKed.
#[test]
fn what_fits_or_has_arrived_is_not_sent_again() {
    run("sack", 5, |x| {
        x.write(4_300).sends("0 1 2 3 4[0..300]");
        x.at(100).sack(0, &[(2, 3)]).sends("").mss(600);
        x.sends("0[0..600]S 0[600..1000]S 1[0..600]S 1[600..1000]S 3[0..600]S 3[600..1000]S");
        assert_eq!(x.sender.state().board.pipe(), 3_300);
        assert_eq!(x.sender.state().board.sacked_bytes(), 1_000);
        // A SACK of a piece.
        let mut piece = x.header(0);
        piece.sack.push(SackBlock { left: Seq::at(x.isn, 600), right: Seq::at(x.isn, 1_000) });
        x.segment(piece).sends("");
        assert_eq!(x.sender.state().board.pipe(), 2_900);
        x.at(200).ack_bytes(4_300).sends("").no_deadline();
    });
}

/// Only new data is affected if everything outstanding fits.
#[test]
fn nothing_is_sent_again_if_everything_fits() {
    run("sack", 4, |x| {
        x.write(700).sends("0[0..700]").mss(700).phase(Phase::Open).sends("");
        x.at(10).write(1_400).sends("0[700..1400] 1[400..1100]");
        // A larger segment: nothing changes but new data.
        x.mss(2_000).at(20).ack_bytes(700).write(2_000).sends("2[100..2100]").phase(Phase::Open);
    });
}

/// The retransmission timer starts anew, not backed off, and what was cut is retransmitted piece by
/// piece.
#[test]
fn the_timer_starts_anew() {
    run("newreno", 2, |x| {
        x.write(2_000).sends("0 1").deadline(1_000);
        x.at(400)
            .mss(500)
            .sends("0[0..500]S 0[500..1000]S 1[0..500]S 1[500..1000]S")
            .deadline(1_400);
        x.fire(1_400).sends("0[0..500]T").windows(500, 1_000);
        x.at(1_500).ack_bytes(500).sends("0[500..1000]S 1[0..500]S").windows(1_000, 1_000);
    });
}

/// Within a recovery: its response stands, and cwnd is what it was to end with.
#[test]
fn within_recovery() {
    run("newreno", 10, |x| {
        x.write(10_000)
            .sends(&numbers(0, 10))
            .at(100)
            .ack(0)
            .ack(0)
            .ack(0)
            .sends("0F")
            .windows(8_000, 5_000);
        x.mss(500).windows(5_000, 5_000).phase(Phase::Loss);
        x.sends(
            "0[0..500]S 0[500..1000]S 1[0..500]S 1[500..1000]S 2[0..500]S 2[500..1000]S \
            3[0..500]S 3[500..1000]S 4[0..500]S 4[500..1000]S",
        );
        // No duplicate begins another recovery before all of it is acknowledged.
        x.at(200).ack(0).ack(0).ack(0).sends("");
    });
    for composition in ["sack", "prr"] {
        run(composition, 10, |x| {
            x.write(10_000).sends(&numbers(0, 10)).at(100);
            x.sack(0, &[(1, 2)])
                .sack(0, &[(1, 3)])
                .sack(0, &[(1, 4)])
                .sends("0F")
                .phase(Phase::Recovery);
            x.mss(500).windows(5_000, 5_000).phase(Phase::Loss).pipe(5);
            x.sends(
                "0[0..500]S 0[500..1000]S 4[0..500]S 4[500..1000]S 5[0..500]S 5[500..1000]S \
                6[0..500]S 6[500..1000]S 7[0..500]S 7[500..1000]S",
            );
            x.at(200)
                .ack(5)
                .sends("8[0..500]S 8[500..1000]S 9[0..500]S 9[500..1000]S")
                .phase(Phase::Loss);
            x.ack(10).sends("").phase(Phase::Open).no_deadline();
            assert_eq!((x.sender.stats().recoveries, x.sender.stats().timeouts), (1, 0));
        });
    }
}

/// After a timeout: what has gone out since was too big as well.
#[test]
fn after_a_timeout() {
    for composition in ["newreno", "sack"] {
        run(composition, 4, |x| {
            x.write(40_000).sends("0 1 2 3").fire(1_000).sends("0T").windows(1_000, 2_000);
            x.at(1_100).mss(500).sends("0[0..500]S 0[500..1000]S").windows(1_000, 2_000);
            x.at(1_200).ack(1).sends("1[0..500]S 1[500..1000]S 2[0..500]S").windows(1_500, 2_000);
        });
    }
}

/// A timeout that F-RTO would undo was followed by data that the path has dropped: nothing is
/// undone, all of it goes out again.
#[test]
fn what_is_lost_for_its_size_is_not_undone() {
    for composition in ["newreno+f-rto", "sack+f-rto"] {
        run(composition, 4, |x| {
            x.write(40_000).sends("0 1 2 3").fire(1_000).sends("0T");
            x.at(1_100).ack(1).sends("4+ 5+").windows(2_000, 2_000).mss(500);
            x.sends("1[0..500]S 1[500..1000]S 2[0..500]S 2[500..1000]S").phase(Phase::Loss);
            x.at(1_200)
                .ack_bytes(1_500)
                .windows(2_125, 2_000)
                .phase(Phase::Loss)
                .sends("3[0..500]S");
        });
    }
}

/// A window of less than a segment stops nobody, also where what was too big goes out again.
#[test]
fn a_window_smaller_than_a_segment_lets_one_out() {
    for composition in ["newreno", "sack", "oracle"] {
        run(composition, 1, |x| {
            x.mss(3_000).write(3_000).sends("0[0..3000]").at(100).mss(1_500);
            x.sends("0[0..1500]S").windows(1_000, UNSET).phase(Phase::Loss);
            x.at(200).ack_bytes(1_500).sends("1[500..2000]S").windows(2_500, UNSET);
        });
    }
}

/// The event says what went out again for its size, and where it leaves the sender.
#[test]
fn it_is_told() {
    run_with("sack", SenderConfig { events: true, ..window(4) }, |x| {
        x.write(4_000).sends("0 1 2 3").sack(0, &[(3, 4)]);
        while x.sender.poll_event().is_some() {}
        x.input(|s, now| s.set_mss(now, 500));
        let event = x.sender.poll_event().unwrap();
        assert_eq!(event.kind, EventKind::MssChanged { mss: 500, lost: 3_000 });
        assert_eq!((event.snd_una, event.snd_nxt, event.cwnd), (0, 0, 4_000));
        x.sent.clear();
    });
}

/// Linux counts segments, and their number stays (`tcp_simple_retransmit`: "effective cwnd/ssthresh
/// really reduced now"), unless they become larger (`tcp_mtup_probe_success`).
#[test]
fn a_law_of_linux_keeps_its_segments() {
    for composition in ["linux", "linux+linux-reno", "linux+tolerant-start"] {
        let config = SenderConfig { initial_ssthresh: Some(8_000), ..window(10) };
        run_with(composition, config, |x| {
            x.write(40_000).sends(&numbers(0, 10)).at(100).mss(500);
            x.windows(5_000, 4_000).phase(Phase::Loss);
            x.sent.clear();
            x.mss(1_500).windows(4_500, 3_000);
            x.sent.clear();
        });
        // An ssthresh that is not set stays so.
        run(composition, 10, |x| {
            x.mss(500).windows(5_000, UNSET);
        });
    }
}

/// What goes again for its size is lost: the recovery before it is not undone, whatever timestamp
/// comes (`tcp_simple_retransmit`: `undo_marker` and `prior_ssthresh` are 0).
#[test]
fn linux_forgets_what_it_would_undo() {
    run_with("linux", SenderConfig { timestamps: true, ..window(10) }, |x| {
        x.echo = Some(1);
        x.at(1).write(60_000).sends(&numbers(0, 10)).at(100).sack(0, &[(1, 2)]).sends("10+");
        x.at(101).sack(0, &[(1, 3)]).sends("11+").at(102).sack(0, &[(1, 4)]).sends("0F");
        x.phase(Phase::Recovery).at(103).mss(500).phase(Phase::Loss);
        x.sent.clear();
        x.at(104).ack(4).phase(Phase::Loss);
        x.sent.clear();
        // 7 segments.
        assert_eq!(x.sender.state().ssthresh, 3_500);
    });
}

/// In CWR: the response to the mark stands, and is over.
#[test]
fn in_cwr() {
    run_with("sack+prr", SenderConfig { ecn: true, ..window(10) }, |x| {
        x.write(10_000).sends(&super::ecn::capable(0, 10)).at(100).echoes(1).sends("");
        assert!(x.sender.state().cwr && x.sender.state().cwnd > 5_000);
        x.mss(500).windows(5_000, 5_000).phase(Phase::Loss);
        assert!(!x.sender.state().cwr);
        x.sent.clear();
    });
}

/// Without SACK the duplicates stand for what is outstanding and not lost, here nothing, so that
/// cwnd has room for no more (`tcp_limit_reno_sacked`). Linux 6.18 was seen to fill a cwnd of 7.
#[test]
fn linux_limits_duplicates() {
    run_with("linux", SenderConfig { sack: false, ..window(10) }, |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(100).ack(0).ack(0).ack(0).sends("");
        x.ack(0).sends("0F").ack(0).ack(0).ack(0).sends("").windows(7_000, 7_000);
        x.mss(600).windows(4_200, 4_200).phase(Phase::Loss);
        x.sends(
            "0[0..600]S 0[600..1000]S 1[0..600]S 1[600..1000]S 2[0..600]S 2[600..1000]S \
            3[0..600]S",
        );
        assert_eq!(x.sender.state().emulated, 0);
    });
}

/// Within recovery Linux leaves cwnd alone ("Don't muck with the congestion window here"): after
/// Linux 6.18 had lowered it to 2 of an ssthresh of 4, it was seen to stay there.
#[test]
fn linux_leaves_cwnd_within_recovery() {
    run("linux", 10, |x| {
        x.write(10_000).sends(&numbers(0, 10)).at(100).sack(0, &[(5, 10)]).sends("0F 1P 2P 3P 4P");
        x.at(101).ack(0).sends("").windows(5_000, 7_000).phase(Phase::Recovery);
        x.mss(500).windows(2_500, 3_500).phase(Phase::Loss);
        x.sends("0[0..500]S 0[500..1000]S 1[0..500]S 1[500..1000]S 2[0..500]S");
    });
}

/// CUBIC begins anew (`cubictcp_state`). The recording of Linux 6.18 had segments of 1460 and then
/// 1000 bytes, and cwnd did not grow on the last ACK.
#[test]
fn linux_resets_cubic() {
    let handshake = SenderConfig { handshake_rtt: Some(Span::from_micros(23_723)), ..window(10) };
    run_with("linux", handshake, |x| {
        let at = |x: &mut Script, us: u64| x.now = Time(us * 1000);
        at(x, 44_624);
        x.write(20_000).sends(&numbers(0, 10));
        at(x, 65_186);
        x.sack(0, &[(1, 4)]).sends("0F");
        at(x, 65_308);
        x.sack(0, &[(1, 5)]).sends("10");
        at(x, 65_352);
        x.mss(700).windows(4_900, 4_900).phase(Phase::Loss);
        x.sent.clear();
        at(x, 67_609);
        x.sack(0, &[(1, 7)]);
        at(x, 67_706);
        x.sent.clear();
        x.sack(0, &[(1, 10)]);
        x.sent.clear();
        at(x, 87_964);
        x.ack(10);
        x.sent.clear();
        let sent = x.sender.state().snd_max;
        at(x, 108_303);
        x.ack_bytes(sent).windows(4_900, 4_900).phase(Phase::Open);
        x.sent.clear();
    });
}

/// At the recovery point without SACK nothing goes again, and new data goes as always
/// (`tcp_process_loss`, `recovered`; `tcp_data_snd_check`): that is no F-RTO, and Nagle's algorithm
/// holds a short tail.
#[test]
fn linux_sends_new_data_at_the_recovery_point_as_always() {
    let recovers = |x: &mut Script, bytes: u64| {
        x.write(bytes).sends("0 1 2").at(100).mss(500).at(200);
        for acked in 0..6 {
            x.sent.clear();
            x.ack_bytes(acked * 500);
        }
        x.phase(Phase::Loss);
    };
    let nagle = SenderConfig { nagle: true, sack: false, ..window(3) };
    run_with("linux", nagle.clone(), |x| {
        x.window = 2_500;
        recovers(x, 60_000);
        x.sends("4[500..1000]").ack(3).sends("5[0..500]").phase(Phase::Loss);
    });
    run_with("linux", nagle, |x| {
        recovers(x, 6_050);
        x.sends("5[500..1000] 6[0..50]").write(20).sends("").ack(3).sends("").phase(Phase::Loss);
    });
}

/// Where nothing is outstanding, ICMP finds nothing lost, and what a driver has not yet drained
/// goes all the same: no timer would let it out.
#[test]
fn linux_sends_what_was_written_before() {
    run("linux", 10, |x| {
        x.sender.write(x.now, 1_500);
        x.mss(500);
        x.sends("0[0..500] 0[500..1000] 1[0..500]").deadline(1_004);
    });
}

/// ICMP that finds nothing lost releases nothing either, be there events or not.
#[test]
fn linux_releases_nothing_for_icmp() {
    for events in [false, true] {
        run_with("linux+reno-window", SenderConfig { events, ..window(2) }, |x| {
            x.write(500).sends("0[0..500]").write(500).sends("0[500..1000]");
            x.write(2_000).sends("").at(100).mss(500).sends("").phase(Phase::Open);
            x.at(110).write(1).sends("1[0..500] 1[500..1000]");
        });
    }
}
