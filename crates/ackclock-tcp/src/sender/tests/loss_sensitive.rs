//! Lin & Kung 1998 section 5: windows that shrink with the number of losses, and the guard against
//! segments out of order.

use super::path::Path;
use super::*;
use crate::recovery::regulate::LossSensitive;
use crate::recovery::regulate::Regulate;
use crate::recovery::select::OrderGuard;
use crate::recovery::select::{OnAck, Select};
use crate::summary::AckSummary;

/// A window of `w` segments that begins with segment `first`, and plenty to send.
fn window(w: u64, first: u64) -> SenderConfig {
    assert!(w <= 63 && first <= 700);
    SenderConfig { initial_window: Some(w as u32), max_cwnd: Some(w * MSS), ..config() }
}

fn start(x: &mut Script, w: u64, first: u64) {
    let sends: Vec<String> = (0..w).map(|n| n.to_string()).collect();
    x.write(1_000_000).sends(&sends.join(" "));
    for n in 1..=first {
        x.ack(n).sends(&(n + w - 1).to_string());
    }
}

/// Figures 3 and 4 up to the loss of 638's retransmission: 638 to 671 are outstanding, 638 to 640
/// lost.
#[test]
fn figure_3_until_the_lost_retransmission() {
    let lost = [(638, 1), (639, 1), (640, 1), (638, 2)];
    run_with("sack-ls", window(34, 638), |x| {
        start(x, 34, 638);
        let mut path = Path::new(x, &lost);
        let released: Vec<String> = (1..=31).map(|_| path.step()).collect();
        let mut expected = vec![String::new(); 31];
        expected[2] = "638F".into();
        // "Waiting for 17 duplicated ACKs (14 plus the original 3 dupacks)."
        (expected[17], expected[18]) = ("639P".into(), "640P".into());
        for dupack in 20..=31 {
            expected[dupack - 1] = (672 + dupack - 20).to_string();
        }
        assert_eq!(released, expected);
        // The retransmissions of 639 and 640, and 672 to 683. None of their ACKs moves snd_una:
        // without 6.2, a timeout.
        assert_eq!(path.in_network(), 14);
        for dupack in 32..=45 {
            assert_eq!(path.step(), (672 + dupack - 20).to_string());
        }
        x.phase(Phase::Recovery).windows(60_000, 17_000);
    });
}

/// "The number of packets on the fly is half of the original window size minus a constant c": c = L
/// - 1 for L losses, wherever they lie. "During no time does the sender generate more than one
///   packet for each received ACK."
#[test]
fn a_recovery_ends_with_half_of_the_window_less_the_further_losses() {
    let patterns: &[(&[u64], usize)] = &[
        (&[0], 10),
        (&[0, 1], 9),
        (&[0, 1, 2], 8),
        (&[3, 4, 5], 8),
        // Section 5.2 says W/2 less the distance: 5, 1 and -9 here.
        (&[0, 2, 5], 8),
        (&[0, 9], 9),
        (&[0, 10, 19], 8),
        (&[0, 3, 6, 9, 12, 15, 18], 4),
        // With half of the window lost only the first retransmission is under way, and with more
        // of it too.
        (&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 1),
        (&[0, 1, 2, 4, 6, 8, 10, 11, 12, 14, 16, 18, 19], 1),
    ];
    for composition in ["newreno-ls", "sack-ls"] {
        for (losses, expected) in patterns {
            let lost: Vec<(u64, u32)> = losses.iter().map(|&n| (n, 1)).collect();
            run_with(composition, window(20, 0), |x| {
                start(x, 20, 0);
                let mut path = Path::new(x, &lost);
                while path.phase() == Phase::Open {
                    assert!(path.step().split(' ').count() <= 1);
                }
                let mut last = String::new();
                while path.phase() == Phase::Recovery {
                    last = path.step();
                    assert!(last.split(' ').count() <= 1, "{composition} {losses:?}: {last}");
                }
                assert!(
                    !last.is_empty(),
                    "{composition} {losses:?}: the last ACK releases one segment"
                );
                assert_eq!(path.in_network(), *expected, "{composition} {losses:?}");
                let s = x.sender.state();
                assert_eq!((s.cwnd, s.flight()), (*expected as u64 * MSS, *expected as u64 * MSS));
                assert_eq!(x.sender.stats().recoveries, 1);
            });
        }
    }
}

