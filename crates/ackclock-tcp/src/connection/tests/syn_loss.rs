//! SYN and SYN/ACK retransmitted (RFC 6298 sections 2.1, 5.5 and 5.7, RFC 5681 section 3.1, RFC
//! 9293 section 3.8.3).

use super::*;

/// Linux counts ticks of so many milliseconds, and each wait takes one more.
const TICK: u64 = 4;

#[test]
fn a_syn_goes_again_after_1_2_and_4_seconds() {
    run(config(), |x| {
        x.connect().sends("S 0 mss1000");
        x.fire(1000).sends("S 0 mss1000");
        x.fire(3000).sends("S 0 mss1000");
        x.fire(7000).sends("S 0 mss1000");
        x.fire(15_000).sends("").ended(CloseReason::TimedOut);
    });
}

#[test]
fn a_syn_ack_goes_again_after_1_2_and_4_seconds() {
    run(config(), |x| {
        x.accept("S 300").sends("SA 0 a301 mss1000");
        x.fire(1000).sends("SA 0 a301 mss1000");
        x.fire(3000).sends("SA 0 a301 mss1000");
        x.fire(7000).sends("SA 0 a301 mss1000");
        x.fire(15_000).sends("").ended(CloseReason::TimedOut);
    });
}

/// RFC 6298 section 2.5.
#[test]
fn the_interval_has_an_upper_bound() {
    let patient = SenderConfig { max_rto: Some(Span::from_secs(3)), ..config().sender };
    run(ConnectionConfig { sender: patient, syn_retries: 100, ..config() }, |x| {
        x.connect().sends("S 0 mss1000");
        let mut at = 0;
        for interval in [1, 2, 3, 3] {
            at += interval * 1000;
            x.fire(at).sends("S 0 mss1000");
        }
    });
}

#[test]
fn an_early_deadline_is_harmless() {
    run(config(), |x| {
        x.connect().sends("S 0 mss1000");
        x.at(999).input(|c, now| c.on_deadline(now)).sends("").deadline(1000);
    });
}

/// RFC 6298 section 2.2: the first sample is the handshake's. 100 ms, and a variance of half of it:
/// 300 ms, and at least a second.
#[test]
fn the_handshake_gives_the_first_sample() {
    let fast = SenderConfig { min_rto: Some(Span::from_millis(10)), ..config().sender };
    let fast = ConnectionConfig { sender: fast, ..config() };
    run(fast.clone(), |x| {
        x.connect().sends("S 0 mss1000");
        x.at(100).gets("SA 300 a1 mss1000").sends("A 1 a301");
        x.write(10).sends("PA 1+10 a301").deadline(400);
    });
    run(fast, |x| {
        x.accept("S 300 mss1000").sends("SA 0 a301 mss1000");
        x.at(100).gets("A 301 a1").sends("");
        x.write(10).sends("PA 1+10 a301").deadline(400);
    });
}

/// BSD counts the ticks of 500 ms that come while the handshake is under way: one, which makes two
/// and four quarters of two, or none.
#[test]
fn the_handshake_is_timed_when_it_was() {
    for (begin, deadline) in [(450, 3500), (550, 2000)] {
        run(config(), |x| {
            let bsd = Registry::default().parse("reno+bsd-timer").expect("a composition").build();
            x.at(begin);
            x.c = Connection::connect(x.now, x.config.clone(), bsd);
            x.input(|_, _| ()).sends("S 0 mss1000");
            x.at(begin + 100).gets("SA 300 a1 mss1000").sends("A 1 a301");
            x.write(10).sends("PA 1+10 a301").deadline(deadline);
        });
    }
}

