//! Windows, Nagle's algorithm, idle times, and ACKs that should not be.

use super::*;

/// RFC 5681 equations 2 and 3.
#[test]
fn slow_start_and_congestion_avoidance() {
    run_with(
        "reno",
        SenderConfig { initial_window: Some(2), initial_ssthresh: Some(4_000), ..config() },
        |x| {
            x.write(30_000).sends("0 1").windows(2_000, 4_000);
            x.ack(1).sends("2 3").windows(3_000, 4_000);
            // "Acknowledges 2": one segment at most for an ACK.
            x.ack(3).sends("4 5 6").windows(4_000, 4_000);
            // cwnd = ssthresh is congestion avoidance: 1000 * 1000 / 4000, then / 4250, / 4485, /
            // 4707.
            x.ack(4).sends("7").windows(4_250, 4_000);
            x.ack(5).sends("8").windows(4_485, 4_000);
            x.ack(6).sends("9").windows(4_707, 4_000);
            x.ack(7).sends("10").windows(4_919, 4_000);
            x.ack(8).sends("11 12").windows(5_122, 4_000);
        },
    );
    // N below SMSS adds N.
    run("reno", 2, |x| {
        x.write(30_000).sends("0 1").ack_bytes(300).sends("").windows(2_300, UNSET);
    });
}

/// RFC 3465: sections 2.1, 2.2 and 2.3.
#[test]
fn byte_counting() {
    run_with(
        "reno+abc",
        SenderConfig { initial_window: Some(4), initial_ssthresh: Some(9_000), ..config() },
        |x| {
            x.write(60_000).sends("0 1 2 3");
            x.ack(2).sends("4 5 6 7").windows(6_000, 9_000);
            // L = 2.
            x.ack(5).sends("8 9 10 11 12").windows(8_000, 9_000);
            x.ack(6).sends("13 14").windows(9_000, 9_000);
            // A full cwnd of bytes for a segment: after nine.
            x.ack(10).sends("15 16 17 18").windows(9_000, 9_000);
            x.ack(14).sends("19 20 21 22").windows(9_000, 9_000);
            x.ack(15).sends("23 24").windows(10_000, 9_000);
            x.ack(24).sends("25 26 27 28 29 30 31 32 33").windows(10_000, 9_000);
            x.ack(25).sends("34 35").windows(11_000, 9_000);
        },
    );
    // Section 2.3's example: the ACK of the retransmission covers what had arrived; L = 1, and in
    // all of that slow start.
    run("reno+abc", 10, |x| {
        x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T").windows(1_000, 5_000);
        x.at(1100).ack(10).sends("10 11").windows(2_000, 5_000);
        x.ack(12).sends("12 13 14").windows(3_000, 5_000);
        x.ack(15).sends("15 16 17 18").windows(4_000, 5_000);
        x.ack(17).sends("19 20 21").windows(5_000, 5_000);
    });
}

/// RFC 3465 section 2.3: L = 1 after a timeout, and 2 again once that was undone.
#[test]
fn abc_after_a_timeout_that_was_undone() {
    for (composition, cwnd) in [("newreno+abc", 3_000), ("newreno+abc+eifel", 13_000)] {
        run_with(composition, SenderConfig { timestamps: true, ..window(10) }, |x| {
            x.echo = Some(0);
            x.write(60_000).sends(&numbers(0, 10)).fire(1000).sends("0T").at(1100).ack(1);
            x.sent.clear();
            x.ack(3).sent.clear();
            assert_eq!(x.sender.state().cwnd, cwnd);
        });
    }
}

/// BSD's decrease: half of min(cwnd, rwnd).
#[test]
fn half_window_is_not_half_flight() {
    let lose_the_first = |x: &mut Script| {
        x.write(4_000).sends("0 1 2 3").ack(0).ack(0).sends("").ack(0).sends("0F");
    };
    run("reno", 10, |x| {
        lose_the_first(x);
        x.windows(5_000, 2_000);
    });
    run("reno+half-window", 10, |x| {
        lose_the_first(x);
        x.windows(8_000, 5_000);
    });
    // In whole segments: half of nine is four.
    run("reno+half-window", 9, |x| {
        lose_the_first(x);
        x.windows(7_000, 4_000);
    });
}

