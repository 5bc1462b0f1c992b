//! The Eifel response (RFC 4015 section 3.1).

use super::ecn::capable;
use super::*;

/// A sender with timestamps and this initial window, whose ACKs echo the start until the script
/// says otherwise.
fn run_timed(composition: &str, initial_window: u32, script: impl Fn(&mut Script)) {
    run_with(
        composition,
        SenderConfig { initial_window: Some(initial_window), timestamps: true, ..config() },
        |x| {
            x.echo = Some(0);
            script(x);
        },
    );
}

/// Ten segments, and a timeout that the ACK of the first one's original shows spurious.
fn spurious_timeout(x: &mut Script) {
    x.write(40_000)
        .sends("0 1 2 3 4 5 6 7 8 9")
        .fire(1000)
        .sends("0T")
        .windows(1_000, 5_000)
        .at(1100)
        .ack(1);
}

/// Step 9: cwnd = 9 outstanding + 1 acknowledged, "must not be changed any further for that ACK";
/// ssthresh was unset.
#[test]
fn packets_are_conserved() {
    run_timed("newreno+eifel+rfc4015", 10, |x| {
        spurious_timeout(x);
        x.sends("10")
            .windows(10_000, UNSET)
            .phase(Phase::Open)
            .ack(2)
            .sends("11 12")
            .windows(11_000, UNSET);
    });
    // Whichever comes first.
    run_timed("newreno+rfc4015+eifel", 10, |x| {
        spurious_timeout(x);
        x.sends("10").windows(10_000, UNSET);
    });
    // Restored, and grown by the ACK.
    run_timed("newreno+eifel", 10, |x| {
        spurious_timeout(x);
        x.sends("10 11").windows(11_000, UNSET);
    });
    // By itself it detects nothing.
    run_timed("newreno+rfc4015", 10, |x| {
        spurious_timeout(x);
        x.sends("1S 2S").windows(2_000, 5_000).phase(Phase::Loss);
    });
}

/// Two segments grow to eight, of which 6 to 13 are outstanding when the timer expires.
fn timeout_of_eight(x: &mut Script) {
    x.write(60_000).at(100).sends("0 1");
    for n in 1..=6 {
        x.ack(n).sends(&numbers(2 * n, 2 * n + 2));
    }
    x.windows(8_000, UNSET).fire(1100).sends("6T").windows(1_000, 4_000).at(1200);
}

/// "The value of IW puts a limit on the size of the packet burst": IW is two segments.
#[test]
fn a_burst_is_at_most_the_initial_window() {
    for (acked, windows, sends) in [
        (7, 8_000, "14"),
        (8, 8_000, "14 15"),
        (9, 7_000, "14 15"),
        (13, 3_000, "14 15"),
        (14, 2_000, "14 15"),
    ] {
        run_timed("sack+eifel+rfc4015", 2, |x| {
            timeout_of_eight(x);
            // An ACK of all there is may answer the retransmission, unless there was a D-SACK
            // before (RFC 3522 step 5).
            if acked == 14 {
                x.sack(6, &[(0, 1)]);
            }
            x.ack(acked).sends(sends).windows(windows, UNSET).phase(Phase::Open);
        });
    }
    run_timed("sack+eifel", 2, |x| {
        timeout_of_eight(x);
        x.ack(13).sends("14 15 16 17 18 19 20 21").windows(9_000, UNSET);
    });
}

/// F-RTO, whose verdict comes with the second ACK: 13 to 15 remain, and four were acknowledged.
#[test]
fn after_f_rto() {
    for (composition, sends, cwnd) in
        [("newreno+f-rto+rfc4015", "16 17", 5_000), ("newreno+f-rto", "16 17 18 19 20 21", 9_000)]
    {
        run(composition, 2, |x| {
            timeout_of_eight(x);
            x.ack(9).sends("14+ 15+").ack(13).sends(sends).windows(cwnd, UNSET).phase(Phase::Open);
        });
    }
}

