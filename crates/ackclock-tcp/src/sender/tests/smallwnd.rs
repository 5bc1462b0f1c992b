//! Lin & Kung 1998 section 4.2, the small-window optimisation.

use super::*;
use crate::recovery::probe::LimitedTransmit;
use crate::recovery::probe::Probe;
use crate::recovery::probe::SmallWindow;

/// A window that stays at `w` segments.
fn window(w: u64) -> SenderConfig {
    SenderConfig { initial_window: Some(w as u32), max_cwnd: Some(w * MSS), ..config() }
}

/// Figure 2: a window of three, 43 to 45 outstanding, 43 lost.
#[test]
fn figure_2() {
    let until_43 = |x: &mut Script| {
        x.write(100_000).sends("0 1 2");
        for n in 1..=41 {
            x.ack(n).sends(&(n + 2).to_string());
        }
        // 42 draws no ACK of its own (delayed ACK); 44 draws one for it, which lets 44 and 45 out.
        x.ack(43).sends("44 45").windows(3_000, UNSET);
    };
    for composition in ["newreno-ls+smallwnd", "net-reno", "reno+smallwnd", "newreno+smallwnd-any"]
    {
        run_with(composition, window(3), |x| {
            until_43(x);
            // "Packet 46 was sent at (103, 46) and it became the only packet alive."
            x.ack(43).sends("46+").ack(43).sends("47+").windows(3_000, UNSET);
            // Five are outstanding, and half of three is halved: max(3 / 2, 2), and not 5 / 2.
            x.ack(43).sends("43F").windows(5_000, 2_000).phase(Phase::Recovery);
        });
    }
    run_with("newreno-ls", window(3), |x| {
        until_43(x);
        x.ack(43).sends("").fire(1000).sends("43T");
    });
}

/// Figure 2 on SACK.
#[test]
fn figure_2_with_sack() {
    for composition in ["sack-ls+smallwnd", "net-reno-sack"] {
        run_with(composition, window(3), |x| {
            x.write(100_000).sends("0 1 2");
            x.sack(0, &[(2, 3)]).sends("3+").sack(0, &[(2, 4)]).sends("4+");
            x.sack(0, &[(2, 5)]).sends("0F").windows(5_000, 2_000);
            // 1 is a hole; each ACK releases one segment.
            x.sack(1, &[(2, 5)]).sends("1P").windows(4_000, 2_000);
            x.ack(5).sends("5").windows(1_000, 2_000).phase(Phase::Open);
        });
    }
}

/// "If the amount acknowledged is more than or equal to the amount inflated, dupacks is cleared.
/// Otherwise, dupacks should be subtracted by the amount acknowledged": what is injected,
/// acknowledged, and remains counted.
#[test]
fn accounting_of_a_positive_ack() {
    let cases = [(1, 1, 0), (1, 2, 0), (1, 3, 0), (2, 1, 1), (2, 2, 0), (2, 3, 0)];
    for (injected, acked, remain) in cases {
        run_with("newreno-ls+smallwnd", window(5), |x| {
            x.write(100_000).sends("0 1 2 3 4");
            x.ack(0).sends("5+");
            if injected == 2 {
                x.ack(0).sends("6+");
            }
            // Outstanding may be five segments, and one for each duplicate that remains counted.
            let sent: Vec<String> =
                (5 + injected..5 + acked + remain).map(|n| n.to_string()).collect();
            x.ack(acked).sends(&sent.join(" "));
            assert_eq!(u64::from(x.sender.state().dupacks), remain, "{injected} {acked}");
            assert_eq!(x.sender.state().limited, remain * MSS, "{injected} {acked}");
            // The third that is counted begins recovery; ssthresh is half of five whatever was
            // injected.
            let mut dupacks = remain;
            while x.sender.state().phase == Phase::Open {
                x.ack(acked);
                x.sent.clear();
                dupacks += 1;
            }
            assert_eq!((dupacks, x.sender.state().ssthresh), (3, 2_500), "{injected} {acked}");
        });
    }
}

/// A segment acknowledged in part counts as acknowledged; where the window grows, less is beyond
/// it.
#[test]
fn accounting_in_bytes_and_with_growth() {
    run_with("newreno-ls+smallwnd", window(5), |x| {
        x.write(100_000).sends("0 1 2 3 4").ack(0).sends("5+").ack(0).sends("6+");
        x.ack_bytes(1_999).sends("");
        let s = x.sender.state();
        assert_eq!((s.dupacks, s.limited), (0, 0));
    });
    run("newreno-ls+smallwnd", 5, |x| {
        x.write(100_000).sends("0 1 2 3 4").ack(0).sends("5+").ack(0).sends("6+");
        // Slow start: six are outstanding, six are the window, and the duplicate that remains
        // allows one more.
        x.ack(1).sends("7+").windows(6_000, UNSET);
        assert_eq!((x.sender.state().dupacks, x.sender.state().limited), (1, 1_000));
        x.ack(1).sends("8+").ack(1).sends("1F").windows(6_000, 3_000);
    });
}