/// RFC 6582 section 3.2: a simple mechanism against bursts.
#[test]
fn exit_burst_control() {
    let max_burst = Some(2);
    run_with("reno", SenderConfig { max_burst, ..config() }, |x| {
        x.write(30_000)
            .sends("0 1")
            .write(0)
            .sends("2 3")
            .write(0)
            .sends("4 5")
            .write(0)
            .sends("6 7");
        x.write(0).sends("8 9").write(0).sends("");
        x.ack(0).ack(0).ack(0).sends("0F").windows(8_000, 5_000);
        x.ack(10).sends("10 11").windows(5_000, 5_000);
        x.ack(11).sends("12 13").ack(12).sends("14 15");
    });
    run_with("reno", SenderConfig { max_burst: Some(0), ..config() }, |x| {
        x.write(2_000).sends("0").write(0).sends("1");
    });
}

/// The receiver's window: nothing beyond its edge, nothing less than half of its largest unless it
/// is the last.
#[test]
fn receive_window() {
    run_with("reno", SenderConfig { initial_rwnd: 2_500, ..config() }, |x| {
        x.window = 2_500;
        x.write(30_000).sends("0 1").ack(1).sends("2").ack(2).sends("3");
        // It shrinks: nothing new, and the timer sends what is outstanding again.
        x.window = 500;
        x.at(100).ack(3).sends("").fire(1100).sends("3T");
        x.window = 2_500;
        x.at(1200).ack(4).sends("4 5");
    });
}

/// RFC 9293 section 3.8.6.1: probes of a zero window, backed off, without end and without a
/// timeout.
#[test]
fn zero_window() {
    run("reno", 1, |x| {
        x.write(3_000).sends("0");
        x.window = 0;
        x.at(100).ack(1).sends("").fire(1100).sends("1+w").fire(3100).sends("1+w");
        x.at(3200).ack(1).sends("").fire(7100).sends("1+w").deadline(15_100);
        x.window = 64_000;
        // Idle for that long, it begins with the initial window (RFC 5681 section 4.1).
        x.at(7200).ack(1).sends("1").deadline(8200).ack(2).sends("2");
        assert_eq!((x.sender.stats().timeouts, x.sender.stats().retransmissions), (0, 0));
        x.ack(3).sends("").no_deadline();
    });
}

/// RFC 9293 section 3.8.6.2.1 (4): a window of less than a segment, and of less than half of its
/// largest, is filled when the timer says so.
#[test]
fn silly_window() {
    run("reno", 1, |x| {
        x.write(3_000).sends("0");
        x.window = 300;
        x.at(100).ack(1).sends("").fire(1100).sends("1[0..300]+");
        x.window = 64_000;
        x.at(1200).ack_bytes(1_300).sends("1[300..1300] 2[300..1000]");
    });
}

/// RFC 9293 section 3.7.4, and section 3.8.6.2.1 (3): "[SND.NXT = SND.UNA and] min(D,U) >= Fs *
/// Max(SND.WND)".
#[test]
fn nagle() {
    run_with("reno", SenderConfig { nagle: true, ..config() }, |x| {
        x.write(1_300).sends("0").ack(1).sends("1[0..300]");
        x.write(300).sends("").write(1_000).sends("1[300..1300]");
        x.close_now().sends("2[300..600]");
    });
    let half_window = |nagle: bool, expected: &'static str| {
        let config = SenderConfig { nagle, initial_rwnd: 900, ..config() };
        run_with("reno", config, |x| {
            x.window = 900;
            x.write(100).sends("0[0..100]").write(5_000).sends(expected);
        });
    };
    half_window(false, "0[100..900]");
    half_window(true, "");
}

/// Linux holds a short segment back only while another short one is outstanding
/// (`tcp_minshall_check`), and fills it up meanwhile. Its kernel answers these writes so.
#[test]
fn nagle_of_linux() {
    for composition in ["linux", "linux+linux-reno"] {
        run_with(composition, SenderConfig { nagle: true, ..window(10) }, |x| {
            x.write(2_100).sends("0 1 2[0..100]").at(2).write(50).sends("").at(4).write(850);
            x.sends("").at(6).write(1_400).sends("2[100..1100] 3[100..1100]").at(20).ack(1);
            x.sends("").ack(2).sends("").at(22).ack_bytes(2_100).sends("4[100..400]");
            x.at(42).ack_bytes(4_400).sends("");
            // What is full and outstanding holds nothing back.
            x.at(50).write(40).sends("4[400..440]").write(1_000).sends("4[440..1440]");
            x.write(100).sends("").at(70).ack_bytes(5_440).sends("5[440..540]");
            x.at(90).ack_bytes(5_540).write(1_000).sends("5[540..1540]");
            x.write(10).sends("6[540..550]").close_now();
        });
    }
}