/// The initial window stays (RFC 6928 section 2), for 3 s (RFC 6298 section 5.7); there is no
/// sample, by Karn's rule.
#[test]
fn after_a_lost_syn_the_initial_window_goes() {
    run(config(), |x| {
        x.connect().sends("S 0 mss1000");
        x.fire(1000).sends("S 0 mss1000");
        x.at(1100).gets("SA 300 a1 mss1000").sends("A 1 a301");
        x.write(2000).sends("A 1+1000 a301 | PA 1001+1000 a301").deadline(4100);
        assert_eq!(x.c.sender().state().srtt, Span::ZERO);
    });
    run(config(), |x| {
        x.accept("S 300 mss1000").sends("SA 0 a301 mss1000");
        x.fire(1000).sends("SA 0 a301 mss1000");
        x.at(1100).gets("A 301 a1").sends("");
        x.write(2000).sends("A 1+1000 a301 | PA 1001+1000 a301").deadline(4100);
    });
    // Nothing was lost.
    run(config(), |x| {
        x.connect().sends("S 0 mss1000");
        x.at(100).gets("SA 300 a1 mss1000").sends("A 1 a301");
        x.write(3000).sends("A 1+1000 a301 | A 1001+1000 a301 | PA 2001+1000 a301").deadline(1100);
    });
}

/// "More than one SYN or SYN/ACK retransmissions" leave one segment (RFC 6928 section 2, RFC 5681
/// section 3.1).
#[test]
fn after_a_syn_lost_twice_one_segment_goes_first() {
    run(config(), |x| {
        x.connect().sends("S 0 mss1000");
        x.fire(1000).sends("S 0 mss1000");
        x.fire(3000).sends("S 0 mss1000");
        x.at(3100).gets("SA 300 a1 mss1000").sends("A 1 a301");
        x.write(3000).sends("A 1+1000 a301").deadline(6100);
    });
    // Once by the timer, and once by the peer's SYN.
    run(config(), |x| {
        x.accept("S 300 mss1000").sends("SA 0 a301 mss1000");
        x.fire(1000).sends("SA 0 a301 mss1000");
        x.at(1050).gets("S 300 mss1000").sends("SA 0 a301 mss1000");
        x.at(1100).gets("A 301 a1").sends("");
        x.write(3000).sends("A 1+1000 a301").deadline(4100);
    });
}

/// Linux's SYN goes again five times at even intervals (`tcp_syn_linear_timeouts`), and its SYN/ACK
/// as everywhere. One segment goes first, and idle time leaves the initial window all the same
/// (`tcp_init_transfer`, `tcp_init_cwnd`).
#[test]
fn linux_sends_its_syn_at_even_intervals() {
    let linux = || Registry::default().parse("linux").expect("a composition").build();
    run(config(), |x| {
        x.c = Connection::connect(x.now, x.config.clone(), linux());
        x.at(0).input(|_, _| ()).sends("S 0 mss1000");
        for (at, ticks) in [1, 2, 3, 4, 5, 7, 11].into_iter().zip(1..) {
            x.fire(at * 1000 + ticks * TICK).sends("S 0 mss1000");
        }
        x.at(11_100).gets("SA 300 a1 mss1000").sends("A 1 a301");
        x.write(9000).sends("A 1+1000 a301").deadline(14_104);
        let s = x.c.sender().state();
        assert_eq!((s.cwnd, s.initial_window), (1000, 4000));
    });
    run(config(), |x| {
        let (syn, _) = x.parse("S 300 mss1000");
        x.c = Connection::accept(x.now, x.config.clone(), linux(), &syn);
        x.at(0).input(|_, _| ()).sends("SA 0 a301 mss1000");
        for at in [1004, 3008, 7012] {
            x.fire(at).sends("SA 0 a301 mss1000");
        }
        x.fire(15_016).sends("").ended(CloseReason::TimedOut);
    });
}

/// After a simultaneous open the intervals double (`tcp_retransmit_timer`: not in `TCP_SYN_SENT`).
#[test]
fn linux_doubles_once_it_answers() {
    let linux = || Registry::default().parse("linux").expect("a composition").build();
    run(ConnectionConfig { syn_retries: 6, ..config() }, |x| {
        x.c = Connection::connect(x.now, x.config.clone(), linux());
        x.at(0).input(|_, _| ()).sends("S 0 mss1000");
        x.fire(1004).sends("S 0 mss1000");
        x.fire(2008).sends("S 0 mss1000");
        x.at(2100).gets("S 300 mss1000").sends("SA 0 a301 mss1000").in_state(SynReceived);
        for at in [3012, 5016, 9020] {
            x.fire(at).sends("SA 0 a301 mss1000");
        }
    });
}