/// A D-SACK (LATE_SPUR_TO): with the ACK that advances, and long after.
#[test]
fn after_a_dsack() {
    run("sack+dsack-undo+rfc4015", 2, |x| {
        timeout_of_eight(x);
        x.sack(12, &[(6, 7), (13, 14)]).sends("14 15").windows(4_000, UNSET).phase(Phase::Open);
    });
    for (composition, sends, cwnd) in
        [("sack+dsack-undo+rfc4015", "", 3_000), ("sack+dsack-undo", "17 18 19 20 21", 8_000)]
    {
        run(composition, 2, |x| {
            timeout_of_eight(x);
            x.ack(7).sends("7S 8S").sack(14, &[(6, 7)]).sends("14 15 16").windows(3_000, 4_000);
            x.sack(14, &[(7, 8)]).sends("").windows(3_000, 4_000);
            x.sack(14, &[(8, 9)]).sends(sends).windows(cwnd, UNSET);
        });
    }
    // Nothing is outstanding: cwnd stays where slow start has brought it.
    run("sack+dsack-undo+rfc4015", 10, |x| {
        x.write(10_000)
            .sends("0 1 2 3 4 5 6 7 8 9")
            .fire(1000)
            .sends("0T")
            .at(1100)
            .ack(1)
            .sends("1S 2S")
            .ack(10);
        x.sack(10, &[(0, 1)])
            .sack(10, &[(1, 2)])
            .windows(3_000, 5_000)
            .sack(10, &[(2, 3)])
            .windows(3_000, UNSET);
        x.sends("");
    });
}

/// Step 0: pipe_prev = max(FlightSize, ssthresh), as it was at the first timeout, also where that
/// ended a recovery.
#[test]
fn ssthresh_is_that_of_the_first_timeout() {
    for (initial, after) in [(4_000, 10_000), (12_000, 12_000)] {
        let config =
            SenderConfig { initial_ssthresh: Some(initial), timestamps: true, ..window(10) };
        run_with("newreno+eifel+rfc4015", config, |x| {
            x.echo = Some(0);
            spurious_timeout(x);
            x.sends("10").windows(10_000, after);
        });
    }
    run_timed("newreno+eifel+rfc4015", 10, |x| {
        x.write(40_000).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T").fire(3000).sends("0T");
        x.at(3100).ack(1).sends("10").windows(10_000, UNSET);
    });
    run_timed("newreno+eifel+rfc4015", 10, |x| {
        x.write(40_000)
            .sends("0 1 2 3 4 5 6 7 8 9")
            .at(100)
            .ack(0)
            .ack(0)
            .ack(0)
            .sends("0F")
            .windows(8_000, 5_000);
        x.fire(1000).sends("0T").at(1100).ack(1).sends("10").windows(10_000, 10_000);
    });
}

/// Section 1: nothing is said of a spurious fast retransmit. It is restored, also where a timeout
/// was judged before it.
#[test]
fn a_spurious_fast_retransmit_is_restored() {
    for composition in ["newreno+eifel", "newreno+eifel+rfc4015"] {
        run_timed(composition, 10, |x| {
            x.write(40_000)
                .sends("0 1 2 3 4 5 6 7 8 9")
                .at(100)
                .ack(0)
                .ack(0)
                .ack(0)
                .sends("0F")
                .windows(8_000, 5_000);
            x.ack(4).sends("10 11 12 13 14").windows(11_000, UNSET).phase(Phase::Open);
        });
        run_timed(composition, 10, |x| {
            x.write(60_000).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T");
            x.echo = Some(1000);
            x.at(1100)
                .ack(10)
                .sends("10 11")
                .ack(12)
                .sends("12 13 14")
                .ack(15)
                .sends("15 16 17 18");
            x.windows(4_000, 5_000)
                .at(1200)
                .ack(15)
                .ack(15)
                .ack(15)
                .sends("15F 19")
                .windows(5_000, 2_000);
            x.ack(16).sends("20").windows(5_000, 5_000).phase(Phase::Open);
        });
    }
}

/// Step 9: on an ECN-Echo the windows are not reversed, and new data comes next (step 8). The
/// timeout has lowered them for this window of data: the echo lowers nothing again (RFC 3168
/// section 6.1.2).
#[test]
fn an_echo_leaves_the_windows_of_the_timeout() {
    for composition in ["newreno+eifel+rfc4015", "newreno+cubic+eifel+rfc4015"] {
        let config = SenderConfig { timestamps: true, ecn: true, ..window(10) };
        let ssthresh = if composition.contains("cubic") { 7_000 } else { 5_000 };
        run_with(composition, config, |x| {
            x.echo = Some(0);
            x.write(40_000).sends(&capable(0, 10)).fire(1000).sends("0T");
            x.at(1100).echoes(1).sends("").windows(1_000, ssthresh).phase(Phase::Open);
            x.echoes(9).sends("").windows(1_000, ssthresh);
            x.echoes(10).sends("10ecwr").windows(1_000, ssthresh);
            assert_eq!(x.sender.stats().ecn_reductions, 0);
            x.ack(11).sends("11e 12e").windows(2_000, ssthresh);
        });
    }
}

