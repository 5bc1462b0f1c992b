//! RFC 3168 sections 6.1.2, 6.1.5 and 6.1.6, and Linux's CWR. After a segment's number "e" stands
//! for ECT(0), "ecwr" for ECT(0) and CWR.

use super::*;

fn ecn(initial_window: u32) -> SenderConfig {
    SenderConfig { ecn: true, ..window(initial_window) }
}

pub(super) fn capable(from: u64, to: u64) -> String {
    (from..to).map(|n| format!("{n}e")).collect::<Vec<_>>().join(" ")
}

/// Section 6.1.2: cwnd and ssthresh become half of the flight before the ACK, 10 / 2 = 5. Nine are
/// outstanding then, and five ACKs release nothing. The first new segment carries CWR.
#[test]
fn an_echo_halves_the_window_once() {
    for composition in ["newreno", "sack", "reno"] {
        run_with(composition, ecn(10), |x| {
            x.write(60_000).sends(&capable(0, 10));
            x.at(100).echoes(1).sends("").windows(5_000, 5_000).phase(Phase::Open);
            // The same window: no further reduction, and no growth on an echo.
            for n in 2..=5 {
                x.echoes(n).sends("").windows(5_000, 5_000);
            }
            x.echoes(6).sends("10ecwr").windows(5_000, 5_000);
            x.echoes(10).sends("11e 12e 13e 14e").windows(5_000, 5_000);
            // Up to the point, which is 10, nothing; above it, an echo lowers again: of 5 by half,
            // at least two segments.
            x.echoes(11).sends("").windows(2_500, 2_500);
            assert_eq!(x.sender.stats().ecn_reductions, 2);
            assert_eq!(x.sender.stats().ecn_echoes, 8);
            // Four are outstanding. Congestion avoidance: 2500 + 1000^2 / 2500 = 2900.
            x.ack(13).sends("").windows(2_900, 2_500);
            // 2900 + 1000^2 / 2900 = 3244: two more beside the one outstanding.
            x.ack(14).sends("15ecwr 16e").windows(3_244, 2_500);
        });
    }
}

/// One event a reduction, with the window before it. Linux's cwnd comes down later, ACK by ACK.
#[test]
fn a_reduction_is_told() {
    for (composition, cwnd) in [("newreno", 5_000), ("linux", 10_000)] {
        run_with(composition, SenderConfig { events: true, ..ecn(10) }, |x| {
            x.write(60_000).sends(&capable(0, 10)).at(100).echoes(1);
            x.sent.clear();
            x.echoes(2).sent.clear();
            let events = std::iter::from_fn(|| x.sender.poll_event());
            let told: Vec<_> = events
                .filter(|event| event.kind.name() == "reduced")
                .map(|event| (event.kind, event.cwnd))
                .collect();
            assert_eq!(told, [(EventKind::Reduced { cwnd_before: 10_000 }, cwnd)]);
        });
    }
}

/// Without ECN an echo says nothing, and nothing is capable.
#[test]
fn without_ecn_an_echo_is_ignored() {
    run("newreno", 10, |x| {
        x.write(60_000)
            .sends(&numbers(0, 10))
            .at(100)
            .echoes(1)
            .sends("10 11")
            .windows(11_000, UNSET);
        assert_eq!(x.sender.stats().ecn_echoes, 0);
    });
}

/// Section 6.1.5: a retransmission is not capable. Section 6.1.2: after a fast retransmit the first
/// new data carries CWR, and an echo in the same window lowers nothing. The recovery point is 10.
#[test]
fn a_loss_in_the_same_window_counts() {
    run_with("newreno", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100);
        x.ack(0).ack(0).sends("").ack(0).sends("0F").windows(8_000, 5_000);
        x.echoes(0).sends("").echoes(0).sends("").windows(10_000, 5_000);
        x.echoes(0).sends("10ecwr").echoes(0).sends("11e");
        x.echoes(10).sends("12e").windows(3_000, 5_000).phase(Phase::Open);
        assert_eq!(x.sender.stats().ecn_reductions, 0);
    });
}

/// The other way round: three duplicates in the window that an echo has lowered begin a recovery
/// with the ssthresh that there is. cwnd = ssthresh + 3.
#[test]
fn a_loss_after_an_echo_lowers_nothing_again() {
    run_with("newreno", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).echoes(1).sends("").windows(5_000, 5_000);
        x.ack(1).ack(1).sends("").ack(1).sends("1F").windows(8_000, 5_000);
        x.phase(Phase::Recovery);
    });
}