/// Even intervals go on for as long as so many that double (`tcp_write_timeout`): 127 s with
/// `tcp_syn_retries` of 6. With 1, Linux 6.18 was seen to give up after 3 s.
#[test]
fn linux_gives_a_syn_up_no_earlier() {
    let late: &[u64] = &[1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131];
    let doubled: &[u64] = &[1, 3, 7, 15, 31, 63, 127];
    for (strategy, syn_retries, expiries) in [
        ("linux", 1, &late[..3]),
        ("linux", 2, &late[..6]),
        ("linux", 3, &late[..8]),
        ("linux", 6, late),
        // The sysctl came with Linux 6.5.
        ("linux-2.6", 6, doubled),
        ("newreno", 5, &doubled[..6]),
    ] {
        let build = || Registry::default().parse(strategy).expect("a composition").build();
        run(ConnectionConfig { syn_retries, ..config() }, |x| {
            x.c = Connection::connect(x.now, x.config.clone(), build());
            x.at(0).input(|_, _| ()).sends("S 0 mss1000");
            let tick = if strategy == "linux" { TICK } else { 0 };
            let expiries: Vec<u64> =
                expiries.iter().zip(1..).map(|(at, ticks)| at * 1000 + ticks * tick).collect();
            let (last, before) = expiries.split_last().unwrap();
            for &at in before {
                x.fire(at).sends("S 0 mss1000");
            }
            x.fire(*last).sends("").ended(CloseReason::TimedOut);
        });
    }
}

/// The echo says that the first SYN has arrived. To Linux nothing was lost then
/// (`tcp_try_undo_spurious_syn`). But what answered it may have been, and what answers a later SYN
/// echoes the first one as well: "the SYN or SYN/ACK is lost" (RFC 5681 section 3.1, RFC 6928
/// section 2).
#[test]
fn syns_that_were_late_leave_linux_the_initial_window() {
    let late = |x: &mut Script, strategy: &str| {
        let strategy = Registry::default().parse(strategy).expect("a composition").build();
        x.c = Connection::connect(x.now, x.config.clone(), strategy);
        x.at(0).input(|_, _| ()).sends("S 0 mss1000 ts0/0");
        let first = x.c.next_deadline().0 / 1_000_000;
        x.fire(first).sends(&format!("S 0 mss1000 ts{first}/0"));
        let second = x.c.next_deadline();
        x.at(second.0 / 1_000_000).input(|c, now| c.on_deadline(now));
        x.sent.clear();
        x.at(3100).gets("SA 300 a1 mss1000 ts7/0").sends("A 1 a301 ts3100/7");
        x.write(1976);
    };
    let config = ConnectionConfig { timestamps: true, ..config() };
    run(config.clone(), |x| {
        late(x, "linux");
        x.sends("A 1+988 a301 ts3100/7 | PA 989+988 a301 ts3100/7");
    });
    run(config, |x| {
        late(x, "sack");
        x.sends("A 1+988 a301 ts3100/7");
    });
}

/// Copies of a SYN within 500 ms draw one answer (`tcp_check_req`), and are one loss at most.
#[test]
fn copies_of_a_syn_are_answered_once_in_500_ms() {
    run(config(), |x| {
        x.accept("S 300 mss1000").sends("SA 0 a301 mss1000");
        x.at(1).gets("S 300 mss1000").sends("SA 0 a301 mss1000");
        x.at(2).gets("S 300 mss1000").sends("");
        x.at(500).gets("S 300 mss1000").sends("");
        x.at(510).gets("A 301 a1").sends("");
        x.write(3000).sends("A 1+1000 a301 | A 1001+1000 a301 | PA 2001+1000 a301");
    });
    run(config(), |x| {
        x.accept("S 300 mss1000").sends("SA 0 a301 mss1000");
        x.at(1).gets("S 300 mss1000").sends("SA 0 a301 mss1000");
        x.at(501).gets("S 300 mss1000").sends("SA 0 a301 mss1000");
        x.at(510).gets("A 301 a1").sends("");
        x.write(3000).sends("A 1+1000 a301");
    });
}