/// RFC 5681 section 4.1: after more than an RTO without sending, cwnd is at most the initial
/// window.
#[test]
fn idle_restart() {
    let until_idle = |x: &mut Script| {
        x.write(2_000).sends("0 1").at(100).ack(1).ack(2).sends("").windows(4_000, UNSET);
        // Exactly an RTO after the last segment; no restart.
        x.at(1000).write(1_000).sends("2").windows(4_000, UNSET);
        x.at(1100).ack(3).sends("").windows(5_000, UNSET).at(2001);
    };
    run("reno", 2, |x| {
        until_idle(x);
        x.write(10_000).sends("3 4").windows(2_000, UNSET);
    });
    run_with(
        "reno",
        SenderConfig { initial_window: Some(2), idle_restart: false, ..config() },
        |x| {
            until_idle(x);
            x.write(10_000).sends("3 4 5 6 7").windows(5_000, UNSET);
        },
    );
}

/// RFC 9293 section 3.10.7.4: an ACK of data never sent is dropped, one below SND.UNA ignored.
#[test]
fn acks_that_should_not_be() {
    for composition in ["reno", "newreno+lt", "sack+lt"] {
        run(composition, 10, |x| {
            x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
            x.window = 10;
            x.ack(11).sends("").windows(10_000, UNSET);
            assert_eq!((x.sender.acked(), x.sender.state().window_edge), (0, 64_000));
            x.window = 64_000;
            x.ack(3).sends("10 11 12 13").windows(11_000, UNSET);
            x.window = 10;
            x.ack(2).ack(2).ack(2).ack(0).sends("").windows(11_000, UNSET);
            assert_eq!((x.sender.state().dupacks, x.sender.state().window_edge), (0, 67_000));
        });
    }
}

/// Blocks that are empty, inverted, of data never sent or below SND.UNA say nothing; a D-SACK is no
/// duplicate of RFC 6675 section 2.
#[test]
fn sack_blocks_that_say_nothing() {
    run("sack+lt", 10, |x| {
        x.write(30_000).sends("0 1 2 3 4 5 6 7 8 9");
        x.sack(0, &[(5, 5), (6, 4), (8, 11)]).sends("");
        x.sack(2, &[(0, 1)]).sends("10 11 12").pipe(11);
        x.sack(2, &[(0, 2)]).sends("").pipe(11);
        assert_eq!((x.sender.state().dupacks, x.sender.state().board.sacked_bytes()), (0, 0));
        // The second block is unusable, so the first is not shown to lie within received data; what
        // follows is new.
        x.sack(2, &[(4, 5), (3, 20)]).sends("");
        x.sack(2, &[(4, 5)]).sends("13+").pipe(11);
    });
}

/// RFC 3465 section 2.1: what exceeds cwnd counts towards the next increase.
#[test]
fn byte_counting_keeps_the_rest() {
    run_with(
        "reno+abc",
        SenderConfig { initial_window: Some(4), initial_ssthresh: Some(4_000), ..config() },
        |x| {
            x.write(30_000).sends("0 1 2 3");
            x.ack(3).sends("4 5 6").windows(4_000, 4_000);
            x.ack(5).sends("7 8 9").windows(5_000, 4_000);
            x.ack(9).sends("10 11 12 13 14").windows(6_000, 4_000);
        },
    );
}

/// A finished connection holds no memory for records; one whose application may write more does, so
/// that it need not allocate again.
#[test]
fn the_scoreboard_is_released_once_all_is_acknowledged() {
    for (closed, released) in [(true, true), (false, false)] {
        run("sack", 4, |x| {
            x.write(4_000).sends("0 1 2 3").ack(3);
            if closed {
                x.close_now();
            }
            assert!(x.sender.state().board.capacity() > 0);
            x.ack(4);
            assert_eq!(x.sender.state().board.capacity() == 0, released);
        });
    }
}