/// Section 5.1 on a window of ten of which 0, 4 and 5 are lost, ACK by ACK.
#[test]
fn newreno_releases_one_segment_for_each_ack() {
    run("newreno-ls", 10, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
        x.ack(0).sends("").ack(0).sends("").windows(10_000, 5_000);
        x.ack(0).sends("10").ack(0).sends("11").windows(12_000, 5_000);
        // 4 to 11 are outstanding: RFC 6582 has room for 12 here.
        x.ack(4).sends("4P").windows(8_000, 5_000);
        x.ack(4).sends("12").ack(4).sends("13").windows(10_000, 5_000);
        x.ack(5).sends("5P").windows(9_000, 5_000);
        x.ack(5).sends("14").ack(5).sends("15").windows(11_000, 5_000);
        // 14 and 15 are outstanding, and one more may be.
        x.ack(14).sends("16").windows(3_000, 5_000).phase(Phase::Open);
    });
}

/// Section 5.2 on the same losses: what selection sends again takes one segment off the window.
#[test]
fn sack_releases_one_segment_for_each_ack() {
    run("sack-ls", 10, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.sack(0, &[(1, 2)]).sends("").sack(0, &[(1, 3)]).sends("");
        x.sack(0, &[(1, 4)]).sends("0F").windows(8_000, 5_000);
        x.sack(0, &[(6, 7), (1, 4)])
            .sends("")
            .sack(0, &[(6, 8), (1, 4)])
            .sends("")
            .windows(10_000, 5_000);
        x.sack(0, &[(6, 9), (1, 4)]).sends("4P").windows(10_000, 5_000);
        x.sack(0, &[(6, 10), (1, 4)]).sends("5P").windows(10_000, 5_000);
        // A partial ACK: one segment, and 5 to 10 are outstanding then.
        x.sack(4, &[(6, 10)]).sends("10").windows(7_000, 5_000);
        x.sack(5, &[(6, 10)]).sends("11").windows(7_000, 5_000);
        // The window that is left: 10 and 11, and one more.
        x.ack(10).sends("12").windows(3_000, 5_000).phase(Phase::Open);
    });
}

/// The ACK that begins a recovery releases the retransmission only: Reno's ssthresh + 3 has room
/// for one more here.
#[test]
fn a_small_window_begins_recovery_with_one_segment() {
    let script = |third: &'static str, cwnd| {
        move |x: &mut Script| {
            x.write(30_000).sends("0 1 2 3");
            x.ack(0).sends("").ack(0).sends("").ack(0).sends(third).windows(cwnd, 2_000);
        }
    };
    run("newreno-ls", 4, script("0F", 4_000));
    run("newreno", 4, script("0F 4", 5_000));
}

/// Twelve outstanding and a window of eleven: what other mechanisms send and find within recovery.
#[test]
fn what_takes_room_and_what_makes_room() {
    run("newreno-ls", 12, |x| {
        start(x, 12, 0);
        let mut s = x.sender.state().clone();
        (s.cwnd, s.ssthresh) = (11_000, 6_000);
        let regulate = &mut LossSensitive;
        // Section 6.2: the ACK that shows a retransmission lost releases only that one; section
        // 6.5: what fills in for new data takes the room that its ACK made. A marked
        // segment (6.3) counts as it moves snd_nxt.
        for (cause, cwnd) in [
            (Cause::Filler, 10_000),
            (Cause::Recovery, 10_000),
            (Cause::Marker, 11_000),
            (Cause::LimitedTransmit, 11_000),
            (Cause::New, 11_000),
        ] {
            assert_eq!(regulate.on_transmit(&s, cause, 1_000), cwnd, "{cause:?}");
        }
        // Section 6.3: once a marker is back, every ACK releases one segment.
        assert_eq!(regulate.on_round_trip(&s), 12_000);
        // "One half or less."
        assert_eq!(regulate.on_exit(&s, &AckSummary::default()), 6_000);
        s.cwnd = 13_000;
        assert_eq!(regulate.on_round_trip(&s), 13_000);
    });
}