/// Sections 6.1.2 and 6.1.5: a timeout too has the next new data carry CWR; what goes again is not
/// capable.
#[test]
fn after_a_timeout() {
    run_with("newreno", ecn(2), |x| {
        x.write(60_000).sends(&capable(0, 2)).fire(1000).sends("0T").windows(1_000, 2_000);
        x.at(1100).ack(2).sends("2ecwr 3e");
    });
}

/// The mark is echoed until new data carries CWR, which has to wait for the holes. Slow start goes
/// on all the same: by one segment for each ACK.
#[test]
fn slow_start_after_a_timeout_goes_on_under_echoes() {
    run_with("newreno", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).echoes(1).sends("").windows(5_000, 5_000);
        x.fire(1100).sends("1T").windows(1_000, 4_500);
        x.at(1200).echoes(2).sends("2S 3S").windows(2_000, 4_500);
        x.at(1300).echoes(3).sends("4S 5S").windows(3_000, 4_500);
    });
}

/// A law by rate sets cwnd itself: an echo leaves it, and ssthresh. In the beginning cwnd grows by
/// what is delivered (`bbr_set_cwnd`; BBRSetCwnd of draft-ietf-ccwg-bbr).
#[test]
fn bbr_keeps_its_window() {
    for composition in ["bbr", "bbr3"] {
        let config = SenderConfig { initial_ssthresh: Some(2_000), ..ecn(10) };
        run_with(composition, config, |x| {
            x.write(60_000).sends(&capable(0, 10)).at(100).echoes(1).sends("10ecwr 11e");
            x.windows(11_000, 2_000);
        });
    }
}

/// Section 6.1.6: a window probe, with a byte or without, is not capable.
#[test]
fn a_window_probe_is_not_capable() {
    run_with("newreno", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).window = 0;
        x.ack(10).sends("").fire(1100).sends("10+w");
    });
}

/// Linux: `tcp_enter_cwr` sets ssthresh to 10 * 717 / 1024 = 7 of cwnd 10, and
/// `tcp_cwnd_reduction` lets ceil(7 n / 10) go of n delivered. In flight are 9 - (n - 1) and what
/// went since, cwnd the sum of both:
/// n = 1: ceil(0.7) = 1; 2: ceil(1.4) = 2; 3: ceil(2.1) = 3; 4: ceil(2.8) = 3, nothing; 5:
/// ceil(3.5) = 4; 6: ceil(4.2) = 5; 7: ceil(4.9) = 5, nothing, and in flight are 8. At 8 in flight
/// are 7 = ssthresh, up to which the rest fills: nothing there, and one for each of 9 and 10.
#[test]
fn linux_spreads_it_over_a_round_trip() {
    run_with("linux", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10));
        x.at(100).echoes(1).sends("10ecwr").windows(10_000, 7_000).phase(Phase::Open);
        for (n, sent, cwnd) in [
            (2, "11e", 10_000),
            (3, "12e", 10_000),
            (4, "", 9_000),
            (5, "13e", 9_000),
            (6, "14e", 9_000),
            (7, "", 8_000),
            (8, "", 7_000),
            (9, "15e", 7_000),
            (10, "16e", 7_000),
        ] {
            x.at(100 + n).echoes(n).sends(sent).windows(cwnd, 7_000);
        }
        assert!(x.sender.state().cwr);
        // More than the point is acknowledged: cwnd is ssthresh, and one goes for one.
        x.at(200).ack(11).sends("17e").windows(7_000, 7_000);
        assert!(!x.sender.state().cwr);
        assert_eq!(x.sender.stats().ecn_reductions, 1);
    });
}

/// `tcp_enter_recovery` in CWR: the reduction goes on, with ssthresh 7 and what was counted. 2, 3
/// and 4 are SACKed: delivered are 1 + 3, and ceil(2.8) = 3 may have gone by then. The
/// retransmission is one of them.
#[test]
fn a_recovery_goes_on_with_the_reduction() {
    run_with("linux", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).echoes(1).sends("10ecwr");
        x.at(101).sack(1, &[(2, 3)]).sends("11+e").windows(10_000, 7_000);
        x.at(102).sack(1, &[(2, 4)]).sends("12+e").windows(10_000, 7_000);
        // In flight are 12 - 3 - 1 = 8; ceil(2.8) - 3 = 0: what is lost waits for room
        // (`tcp_xmit_retransmit_queue`). At 7 = ssthresh there is none either, at 6 for one.
        x.at(103).sack(1, &[(2, 5)]).sends("").windows(8_000, 7_000).phase(Phase::Recovery);
        assert!(!x.sender.state().cwr);
        x.at(104).sack(1, &[(2, 6)]).sends("").windows(7_000, 7_000);
        x.at(105).sack(1, &[(2, 7)]).sends("1F").windows(7_000, 7_000);
        assert_eq!((x.sender.stats().ecn_reductions, x.sender.stats().recoveries), (1, 1));
        // It ends where CWR would have: at 10, where more is outstanding. An echo begins the next
        // CWR at once, of cwnd 7: ssthresh 4.
        x.at(106).echoes(10).phase(Phase::Open);
        assert!(x.sender.state().cwr && x.sender.state().snd_max > 10_000);
        assert_eq!((x.sender.stats().ecn_reductions, x.sender.state().ssthresh), (2, 4_000));
        x.sent.clear();
    });
}