/// An echoed timestamp tells which SYN was answered (RFC 6298 section 3): a sample of 100 ms, and
/// 300 ms for data, not 3 s.
#[test]
fn timestamps_measure_the_handshake_after_a_loss() {
    let fast = SenderConfig { min_rto: Some(Span::from_millis(10)), ..config().sender };
    let fast = ConnectionConfig { sender: fast, timestamps: true, ..config() };
    run(fast.clone(), |x| {
        x.connect().sends("S 0 mss1000 ts0/0");
        x.fire(1000).sends("S 0 mss1000 ts1000/0");
        x.at(1100).gets("SA 300 a1 mss1000 ts7/1000").sends("A 1 a301 ts1100/7");
        x.write(10).sends("PA 1+10 a301 ts1100/7").deadline(1400);
    });
    run(fast.clone(), |x| {
        x.accept("S 300 mss1000 ts7/0").sends("SA 0 a301 mss1000 ts0/7");
        x.fire(1000).sends("SA 0 a301 mss1000 ts1000/7");
        x.at(1100).gets("A 301 a1 ts8/1000").sends("");
        x.write(10).sends("PA 1+10 a301 ts1100/8").deadline(1400);
    });
    // The first one was answered, late: 1100 ms, and four times half of it more.
    run(fast.clone(), |x| {
        x.connect().sends("S 0 mss1000 ts0/0");
        x.fire(1000).sends("S 0 mss1000 ts1000/0");
        x.at(1100).gets("SA 300 a1 mss1000 ts7/0").sends("A 1 a301 ts1100/7");
        x.write(10).sends("PA 1+10 a301 ts1100/7").deadline(1100 + 3300);
    });
    // From before the first one, or from the future, it tells nothing: 3 s.
    for echo in [u32::MAX - 1, 1101] {
        run(fast.clone(), |x| {
            x.connect().sends("S 0 mss1000 ts0/0");
            x.fire(1000).sends("S 0 mss1000 ts1000/0");
            x.at(1100).gets(&format!("SA 300 a1 mss1000 ts7/{echo}")).sends("A 1 a301 ts1100/7");
            x.write(10).sends("PA 1+10 a301 ts1100/7").deadline(4100);
        });
    }
}

/// The peer's SYN comes again: our SYN/ACK was lost, or came late. The timer goes on, and nothing
/// can be sampled.
#[test]
fn a_second_syn_draws_a_second_syn_ack() {
    run(config(), |x| {
        x.accept("S 300 mss1000").sends("SA 0 a301 mss1000");
        x.at(900)
            .gets("S 300 mss1000")
            .sends("SA 0 a301 mss1000")
            .in_state(SynReceived)
            .deadline(1000);
        x.at(990).gets("A 301 a1").sends("").in_state(Established);
        // The timer did not expire: 1 s, not 3 s.
        x.write(2000).sends("A 1+1000 a301 | PA 1001+1000 a301").deadline(1990);
    });
}

/// A SYN/ACK that was retransmitted is acknowledged twice.
#[test]
fn the_second_syn_ack_finds_the_connection_open() {
    run(config(), |x| {
        x.connect().sends("S 0 mss1000");
        x.gets("SA 300 a1 mss1000").sends("A 1 a301");
        x.gets("SA 300 a1 mss1000").sends("A 1 a301").in_state(Established);
    });
}

/// What is aborted or closed while it opens.
#[test]
fn an_opening_connection_is_let_go() {
    use CloseReason::Aborted;
    run(config(), |x| {
        x.connect().sends("S 0 mss1000");
        x.close().sends("").ended(Aborted);
    });
    run(config(), |x| {
        x.connect().sends("S 0 mss1000");
        x.abort().sends("").ended(Aborted);
    });
    run(config(), |x| {
        x.accept("S 300").sends("SA 0 a301 mss1000");
        x.abort().sends("R 1").ended(Aborted);
    });
    // What was written is delivered first.
    run(config(), |x| {
        x.connect().sends("S 0 mss1000");
        x.write(10).sends("");
        x.close().sends("").in_state(SynSent);
        x.gets("SA 300 a1").sends("FPA 1+10 a301").in_state(FinWait1);
    });
    // RFC 9293 section 3.10.4: queued until the connection is established.
    run(config(), |x| {
        x.accept("S 300").sends("SA 0 a301 mss1000");
        x.close().sends("").in_state(SynReceived);
        x.gets("A 301 a1").sends("FA 1 a301").in_state(FinWait1);
    });
}