/// Limited data: duplicates release nothing, and save nothing up for data that comes later.
#[test]
fn room_without_data_is_not_saved_up() {
    for composition in ["newreno-ls", "net-reno"] {
        run(composition, 10, |x| {
            x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
            for dupack in 1..=9 {
                x.ack(0).sends(if dupack == 3 { "0F" } else { "" });
            }
            // Six duplicates found half of the window gone: one segment, not four.
            x.windows(11_000, 5_000).write(30_000).sends("10");
            x.ack(10).sends("11").windows(2_000, 5_000);
        });
    }
    run("sack-ls", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
        for right in 2..=10 {
            x.sack(0, &[(1, right)]).sends(if right == 4 { "0F" } else { "" });
        }
        x.windows(11_000, 5_000).write(30_000).sends("10");
        x.ack(10).sends("11").windows(2_000, 5_000);
    });
}

/// Reordering by one and by two, and a lost ACK: no recovery, no retransmission, and the window
/// untouched.
#[test]
fn does_not_act_on_reordering_or_a_lost_ack() {
    for composition in ["newreno-ls", "sack-ls", "net-reno", "net-reno-sack"] {
        run_with(composition, window(20, 0), |x| {
            start(x, 20, 0);
            // 0 comes after 1, then 3 after 4 and 5; the ACK of 6 is lost.
            x.sack(0, &[(1, 2)]).sends("").ack(2).sends("20 21");
            x.ack(3).sends("22");
            x.sack(3, &[(4, 5)]).sends("").sack(3, &[(4, 6)]).sends("").ack(6).sends("23 24 25");
            x.ack(8).sends("26 27").windows(20_000, UNSET).phase(Phase::Open);
            assert_eq!((x.sender.stats().recoveries, x.sender.stats().retransmissions), (0, 0));
        });
    }
}

/// The example of section 5.3 with W = 8: P1 is lost, P8 and P1's retransmission arrive in reverse
/// order, and so A8 is a partial ACK. Without the guard P8 is retransmitted after P12, the last of
/// P_{3w/2}.
#[test]
fn section_5_3_example() {
    let until_partial = |x: &mut Script| {
        // Segment n - 1 is the paper's P_n.
        x.write(30_000).sends("0 1 2 3 4 5 6 7");
        x.ack(0).ack(0).ack(0).sends("0F").windows(7_000, 4_000);
        // P2 to P7 arrive: six duplicates.
        x.acks(0, ["", "8", "9"]);
    };
    run("newreno-ls", 8, |x| {
        until_partial(x);
        x.ack(7).sends("7P").windows(3_000, 4_000);
    });
    run("newreno-ls+order-guard", 8, |x| {
        until_partial(x);
        x.ack(7).sends("10").windows(4_000, 4_000);
        // P8 arrives: a complete ACK.
        x.ack(8).sends("11").windows(4_000, 4_000).phase(Phase::Open);
        assert_eq!(x.sender.stats().retransmissions, 1);
    });
    // With SACK a partial ACK alone says nothing of P8.
    run("sack-ls", 8, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7");
        x.sack(0, &[(1, 2)]).sack(0, &[(1, 3)]).sack(0, &[(1, 4)]).sends("0F");
        x.sack(0, &[(1, 5)]).sends("").sack(0, &[(1, 6)]).sends("8").sack(0, &[(1, 7)]).sends("9");
        x.ack(7).sends("10").ack(8).sends("11").phase(Phase::Open);
        assert_eq!(x.sender.stats().retransmissions, 1);
    });
}

/// D = 3 sends again at once; D = 2 waits for one duplicate, D = 1 for two, and the retransmission
/// takes the place of what that duplicate would release.
#[test]
fn the_guard_waits_for_three_less_d() {
    let script = |ack, releases: [&'static str; 4]| {
        move |x: &mut Script| {
            x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
            x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
            x.ack(ack).sends(releases[0]);
            for release in &releases[1..] {
                x.ack(ack).sends(release);
            }
            x.phase(Phase::Recovery);
        }
    };
    run("newreno-ls+order-guard", 10, script(7, ["7P", "10", "11", "12"]));
    run("newreno-ls+order-guard", 10, script(8, ["10", "8P", "11", "12"]));
    run("newreno-ls+order-guard", 10, script(9, ["10", "11", "9P", "12"]));
}