/// "Triggered only if the congestion window size is less than ten packets"; the variant has no
/// limit.
#[test]
fn acts_below_ten_segments_only() {
    let script = |w: u64, acts| {
        move |x: &mut Script| {
            let sends: Vec<String> = (0..w).map(|n| n.to_string()).collect();
            x.write(100_000).sends(&sends.join(" "));
            for n in w..w + 2 {
                let sent = if acts { format!("{n}+") } else { String::new() };
                x.ack(0).sends(&sent);
            }
            x.ack(0).sends("0F");
        }
    };
    run_with("newreno-ls+smallwnd", window(9), script(9, true));
    run_with("newreno-ls+smallwnd", window(10), script(10, false));
    run_with("newreno-ls+smallwnd-any", window(10), script(10, true));
    run_with("newreno-ls+smallwnd-any", window(40), script(40, true));
}

/// Reordering by one and by two: what was injected is paid back by the positive ACK, and nothing is
/// retransmitted.
#[test]
fn reordering_is_paid_back() {
    run_with("net-reno", window(5), |x| {
        x.write(100_000).sends("0 1 2 3 4");
        // 1 before 0.
        x.ack(0).sends("5+").ack(2).sends("6");
        // 3 and 4 before 2.
        x.ack(2).sends("7+").ack(2).sends("8+").ack(5).sends("9");
        // The ACK of 5 is lost.
        x.ack(7).sends("10 11").windows(5_000, UNSET).phase(Phase::Open);
        assert_eq!((x.sender.stats().recoveries, x.sender.stats().retransmissions), (0, 0));
    });
}

/// Without new data, or with no receive window for it, nothing is injected and nothing is owed.
#[test]
fn limited_data_injects_nothing() {
    run_with("newreno-ls+smallwnd", window(5), |x| {
        x.write(5_000).sends("0 1 2 3 4").ack(0).sends("").ack(0).sends("");
        x.ack(1).sends("");
        assert_eq!((x.sender.state().dupacks, x.sender.state().limited), (0, 0));
        x.write(95_000).sends("5");
    });
    // One of the two duplicates found data: one was injected, and one is acknowledged.
    run_with("newreno-ls+smallwnd", window(5), |x| {
        x.write(6_000).sends("0 1 2 3 4").ack(0).sends("5+").ack(0).sends("").ack(1).sends("");
        assert_eq!((x.sender.state().dupacks, x.sender.state().limited), (0, 0));
    });
    run_with("newreno-ls+smallwnd", SenderConfig { initial_rwnd: 5_000, ..window(5) }, |x| {
        x.window = 5_000;
        x.write(100_000).sends("0 1 2 3 4").acks(0, ["", "", "0F"]);
        x.windows(5_000, 2_500);
    });
}

/// Section 6.4 sets dupacks to two at the end of a recovery: no segment has left the network for
/// these.
#[test]
fn carried_duplicates_allow_nothing() {
    run("net-reno", 5, |x| {
        let mut s = x.sender.state().clone();
        for (dupacks, carried, allowance) in [(2, 0, 2_000), (2, 2, 0), (3, 2, 1_000)] {
            (s.dupacks, s.assumed_dupacks) = (dupacks, carried);
            assert_eq!(SmallWindow::below_ten().allowance(&s), allowance);
            assert_eq!(LimitedTransmit.allowance(&s), allowance);
        }
    });
}

/// Duplicates that a refused recovery left counted are not "before dupacks reaches three": none of
/// them remains, so that the third one to come is not missed.
#[test]
fn what_is_counted_never_jumps_past_the_third() {
    run_with("newreno+smallwnd", window(5), |x| {
        x.write(100_000).sends("0 1 2 3 4");
        x.acks(0, ["5+", "6+", "0F"]);
        x.ack(7).sends("7 8").windows(2_000, 2_500);
        // At the recovery point, where bugfix refuses whatever duplicates come.
        x.acks(7, ["9+", "10+", "", "", ""]);
        assert_eq!(x.sender.state().dupacks, 5);
        x.ack(8).sends("").windows(3_000, 2_500);
        assert_eq!((x.sender.state().dupacks, x.sender.state().limited), (0, 0));
        x.acks(8, ["11+", "12+", "8F"]).phase(Phase::Recovery);
    });
}