/// The duplicates of the first segment come before anything is acknowledged: position 0 is not "up
/// to the point". Linux leaves cwnd alone where nothing was delivered (`tcp_cwnd_reduction`).
#[test]
fn an_echo_counts_before_anything_is_acknowledged() {
    run_with("newreno", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).echoes(0).sends("").windows(5_000, 5_000);
    });
    run_with("linux", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100).echoes(0).sends("").windows(10_000, 7_000);
        assert!(x.sender.state().cwr);
        // One is delivered: ceil(0.7) = 1.
        x.at(101).echoes(1).sends("10ecwr").windows(10_000, 7_000);
    });
}

/// Nothing is outstanding (`tcp_ack`: no_queue): Linux lowers nothing. RFC 3168 makes no exception.
#[test]
fn an_echo_with_nothing_outstanding() {
    for (composition, reductions) in [("linux", 0), ("newreno", 1)] {
        run_with(composition, ecn(10), |x| {
            x.write(2_000).sends("0e 1e").at(100).ack(2).echoes(2).sends("");
            assert_eq!(x.sender.stats().ecn_reductions, reductions);
        });
    }
}

/// An ACK that was overtaken says nothing of now.
#[test]
fn an_old_echo_is_ignored() {
    for composition in ["linux", "newreno"] {
        run_with(composition, ecn(2), |x| {
            x.write(60_000).sends("0e 1e").at(100).ack(2);
            x.sent.clear();
            x.echoes(1).sends("");
            assert_eq!((x.sender.stats().ecn_echoes, x.sender.stats().ecn_reductions), (0, 0));
        });
    }
}

/// `tcp_ecn_withdraw_cwr`: a D-SACK shows that the recovery was spurious before CWR has left.
/// Without it CWR goes, and outside Linux it goes in any case (RFC 3168 section 6.1.2: "for any
/// reason").
#[test]
fn an_undo_withdraws_cwr() {
    for (composition, spurious, next) in
        [("linux", true, "10e"), ("linux", false, "10ecwr"), ("sack+dsack-undo", true, "10ecwr")]
    {
        run_with(composition, ecn(10), |x| {
            x.write(10_000).sends(&capable(0, 10)).at(100);
            x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sends("").sack(0, &[(1, 4)]).sends("0F");
            let lowered = x.sender.state().ssthresh;
            x.at(200).sack(10, if spurious { &[(0, 1)] } else { &[] }).phase(Phase::Open);
            assert_eq!(x.sender.state().ssthresh > lowered, spurious);
            x.write(1_000).sends(next);
        });
    }
}

/// An original of before the timeout arrives, so that F-RTO undoes it: with an echo nothing is
/// restored (`prior_ssthresh` is 0), and CWR begins at once. cwnd is 1 after the timeout, so
/// ssthresh
/// 2. In flight are 5 to 10, and of 5 delivered ceil(2 * 5 / 1) = 10 may go.
#[test]
fn an_echo_on_the_ack_that_undoes_a_timeout() {
    for echo in [false, true] {
        run_with("linux", ecn(10), |x| {
            x.write(60_000).sends(&capable(0, 10));
            while x.sender.stats().timeouts == 0 {
                x.now = x.sender.next_deadline();
                x.input(|s, now| s.on_deadline(now));
                let sent = std::mem::take(&mut x.sent);
                assert!(["10+e", "0T", ""].contains(&&*sent), "{sent}");
            }
            x.now += Span::from_millis(1);
            if echo {
                x.echoes(5)
                    .windows(16_000, 2_000)
                    .sends(&("11ecwr ".to_string() + &capable(12, 21)));
            } else {
                x.ack(5);
                x.sent.clear();
                assert_eq!(x.sender.state().ssthresh, UNSET);
            }
            x.phase(Phase::Open);
            assert_eq!(
                (x.sender.state().cwr, x.sender.stats().ecn_reductions),
                (echo, echo.into())
            );
        });
    }
}