/// "These two rules are used recursively until a complete ACK is received": a retransmission moves
/// the marker.
#[test]
fn the_guard_is_recursive() {
    run("newreno-ls+order-guard", 10, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.ack(0).ack(0).ack(0).sends("0F");
        // 10 - 8 = 2: one duplicate awaited, but a partial ACK comes, and 10 - 9 = 1.
        x.ack(8).sends("10").ack(9).sends("11").ack(9).sends("12");
        // The marker is 13 from here on.
        x.ack(9).sends("9P").phase(Phase::Recovery);
        x.ack(10).sends("13").phase(Phase::Open);
    });
    run("newreno-ls+order-guard", 10, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.ack(0).ack(0).acks(0, ["0F", "", "", "10", "11"]);
        // The marker moves from 10 to 12, so that 12 - 8 = 4.
        x.ack(1).sends("1P").ack(8).sends("8P").phase(Phase::Recovery);
    });
}

/// A recovery that ended while duplicates were awaited leaves nothing to the next one.
#[test]
fn the_guard_begins_each_recovery_anew() {
    run("newreno-ls+order-guard", 8, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7");
        x.ack(0).ack(0).acks(0, ["0F", "", "8", "9"]);
        x.ack(7).sends("10").ack(8).sends("11").phase(Phase::Open);
        x.ack(8).acks(8, ["", "8F", "12", "13"]);
    });
}

/// A retransmission found lost and repeated moves the marker too; an ACK that is no duplicate
/// counts as none.
#[test]
fn the_guard_hears_of_every_retransmission() {
    run("newreno-ls+order-guard", 10, |x| {
        start(x, 10, 0);
        let mut s = x.sender.state().clone();
        let mut guard = OrderGuard::default();
        let partial = AckSummary { ack: 8_000, newly_acked: 8_000, ..AckSummary::default() };
        let held = OnAck { retransmit_head: false, restart_timer: true };
        guard.on_transmit(&s, Cause::FastRetransmit);
        assert_eq!(guard.on_ack(&s, &partial), held);
        assert_eq!(guard.on_ack(&s, &AckSummary::default()), OnAck::default());
        s.snd_nxt = 11_000;
        guard.on_transmit(&s, Cause::New);
        assert_eq!(guard.on_ack(&s, &partial), held);
        guard.on_transmit(&s, Cause::Recovery);
        assert_eq!(
            guard.on_ack(&s, &partial),
            OnAck { retransmit_head: true, restart_timer: true }
        );
    });
}

/// A guarded retransmission with nothing new to send waits for the timer (section 6.5 is for that).
#[test]
fn the_guard_without_data_waits() {
    run("newreno-ls+order-guard", 10, |x| {
        x.write(10_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.ack(0).ack(0).ack(0).sends("0F").at(100).ack(9).sends("").fire(1100).sends("9T");
    });
}

/// Any number of losses: every partial ACK restarts the timer, as in BSD.
#[test]
fn every_partial_ack_restarts_the_timer() {
    for composition in ["newreno-ls", "net-reno"] {
        run(composition, 10, |x| {
            x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9").at(100).ack(0).ack(0).ack(0).sends("0F");
            x.at(200).ack(1).sends("1P").deadline(1200).at(300).ack(2).sends("2P").deadline(1300);
        });
    }
}

/// "Each received ACK (duplicate or partial) causes exactly one packet to be sent": with SACK also
/// one that reports nothing new but a segment that arrived twice.
#[test]
fn the_ack_of_a_spurious_retransmission_releases_a_segment() {
    run("sack-ls", 10, |x| {
        x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9");
        for (n, sends) in (2..).zip(["", "", "0F", "", "", "10"]) {
            x.sack(0, &[(1, n)]).sends(sends);
        }
        x.sack(0, &[(3, 4), (1, 7)]).sends("11");
    });
}