/// The end of a recovery and a timeout each halve the memory for records, if a quarter of it would
/// hold what is outstanding, and if it is for 16 or more.
#[test]
fn the_scoreboard_shrinks_after_a_loss() {
    let capacity = |x: &Script| x.sender.state().board.capacity();
    let timeouts = [(32, 23, 32), (32, 24, 16), (16, 11, 16), (16, 12, 8), (8, 7, 8)];
    for (window, acked, left) in timeouts {
        run("newreno", window, |x| {
            let window = u64::from(window);
            x.write(window * 1_000).sends(&numbers(0, window)).at(50).ack(acked);
            assert_eq!(capacity(x) as u64, window);
            x.fire(1_050).sends(&format!("{acked}T"));
            assert_eq!(capacity(x), left, "{acked} of {window} acknowledged");
        });
    }
    run("newreno", 32, |x| {
        x.write(32_000).sends(&numbers(0, 32)).at(50).ack(0).ack(0).ack(0).sends("0F");
        assert_eq!(capacity(x), 32);
        x.ack(32).phase(Phase::Open);
        assert_eq!(capacity(x), 16);
    });
}

/// RFC 6928 section 2: `min (10*MSS, max (2*MSS, 14600))` where the configuration names no window,
/// and after an idle time, too. One that it names is of segments.
#[test]
fn the_initial_window() {
    let unnamed =
        |mss| SenderConfig { mss, initial_window: None, initial_rwnd: 1 << 30, ..config() };
    for (mss, bytes) in [
        (536, 5_360),
        (1_460, 14_600),
        (1_461, 14_600),
        (4_380, 14_600),
        (7_300, 14_600),
        (7_301, 14_602),
        (8_960, 17_920),
    ] {
        for composition in ["newreno", "rack-tlp+abc", "sack+cubic+hystart"] {
            let window = |config: SenderConfig| {
                let strategy = Registry::default().parse(composition).unwrap().build();
                let sender = Sender::new(config, strategy);
                (sender.state().cwnd, sender.state().initial_window)
            };
            assert_eq!(window(unnamed(mss)), (bytes, bytes), "{composition}");
            let ten = 10 * u64::from(mss);
            let named = SenderConfig { initial_window: Some(10), ..unnamed(mss) };
            assert_eq!(window(named), (ten, ten), "{composition}");
        }
    }
    // A segment that does not fit waits for the next ACK, and the MSS may change.
    run_with("newreno", unnamed(6_000), |x| {
        x.write(60_000).sends("0[0..6000] 6[0..6000]").windows(14_600, UNSET);
        x.input(|s, now| s.set_mss(now, 1_000));
        assert_eq!(x.sender.state().initial_window, 10_000);
        x.sent.clear();
    });
}

/// The same where a window that was closed opens: what probed it was no data.
#[test]
fn idle_restart_as_a_window_opens() {
    let closed = |x: &mut Script, opens: u64| {
        x.write(30_000).sends("0 1").at(100).ack(1).sends("2 3").ack(2).sends("4 5");
        x.window = 0;
        x.at(200).ack(6).sends("").windows(5_000, UNSET).fire(1200).sends("6+w");
        // An answer that leaves it closed.
        x.at(opens - 1).ack(6).sends("").windows(5_000, UNSET);
        x.window = 10_000;
        x.at(opens).ack(6);
    };
    for composition in ["reno", "newreno+lt", "sack"] {
        // The last data went at 100 ms: exactly an RTO later, and one millisecond more.
        run(composition, 2, |x| {
            x.write(30_000).sends("0 1").at(100).ack(1).sends("2 3").ack(2).sends("4 5");
            x.window = 0;
            x.at(200).ack(6).sends("").windows(5_000, UNSET);
            x.window = 10_000;
            x.at(1100).ack(6).sends("6 7 8 9 10").windows(5_000, UNSET);
        });
        run(composition, 2, |x| {
            closed(x, 1300);
            x.sends("6 7").windows(2_000, UNSET);
        });
    }
    // Linux halves cwnd once for each timeout interval begun (tcp_cwnd_restart): 252 ms of timeout,
    // and 300 without data.
    let config = SenderConfig { handshake_rtt: Some(Span::from_millis(50)), ..window(2) };
    run_with("linux", config, |x| {
        x.write(90_000).sends("0 1").at(50).ack(2).sends("2 3 4 5").at(100).ack(6);
        x.sends(&numbers(6, 14)).at(150);
        x.window = 0;
        x.ack(14).sends("").windows(16_000, UNSET);
        x.window = 20_000;
        x.at(400).ack(14).sends(&numbers(14, 22)).windows(8_000, UNSET);
    });
}