/// A timeout that was needed: nothing differs, the timer included.
#[test]
fn a_genuine_timeout() {
    let deadlines = ["newreno+eifel", "newreno+eifel+rfc4015"].map(|composition| {
        let deadline = std::cell::Cell::new(Time::NEVER);
        run_timed(composition, 10, |x| {
            x.write(40_000).sends("0 1 2 3 4 5 6 7 8 9").fire(1000).sends("0T");
            x.echo = Some(1000);
            x.at(1400).ack(10).sends("10 11").windows(2_000, 5_000);
            x.echo = Some(1400);
            x.at(3000).ack(11).sends("12 13").windows(3_000, 5_000);
            deadline.set(x.sender.next_deadline());
        });
        deadline.get()
    });
    assert_eq!(deadlines[0], deadlines[1]);
}

/// The first segment's round trip is 200 ms, so that SRTT = 200 ms, RTTVAR = 100 ms and RTO = 600
/// ms. 1 to 5 are delayed until 1400 ms.
fn delay_spike(composition: &str, script: impl Fn(&mut Script)) {
    let min_rto = Some(Span::from_millis(1));
    run_with(composition, SenderConfig { timestamps: true, min_rto, ..window(4) }, |x| {
        x.echo = Some(0);
        x.write(60_000).sends("0 1 2 3").at(200).ack(1).sends("4 5");
        x.fire(if composition.contains("linux-timer") { 804 } else { 800 }).sends("1T");
        x.at(1400).ack(2);
        script(x);
    });
}

/// 6 is the first new data; 5 remains to be acknowledged.
fn late_acks(x: &mut Script) {
    x.sends("6").windows(5_000, UNSET).ack(3).sends("7 8").ack(4).sends("9 10");
    x.echo = Some(200);
    x.ack(5).sends("11 12");
}

fn estimates(x: &Script) -> (Span, Span) {
    (x.sender.state().srtt, x.sender.state().rttvar)
}

/// Step 11: SRTT = max(200 + 2G, R), RTTVAR = max(100, R/2), RTO = SRTT + 4 RTTVAR, and the timer
/// restarts.
#[test]
fn the_timer_starts_anew_from_new_data() {
    for timer in ["rfc6298-timer", "linux-timer", "rfc6298-timer+rto-restart"] {
        for (rtt, [srtt, rttvar, rto]) in
            [(300, [300, 150, 900]), (100, [202, 100, 602]), (202, [202, 101, 606])]
        {
            delay_spike(&format!("newreno+{timer}+eifel+rfc4015"), |x| {
                late_acks(x);
                x.ack(6).sends("13 14");
                x.echo = Some(1400);
                let at = 1400 + rtt;
                let linux = timer == "linux-timer";
                let due = if linux { expiry(at, rto) } else { at + rto };
                x.at(at).ack(7).sends("15 16").deadline(due);
                assert_eq!(estimates(x), (Span::from_millis(srtt), Span::from_millis(rttvar)));
            });
        }
    }
}

/// "The first RTT-SAMPLE taken from new data", and it alone. 5 and 6 are acknowledged together: the
/// sample is of 5, which is old.
#[test]
fn the_timer_adapts_once() {
    delay_spike("newreno+eifel+rfc4015", |x| {
        late_acks(x);
        let before = estimates(x);
        x.echo = Some(1400);
        x.at(1700).ack(7).sends("13 14 15");
        assert_eq!(estimates(x), before);
        x.at(1710).ack(8).sends("16 17").deadline(1710 + 310 + 4 * 155);
        x.at(1720).ack(9).sends("18 19").deadline(1720 + 310 + 4 * 155);
    });
}

/// Without it the estimates go on from the delay spike's.
#[test]
fn without_it_the_timer_keeps_the_delay_spike() {
    delay_spike("newreno+eifel", |x| {
        x.sends("6 7").windows(6_000, UNSET).deadline(1400 + 1850);
        assert_eq!(estimates(x), (Span::from_millis(350), Span::from_millis(375)));
        x.ack(6).sends("8 9 10 11 12");
        let before = estimates(x);
        x.echo = Some(1400);
        x.at(1700).ack(7).sends("13 14");
        assert_eq!(estimates(x), before);
    });
}

/// BSD's timer has ticks of 500 ms: SRTT is one tick and RTTVAR half of one. 502 ms are two ticks,
/// so that RTO = 2 + 4 * 1/2.
#[test]
fn bsd_timer_rounds_up() {
    run_timed("newreno+bsd-timer+eifel+rfc4015", 4, |x| {
        x.write(60_000)
            .sends("0 1 2 3")
            .at(200)
            .ack(1)
            .sends("4 5")
            .fire(1500)
            .sends("1T")
            .at(2600)
            .ack(2)
            .sends("6");
        x.ack(6).sends("7 8 9 10 11");
        x.echo = Some(2600);
        x.at(2900).ack(7).sends("12 13").deadline(4500);
    });
}