/// The same elsewhere: the timeout is undone, and the echo leaves half of the FlightSize before the
/// ACK, ten segments (RFC 5681 equation 4), and not of what went again. The law is restored first.
#[test]
fn an_echo_on_the_ack_that_undoes_halves_the_flight() {
    for composition in ["newreno+eifel", "sack+eifel", "sack+prr+eifel"] {
        run_with(composition, SenderConfig { timestamps: true, ..ecn(10) }, |x| {
            x.echo = Some(0);
            x.write(60_000).sends(&capable(0, 10)).fire(1000).sends("0T").windows(1_000, 5_000);
            x.at(1100).echoes(1).phase(Phase::Open);
            x.sent.clear();
            assert_eq!(x.sender.state().ssthresh, 5_000);
            assert_eq!(x.sender.stats().ecn_reductions, 1);
        });
    }
    // A recovery: three of ten have left, and all ten were outstanding.
    run_with("newreno+eifel", SenderConfig { timestamps: true, ..ecn(10) }, |x| {
        x.echo = Some(0);
        x.write(60_000).sends(&capable(0, 10)).at(100).ack(0).ack(0).ack(0).sends("0F");
        x.echoes(4).windows(5_000, 5_000).phase(Phase::Open).sends("");
    });
}

/// CWR stays CWR whatever is SACKed, and new data in it has the timer wait for a probe
/// (`tcp_schedule_loss_probe`), not for the end of the reordering window: two round trips of
/// 100.125 ms, and 2 ms: 51 ticks of 4 ms from 100 ms on, and one more. Without the echo it waits
/// for a quarter of the least round trip, 100 ms, and 2 ms: 7 ticks, and one more.
#[test]
fn in_cwr_new_data_waits_for_a_probe() {
    for (echo, due) in [(true, 308_000), (false, 132_000)] {
        run_with("linux", ecn(10), |x| {
            x.write(60_000).sends(&capable(0, 10)).at(100);
            if echo {
                x.echoes(1);
            } else {
                x.ack(1);
            }
            x.sent.clear();
            x.at(101).sack(1, &[(2, 3)]);
            x.sent.clear();
            assert_eq!(x.sender.next_deadline(), Time(due * 1000));
        });
    }
}

/// A loss that a tail loss probe has repaired lowers the windows (`tcp_process_tlp_ack`; RFC 8985
/// section 7.4.2), and the next new data says so. CUBIC's 10 + 9 come down to 19 * 717 / 1024 = 13.
/// Reno's 10 + 1 come down to half of the three in flight, but to no less than two segments.
#[test]
fn a_loss_that_a_probe_repaired_draws_cwr() {
    for (composition, before, after) in [("linux", 19_000, 13_000), ("sack+tlp", 11_000, 2_000)] {
        run_with(composition, ecn(10), |x| {
            x.write(10_000).sends(&capable(0, 10)).at(100).ack(9).sends("");
            x.now = x.sender.next_deadline();
            x.input(|s, now| s.on_deadline(now)).sends("9+");
            x.windows(before, UNSET);
            x.now += Span::from_millis(100);
            x.write(2_000).sends("10e 11e").ack(12).windows(after, after);
            x.write(1_000).sends("12ecwr");
        });
    }
}

/// `tcp_enter_loss` in CWR: ssthresh stays.
#[test]
fn a_timeout_in_cwr_lowers_ssthresh_no_further() {
    run_with("linux", ecn(10), |x| {
        x.write(60_000)
            .sends(&capable(0, 10))
            .at(100)
            .echoes(1)
            .sends("10ecwr")
            .windows(10_000, 7_000);
        let due = x.sender.next_deadline();
        // A tail loss probe first, of new data.
        x.at(due.0 / 1_000_000).input(|s, now| s.on_deadline(now));
        x.sent.clear();
        while x.sender.stats().timeouts == 0 {
            x.now = x.sender.next_deadline();
            x.input(|s, now| s.on_deadline(now));
            x.sent.clear();
        }
        assert_eq!(x.sender.state().ssthresh, 7_000);
    });
}

/// RFC 9937's PRR does it too, in bytes: RecoverFS = 9000 + 1000, ssthresh 5000 (Reno), so that
/// half a segment may go for each one delivered, and all of them for the second.
#[test]
fn prr_spreads_it_over_a_round_trip() {
    run_with("sack+prr", ecn(10), |x| {
        x.write(60_000).sends(&capable(0, 10)).at(100);
        x.echoes(1).sends("10ecwr").windows(10_000, 5_000);
        // 1000 delivered by 2, 1000 allowed and 1000 sent; 1500 of 3: half a segment waits.
        x.ack(2).sends("").windows(9_000, 5_000);
        x.ack(3).sends("").windows(8_500, 5_000);
        x.ack(4).sends("11e").windows(8_000, 5_000);
    });
}

/// RFC 5681 section 4.1: all sixteen of the window that a mark has halved are acknowledged, up to
/// the point and no further. What PRR would still release, eight segments, does not count after an
/// idle time: the restart window is four.
#[test]
fn an_idle_time_ends_the_reduction() {
    for composition in ["sack+prr", "newreno+prr", "sack+prr-crb"] {
        run_with(composition, ecn(4), |x| {
            x.write(28_000);
            for (at, acks) in [(100, 1..=4), (200, 5..=12)] {
                acks.for_each(|n| {
                    x.sent.clear();
                    x.at(at).ack(n);
                });
            }
            x.sent.clear();
            x.at(300).echoes(13).sends("");
            assert!(x.sender.state().cwr);
            for n in 14..=28 {
                x.ack(n).sends("");
            }
            x.windows(8_000, 8_000).at(5000).write(40_000).sends("28ecwr 29e 30e 31e");
            x.windows(4_000, 8_000);
            assert!(!x.sender.state().cwr);
        });
    }
}

/// A tail loss probe repairs a loss of the window that a mark has lowered: it lowers nothing again
/// (RFC 3168 section 6.1.2). Congestion avoidance: 5000 + 1000^2 / 5000.
#[test]
fn a_loss_that_a_probe_repaired_after_a_mark() {
    run_with("sack+tlp", ecn(10), |x| {
        x.write(10_000).sends(&capable(0, 10)).at(100).echoes(9).sends("").windows(5_000, 5_000);
        x.now = x.sender.next_deadline();
        x.input(|s, now| s.on_deadline(now)).sends("9+");
        x.now += Span::from_millis(100);
        x.write(2_000).sends("10ecwr 11e").ack(12).sends("").windows(5_200, 5_000);
    });
}

/// The other way round: half of the ten outstanding for the loss, and a mark of the same window
/// lowers nothing again. One of the next window does.
#[test]
fn a_mark_after_a_loss_that_a_probe_repaired() {
    run_with("sack+tlp", ecn(10), |x| {
        x.write(10_000).sends(&capable(0, 10)).at(100).ack(9).sends("").windows(11_000, UNSET);
        x.now = x.sender.next_deadline();
        x.input(|s, now| s.on_deadline(now)).sends("9+");
        x.now += Span::from_millis(100);
        x.write(9_000).sends(&capable(10, 19)).ack(12).sends("").windows(5_000, 5_000);
        x.echoes(13).echoes(19).sends("").windows(5_000, 5_000);
        assert_eq!(x.sender.stats().ecn_reductions, 0);
        x.write(2_000).sends("19ecwr 20e").echoes(20).sends("");
        assert_eq!(x.sender.stats().ecn_reductions, 1);
    });
}

/// A FIN without data is not ECN-capable and carries no CWR; one behind data is part of it.
#[test]
fn a_fin_alone_is_not_capable() {
    for (bytes, expected) in [(2_001, "2[0..1]"), (2_002, "2[0..2]ecwr")] {
        run_with("newreno", ecn(2), |x| {
            x.close_with_fin().write(bytes).sends("0e 1e").at(100).echoes(2).sends(expected);
        });
    }
}

/// An echo on the ACK of an original, with nothing retransmitted on its way, begins no CWR: what is
/// undone within a recovery is not followed by `tcp_try_to_open` (`tcp_try_undo_partial`). The echo
/// leaves ssthresh where the recovery put it (`prior_ssthresh` is 0).
#[test]
fn an_echo_on_the_ack_that_undoes_part_of_a_recovery() {
    run_with("linux", SenderConfig { timestamps: true, ..ecn(10) }, |x| {
        x.echo = Some(1);
        x.at(1).write(60_000).sends(&capable(0, 10)).at(100).sack(0, &[(1, 4)]).sends("0F");
        x.at(103).echoes(4).phase(Phase::Open);
        x.sent.clear();
        assert_eq!((x.sender.state().cwr, x.sender.stats().ecn_reductions), (false, 0));
        assert_eq!(x.sender.state().ssthresh, 7_000);
    });
}
